/*
 * syscall-table: the system calls that become rows of the table io, and the types of
 * their arguments.
 *
 * Names and plain arguments are those of the tracer's hook of the same call, so that a
 * static program and its dynamic build give the same table.
 */
#ifndef SONDE_PROBE_SYSCALL_SYSCALL_TABLE_H
#define SONDE_PROBE_SYSCALL_SYSCALL_TABLE_H

#include "calls/syscalls.h"

#include <stdbool.h>
#include <stdint.h>

struct syscall_row {
	const char *name; /* NULL: not recorded */
	const char *letters;
	enum syscall_effect effect;
	unsigned variant; /* index of the name if a number has several; 0: its own */
};

#define SYSCALLS_MAX 512
extern const struct syscall_row syscall_rows[SYSCALLS_MAX]; /* by number */

/* Returns the row of a call: that of its number, or of the libc function that uses it so. NULL: not recorded. */
const struct syscall_row *syscall_row_of(int64_t number, const uint64_t args[6], bool has_empty_path);

#endif
