/*
 * Shared by the files of the strace reader: strace.c reads lines and joins those of one call, strace-rows.c converts
 * calls, signals and exits to rows.
 */
#ifndef SONDE_EXCHANGE_STRACE_PRIVATE_H
#define SONDE_EXCHANGE_STRACE_PRIVATE_H

#include "base/buf.h"
#include "exchange/import-reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * strace-line: parses one line of `strace -f -ttt -T`.
 *
 *   1234 1700000000.123456 read(3</etc/passwd>, "root"..., 4096) = 4096 <0.000012>
 *
 * The thread may be written as `[pid 1234]` or be missing, the duration may be missing, and a call may be split by
 * others: `read(3, <unfinished ...>` and later `<... read resumed>"root"..., 4096) = 4096 <0.000012>`.
 */

#define STRACE_ARGS_MAX 8 /* arguments that are parsed */

enum strace_kind {
	STRACE_CALL,       /* a whole call */
	STRACE_UNFINISHED, /* the first part: args holds the arguments so far */
	STRACE_RESUMED,    /* the second part: args continue where they were split, up to the end of the line */
	STRACE_SIGNAL,     /* name is the signal's */
	STRACE_EXITED,     /* value is the code */
	STRACE_KILLED,     /* name is the signal's */
	STRACE_TALK,       /* a message of strace */
	STRACE_NONE        /* not a line of strace: `reason` */
};

struct strace_text {
	const char *at;
	size_t n;
};

struct strace_line {
	enum strace_kind kind;
	const char *reason;
	size_t where;
	int64_t tid;   /* STORE_NULL if missing */
	int64_t ts_ns; /* wall-clock time */
	struct strace_text name;
	struct strace_text rest; /* of UNFINISHED and RESUMED */
	int64_t value;
};

/* The text after the opening parenthesis of a call. */
struct strace_call {
	struct strace_text all; /* the arguments */
	struct strace_text args[STRACE_ARGS_MAX];
	unsigned count;          /* number of args */
	int64_t ret;             /* STORE_NULL if missing */
	struct strace_text what; /* -y's annotation of the returned descriptor; at NULL if missing */
	int errnum;              /* 0: none */
	int64_t dur_ns;          /* STORE_NULL if missing */
};

/* text[0..n] ends in a NUL. */
void strace_line_parse(struct strace_line *l, const char *text, size_t n);
/* Parses arguments, result and duration; returns false if the text is invalid. */
bool strace_call_parse(struct strace_call *c, const char *text, size_t n);

/* An argument as a number; STORE_NULL if it is not one. */
int64_t strace_number(const struct strace_text *arg);
/* Appends the bytes of a quoted argument; returns false if it is not quoted. */
bool strace_string(const struct strace_text *arg, struct buf *out);
/* -y's annotation of a descriptor: the text between < and >; at NULL if missing. */
struct strace_text strace_decoration(const struct strace_text *arg);

struct strace_reader {
	struct foreign *f;
	struct map pids;    /* tid -> pid + 1 */
	struct map files;   /* pid and descriptor -> string id + 1 */
	struct map numbers; /* tid -> index in pending, from 1 */
	struct strace_pending *pending;
	size_t pending_cap;
	struct buf text, path, path2, args;
};

/* Adds a complete call. Its name and parts must not point into the reader's own texts. */
void strace_add_call(struct strace_reader *r, int64_t tid, int64_t ts_ns, const struct strace_text *name,
		const struct strace_call *c);
void strace_add_signal(struct strace_reader *r, const struct strace_line *l, int64_t tid);
/* Records the exit of a thread; for the main thread, that of its process. */
void strace_note_end(struct strace_reader *r, const struct strace_line *l, int64_t tid);

#endif
