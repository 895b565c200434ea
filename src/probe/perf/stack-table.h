/*
 * stack-table: chains of frames, each stored once.
 *
 * A chain is its innermost frame and the chain of its callers, so chains with
 * the same outermost frames share rows. Addresses of code that only this machine
 * can symbolize (the kernel, the vdso, code in memory) are collected, and at the
 * end their names become rows of the table symbol.
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
/* Returns the chain of one more frame called by `parent` (STORE_NULL: none); STORE_NULL if out of memory. */
int64_t stacks_add(struct stacks *s, int64_t parent, const struct module *module, uint64_t address);
/* Symbolizes the collected addresses; call after the last stacks_add. */
void stacks_name(struct stacks *s);

#endif
