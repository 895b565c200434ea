/*
 * columns: what rows of calls and spans mean, as derived columns that passes
 * share: bytes moved, path, kind of call, access pattern, layers, time bucket.
 *
 * Each is added to the plan of its table when a pass first asks for it.
 */
#ifndef SONDE_ANALYZE_COLUMNS_H
#define SONDE_ANALYZE_COLUMNS_H

#include "analyze/pass.h"

enum analyze_io_column {
	IO_BYTES = 1,   /* moved; null when the call moves or moved none, or their number is unknown */
	IO_PATH,        /* number of the path, 0: none */
	IO_PATH2,       /* of the second one */
	IO_FILE,        /* the same, null for none: to count them */
	IO_KIND,        /* enum call_kind */
	IO_PATTERN,     /* enum analyze_pattern */
	IO_IS_ERROR,    /* 1 or 0 */
	IO_IS_SMALL,    /* 1: moved data, and less than ANALYZE_SMALL_BYTES */
	IO_IS_BUFFERED, /* 1: of stdio, which makes few large calls of many small ones */
	IO_SET,         /* number of the set of layers */
	IO_BUCKET,      /* of time, 0 .. ANALYZE_BUCKETS - 1; null outside */
	IO_COLUMNS
};

enum analyze_span_column { SPAN_SET = 1, SPAN_COLUMNS };

/* Where a read or write lies after the one before it on the same file by the same thread, within a block. */
enum analyze_pattern {
	PATTERN_NONE,       /* no data, no offset known, or none before it */
	PATTERN_SEQUENTIAL, /* where the one before ended */
	PATTERN_STRIDED,    /* as far from the one before as that from its own */
	PATTERN_RANDOM,     /* elsewhere */
	PATTERNS
};

#define ANALYZE_SMALL_BYTES 4096

int analyze_columns_new(struct analyze *a, struct sonde_err *err);
void analyze_columns_free(struct analyze_columns *c);
/* The number of the column in the table's plan; negative when there is no such table. */
int analyze_io_column(struct analyze *a, enum analyze_io_column column);
int analyze_span_column(struct analyze *a, enum analyze_span_column column);

#endif
