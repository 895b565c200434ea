/*
 * What the parts of reading a Chrome trace share: chrome-read.c takes events one by one, chrome-spans.c makes spans of
 * those that begin and end them.
 */
#ifndef SONDE_EXCHANGE_CHROME_READ_PRIVATE_H
#define SONDE_EXCHANGE_CHROME_READ_PRIVATE_H

#include "exchange/chrome-split.h"
#include "exchange/import-reader.h"
#include "pfw/line-parse.h"

/* A span whose end is to come: on the stack of its thread, or waiting for its id. */
struct open_span {
	struct store_span row;
	char *args;
	size_t args_bytes;
	uint64_t below; /* the span around it, as a place from 1; also of free places */
};

struct chrome_reader {
	struct foreign *f;
	struct pfw_line line;
	struct chrome_split split;
	struct buf text, args;
	struct map threads; /* pid and tid -> place of the innermost open span, from 1 */
	struct map pairs;   /* category, pid and the text of an id -> place of the open span, from 1 */
	struct open_span *open;
	size_t open_count, open_cap;
	uint64_t free;     /* places that are */
	size_t args_bytes; /* of open spans */
	int64_t pid, tid, ts_ns, name, category;
	struct pfw_process *process;
	bool is_odd; /* its duration is kept as text */
};

/* When the event at hand was and whose it is, in a row of any table of events. */
#define CHROME_STAMP(row, r) \
	((row).ts_ns = (r)->ts_ns, (row).pid = (r)->pid, (row).tid = (r)->tid, \
			(row).process = (r)->process ? (r)->process->number : STORE_NULL)

/* Of the event at hand: nanoseconds, or STORE_NULL; a member by its name, NULL: it has none. */
int64_t chrome_time_of(const struct pfw_field *f);
const struct pfw_field *chrome_field_of(const struct chrome_reader *r, const char *key, bool is_arg);
/* Its arguments, or its other members but those that rows have, as JSON; NULL: none. */
const struct store_text *chrome_object_of(struct chrome_reader *r, bool is_arg, struct buf *out,
		struct store_text *text);
/* What cannot be made sense of is kept as it is. */
void chrome_keep_line(struct chrome_reader *r);

void chrome_take_complete(struct chrome_reader *r);
void chrome_take_begin(struct chrome_reader *r);
void chrome_take_end(struct chrome_reader *r);
void chrome_take_pair_begin(struct chrome_reader *r);
void chrome_take_pair_end(struct chrome_reader *r);
/* Those that have no end lasted as long as anything is known of their thread. */
void chrome_end_spans(struct chrome_reader *r);
void chrome_release_spans(struct chrome_reader *r);

#endif
