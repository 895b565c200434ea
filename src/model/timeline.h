/*
 * timeline: the events of all event tables of a run, merged in time order. Events with the same start are sorted
 * longest first, so an enclosing event precedes those inside it.
 */
#ifndef SONDE_MODEL_TIMELINE_H
#define SONDE_MODEL_TIMELINE_H

#include "model/rows.h"
#include "model/run-model.h"

#include <string.h>

#define TIMELINE_TABLES 5

struct timeline_stream {
	struct model_rows *rows;
	const int64_t *row; /* the next, NULL at the end */
	int64_t ts_ns, dur_ns;
};

struct timeline {
	/* private */
	struct timeline_stream streams[TIMELINE_TABLES];
	int last; /* the stream of the returned row, -1: none */
};

/* Only the rows of the range. */
int timeline_open(struct timeline *t, struct model_run *run, const struct model_rows_opts *range,
		struct sonde_err *err);
void timeline_release(struct timeline *t);
/* Gets the next row and its table; row NULL at the end. Valid until the next call. */
int timeline_next(struct timeline *t, enum store_table_id *table, const int64_t **row, struct sonde_err *err);

/* Reads a value of a row, by column. A null text is NULL. */
static inline const struct store_text *timeline_text(const int64_t *row, int column)
{
	const struct store_text *text;

	memcpy(&text, &row[column], sizeof(text));
	return text && text->data ? text : NULL;
}

static inline double timeline_real(const int64_t *row, int column)
{
	double value;

	memcpy(&value, &row[column], sizeof(value));
	return value;
}

#endif
