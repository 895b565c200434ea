/*
 * unwind: the chain of user frames of a sample, from its registers and a copy of the top
 * of its stack.
 *
 * Uses .eh_frame if a module has it, as Debian's binaries do, else frame pointers
 * (JIT-compiled code, assembly). Files are read, not mapped: truncation by another
 * process cannot raise SIGBUS. x86-64 only; on other architectures the kernel's
 * frame-pointer chains are used (see UNWIND_IS_HERE).
 */
#ifndef SONDE_PROBE_PERF_UNWIND_H
#define SONDE_PROBE_PERF_UNWIND_H

#include "probe/perf/addrspace.h"
#include "probe/perf/cfi.h"

#ifdef __x86_64__
#define UNWIND_IS_HERE true
#else
#define UNWIND_IS_HERE false
#endif

#define UNWIND_FRAMES_MAX 256

struct frame {
	const struct module *module; /* NULL: no known module */
	uint64_t address;            /* as in the table stack */
};

struct unwind_result {
	struct frame frames[UNWIND_FRAMES_MAX]; /* innermost first */
	size_t count;
	bool is_cut;           /* the outermost frame was not reached */
	uint64_t needed_bytes; /* of the stack, to find these frames */
};

/* Maps an address to a module's file offset, or keeps it if unmapped. is_call, for callers: the call instruction. */
struct frame unwind_frame(const struct space *s, uint64_t address, bool is_call);
/* regs has DWARF numbers, regs[CFI_RA] is the program counter. Its contents are overwritten. */
void unwind_user(const struct space *s, uint64_t regs[CFI_REGS], const struct cfi_memory *stack,
		struct unwind_result *out);

void unwind_table_free(struct unwind_table *t); /* NULL is fine */

#endif
