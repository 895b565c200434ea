/*
 * process-memory: the memory of another process, read while it runs
 * (process_vm_readv).
 *
 * Pages are cached for one inspection, so that adjacent objects cost one call and are
 * consistent. The data is untrusted, and may change between two reads.
 */
#ifndef SONDE_PROBE_PYTHON_PROCESS_MEMORY_H
#define SONDE_PROBE_PYTHON_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_PAGE 4096
#define MEMORY_PAGES 64

struct memory {
	pid_t pid;
	int64_t now_ns; /* the caller's clock, at the start of the inspection */
	int error;      /* errno of the last failure */
	/* private */
	size_t count, next;
	uint64_t addresses[MEMORY_PAGES];
	uint8_t pages[MEMORY_PAGES][MEMORY_PAGE];
};

void memory_begin(struct memory *m, pid_t pid); /* starts an inspection: empties the cache */
bool memory_get(struct memory *m, uint64_t address, void *out, size_t n);
bool memory_get_u64(struct memory *m, uint64_t address, uint64_t *out);
bool memory_get_fresh(struct memory *m, uint64_t address, void *out, size_t n); /* bypasses the cache */

#endif
