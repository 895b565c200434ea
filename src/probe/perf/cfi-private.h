/* cfi-private: shared by cfi.c (finding entries) and cfi-run.c (executing their rules). */
#ifndef SONDE_PROBE_PERF_CFI_PRIVATE_H
#define SONDE_PROBE_PERF_CFI_PRIVATE_H

#include "probe/perf/cfi.h"
#include "probe/perf/cursor.h"

/* Common information entry. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation, is_signal;
	struct cursor program;
};

/* Reads a pointer in .eh_frame encoding; `here` and `data`: bases of relative encodings. */
uint64_t cfi_pointer(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t data);
uint64_t cfi_address_of(const struct cfi *c, const uint8_t *at); /* of a byte of .eh_frame */
/* Computes the row at `address` of an entry that starts at `start`; false if its rules are invalid. */
bool cfi_run(const struct cfi *c, const struct cie *cie, struct cursor program, uint64_t start, uint64_t address,
		struct cfi_row *row);

#endif
