/*
 * term: terminal output of the commands.
 *
 * Colors are used only on terminals, never if NO_COLOR is set or TERM is "dumb". Widths count characters (UTF-8 code
 * points), not bytes. External text (paths, names) may contain control characters: tables print them as '?', other
 * callers use term_safe. Numbers are right-aligned and have units.
 */
#ifndef SONDE_RESULT_TERM_H
#define SONDE_RESULT_TERM_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Capabilities of a stream. */
struct term {
	bool is_terminal;
	bool has_colour;
	size_t width; /* columns of the terminal, else COLUMNS, else 80 */
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

/* Appends text in style; plain text if colors are off. */
void term_add(struct buf *out, const struct term *term, enum term_style style, const char *text);
/* Appends text with control characters and malformed UTF-8 replaced by '?'. */
void term_safe(struct buf *out, const char *text);
/* Returns the display width of text in columns. */
size_t term_columns(const char *text);
/* Appends text wrapped at blanks to columns indent..width; the first line starts at column `at`. No newline at the
 * end. Does not wrap into less than 20 columns. */
void term_wrap(struct buf *out, const char *text, size_t at, size_t indent, size_t width);

/*
 * A table: cells row by row, printed at once. Each column is as wide as its widest cell, with two blanks between
 * columns. The last column may wrap to the width. Cells are copied. If all titles are NULL, no heading is printed.
 */
enum term_align { TERM_LEFT, TERM_RIGHT };

struct term_column {
	const char *title;
	enum term_align align;
	bool is_wrapped; /* last column only: long text wraps on terminals */
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
/* Returns 0, or -ENOMEM if a cell or the text could not be allocated. */
int term_table_write(struct term_table *t, struct buf *out, const struct term *term);
int term_table_print(struct term_table *t, FILE *stream);

/*
 * Human-readable numbers, with three significant digits; exact below a thousand:
 *   bytes "512 B", "1.50 MiB"; ns "850 ns", "1.23 ms", "12.3 s", "2 h 05 min"; count "999", "12.3 k", "4.56 M".
 * They return `text`.
 */
#define TERM_TEXT 32
char *term_bytes(char text[TERM_TEXT], uint64_t bytes);
char *term_ns(char text[TERM_TEXT], int64_t ns);
char *term_count(char text[TERM_TEXT], uint64_t count);

/*
 * A progress line on stderr, on terminals only, updated at most ten times a second. Call term_progress_end before
 * printing anything else to stderr.
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
void term_progress_end(struct term_progress *p); /* erases the line */

#endif
