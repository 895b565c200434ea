/*
 * result: the result of an analysis, as sections of fields and tables.
 *
 * The same result is printed as text, written as JSON and shown by the web page. A value has a unit; only the output
 * code formats it. A section without data has the reason in `absent`. All memory is in the result's arena. The
 * functions that add return no error: the first failed allocation is kept in `error`.
 */
#ifndef SONDE_RESULT_RESULT_H
#define SONDE_RESULT_RESULT_H

#include "base/arena.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum analyze_unit {
	ANALYZE_COUNT,  /* integer */
	ANALYZE_ID,     /* integer that is not a count, such as a pid */
	ANALYZE_NS,     /* integer nanoseconds */
	ANALYZE_SUM_NS, /* the same, summed over threads: not a share of the wall time */
	ANALYZE_BYTES,  /* integer */
	ANALYZE_RATIO,  /* real, 1 = 100 % */
	ANALYZE_REAL,
	ANALYZE_TEXT,
};

struct analyze_value {
	bool is_null;
	union {
		int64_t integer;
		double real;
		struct store_text text;
	};
};

struct analyze_column {
	const char *key;   /* in JSON: "total_ns" */
	const char *title; /* column heading in text, "TIME"; NULL: JSON only */
	enum analyze_unit unit;
};

struct analyze_field {
	struct analyze_column column;
	struct analyze_value value;
	struct analyze_field *next;
};

enum analyze_flags {
	ANALYZE_DETAIL = 1 << 0, /* only in JSON and full reports, not in the one-screen summary */
};

struct analyze_table {
	struct analyze_column name; /* key and title of the table */
	const struct analyze_column *columns;
	size_t column_count;
	unsigned flags;
	size_t rows;                  /* rows in values */
	size_t all_rows;              /* rows before truncation */
	struct analyze_value *values; /* row by row */
	struct analyze_table *next;
	/* private */
	size_t value_count, value_cap;
	struct analyze_result *result;
};

struct analyze_section {
	const char *key, *title;
	const char *absent; /* reason, without full stop, why the section is empty; NULL: it has data */
	bool is_top;        /* in JSON its fields are members of the top-level object */
	bool is_list;       /* in JSON it is its only table, as an array */
	struct analyze_field *fields, *last_field;
	struct analyze_table *tables, *last_table;
	struct analyze_section *next;
	struct analyze_result *result;
};

struct analyze_result {
	struct analyze_section *sections, *last;
	struct arena arena;
	int error;
};

void analyze_result_release(struct analyze_result *r);

/* NULL only when out of memory; the functions below accept NULL. */
struct analyze_section *analyze_section(struct analyze_result *r, const char *key, const char *title);
void analyze_absent(struct analyze_section *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* STORE_NULL, NaN and NULL are written as null. */
void analyze_int(struct analyze_section *s, const char *key, const char *title, enum analyze_unit unit, int64_t v);
void analyze_real(struct analyze_section *s, const char *key, const char *title, enum analyze_unit unit, double v);
void analyze_text(struct analyze_section *s, const char *key, const char *title, const char *v);

struct analyze_table *analyze_table(struct analyze_section *s, const char *key, const char *title,
		const struct analyze_column *columns, size_t column_count, unsigned flags);
/* Cells of a row, left to right. */
void analyze_cell_int(struct analyze_table *t, int64_t v);
void analyze_cell_real(struct analyze_table *t, double v);
void analyze_cell_text(struct analyze_table *t, const char *v);
void analyze_cell_bytes(struct analyze_table *t, const struct store_text *v);

/* For consumers of results. */
const struct analyze_section *analyze_find(const struct analyze_result *r, const char *key);
const struct analyze_value *analyze_find_field(const struct analyze_section *s, const char *key);

struct json;
/* Writes the members of an object that the caller opens and closes. The member "reasons" explains the null values. */
void analyze_write_json(const struct analyze_result *r, struct json *j);

#endif
