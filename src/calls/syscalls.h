/*
 * syscalls: what the rows SYSCALL and SYSNAME of calls.def say about the arguments of a system call.
 *
 * A row's letters stand for the arguments in their order:
 *
 *	f  descriptor            d, D  descriptor of the directory of the first, second path
 *	p, P  first, second path t  another text      s  size      o  offset
 *	a  plain argument (int)  A  the same, 64 bits wide         -  of no interest
 *	F  flags of an open      m  its mode, when the flags want one
 *	N  an argument that is not told
 *	v  vector; its count is the next argument     n  address of a socket; its length is the next argument
 */
#ifndef SONDE_CALLS_SYSCALLS_H
#define SONDE_CALLS_SYSCALLS_H

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
	/* from the descriptor, moving it when no offset is given, to that of the first plain argument */
	SYSCALL_COPIES,
	SYSCALL_CLOSES_RANGE,
	SYSCALL_RETURNS_ERROR, /* the result is the error's number */
};

#endif
