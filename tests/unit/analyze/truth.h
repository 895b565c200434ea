/*
 * truth: runs with known contents, and what an analysis must report of them.
 *
 *	struct truth t;
 *	truth_start(&t);
 *	truth_row(&t, "io", "ts_ns dur_ns call", "%d 100 read", 1000);      one row; other columns are null
 *	truth_analyze(&t, NULL);
 *	truth_expect(&t, "io", "calls 1\n...");
 *	truth_end(&t);
 *
 * The run starts at 1000 ns and lasts a second. A section is compared as text: its fields in order, `absent REASON` if
 * it has none, and each table with its rows; '-' is null. Reals have six significant digits.
 */
#ifndef SONDE_TEST_ANALYZE_TRUTH_H
#define SONDE_TEST_ANALYZE_TRUTH_H

#include "bundle.h"

#include "analyze/analyze.h"

#define T0 1000
#define MS 1000000LL
#define S 1000000000LL

struct truth {
	struct bundle bundle;
	struct model_run *run;
	struct analyze *a;
	const struct analyze_result *result;
};

void truth_start(struct truth *t);
/* Columns and values are separated by blanks. A value is a number, '-' or, where the column has a string, a word. */
void truth_row(struct truth *t, const char *table, const char *columns, const char *values, ...)
		__attribute__((format(printf, 4, 5)));
/* A call on a file: start and duration in ns since the start of the run; file 0: none. */
void truth_call(struct truth *t, const char *call, int64_t at_ns, int64_t dur_ns, int64_t file, int64_t ret);
/* A function with a stack of its own below the parent stack (0: none), by number from 1; module 1: [kernel], 2: the
 * program, 3: libc. */
void truth_stack(struct truth *t, int64_t stack, int64_t parent, int module, const char *function);
void truth_modules(struct truth *t);

void truth_open(struct truth *t);                                     /* after all rows; implied by truth_analyze */
void truth_analyze(struct truth *t, const struct analyze_opts *opts); /* NULL: defaults; may be repeated */
void truth_end(struct truth *t);

void truth_expect(struct truth *t, const char *section, const char *text);
/* The rows of one table, or one field. */
void truth_table(struct truth *t, const char *section, const char *table, const char *text);
void truth_field(struct truth *t, const char *section, const char *field, int64_t value);
/* One cell: the row whose cell in the first column is `row`; "" if there is none. Valid until the next call. */
const char *truth_cell(struct truth *t, const char *section, const char *table, const char *row, const char *column);
bool truth_has_finding(struct truth *t, const char *rule);

#endif
