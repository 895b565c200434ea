/*
 * waits: what a thread that is off the CPUs waits for, by the functions of its
 * stack. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_WAITS_H
#define SONDE_ANALYZE_WAITS_H

#include "model/stacks.h"

enum wait_reason {
	WAIT_LOCK,      /* a mutex, rwlock or spinning lock of the C library, Python's GIL */
	WAIT_CONDITION, /* a condition, semaphore or barrier; another thread's end */
	WAIT_NETWORK,   /* data from, or room to, a socket */
	WAIT_DISK,      /* a device, or pages of files being read or written */
	WAIT_FAULT,     /* a page of memory */
	WAIT_PIPE,      /* a pipe or terminal */
	WAIT_EVENT,     /* poll, select, epoll */
	WAIT_CHILD,     /* the end of a process */
	WAIT_SLEEP,     /* it asked to sleep */
	WAIT_OTHER,
	WAIT_REASONS
};

enum wait_reason wait_reason_of(struct model_stacks *stacks, int64_t stack);
const char *wait_reason_word(int reason);
/* Is a page fault being handled in this stack? */
bool wait_is_fault(struct model_stacks *stacks, int64_t stack);

#endif
