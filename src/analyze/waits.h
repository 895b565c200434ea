/* waits: what an off-CPU thread waits for, by the functions of its stack. Private to analyze/. */
#ifndef SONDE_ANALYZE_WAITS_H
#define SONDE_ANALYZE_WAITS_H

#include "model/stacks.h"

enum wait_reason {
	WAIT_LOCK,      /* a mutex, rwlock or spinlock of the C library, Python's GIL */
	WAIT_CONDITION, /* a condition variable, semaphore or barrier; a thread join */
	WAIT_NETWORK,   /* data from a socket, or space in its send buffer */
	WAIT_DISK,      /* a device, or file pages being read or written */
	WAIT_FAULT,     /* a page of memory */
	WAIT_PIPE,      /* a pipe or terminal */
	WAIT_EVENT,     /* poll, select, epoll */
	WAIT_CHILD,     /* exit of a process */
	WAIT_SLEEP,     /* a sleep call */
	WAIT_OTHER,
	WAIT_REASONS
};

enum wait_reason wait_reason_of(struct model_stacks *stacks, int64_t stack);
const char *wait_reason_word(int reason);
/* Does this stack handle a page fault? */
bool wait_is_fault(struct model_stacks *stacks, int64_t stack);

#endif
