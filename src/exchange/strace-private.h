/*
 * Shared by the files of the strace reader: strace.c reads lines and joins those of one call, strace-rows.c converts
 * calls, signals and exits to rows.
 */
#ifndef SONDE_EXCHANGE_STRACE_PRIVATE_H
#define SONDE_EXCHANGE_STRACE_PRIVATE_H

#include "exchange/import-reader.h"
#include "exchange/strace-line.h"

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
