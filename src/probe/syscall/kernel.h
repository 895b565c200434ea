/*
 * kernel: system calls seen by two small BPF programs, where we may load them.
 *
 * The watcher still follows forks and execs and says whose calls are wanted; what they
 * call comes through a ring of the kernel's, at a fraction of what two stops would cost.
 */
#ifndef SONDE_PROBE_SYSCALL_KERNEL_H
#define SONDE_PROBE_SYSCALL_KERNEL_H

#include "probe/syscall/event.h"

#include <stdbool.h>
#include <stddef.h>

struct kernel_calls {
	int seen; /* the map of wanted processes: a descriptor for the watcher; -1: there is none */
	/* private */
	int rows, starts, scratch, ring, lost;
	int programs[2], links[2];
	const volatile uint64_t *consumer_page, *producer_page;
	const uint8_t *data;
	uint64_t at;
};

extern const bool kernel_calls_are_built; /* false: the feature bpf was left out of this build */

/* 0, or -errno: then calls are watched by stops. */
int kernel_calls_open(struct kernel_calls *k);
void kernel_calls_release(struct kernel_calls *k);
uint64_t kernel_calls_end(const struct kernel_calls *k); /* behind what is there now */
/* The next call before `end` as an event, into room for KERNEL_EVENT_MAX; false: none. Then kernel_calls_next. */
#define KERNEL_EVENT_MAX (sizeof(struct syscall_event) + SYSCALL_TEXTS * SYSCALL_TEXT_MAX)
bool kernel_calls_peek(struct kernel_calls *k, uint64_t end, struct syscall_event *e);
void kernel_calls_next(struct kernel_calls *k);
uint64_t kernel_calls_lost(const struct kernel_calls *k);
int kernel_calls_want(int seen, int32_t pid, bool is_wanted); /* for the watcher */

#endif
