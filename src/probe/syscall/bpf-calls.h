/*
 * bpf-calls: records system calls with two small BPF programs, if we may load them.
 *
 * The ptrace process still follows forks and execs and selects the processes; their
 * calls arrive through a BPF ring buffer, at a fraction of the cost of two ptrace stops.
 */
#ifndef SONDE_PROBE_SYSCALL_BPF_CALLS_H
#define SONDE_PROBE_SYSCALL_BPF_CALLS_H

#include "probe/syscall/event.h"

#include <stdbool.h>
#include <stddef.h>

struct kernel_calls {
	int seen; /* map of selected processes: a descriptor for the ptrace process; -1: none */
	/* private */
	int rows, starts, scratch, ring, lost;
	int programs[2], links[2];
	const volatile uint64_t *consumer_page, *producer_page;
	const uint8_t *data;
	uint64_t at;
};

extern const bool kernel_calls_are_built; /* false: built without the feature bpf */

/* Returns 0, or -errno: then calls are recorded with ptrace stops. */
int kernel_calls_open(struct kernel_calls *k);
void kernel_calls_release(struct kernel_calls *k);
uint64_t kernel_calls_end(const struct kernel_calls *k); /* end of the records written so far */
/* Converts the next call before `end` to an event of at most KERNEL_EVENT_MAX bytes; false: none. Not consumed. */
#define KERNEL_EVENT_MAX (sizeof(struct syscall_event) + SYSCALL_TEXTS * SYSCALL_TEXT_MAX)
bool kernel_calls_peek(struct kernel_calls *k, uint64_t end, struct syscall_event *e);
void kernel_calls_next(struct kernel_calls *k);
uint64_t kernel_calls_lost(const struct kernel_calls *k);
int kernel_calls_want(int seen, int32_t pid, bool is_wanted); /* for the ptrace process */

#endif
