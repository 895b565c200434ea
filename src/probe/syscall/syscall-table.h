/*
 * table: the system calls that become rows of the table io, and what their arguments are.
 *
 * A row's letters stand for the arguments in their order:
 *
 *	f  descriptor            d, D  descriptor of the directory of the first, second path
 *	p, P  first, second path t  another text      s  size      o  offset
 *	a  plain argument (int)  A  the same, 64 bits wide         -  of no interest
 *	F  flags of an open      m  its mode, when the flags want one
 *	N  an argument that is not told
 *	v  vector; its count is the next argument     n  address of a socket; its length is the next argument
 *
 * Names and plain arguments are those of the tracer's hook of the same call, so that a
 * static program's table reads as its dynamic twin's.
 */
#ifndef SONDE_PROBE_SYSCALL_SYSCALL_TABLE_H
#define SONDE_PROBE_SYSCALL_SYSCALL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum syscall_effect {
	SYSCALL_NOTHING,
	SYSCALL_OPENS, /* the result is a descriptor of the path */
	SYSCALL_MAKES, /* the result is a descriptor of something without a path */
	SYSCALL_DUPS,  /* the result is the same as the descriptor */
	SYSCALL_CLOSES,
	SYSCALL_MOVES, /* the descriptor's offset, by the result */
	SYSCALL_SEEKS, /* to the result */
	SYSCALL_MAPS,
	SYSCALL_UNMAPS,
	SYSCALL_CHDIRS,
	SYSCALL_PAIRS,  /* two descriptors, where the pointer points */
	SYSCALL_SHARES, /* the descriptor's offset is not to be relied on any more */
	SYSCALL_COPIES, /* from the descriptor, moving it when no offset is given, to another */
	SYSCALL_CLOSES_RANGE,
};

struct syscall_row {
	const char *name; /* NULL: not of interest */
	const char *letters;
	enum syscall_effect effect;
	bool is_error;    /* it returns the error's number */
	unsigned variant; /* of several names that a number can have; 0: its own */
};

#define SYSCALLS_MAX 512
extern const struct syscall_row syscall_rows[SYSCALLS_MAX]; /* by number */

/* The row of a call: the one of its number, or what libc makes it of. NULL: not of interest. */
const struct syscall_row *syscall_row_of(int64_t number, const uint64_t args[6], bool has_empty_path);

#endif
