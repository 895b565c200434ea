/*
 * chrome-read: converts Chrome's Trace Event format to rows.
 *
 *   X, and B with E      a span; without an end it lasts until the last event of its thread
 *   b with e (S with F)  a span, by category and id
 *   i, I, R, n           a mark
 *   C                    a counter for each number of its arguments
 *   M                    names of processes and threads
 *   other                a row of `line`, verbatim: flows, objects, samples
 *
 * Times are microseconds with an arbitrary origin. The format's table is in chrome.c.
 */
#ifndef SONDE_EXCHANGE_CHROME_READ_H
#define SONDE_EXCHANGE_CHROME_READ_H

#include "base/buf.h"
#include "exchange/exchange.h"
#include "exchange/import-reader.h"
#include "pfw/line-parse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool chrome_is_mine(const char *head, size_t n);
int chrome_read(struct foreign *f);

/*
 * Shared by the files of the Chrome trace reader: chrome-read.c reads events one by one, chrome-spans.c pairs begin and
 * end events to spans.
 */

/*
 * Splits the JSON of a Chrome trace into its events while it is read.
 *
 * A trace is an array of events, or an object with such an array as its member "traceEvents". Bytes are added block by
 * block, and each event is passed on as a text: memory is that of one event. Only what is needed to find the end of an
 * event is checked; the array may be unterminated.
 */

struct chrome_split {
	uint64_t too_long; /* events that were skipped */
	/* Called for each event; a result other than 0 stops. */
	int (*take)(void *arg, char *text, size_t n);
	void *arg;
	/* private */
	struct buf event, key;
	unsigned depth, events_depth; /* open brackets; the depth of the array of events, 0: not reached */
	bool is_string, is_escaped, is_event, is_skipped, is_key, has_array;
};

/* An unfinished span: on the stack of its thread, or waiting for its id. */
struct open_span {
	struct store_span row;
	char *args;
	size_t args_bytes;
	uint64_t below; /* index of the enclosing span, from 1; also links free entries */
};

struct chrome_reader {
	struct foreign *f;
	struct pfw_line line;
	struct chrome_split split;
	struct buf text, args;
	struct map threads; /* pid and tid -> index of the innermost unfinished span, from 1 */
	struct map pairs;   /* category, pid and the text of an id -> index of the unfinished span, from 1 */
	struct open_span *open;
	size_t open_count, open_cap;
	uint64_t free;     /* head of the free list */
	size_t args_bytes; /* total of the unfinished spans */
	int64_t pid, tid, ts_ns, name, category;
	struct pfw_process *process;
	bool is_odd; /* its duration is kept as text */
};

/* Sets the time and thread of the current event, in a row of any event table. */
#define CHROME_STAMP(row, r) \
	((row).ts_ns = (r)->ts_ns, (row).pid = (r)->pid, (row).tid = (r)->tid, \
			(row).process = (r)->process ? (r)->process->number : STORE_NULL)

/* Of the current event: a time in nanoseconds, or STORE_NULL; a member by its name, or NULL if it has none. */
int64_t chrome_time_of(const struct pfw_field *f);
const struct pfw_field *chrome_field_of(const struct chrome_reader *r, const char *key, bool is_arg);
/* Its arguments, or its other members that have no column, as JSON; NULL if there are none. */
const struct store_text *chrome_object_of(struct chrome_reader *r, bool is_arg, struct buf *out,
		struct store_text *text);
/* Keeps an event verbatim that cannot be interpreted. */
void chrome_keep_line(struct chrome_reader *r);

void chrome_on_complete(struct chrome_reader *r);
void chrome_on_begin(struct chrome_reader *r);
void chrome_on_end(struct chrome_reader *r);
void chrome_on_pair_begin(struct chrome_reader *r);
void chrome_on_pair_end(struct chrome_reader *r);
/* Unfinished spans end with the last event of their thread. */
void chrome_end_spans(struct chrome_reader *r);
void chrome_release_spans(struct chrome_reader *r);

#endif
