/*
 * Fuzz target: any bytes as .eh_frame_hdr and .eh_frame, looked up at any address, and the rules
 * that come out applied to registers and a stack of the same bytes.
 */
#include "fuzz.h"

#include "probe/perf/cfi.h"

#include <stdlib.h>
#include <string.h>

#define HDR_ADDRESS 0x1000

static void look_up(const struct cfi *c, const uint8_t *data, size_t n, uint64_t address)
{
	uint64_t regs[CFI_REGS];
	struct cfi_row row;
	struct cfi_memory m = { .start = 0x10000, .bytes = data, .len = n };
	if (!cfi_find(c, address, &row))
		return;
	for (unsigned i = 0; i < CFI_REGS; i++)
		regs[i] = 0x10000 + (uint64_t)i * 8;
	cfi_step(c, &row, &m, regs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint16_t hdr_bytes;
	if (n < 2)
		return 0;
	memcpy(&hdr_bytes, data, 2);
	data += 2;
	n -= 2;
	size_t hdr = hdr_bytes < n ? hdr_bytes : n;
	struct cfi c = { .hdr = data,
		.hdr_bytes = hdr,
		.hdr_address = HDR_ADDRESS,
		.frame = data + hdr,
		.frame_bytes = n - hdr,
		.frame_address = HDR_ADDRESS + hdr };
	for (uint64_t address = 0; address < 0x3000; address += 13)
		look_up(&c, data, n, address);
	if (cfi_index(&c))
		for (size_t i = 0; i < c.entry_count && i < 64; i++)
			look_up(&c, data, n, c.entries[i].start);
	free(c.entries);
	return 0;
}
