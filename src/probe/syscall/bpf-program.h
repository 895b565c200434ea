/*
 * bpf-program: assembles the two BPF programs of bpf-calls.h.
 *
 * The first takes the start time of a call of a selected process; the second, at its
 * exit, copies registers and the memory that they point to into a record of the
 * ring.
 */
#ifndef SONDE_PROBE_SYSCALL_BPF_PROGRAM_H
#define SONDE_PROBE_SYSCALL_BPF_PROGRAM_H

#include "probe/syscall/bpf-calls.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_MAX 256

struct program {
	struct bpf_insn at[PROGRAM_MAX];
	unsigned count;
	/* private: jumps to the end */
	unsigned outs[32], out_count;
};

/* Record of the second program: fixed fields, registers in the kernel's order, then two texts and a blob. */
struct kernel_record {
	uint64_t ts_ns, end_ns, who, spec;
	int64_t ret;
	uint64_t regs[16]; /* r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax */
	int64_t text1, text2, blob;
	uint64_t mode; /* of the opened file; its device in the upper half */
	uint8_t bytes[];
};
#define KERNEL_RECORD_MAX (sizeof(struct kernel_record) + 8192 + 8192 + 512)

/*
 * What to copy of a call (the map `rows` has it for each number): bytes 0 and 1 are
 * the offsets in regs of the addresses of texts, 0 for none; byte 2 that of a blob,
 * byte 3 that of its length (0: 8 bytes), to be shifted left by byte 4.
 */
#define SPEC_WANTED (1ull << 63)
#define SPEC_OPENS (1ull << 40) /* also the mode of the opened file */

void program_enter(struct program *c, const struct kernel_calls *k);
void program_exit(struct program *c, const struct kernel_calls *k);

#endif
