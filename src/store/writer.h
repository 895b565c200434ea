/*
 * writer: append rows to one table file `<name>.tbl`.
 *
 * Rows are buffered by column and written as compressed blocks of up to STORE_BLOCK_ROWS; flushed rows survive a
 * crash of the writer. A column that is constant within a block costs neither memory nor time. A writer is used by
 * one thread at a time; it neither starts threads nor syncs the disk. Threads that write one table concurrently each
 * open a part of its writer: a part buffers rows separately and appends its blocks to the same file.
 *
 * Failure: the first write that fails (disk full) is reported once, by the call during which it happened; the file is
 * truncated to its last complete block, and that block's rows and all later ones are only counted
 * (store_writer_lost). Later calls return 0. A row that cannot be added (a text above STORE_TEXT_BYTES_MAX, no
 * memory) is counted as lost too and reported by that call; the writer remains usable.
 */
#ifndef SONDE_STORE_WRITER_H
#define SONDE_STORE_WRITER_H

#include "base/err.h"
#include "store/schema.h"

#include <stdint.h>

#define STORE_BLOCK_ROWS 65536

struct store_writer;

/* Create `<schema name>.tbl` in dirfd, mode 0600; -EEXIST if it exists. */
int store_writer_open(struct store_writer **out, int dirfd, const struct store_schema *schema, struct sonde_err *err);
/* A part of `whole`, which must stay open until all its parts are closed. */
int store_writer_open_part(struct store_writer **out, struct store_writer *whole, struct sonde_err *err);
/* Append a row: a struct of the writer's schema. The texts it points to are copied. */
int store_writer_add(struct store_writer *w, const void *row, struct sonde_err *err);
/* Write the buffered rows as a block, even if it is short; does nothing if the buffer is empty. */
int store_writer_flush(struct store_writer *w, struct sonde_err *err);
/* Flush, write the index (not for a part) and free w, even on failure. NULL is allowed. */
int store_writer_close(struct store_writer *w, struct sonde_err *err);
/* Free w without writing: the file is left as of the last flush. NULL is allowed. */
void store_writer_free(struct store_writer *w);

/* Of a whole writer; rows that its open parts have not written yet are not counted. */
uint64_t store_writer_rows(const struct store_writer *w);    /* added so far, without lost ones */
uint64_t store_writer_pending(const struct store_writer *w); /* of these, not yet written */
uint64_t store_writer_bytes(const struct store_writer *w);   /* of the file */
uint64_t store_writer_lost(const struct store_writer *w);    /* rows not written to disk; flush before calling */

/* store_add_io(w, &row, err) etc.: store_writer_add with the row's type checked; w must have that schema. */
#define STORE_DECLARE_ADD(name, NAME, version, doc) \
	static inline int store_add_##name(struct store_writer *w, const struct store_##name *row, \
			struct sonde_err *err) \
	{ \
		return store_writer_add(w, row, err); \
	}
STORE_TABLES(STORE_DECLARE_ADD)

#endif
