/*
 * unwind: the chain of user frames of a sample, from its registers and a copy of
 * the top of its stack.
 *
 * By the rules of .eh_frame where a module has them, which Debian's binaries do, else by
 * frame pointers (code made at run time, hand-written assembly). Files are read, not
 * mapped: a file that is cut while we look cannot hurt. x86-64 only; elsewhere the
 * kernel's frame-pointer chains serve (UNWIND_IS_HERE tells).
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
	const struct module *module; /* NULL: in none that is known */
	uint64_t address;            /* as the table stack has it */
};

struct unwind_result {
	struct frame frames[UNWIND_FRAMES_MAX]; /* innermost first */
	size_t count;
	bool is_cut;           /* the outermost frame was not reached */
	uint64_t needed_bytes; /* of the stack, for these frames */
};

/* The frame at an address: in the module's file, or as it is. Of callers, `is_call`: the call, not what follows it. */
struct frame unwind_frame(const struct space *s, uint64_t address, bool is_call);
/* regs as DWARF numbers them, regs[CFI_RA] is where it was. They are used up. */
void unwind_user(const struct space *s, uint64_t regs[CFI_REGS], const struct cfi_memory *stack,
		struct unwind_result *out);

void unwind_table_free(struct unwind_table *t); /* NULL is fine */

#endif
