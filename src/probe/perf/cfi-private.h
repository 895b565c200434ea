/* What cfi.c (finding entries) and cfi-run.c (running their rules) share. */
#ifndef SONDE_PROBE_PERF_CFI_PRIVATE_H
#define SONDE_PROBE_PERF_CFI_PRIVATE_H

#include "probe/perf/cfi.h"
#include "probe/perf/cursor.h"

/* What entries have in common. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation, is_signal;
	struct cursor program;
};

/* A pointer as .eh_frame encodes it; `here` and `data`: what it may be relative to. */
uint64_t cfi_pointer(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t data);
uint64_t cfi_address_of(const struct cfi *c, const uint8_t *at); /* of a byte of .eh_frame */
/* The row at `address` of an entry that begins at `start`; false when its rules make no sense. */
bool cfi_run(const struct cfi *c, const struct cie *cie, struct cursor program, uint64_t start, uint64_t address,
		struct cfi_row *row);

#endif
