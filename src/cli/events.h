/*
 * events: how `sonde events` prints each table.
 *
 * A table is a row of event_tables with a list of fields; a field has the JSON key, the heading and width of the text
 * column, the column of the store and the format of its value. A new table needs one list and one row; a new format
 * one row in `text_writers` and `json_writers` of events-write.c.
 */
#ifndef SONDE_CLI_EVENTS_H
#define SONDE_CLI_EVENTS_H

#include "cli/cli.h"
#include "exchange/jsonline.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/run-model.h"

#include <stdbool.h>
#include <stdint.h>

enum event_how {
	EVENT_INT,
	EVENT_TIME,     /* text: seconds since the start of the run */
	EVENT_DURATION, /* text: with a unit */
	EVENT_REAL,
	EVENT_FLAG,   /* 0 and 1 as false and true */
	EVENT_STRING, /* id of a string */
	EVENT_PATH,   /* id of a file */
	EVENT_TEXT,
	EVENT_OBJECT,   /* the text of a JSON object */
	EVENT_WORDS,    /* texts that each end in a NUL */
	EVENT_NAMES,    /* comma-separated texts */
	EVENT_CATEGORY, /* of the call with the string id in the column */
	EVENT_ERROR,    /* name of an error number */
	EVENT_ARGS,     /* io: further arguments by name */
	EVENT_CALL,     /* io; text: the whole call with arguments and return value */
	EVENT_PATHS,    /* io; text: one or two paths */
	EVENT_HOWS
};

struct event_field {
	const char *key; /* with quotes and colon; NULL: not in JSON */
	size_t key_bytes;
	const char *title; /* NULL: not in text output */
	int width;         /* negative: left-aligned; 0: the last column */
	enum event_how how;
	int col;
};

struct event_table {
	enum store_table_id id;
	const struct event_field *fields; /* end with how EVENT_HOWS */
};

extern const struct event_table event_tables[];
extern const char *const event_table_names[]; /* the same order, NULL at the end */

const struct event_table *event_table_find(enum store_table_id id); /* must exist */

/* State for writing rows. */
struct event_writer {
	struct model_run *run;
	const struct event_table *table;
	int64_t start_ns;
	struct buf *out;
	/* private */
	struct buf scratch;
	struct jsonline line;
};

void event_writer_init(struct event_writer *w, struct model_run *run, const struct event_table *table, struct buf *out);
void event_writer_release(struct event_writer *w);
/* 0, or -ENOMEM if an allocation failed. */
int event_writer_error(const struct event_writer *w);

/* A row is an array of its columns, one word each. */
static inline int64_t event_int(const int64_t *row, int col)
{
	return row[col];
}

static inline double event_real(const int64_t *row, int col)
{
	union {
		int64_t bits;
		double value;
	} word = { .bits = row[col] };

	return word.value;
}

static inline const struct store_text *event_text(const int64_t *row, int col)
{
	union {
		int64_t bits;
		const struct store_text *text;
	} word = { .bits = row[col] };

	return word.text;
}

/* One object on a line. */
void event_write_json(struct event_writer *w, const int64_t *row);
/* Aligned columns; control characters are escaped. */
void event_write_titles(struct event_writer *w);
void event_write_text(struct event_writer *w, const int64_t *row);

#endif
