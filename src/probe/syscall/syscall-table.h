/*
 * table: the system calls that become rows of the table io, and what their arguments are.
 *
 * Names and plain arguments are those of the tracer's hook of the same call, so that a
 * static program's table reads as its dynamic twin's.
 */
#ifndef SONDE_PROBE_SYSCALL_SYSCALL_TABLE_H
#define SONDE_PROBE_SYSCALL_SYSCALL_TABLE_H

#include "calls/syscalls.h"

#include <stdbool.h>
#include <stdint.h>

struct syscall_row {
	const char *name; /* NULL: not of interest */
	const char *letters;
	enum syscall_effect effect;
	unsigned variant; /* of several names that a number can have; 0: its own */
};

#define SYSCALLS_MAX 512
extern const struct syscall_row syscall_rows[SYSCALLS_MAX]; /* by number */

/* The row of a call: the one of its number, or what libc makes it of. NULL: not of interest. */
const struct syscall_row *syscall_row_of(int64_t number, const uint64_t args[6], bool has_empty_path);

#endif
