/*
 * import-reader: a trace of another tool, read sequentially by one thread.
 *
 * A format's `read` (exchange.h) gets lines or bytes, inflated if the file is compressed, and adds rows. Processes,
 * threads, files and calls are kept in name-tables.h, which bounds their memory and writes their tables at the end. An
 * invalid line loses only that line: foreign_lost counts and keeps it. Times are nanoseconds of the trace's clock.
 */
#ifndef SONDE_EXCHANGE_IMPORT_READER_H
#define SONDE_EXCHANGE_IMPORT_READER_H

#include "base/map.h"
#include "exchange/exchange.h"
#include "pfw/import-run.h"
#include "pfw/name-tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The stacks of a trace that has only function names.
 *
 * Each distinct stack becomes a chain in the table `stack`. A function becomes a symbol of its module, with a number as
 * its address. Memory is bounded: a frame that does not fit is dropped and counted.
 */

struct foreign_stacks {
	uint64_t refused;
	/* private */
	struct pfw_dims *dims;
	struct map modules;   /* name and kind -> number */
	struct map functions; /* module and name -> address */
	struct map chains;    /* parent, module, address -> number */
};

struct foreign_frame {
	const char *function;
	size_t function_bytes;
	const char *module; /* NULL if unknown */
	size_t module_bytes;
	bool is_kernel;
};

/* The chain of this frame, called by the chain `parent` (STORE_NULL: outermost frame). */
int64_t foreign_stack(struct foreign_stacks *s, int64_t parent, const struct foreign_frame *frame);

#define FOREIGN_HEAD_BYTES ((size_t)64 << 10) /* bytes of a file that are inspected to recognize it */

struct foreign {
	struct pfw_counts *counts;
	struct pfw_dims *dims;
	struct pfw_cache *cache;
	struct store_sink *sink;
	struct foreign_stacks *stacks;
	uint64_t line;         /* current line number, from 1; 0: before the first */
	const char *path;      /* of the file */
	bool has_day_clock;    /* times are wall-clock times */
	int64_t unit_ns;       /* requested unit of times; 0: not given */
	int64_t source_number; /* index of the file, from 0 */
	/* private */
	struct pfw_import *im;
	const struct exchange_format *format;
	struct pfw_part *part;
	struct foreign_feed *feed;
};

/* Reads up to n bytes of the file; returns 0 at its end, or after a read error (which is reported at the end). */
size_t foreign_read(struct foreign *f, void *place, size_t n);
/*
 * Gets the next line without its newline; it ends in a NUL and may be modified until the next call. Returns false at
 * the end. Lines above PFW_LINE_BYTES_MAX are counted and skipped.
 */
bool foreign_line(struct foreign *f, char **line, size_t *n);
/* Counts the current line as lost: `reason` is static, `where` an offset in it, from 0. */
void foreign_lost(struct foreign *f, const char *reason, size_t where, const char *text, size_t n);

/* NULL if out of room; dependent values are then null too. */
struct pfw_process *foreign_process(struct foreign *f, int64_t pid);
int64_t foreign_string(struct foreign *f, const char *bytes, size_t n);
int64_t foreign_name(struct foreign *f, const char *text);
void foreign_add(struct foreign *f, enum store_table_id table, const void *row);
/* The duration, or STORE_NULL if it is missing or impossible; impossible ones are counted. */
int64_t foreign_duration(struct foreign *f, int64_t ts_ns, int64_t dur_ns);
/* Counts an event of that thread; dur_ns from foreign_duration, STORE_NULL: an instant. */
void foreign_count_event(struct foreign *f, struct pfw_process *p, int64_t tid, int64_t ts_ns, int64_t dur_ns);
/* Extends the time range by an event without a thread. */
void foreign_time(struct foreign *f, int64_t ts_ns);
/* Sets the name of a thread. */
void foreign_thread_name(struct foreign *f, struct pfw_process *p, int64_t tid, int64_t name);

/* Detects the format of a file by its content; NULL if unknown or unreadable. */
const struct exchange_format *foreign_recognise(const char *path);
/* Reads all inputs of an import. 0 or -errno. */
int foreign_read_all(struct pfw_import *im, const struct exchange_format *format, struct sonde_err *err);

#endif
