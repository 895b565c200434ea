/*
 * stacks: chains of frames, each stored once.
 *
 * A chain is its innermost frame and the chain of its callers, so chains that
 * begin alike share rows. Addresses of code that only this machine can name (the
 * kernel, the vdso, code in memory) are remembered, and at the end their names
 * become rows of the table symbol.
 */
#ifndef SONDE_PROBE_PERF_STACK_TABLE_H
#define SONDE_PROBE_PERF_STACK_TABLE_H

#include "base/map.h"
#include "probe/perf/addrspace.h"
#include "store/sink.h"

struct stacks_address {
	const struct module *module;
	uint64_t address;
};

struct stacks {
	struct store_sink *sink;
	/* private */
	struct map ids; /* (parent, module, address) -> id */
	struct stacks_address *unnamed;
	size_t unnamed_count, unnamed_cap;
};

void stacks_init(struct stacks *s, struct store_sink *sink);
void stacks_release(struct stacks *s);
/* The chain that `parent` (STORE_NULL: none) and one more frame make; STORE_NULL when there is no memory. */
int64_t stacks_add(struct stacks *s, int64_t parent, const struct module *module, uint64_t address);
/* Name what only we can; nothing more is added. */
void stacks_name(struct stacks *s);

#endif
