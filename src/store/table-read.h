/*
 * table-read: read one table file, a block at a time, only the requested columns.
 *
 * The file is mapped; checksums are verified when a block is loaded, so opening is cheap for any size. Files may be
 * truncated, damaged, hostile or still growing: every length is bounded, and what cannot be read is skipped and
 * counted by store_table_loss, never guessed. A table that is being written shows the blocks present when it was
 * opened.
 *
 * Columns are numbered by this program's schema (STORE_IO_ts_ns) if it knows the table: a column missing in the file
 * reads as null, a column only in the file is not shown. A table unknown to this program has the columns of the file,
 * see store_table_schema.
 *
 * Several threads may read a table, each with a separate batch. A batch reuses its memory: its contents, including
 * texts, are valid until the next load into it.
 */
#ifndef SONDE_STORE_TABLE_READ_H
#define SONDE_STORE_TABLE_READ_H

#include "base/err.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_table;

/* -ENOENT if `<name>.tbl` is not in dirfd. */
int store_table_open(struct store_table **out, int dirfd, const char *name, struct sonde_err *err);
/* Open a table in memory. The bytes are borrowed and must outlive it. `name` is for messages. */
int store_table_open_memory(struct store_table **out, const void *bytes, size_t n, const char *name,
		struct sonde_err *err);
void store_table_free(struct store_table *t); /* NULL is allowed */

const struct store_schema *store_table_schema(const struct store_table *t);
uint64_t store_table_rows(const struct store_table *t); /* in all blocks found */
size_t store_table_blocks(const struct store_table *t);

struct store_block_info {
	uint64_t offset; /* in the file */
	uint64_t bytes;  /* in the file */
	uint64_t rows;
	uint64_t number;     /* among all blocks written, from 0: gaps are missing blocks */
	uint64_t first_row;  /* number of its first row among all rows written */
	int64_t time_min_ns; /* of the table's time column; STORE_NULL if no row has one */
	int64_t time_max_ns;
	int64_t dur_max_ns; /* 0 if no row has one */
};

/* Block i, from 0 in file order; i < store_table_blocks(t). */
const struct store_block_info *store_block_info(const struct store_table *t, size_t block);

/* What is missing, as far as known: damage is found when a block is loaded. */
struct store_loss {
	uint64_t blocks; /* damaged blocks skipped */
	uint64_t rows;   /* rows known to be missing: in those blocks, and gaps in the numbering */
	uint64_t bytes;  /* of the file that could not be used */
	bool is_open;    /* no valid index at the end: the writer died or is running; its buffered rows are missing */
	char text[256];  /* the same as text ("700 rows, 3 damaged or missing blocks, ..."), "" if nothing is missing */
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
	struct store_column columns[STORE_COLUMNS_MAX]; /* by column number; all NULL if not requested */
	/* private */
	struct store_batch_memory *memory;
	const struct store_schema *schema;
};

#define STORE_BATCH_INIT { .rows = 0 }

void store_batch_release(struct store_batch *b);

/*
 * Decode the columns cols[0..ncols) of a block (cols NULL: all); 64-byte aligned. -EBADMSG if the block is damaged;
 * it is then counted as loss.
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
	bool has_range; /* skip blocks without an event that overlaps [from_ns, to_ns]; rows are not filtered */
	int64_t from_ns;
	int64_t to_ns;
	unsigned threads; /* 0: one per CPU; 1: all in the calling thread, in block order */
	unsigned part;    /* of `parts`: only every parts-th block, starting with this one; parts 0: all */
	unsigned parts;
};

/*
 * Called once per block, by worker 0..threads-1, in no order between workers; the block's number lets results be
 * merged in file order. A nonzero result ends the scan.
 */
typedef int store_scan_fn(void *arg, unsigned worker, size_t block, const struct store_batch *batch);

/* Maximum number of workers of a scan with these options. */
unsigned store_scan_workers(const struct store_table *t, const struct store_scan_opts *opts);
/*
 * Load every block in range and pass it to fn. Damaged blocks are skipped and counted as loss.
 * Returns 0, the result of fn, or -errno.
 */
int store_scan(struct store_table *t, const struct store_scan_opts *opts, store_scan_fn *fn, void *arg,
		struct sonde_err *err);
/* Load all blocks to find damage; store_table_loss is then complete. */
int store_table_check(struct store_table *t, struct sonde_err *err);

#endif
