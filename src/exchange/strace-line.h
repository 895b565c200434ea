/*
 * strace-line: one line of `strace -f -ttt -T`, cut into its parts.
 *
 *	1234 1700000000.123456 read(3</etc/passwd>, "root"..., 4096) = 4096 <0.000012>
 *
 * The thread may stand as `[pid 1234]` or be missing, the duration be missing,
 * and a call be cut in two by others: `read(3, <unfinished ...>` and later
 * `<... read resumed>"root"..., 4096) = 4096 <0.000012>`.
 */
#ifndef SONDE_EXCHANGE_STRACE_LINE_H
#define SONDE_EXCHANGE_STRACE_LINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRACE_ARGS_MAX 8 /* that are told apart */

enum strace_kind {
	STRACE_CALL,       /* a whole call */
	STRACE_UNFINISHED, /* its beginning: args is what is there of them */
	STRACE_RESUMED,    /* the rest: args from where it was cut, with all that follows them */
	STRACE_SIGNAL,     /* name is the signal's */
	STRACE_EXITED,     /* value is the code */
	STRACE_KILLED,     /* name is the signal's */
	STRACE_TALK,       /* strace's own words */
	STRACE_NONE        /* no line of strace's: `reason` */
};

struct strace_text {
	const char *at;
	size_t n;
};

struct strace_line {
	enum strace_kind kind;
	const char *reason;
	size_t where;
	int64_t tid;   /* STORE_NULL: not told */
	int64_t ts_ns; /* of the day */
	struct strace_text name;
	struct strace_text rest; /* of UNFINISHED and RESUMED */
	int64_t value;
};

/* What follows the opening bracket of a call. */
struct strace_call {
	struct strace_text all; /* the arguments */
	struct strace_text args[STRACE_ARGS_MAX];
	unsigned count;          /* of args */
	int64_t ret;             /* STORE_NULL: not told */
	struct strace_text what; /* what -y says of the descriptor that was returned; at NULL: nothing */
	int errnum;              /* 0: none */
	int64_t dur_ns;          /* STORE_NULL: not told */
};

/* text[0..n] ends in a NUL. */
void strace_line_parse(struct strace_line *l, const char *text, size_t n);
/* Arguments, result and duration; false when the text is none. */
bool strace_call_parse(struct strace_call *c, const char *text, size_t n);

/* An argument as a number; STORE_NULL when it is none. */
int64_t strace_number(const struct strace_text *arg);
/* The bytes of an argument in quotes, appended; false when it is none. */
bool strace_string(const struct strace_text *arg, struct buf *out);
/* What -y says of a descriptor: the text between < and >; at NULL: nothing. */
struct strace_text strace_decoration(const struct strace_text *arg);

#endif
