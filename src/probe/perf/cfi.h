/*
 * cfi: call frame information, the rules of .eh_frame (DWARF 5 section 6.4, with the
 * encodings of the Linux Standard Base).
 *
 * For an address it gives a row of rules that compute the caller's registers from
 * the callee's. Register numbers are DWARF's for x86-64; 16 is the return address.
 * The bytes are untrusted: everything is bounds-checked.
 */
#ifndef SONDE_PROBE_PERF_CFI_H
#define SONDE_PROBE_PERF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_REGS 17
#define CFI_RSP 7
#define CFI_RBP 6
#define CFI_RA 16

enum cfi_kind {
	CFI_SAME,      /* as in the callee */
	CFI_UNDEFINED, /* unknown; for the return address: outermost frame */
	CFI_OFFSET,    /* in memory at CFA + offset */
	CFI_VALUE,     /* CFA + offset */
	CFI_REGISTER,  /* in another register */
	CFI_EXPR,      /* in memory at the address of the expression */
	CFI_VAL_EXPR   /* value of the expression */
};

struct cfi_rule {
	uint8_t kind; /* enum cfi_kind */
	uint8_t reg;
	int32_t offset; /* of expressions: their offset in .eh_frame */
};

struct cfi_row {
	struct cfi_rule cfa; /* REGISTER: reg + offset, or VAL_EXPR */
	struct cfi_rule regs[CFI_REGS];
	bool is_signal; /* a signal frame: the caller's address is exact, not a return address */
};

struct cfi_entry {
	uint64_t start, offset; /* start address; offset in .eh_frame */
};

/* .eh_frame_hdr and .eh_frame, and their addresses in the file. Static executables have no header: see `entries`. */
struct cfi {
	struct cfi_entry *entries; /* sorted; NULL: use the header's table */
	size_t entry_count;
	const uint8_t *hdr, *frame;
	size_t hdr_bytes, frame_bytes;
	uint64_t hdr_address, frame_address;
};

/* Builds the entries of a file without a header. The caller frees them. Returns false if it has none. */
bool cfi_index(struct cfi *c);
/* Finds the rules at `address`; false if it has none or they are invalid. */
bool cfi_find(const struct cfi *c, uint64_t address, struct cfi_row *row);

/* A copy of a part of a thread's stack. */
struct cfi_memory {
	uint64_t start;
	const uint8_t *bytes;
	size_t len;
};

bool cfi_load(const struct cfi_memory *m, uint64_t address, uint64_t *value);
/* Replaces a callee's registers by its caller's, regs[CFI_RA] and regs[CFI_RSP] included. Returns false if unknown. */
bool cfi_step(const struct cfi *c, const struct cfi_row *row, const struct cfi_memory *m, uint64_t regs[CFI_REGS]);

#endif
