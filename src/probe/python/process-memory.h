/*
 * memory: the memory of another process, read while it runs (process_vm_readv).
 *
 * Pages are kept for the length of one look, so that a chain of neighbours costs one
 * call and is of one moment. What is read is hostile: it may be anything, and may have
 * changed between two reads.
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
	int64_t now_ns; /* the caller's clock, at the beginning of the look */
	int error;      /* errno of the last failure */
	/* private */
	size_t count, next;
	uint64_t addresses[MEMORY_PAGES];
	uint8_t pages[MEMORY_PAGES][MEMORY_PAGE];
};

void memory_begin(struct memory *m, pid_t pid); /* a new look: nothing is kept */
bool memory_get(struct memory *m, uint64_t address, void *out, size_t n);
bool memory_get_u64(struct memory *m, uint64_t address, uint64_t *out);
bool memory_get_fresh(struct memory *m, uint64_t address, void *out, size_t n); /* past the kept pages */

#endif
