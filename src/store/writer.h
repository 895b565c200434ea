/*
 * writer: append rows to one table file `<name>.tbl`.
 *
 * Rows gather in memory, column by column, and go to disk as compressed blocks
 * of up to STORE_BLOCK_ROWS; what was flushed survives every death of the
 * writer. A column that never changes within a block costs neither memory nor
 * time. One thread uses a writer at a time; it neither starts threads nor syncs
 * the disk. Threads that write one table together each open a part of its
 * writer: a part takes rows like a writer, in memory of its own, and its blocks
 * go to the same file.
 *
 * Failure: the first write that fails (disk full) is reported once, with words,
 * by the call during which it happened; the file is cut back to its last whole
 * block, and that block's rows and all later ones are only counted
 * (store_writer_lost). Later calls return 0. A row that cannot be taken (a text
 * above STORE_TEXT_BYTES_MAX, no memory) is counted as lost too and reported by
 * its own call; the writer goes on.
 */
#ifndef SONDE_STORE_WRITER_H
#define SONDE_STORE_WRITER_H

#include "base/err.h"
#include "store/schema.h"

#include <stdint.h>

#define STORE_BLOCK_ROWS 65536

struct store_writer;

/* Create `<schema name>.tbl` in dirfd, mode 0600; -EEXIST when it is there already. */
int store_writer_open(struct store_writer **out, int dirfd, const struct store_schema *schema, struct sonde_err *err);
/* A part of `whole`, which stays open until all its parts are closed. */
int store_writer_open_part(struct store_writer **out, struct store_writer *whole, struct sonde_err *err);
/* Append a row: a struct of the writer's schema. The texts it points to are copied. */
int store_writer_add(struct store_writer *w, const void *row, struct sonde_err *err);
/* Write the gathered rows as a block, be it a short one; nothing when there are none. */
int store_writer_flush(struct store_writer *w, struct sonde_err *err);
/* Flush, write the index (not of a part) and free w, whatever happens. NULL is fine. */
int store_writer_close(struct store_writer *w, struct sonde_err *err);
/* Free w without writing: the file stays as after the last flush. NULL is fine. */
void store_writer_free(struct store_writer *w);

/* Of a whole writer; those of its open parts not counted that are not yet written. */
uint64_t store_writer_rows(const struct store_writer *w);    /* taken so far, without the lost */
uint64_t store_writer_pending(const struct store_writer *w); /* of these, not yet written */
uint64_t store_writer_bytes(const struct store_writer *w);   /* of the file */
uint64_t store_writer_lost(const struct store_writer *w);    /* rows that reached no disk; flush first, then ask */

/* store_add_io(w, &row, err) and so on: store_writer_add with the row's type checked; w must be of that schema. */
#define STORE_DECLARE_ADD(name, NAME, version, doc) \
	static inline int store_add_##name(struct store_writer *w, const struct store_##name *row, \
			struct sonde_err *err) \
	{ \
		return store_writer_add(w, row, err); \
	}
STORE_TABLES(STORE_DECLARE_ADD)

#endif
