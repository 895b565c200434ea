/*
 * cfi: call frame information, the rules of .eh_frame (DWARF 5 section 6.4, with the
 * encodings of the Linux Standard Base).
 *
 * For an address it tells how the caller's registers follow from the callee's: a
 * row of rules. Numbers of registers are DWARF's for x86-64; 16 is the return
 * address. The bytes may be hostile: everything is bounded.
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
	CFI_UNDEFINED, /* nobody knows; of the return address: there is no caller */
	CFI_OFFSET,    /* in memory at CFA + offset */
	CFI_VALUE,     /* CFA + offset */
	CFI_REGISTER,  /* in another register */
	CFI_EXPR,      /* in memory where the expression says */
	CFI_VAL_EXPR   /* what the expression says */
};

struct cfi_rule {
	uint8_t kind; /* enum cfi_kind */
	uint8_t reg;
	int32_t offset; /* of expressions: where they are in .eh_frame */
};

struct cfi_row {
	struct cfi_rule cfa; /* REGISTER: reg + offset, or VAL_EXPR */
	struct cfi_rule regs[CFI_REGS];
	bool is_signal; /* a signal interrupted the caller: its address is exact, no return address */
};

struct cfi_entry {
	uint64_t start, offset; /* first address; in .eh_frame */
};

/* .eh_frame_hdr and .eh_frame, and the addresses where the file wants them. Static programs have no header: entries. */
struct cfi {
	struct cfi_entry *entries; /* sorted; NULL: the header has them */
	size_t entry_count;
	const uint8_t *hdr, *frame;
	size_t hdr_bytes, frame_bytes;
	uint64_t hdr_address, frame_address;
};

/* Make the entries of a file without a header. The caller frees them. False when there are none. */
bool cfi_index(struct cfi *c);
/* The rules at `address`; false when there are none or they make no sense. */
bool cfi_find(const struct cfi *c, uint64_t address, struct cfi_row *row);

/* Registers and the little memory that is known of a thread. */
struct cfi_memory {
	uint64_t start;
	const uint8_t *bytes;
	size_t len;
};

bool cfi_load(const struct cfi_memory *m, uint64_t address, uint64_t *value);
/* From a callee's registers to its caller's, regs[CFI_RA] and regs[CFI_RSP] included. False: it cannot be told. */
bool cfi_step(const struct cfi *c, const struct cfi_row *row, const struct cfi_memory *m, uint64_t regs[CFI_REGS]);

#endif
