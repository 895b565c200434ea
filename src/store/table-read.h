/*
 * table: read one table file, a block at a time, only the columns asked for.
 *
 * The file is mapped; blocks are checked (checksums) when they are loaded, so
 * opening costs little whatever the size. Files may be cut, damaged, hostile or
 * still growing: every length is bounded, and what cannot be read is skipped
 * and stated by store_table_loss, never guessed. A table being written shows
 * the blocks that were there when it was opened.
 *
 * Columns are numbered by this program's schema (STORE_IO_ts_ns) when it knows
 * the table: a column that the file lacks reads as null, one that only the file
 * has is not shown. A table that this program does not know has the file's own
 * columns, see store_table_schema.
 *
 * A table may be read by several threads, each with a batch of its own. A batch
 * is memory that is used again and again: what it shows is valid until the next
 * load into it, and its texts too.
 */
#ifndef SONDE_STORE_TABLE_READ_H
#define SONDE_STORE_TABLE_READ_H

#include "base/err.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_table;

/* -ENOENT when there is no `<name>.tbl` in dirfd. */
int store_table_open(struct store_table **out, int dirfd, const char *name, struct sonde_err *err);
/* A table that is in memory; the bytes stay the caller's and must outlive it. `name` is for messages. */
int store_table_open_memory(struct store_table **out, const void *bytes, size_t n, const char *name,
		struct sonde_err *err);
void store_table_free(struct store_table *t); /* NULL is fine */

const struct store_schema *store_table_schema(const struct store_table *t);
int store_table_column(const struct store_table *t, const char *name); /* its number, or -1 */
bool store_table_has(const struct store_table *t, int col);            /* false: the file lacks it, all null */
uint64_t store_table_rows(const struct store_table *t);                /* in all blocks that were found */
size_t store_table_blocks(const struct store_table *t);

struct store_block_info {
	uint64_t offset; /* in the file */
	uint64_t bytes;  /* in the file */
	uint64_t rows;
	uint64_t number;     /* among all blocks that were written, from 0: gaps are blocks that are gone */
	uint64_t first_row;  /* number of its first row among all rows that were written */
	int64_t time_min_ns; /* of the table's time column; STORE_NULL when no row has one */
	int64_t time_max_ns;
	int64_t dur_max_ns; /* 0 when no row has one */
};

/* Block i, from 0 in file order; i < store_table_blocks(t). */
const struct store_block_info *store_block_info(const struct store_table *t, size_t block);

/* What is missing, as far as it is known by now: damage shows when a block is loaded. */
struct store_loss {
	uint64_t blocks; /* damaged blocks that were skipped */
	uint64_t rows;   /* rows known to be missing: of those blocks, and gaps in the numbering */
	uint64_t bytes;  /* of the file that could not be used */
	bool is_open;    /* no valid index at the end: the writer died or still writes; rows it held are missing */
	char text[256];  /* the same in words ("700 rows, 3 damaged or missing blocks, ..."), "" for none */
};

void store_table_loss(struct store_table *t, struct store_loss *loss);

/* One column of a batch: the pointer of its kind is set, the others are NULL. */
struct store_column {
	const int64_t *ints;
	const double *reals;
	const struct store_text *texts;
};

struct store_batch {
	size_t rows;
	size_t block;
	uint64_t first_row;
	struct store_column columns[STORE_COLUMNS_MAX]; /* by column number; all NULL when not asked for */
	/* private */
	struct store_batch_memory *memory;
	const struct store_schema *schema;
};

#define STORE_BATCH_INIT { .rows = 0 }

void store_batch_release(struct store_batch *b);

/*
 * Decode the columns cols[0..ncols) of a block (cols NULL: all); 64-byte aligned.
 * -EBADMSG when the block is damaged; the loss then includes it.
 */
int store_block_load(struct store_table *t, size_t block, const int *cols, size_t ncols, struct store_batch *batch,
		struct sonde_err *err);

/* Fill a row struct of the batch's schema from row i; columns not loaded are null. Texts point into the batch. */
void store_batch_row(const struct store_batch *b, size_t i, void *row);

#define STORE_DECLARE_GET(name, NAME, version, doc) \
	static inline void store_get_##name(const struct store_batch *b, size_t i, struct store_##name *row) \
	{ \
		store_batch_row(b, i, row); \
	}
STORE_TABLES(STORE_DECLARE_GET)

struct store_scan_opts {
	const int *cols; /* NULL: all */
	size_t ncols;
	bool has_range; /* skip blocks without an event that touches [from_ns, to_ns]; rows are not filtered */
	int64_t from_ns;
	int64_t to_ns;
	unsigned threads; /* 0: one a CPU; 1: all in the calling thread, in block order */
	unsigned part;    /* of `parts`: only every parts-th block, from this one on; parts 0: all */
	unsigned parts;
};

/*
 * Called once a block, by worker 0..threads-1, in no order between workers; the
 * block's number lets results be merged in file order. Not 0 ends the scan.
 */
typedef int store_scan_fn(void *arg, unsigned worker, size_t block, const struct store_batch *batch);

/* How many workers a scan with these options will use at most. */
unsigned store_scan_workers(const struct store_table *t, const struct store_scan_opts *opts);
/* Load every block in range and hand it to fn. Damaged blocks are skipped and counted as loss.
 * Returns 0, what fn returned, or a negative errno. */
int store_scan(struct store_table *t, const struct store_scan_opts *opts, store_scan_fn *fn, void *arg,
		struct sonde_err *err);
/* Load everything only to find damage; store_table_loss then tells all. */
int store_table_check(struct store_table *t, struct sonde_err *err);

/*
 * Make the table of a dead writer whole: cut what follows the last whole block
 * and write the index. Damaged blocks inside stay and stay counted. A table
 * with a valid index is left alone. `loss` (may be NULL) tells what was missing.
 */
int store_table_recover(int dirfd, const char *name, struct store_loss *loss, struct sonde_err *err);

#endif
