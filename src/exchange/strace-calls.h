/*
 * strace-calls: what the arguments of system calls are, from the table of calls.
 */
#ifndef SONDE_EXCHANGE_STRACE_CALLS_H
#define SONDE_EXCHANGE_STRACE_CALLS_H

#include "calls/syscalls.h"

#include <stddef.h>

/* Arguments by position, from 0; -1: the call has none. */
struct strace_shape {
	const char *name; /* the kernel's */
	signed char fd, dir, path, dir2, path2, size, offset;
	signed char target; /* descriptor that a copy is written to */
	enum syscall_effect effect;
};

/* NULL: an unknown system call. */
const struct strace_shape *strace_shape(const char *name, size_t n);

#endif
