/* strace-calls: the meaning of the arguments of system calls, from the table of calls. */
#ifndef SONDE_EXCHANGE_STRACE_CALLS_H
#define SONDE_EXCHANGE_STRACE_CALLS_H

#include "calls/syscalls.h"

#include <stddef.h>

/* Argument positions, from 0; -1 if the call has none. */
struct strace_shape {
	const char *name; /* the kernel's name */
	signed char fd, dir, path, dir2, path2, size, offset;
	signed char target; /* destination descriptor of a copy */
	enum syscall_effect effect;
};

/* NULL: an unknown system call. */
const struct strace_shape *strace_shape(const char *name, size_t n);

#endif
