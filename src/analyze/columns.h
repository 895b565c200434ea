/*
 * columns: derived columns of calls and spans that passes share: bytes transferred, path, kind of call, access
 * pattern, layers, time bucket.
 *
 * A column is added to the plan of its table when a pass first requests it.
 */
#ifndef SONDE_ANALYZE_COLUMNS_H
#define SONDE_ANALYZE_COLUMNS_H

#include "analyze/pass.h"

enum analyze_io_column {
	IO_BYTES = 1,   /* transferred; null if the call transfers none or the number is unknown */
	IO_PATH,        /* path number, 0: none */
	IO_PATH2,       /* path number of the second path */
	IO_FILE,        /* like IO_PATH, null for none: for counting */
	IO_KIND,        /* enum call_kind */
	IO_PATTERN,     /* enum analyze_pattern */
	IO_IS_ERROR,    /* 1 or 0 */
	IO_IS_SMALL,    /* 1: transferred data, less than ANALYZE_SMALL_BYTES */
	IO_IS_BUFFERED, /* 1: stdio, which combines many small calls into few large ones */
	IO_SET,         /* number of the layer set */
	IO_BUCKET,      /* time bucket, 0 .. ANALYZE_BUCKETS - 1; null outside */
	IO_COLUMNS
};

enum analyze_span_column { SPAN_SET = 1, SPAN_COLUMNS };

/* Position of a read or write relative to the previous one on the same file by the same thread, within a block. */
enum analyze_pattern {
	PATTERN_NONE,       /* no data, unknown offset, or first access */
	PATTERN_SEQUENTIAL, /* starts where the previous one ended */
	PATTERN_STRIDED,    /* same distance as between the two before */
	PATTERN_RANDOM,     /* elsewhere */
	PATTERNS
};

#define ANALYZE_SMALL_BYTES 4096

int analyze_columns_new(struct analyze *a, struct sonde_err *err);
void analyze_columns_free(struct analyze_columns *c);
/* Returns the column number in the table's plan; negative if the run lacks the table. */
int analyze_io_column(struct analyze *a, enum analyze_io_column column);
int analyze_span_column(struct analyze *a, enum analyze_span_column column);

#endif
