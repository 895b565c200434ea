/*
 * syscalls: the letters and effects of the rows SYSCALL and SYSNAME of calls.def, which describe the arguments of a
 * system call.
 *
 * A row has one letter per argument, in order:
 *
 * 	f  descriptor            d, D  directory descriptor of the first, second path
 * 	p, P  first, second path t  another text      s  size      o  offset
 * 	a  plain argument (int)  A  the same, 64 bits wide         -  ignored
 * 	l  plain argument that is a listening descriptor
 * 	F  flags of an open      m  its mode, if the flags require one
 * 	N  an argument that is not recorded
 * 	v  vector; its count is the next argument     n  address of a socket; its length is the next argument
 */
#ifndef SONDE_CALLS_SYSCALLS_H
#define SONDE_CALLS_SYSCALLS_H

enum syscall_effect {
	SYSCALL_NOTHING,
	SYSCALL_OPENS, /* the result is a descriptor of the path */
	SYSCALL_MAKES, /* the result is a descriptor without a path */
	SYSCALL_PAIRS, /* two descriptors, stored through the pointer */
	SYSCALL_MAPS,
	SYSCALL_UNMAPS,
	SYSCALL_RENAMES,       /* paths of open files change */
	SYSCALL_RETURNS_ERROR, /* the result is the error number */
	SYSCALL_REPLACES,      /* descriptors of the process are closed or become its own: exec, unshare */
	SYSCALL_QUEUES,        /* descriptors may change later, without a call: io_uring */

	/* These change what libsonde knows: the wrapper of syscall() inspects them, and passes on those above. */
	SYSCALL_DUPS,    /* the result is a duplicate of the descriptor */
	SYSCALL_DUPS_TO, /* the same, and the second argument is closed before */
	SYSCALL_CLOSES,
	SYSCALL_CLOSES_RANGE,
	SYSCALL_MOVES,    /* the descriptor's offset moves by the result */
	SYSCALL_MAY_MOVE, /* the same if no offset is given */
	SYSCALL_SEEKS,    /* the result is the new offset */
	SYSCALL_SHARES,   /* the descriptor's offset is unknown from now on */
	SYSCALL_CONTROLS, /* fcntl: nothing, DUPS or SHARES, by its command */
	SYSCALL_COPIES, /* from the descriptor, moving it if no offset is given, to that of the first plain argument */
	SYSCALL_FORKS,  /* all descriptors are shared from now on */
	SYSCALL_CHDIRS,
	SYSCALL_FILTERS, /* seccomp: system calls may be forbidden from now on */
	SYSCALL_EXITS,
	SYSCALL_INSPECTED = SYSCALL_DUPS, /* the first of these */
};

#endif
