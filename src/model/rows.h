/*
 * rows: the rows of a table in the order of their time.
 *
 * Tables hold rows as they came out of the rings: nearly in order, with threads
 * and processes interleaved in stretches. A reader gathers blocks in a pool of
 * a few blocks' rows, sorts it and gives out what no block still unread can
 * precede, so each block is read once. Where many blocks overlap in time the
 * pool grows, up to MODEL_POOL_ROWS rows and MODEL_POOL_TEXT_BYTES of text
 * (together below 500 MiB); then it keeps the earliest rows, drops the rest and
 * reads those blocks again later: memory stays bounded whatever the table's
 * size and order, and time grows with the overlap. Rows with
 * the same time keep the order of the file. Tables without a time column come
 * in the order of the file. Damaged blocks are skipped, and stated by
 * store_table_loss.
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
	bool has_range; /* only rows that begin in [from_ns, to_ns) */
	int64_t from_ns;
	int64_t to_ns;
	bool is_longest_first; /* of rows with the same time: for those who look at nesting */
	/* Only rows for which this says so; NULL: all. It sees every column. */
	bool (*keep)(void *arg, const struct store_batch *batch, size_t row);
	void *arg;
	size_t pool_rows; /* 0: MODEL_POOL_ROWS; less for tests */
};

/* t NULL: no rows. */
int model_rows_open(struct model_rows **out, struct store_table *t, const struct model_rows_opts *opts,
		struct sonde_err *err);
/* The next row, a row struct of the table's schema that is valid until the next call; NULL at the end. */
int model_rows_next(struct model_rows *r, const void **row, struct sonde_err *err);
void model_rows_free(struct model_rows *r); /* NULL is fine */
/* How many there are. */
int model_rows_count(struct store_table *t, const struct model_rows_opts *opts, uint64_t *count, struct sonde_err *err);

#endif
