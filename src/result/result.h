/*
 * result: what an analysis found, as sections of fields and tables.
 *
 * The same result is printed for people, written as JSON and shown by the web
 * page; a value has a unit and nobody but the reader formats it. A section that
 * has nothing because the data is absent says why. Everything lives in the
 * result's arena. Functions that add do not report: the first lack of memory is
 * kept in `error`.
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
	ANALYZE_ID,     /* integer that counts nothing: a pid */
	ANALYZE_NS,     /* integer nanoseconds */
	ANALYZE_SUM_NS, /* the same, of several threads added up: no part of the wall time */
	ANALYZE_BYTES,  /* integer */
	ANALYZE_RATIO,  /* real, 1 is the whole */
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
	const char *title; /* for people: "TIME"; NULL: they are not shown it */
	enum analyze_unit unit;
};

struct analyze_field {
	struct analyze_column column;
	struct analyze_value value;
	struct analyze_field *next;
};

enum analyze_flags {
	ANALYZE_DETAIL = 1 << 0, /* not on the one screen, only in JSON and longer reports */
};

struct analyze_table {
	struct analyze_column name; /* key and title of the table */
	const struct analyze_column *columns;
	size_t column_count;
	unsigned flags;
	size_t rows;                  /* in values */
	size_t all_rows;              /* that there were before the list was cut */
	struct analyze_value *values; /* row by row */
	struct analyze_table *next;
	/* private */
	size_t value_count, value_cap;
	struct analyze_result *result;
};

struct analyze_section {
	const char *key, *title;
	const char *absent; /* one sentence (no full stop) why there is nothing; NULL: there is something */
	bool is_top;        /* its fields stand beside the sections in JSON, not inside */
	bool is_list;       /* it is its only table */
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

/* NULL only when out of memory; the functions below take that. */
struct analyze_section *analyze_section(struct analyze_result *r, const char *key, const char *title);
void analyze_absent(struct analyze_section *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* STORE_NULL, NaN and NULL are null. */
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

/* For those who read results. */
const struct analyze_section *analyze_find(const struct analyze_result *r, const char *key);
const struct analyze_value *analyze_find_field(const struct analyze_section *s, const char *key);

struct json;
/* The members of an object, which the caller opens and closes; "reasons" among them, with why others are null. */
void analyze_write_json(const struct analyze_result *r, struct json *j);

#endif
