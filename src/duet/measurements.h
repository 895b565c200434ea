/*
 * measurements: iterations from result files: the common columns, and any others of a file.
 *
 * Cells are text, unmodified; absent cells are NULL. Columns are in order of first appearance. All memory is in the
 * table's arena.
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
	char pair;                                    /* 'A' or 'B'; 0: unknown */
	int64_t runid;
	int64_t iteration;
	bool is_repetition;       /* an execution of its own, not one iteration of a process: it is judged as a run */
	size_t source;            /* directory or table; distinguishes runs with the same number */
	int64_t start_ns, end_ns; /* INT64_MIN: unknown */
	double time_ns, cpu_ns, value; /* NaN: unknown; short loops have fractions of a ns */
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
#define DUET_NS_FORMAT "%.15g" /* of a time: without a fraction if it is an integer */

void duet_table_release(struct duet_table *t);
/* Adds a row with all fields unknown; NULL if out of memory or at DUET_ROWS_MAX. Valid until the next call. */
struct duet_row *duet_table_add(struct duet_table *t);
/* Returns the index of a column, created if missing; SIZE_MAX if too many or out of memory. */
size_t duet_table_column(struct duet_table *t, const char *name);
/* Sets a cell; ignored beyond DUET_COLUMNS_MAX columns. 0 or -ENOMEM. */
int duet_table_put(struct duet_table *t, struct duet_row *row, const char *column, const char *text);
int duet_table_putf(struct duet_table *t, struct duet_row *row, const char *column, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));

/* In the format of duetbench's duetprocess: a header line and a row per iteration; as records. */
void duet_table_csv(const struct duet_table *t, struct buf *out);
void duet_table_json(const struct duet_table *t, struct buf *out);

/* Appends a CSV field, quoted if needed; NULL: empty. */
void duet_csv_cell(struct buf *out, const char *text);
/* Splits a line of CSV into fields, with quotes; modifies `line`. Returns their number, at most `most`. */
size_t duet_csv_split(char *line, char **fields, size_t most);

#endif
