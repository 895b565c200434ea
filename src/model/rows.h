/*
 * rows: the rows of a table in time order.
 *
 * Tables hold rows in the order in which the rings were drained: nearly sorted, with the sequences of threads and
 * processes interleaved. A reader collects rows in a pool of a few blocks, sorts it and returns the rows that no
 * unread block can precede, so each block is read once. Where many blocks overlap in time the pool grows, up to
 * MODEL_POOL_ROWS rows and MODEL_POOL_TEXT_BYTES of text (in total below 500 MiB); then it keeps the earliest rows,
 * drops the rest and reads those blocks again later. Memory is bounded for any size and order of the table, and time
 * grows with the overlap. Rows with the same time keep the order of the file, and so do tables without a time column.
 * Damaged blocks are skipped and counted by store_table_loss.
 */
#ifndef SONDE_MODEL_ROWS_H
#define SONDE_MODEL_ROWS_H

#include "base/err.h"
#include "model/run-model.h"
#include "store/table-read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MODEL_POOL_ROWS ((size_t)1 << 20)
#define MODEL_POOL_TEXT_BYTES ((size_t)64 << 20)

struct model_rows;

struct model_rows_opts {
	bool has_range; /* only rows that start in [from_ns, to_ns) */
	int64_t from_ns;
	int64_t to_ns;
	bool is_longest_first; /* of rows with the same time: for callers that compute nesting */
	/* Filter: only rows for which it returns true; NULL: all. It sees every column. */
	bool (*keep)(void *arg, const struct store_batch *batch, size_t row);
	void *arg;
	size_t pool_rows; /* 0: MODEL_POOL_ROWS; smaller in tests */
};

/* t NULL: no rows. */
int model_rows_open(struct model_rows **out, struct store_table *t, const struct model_rows_opts *opts,
		struct sonde_err *err);
/* The next row, a row struct of the table's schema that is valid until the next call; NULL at the end. */
int model_rows_next(struct model_rows *r, const void **row, struct sonde_err *err);
void model_rows_free(struct model_rows *r); /* NULL is allowed */
/* Count the rows. */
int model_rows_count(struct store_table *t, const struct model_rows_opts *opts, uint64_t *count, struct sonde_err *err);

/*
 * timeline: the events of all event tables of a run, merged in time order. Events with the same start are sorted
 * longest first, so an enclosing event precedes those inside it.
 */

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
