/*
 * tables: what the tests of the store share: a directory that goes away, and a
 * table `every` whose rows follow from their number, so that whatever part of a
 * table is read can be checked against what must be there.
 */
#ifndef SONDE_TEST_STORE_TABLES_H
#define SONDE_TEST_STORE_TABLES_H

#include "support.h"

#include "base/buf.h"
#include "store/table-read.h"
#include "store/writer.h"

struct scratch {
	char path[64];
	int dirfd;
};

void scratch_make(struct scratch *s);
void scratch_remove(struct scratch *s);
void scratch_read(const struct scratch *s, const char *file, struct buf *out);
void scratch_write(const struct scratch *s, const char *file, const void *bytes, size_t n);

/* Every kind of column, with and without nulls. */
struct every {
	int64_t ts_ns, dur_ns, number, wild, rare, fixed;
	double real;
	const struct store_text *text, *label;
};
enum {
	EVERY_ts_ns,
	EVERY_dur_ns,
	EVERY_number,
	EVERY_wild,
	EVERY_rare,
	EVERY_fixed,
	EVERY_real,
	EVERY_text,
	EVERY_label
};
extern const struct store_schema every_schema;

struct every_memory {
	struct store_text texts[2];
	char bytes[64];
};

/* The row of number n; its texts are in mem. */
void every_make(uint64_t n, struct every *row, struct every_memory *mem);
/* Append rows from .. from + count - 1. */
void every_add(struct store_writer *w, uint64_t from, size_t count);
/* A whole table of `blocks` blocks with `rows` rows each. */
void every_write(const struct scratch *s, size_t blocks, size_t rows);
/* Each row of the batch is the one that its number says; only loaded columns are compared. */
void every_check(const struct store_batch *batch);
/* Load block by block; -EBADMSG blocks are left out. Returns the rows that were read and right. */
uint64_t every_read(struct store_table *t);

#endif
