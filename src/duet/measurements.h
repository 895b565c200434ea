/*
 * table: iterations as result files tell them: the columns everybody has, and whatever else a file knows.
 *
 * Cells are text, as they came; absent cells are NULL. Columns are in the order in which they were first seen.
 * Everything lives in the table's arena.
 */
#ifndef SONDE_DUET_MEASUREMENTS_H
#define SONDE_DUET_MEASUREMENTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "duet/duet.h"

enum { DUET_COLUMNS_MAX = 256, DUET_ROWS_MAX = 1 << 22 };

struct duet_row {
	const char *suite, *benchmark, *type, *order; /* type: duet, syncduet or seqn */
	char pair;                                    /* 'A' or 'B'; 0: not known */
	int64_t runid;
	int64_t iteration;
	size_t source;                 /* runs of one number and another source are others: a directory's, a table's */
	int64_t start_ns, end_ns;      /* INT64_MIN: not known */
	double time_ns, cpu_ns, value; /* NaN: not known; short loops are told in parts of a ns */
	const char **cells;            /* cell_count of them, by column */
	size_t cell_count;
};

struct duet_table {
	struct duet_row *rows;
	size_t count;
	const char *columns[DUET_COLUMNS_MAX];
	size_t column_count;
	struct arena arena;
	/* private */
	struct map names;
	size_t capacity;
};

#define DUET_TABLE_INIT { .arena = ARENA_INIT, .names = MAP_INIT }
#define DUET_UNKNOWN_NS INT64_MIN
#define DUET_NS_FORMAT "%.15g" /* of a time: a whole number where it is one */

void duet_table_release(struct duet_table *t);
/* A new row, everything unknown; NULL: no memory, or DUET_ROWS_MAX. Valid until the next. */
struct duet_row *duet_table_add(struct duet_table *t);
/* The number of a column, made when new; SIZE_MAX: too many, or no memory. */
size_t duet_table_column(struct duet_table *t, const char *name);
/* Put a cell; silently left out beyond DUET_COLUMNS_MAX columns. 0 or -ENOMEM. */
int duet_table_put(struct duet_table *t, struct duet_row *row, const char *column, const char *text);
int duet_table_putf(struct duet_table *t, struct duet_row *row, const char *column, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));

/* As the original's duetprocess writes them: a header line and a row an iteration; as records. */
void duet_table_csv(const struct duet_table *t, struct buf *out);
void duet_table_json(const struct duet_table *t, struct buf *out);

/* A field of CSV, quoted where it has to be; NULL: empty. */
void duet_csv_cell(struct buf *out, const char *text);
/* A line of CSV into fields, quotes honoured; changes `line`. Returns how many, at most `most`. */
size_t duet_csv_split(char *line, char **fields, size_t most);

#endif
