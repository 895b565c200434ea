/*
 * term: how commands write for people.
 *
 * Colour goes to terminals only, never when NO_COLOR is set to anything or TERM
 * is "dumb". Widths count characters (UTF-8 code points), not bytes. Text from
 * outside (paths, names) may hold control characters: tables show them as '?',
 * other callers use term_safe. Numbers are right-aligned, units are spelled.
 */
#ifndef SONDE_RESULT_TERM_H
#define SONDE_RESULT_TERM_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a stream's other end can show. */
struct term {
	bool is_terminal;
	bool has_colour;
	size_t width; /* columns: the terminal's, else COLUMNS, else 80 */
};

struct term term_of(FILE *stream);

enum term_style {
	TERM_PLAIN,
	TERM_BOLD,
	TERM_DIM,
	TERM_GREEN,
	TERM_YELLOW,
	TERM_RED,
	TERM_CYAN,
};

/* text in style; without colour the text alone */
void term_add(struct buf *out, const struct term *term, enum term_style style, const char *text);
/* text with control characters and broken UTF-8 as '?' */
void term_safe(struct buf *out, const char *text);
/* How many columns text takes. */
size_t term_columns(const char *text);
/* text wrapped at blanks to columns indent..width; the first line is already at column `at`. No newline at the end.
 * Less than 20 columns of room: not wrapped. */
void term_wrap(struct buf *out, const char *text, size_t at, size_t indent, size_t width);

/*
 * A table: cells row by row, printed at once with each column as wide as its
 * widest cell and two blanks between. The last column may wrap to the width.
 * Cells are copied. Titles all NULL: no heading line.
 */
enum term_align { TERM_LEFT, TERM_RIGHT };

struct term_column {
	const char *title;
	enum term_align align;
	bool is_wrapped; /* last column only: long text goes on below itself on terminals */
};

struct term_table {
	/* private */
	struct arena arena;
	const struct term_column *columns;
	size_t column_count;
	struct term_cell *first, *last;
	size_t cell_count;
	int error;
};

void term_table_init(struct term_table *t, const struct term_column *columns, size_t column_count);
void term_table_release(struct term_table *t);
void term_table_cell(struct term_table *t, enum term_style style, const char *text);
void term_table_cellf(struct term_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0, or -ENOMEM when a cell or the text did not fit into memory. */
int term_table_write(struct term_table *t, struct buf *out, const struct term *term);
int term_table_print(struct term_table *t, FILE *stream);

/*
 * Human formats, in three significant digits; exact below a thousand:
 *   bytes "512 B", "1.50 MiB"; ns "850 ns", "1.23 ms", "12.3 s", "2 h 05 min"; count "999", "12.3 k", "4.56 M".
 * They return `text`.
 */
#define TERM_TEXT 32
char *term_bytes(char text[TERM_TEXT], uint64_t bytes);
char *term_ns(char text[TERM_TEXT], int64_t ns);
char *term_count(char text[TERM_TEXT], uint64_t count);

/*
 * One line on stderr that replaces itself, on terminals only and at most ten
 * times a second. End it before printing anything else there.
 */
struct term_progress {
	/* private */
	bool is_on;
	bool is_shown;
	size_t width;
	int64_t next_ns;
};

void term_progress_init(struct term_progress *p);
void term_progress_show(struct term_progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void term_progress_end(struct term_progress *p); /* the line is gone */

#endif
