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
#include "store/table-read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
