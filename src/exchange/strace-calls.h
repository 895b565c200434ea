/*
 * strace-calls: what the arguments of system calls are, by name.
 */
#ifndef SONDE_EXCHANGE_STRACE_CALLS_H
#define SONDE_EXCHANGE_STRACE_CALLS_H

#include <stddef.h>

/* Arguments by their place, from 0; -1: the call has none. */
struct strace_shape {
	const char *name;
	signed char fd, dir, path, dir2, path2, size, offset;
};

/* NULL: nothing is known of it. */
const struct strace_shape *strace_shape(const char *name, size_t n);
/* The category of a system call: "data", "open" and so on (doc/glossary.md). */
const char *strace_category(const char *name, size_t n);

#endif
