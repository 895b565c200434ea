/*
 * result: what a command prints, as sections of fields and tables.
 *
 * The same result is printed as text (result-text.c), written as JSON (result-json.c) and shown by the web page. A
 * value has a unit; only the output code formats it. A field, column or table without a title is in JSON only, one
 * without a key in text only. A section without data has the reason in `absent`. All memory is in the result's arena.
 * The functions that add return no error: the first failed allocation is kept in `error`.
 */
#ifndef SONDE_RESULT_RESULT_H
#define SONDE_RESULT_RESULT_H

#include "base/arena.h"
#include "result/term.h"
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
	ANALYZE_BOOL,
	ANALYZE_TEXT,
	ANALYZE_JSON,     /* text: one valid JSON value, for JSON only */
	ANALYZE_ESTIMATE, /* a real number, in the unit of its cell */
	ANALYZE_INTERVAL, /* an estimate with its confidence interval; in JSON the keys "lo" and "hi" follow its own */
};

struct analyze_interval {
	enum analyze_unit unit;
	double estimate, lo, hi; /* NaN: unknown */
};

struct analyze_value {
	bool is_null;
	union {
		int64_t integer;
		double real;
		struct store_text text;
		const struct analyze_interval *interval;
	};
};

enum analyze_column_flags {
	ANALYZE_FIRST = 1 << 0,  /* text: before the other columns */
	ANALYZE_LAST = 1 << 1,   /* text: after the other columns */
	ANALYZE_WRAP = 1 << 2,   /* text: wraps on terminals, if it is the last column */
	ANALYZE_SIGNED = 1 << 3, /* text: a change, always with its sign */
};

struct analyze_column {
	const char *key;   /* in JSON: "total_ns"; NULL: text only */
	const char *title; /* column heading in text, "TIME"; NULL: JSON only */
	enum analyze_unit unit;
	unsigned flags;
};

struct analyze_field {
	struct analyze_column column;
	struct analyze_value value;
	struct analyze_field *next;
};

enum analyze_flags {
	ANALYZE_DETAIL = 1 << 0, /* only in JSON */
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
	const char *note;   /* text: a line after the fields */
	bool is_top;        /* in JSON its fields and tables are members of the top-level object */
	bool is_list;       /* in JSON it is its only table, as an array */
	bool is_lines;      /* text: each field on a line, after its title */
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
void analyze_json(struct analyze_section *s, const char *key, const char *json, size_t n);
void analyze_interval(struct analyze_section *s, const char *key, const char *title, struct analyze_interval v);
void analyze_note(struct analyze_section *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct analyze_table *analyze_table(struct analyze_section *s, const char *key, const char *title,
		const struct analyze_column *columns, size_t column_count, unsigned flags);
/* Cells of a row, left to right. */
void analyze_cell_int(struct analyze_table *t, int64_t v);
void analyze_cell_real(struct analyze_table *t, double v);
void analyze_cell_text(struct analyze_table *t, const char *v);
void analyze_cell_bytes(struct analyze_table *t, const struct store_text *v);
void analyze_cell_interval(struct analyze_table *t, struct analyze_interval v);

/* For consumers of results. */
const struct analyze_section *analyze_find(const struct analyze_result *r, const char *key);
const struct analyze_value *analyze_find_field(const struct analyze_section *s, const char *key);

struct json;
/* Writes the members of an object that the caller opens and closes. The member "reasons" explains the null values. */
void analyze_write_json(const struct analyze_result *r, struct json *j);
/* Writes one object without "reasons", and a newline. Returns 0 or -ENOMEM. */
int result_write_json(const struct analyze_result *r, struct buf *out);

/* Text. */
struct result_page {
	struct buf *out;
	const struct term *term;
	int64_t wall_ns;     /* times are printed as shares of it too; STORE_NULL: not */
	size_t cell_columns; /* longer cells are truncated; 0: none */
	const char *all;     /* the option that prints all rows of a list; NULL: --top N */
};

/* A value in its unit; "-" if it is null. */
void result_add_value(struct buf *out, enum analyze_unit unit, const struct analyze_value *v);
/* "I/O 39.3 s (69 %)", after a comma if the line is not empty. */
void result_add_field(const struct result_page *p, struct buf *line, const char *title, const struct analyze_field *f);
/* All fields that have a title and a value, wrapped. */
void result_add_fields(const struct result_page *p, const struct analyze_section *s);
void result_add_heading(const struct result_page *p, const char *title);
/* A long name ends with "..." or, if it is a path, begins with it. */
void result_truncate(struct buf *cell, size_t most);
/* A section with something to print: heading, fields, note, tables. */
int result_add_section(const struct result_page *p, const struct analyze_section *s);
/* All sections; the heading of the first is omitted if it has no title. */
int result_write_text(const struct analyze_result *r, const struct result_page *p);

/* The summary of an analysis (summary-text.c): in 40 lines of 100 columns, or in full. Returns 0 or -ENOMEM. */
int summary_write_text(const struct analyze_result *r, bool is_full, struct buf *out, const struct term *term);

#endif
