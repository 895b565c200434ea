/*
 * foreign: a trace of another tool, read from its beginning to its end by one thread.
 *
 * A format's `read` (exchange.h) takes lines or bytes, inflated where the file
 * is compressed, and adds rows; processes, threads, files and calls are those
 * of name-tables.h, which bounds their memory and writes their tables at the end.
 * What is wrong with a line costs that line: foreign_lost counts and keeps it.
 * Times are nanoseconds of whatever clock the trace has.
 */
#ifndef SONDE_EXCHANGE_IMPORT_READER_H
#define SONDE_EXCHANGE_IMPORT_READER_H

#include "exchange/exchange.h"
#include "exchange/import-reader-stacks.h"
#include "pfw/import-cache.h"
#include "pfw/import-run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_HEAD_BYTES ((size_t)64 << 10) /* of a file, to recognise it by */

struct foreign {
	struct pfw_counts *counts;
	struct pfw_dims *dims;
	struct pfw_cache *cache;
	struct store_sink *sink;
	struct foreign_stacks *stacks;
	uint64_t line;         /* number of the line at hand, from 1; 0: none yet */
	const char *path;      /* of the file */
	bool has_day_clock;    /* times are those of the day */
	int64_t unit_ns;       /* that times were said to have; 0: nothing was said */
	int64_t source_number; /* of the file, from 0 */
	/* private */
	struct pfw_import *im;
	struct pfw_part *part;
	struct foreign_feed *feed;
};

/* Up to n bytes of the file; 0 at its end, or where it cannot be read any further (which is told at the end). */
size_t foreign_read(struct foreign *f, void *place, size_t n);
/*
 * The next line without its newline; it ends in a NUL and may be written to until the next call. False at the
 * end. Lines above PFW_LINE_BYTES_MAX are counted and passed over.
 */
bool foreign_line(struct foreign *f, char **line, size_t *n);
/* The line at hand is lost: `reason` is static, `where` in it from 0. */
void foreign_lost(struct foreign *f, const char *reason, size_t where, const char *text, size_t n);

/* NULL: no room, and then the rest is null too. */
struct pfw_process *foreign_process(struct foreign *f, int64_t pid);
int64_t foreign_string(struct foreign *f, const char *bytes, size_t n);
int64_t foreign_name(struct foreign *f, const char *text);
void foreign_add(struct foreign *f, enum store_table_id table, const void *row);
/* The duration, or STORE_NULL when there is none or it is impossible: then it is counted. */
int64_t foreign_duration(struct foreign *f, int64_t ts_ns, int64_t dur_ns);
/* An event of that thread was added; dur_ns, as foreign_duration has it, STORE_NULL: an instant. */
void foreign_note(struct foreign *f, struct pfw_process *p, int64_t tid, int64_t ts_ns, int64_t dur_ns);
/* Something that is no thread's was at that time. */
void foreign_time(struct foreign *f, int64_t ts_ns);
/* What the thread is called. */
void foreign_thread_name(struct foreign *f, struct pfw_process *p, int64_t tid, int64_t name);

/* The format of a file by its content; NULL: none of these, or it cannot be read. */
const struct exchange_format *foreign_recognise(const char *path);
/* Read all inputs of an import. 0 or -errno. */
int foreign_read_all(struct pfw_import *im, struct sonde_err *err);

#endif
