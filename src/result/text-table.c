/*
 * text-table: cells are collected, measured, then written row by row.
 */
#include "base/cleanup.h"
#include "result/term.h"

#include <errno.h>
#include <stdarg.h>

#define GAP 2

struct term_cell {
	struct term_cell *next;
	const char *text;
	size_t columns;
	enum term_style style;
};

void term_table_init(struct term_table *t, const struct term_column *columns, size_t column_count)
{
	*t = (struct term_table){ .arena = ARENA_INIT, .columns = columns, .column_count = column_count };
}

void term_table_release(struct term_table *t)
{
	arena_release(&t->arena);
	term_table_init(t, t->columns, t->column_count);
}

void term_table_cell(struct term_table *t, enum term_style style, const char *text)
{
	CLEANUP(buf_release) struct buf safe = BUF_INIT;
	struct term_cell *cell = arena_alloc(&t->arena, sizeof(*cell));

	term_safe(&safe, text);
	if (cell)
		cell->text = arena_copy(&t->arena, safe.data, safe.len);
	if (buf_error(&safe) || !cell || !cell->text) {
		t->error = -ENOMEM;
		return;
	}
	cell->style = style;
	cell->columns = term_columns(cell->text);
	if (t->last)
		t->last->next = cell;
	else
		t->first = cell;
	t->last = cell;
	t->cell_count++;
}

void term_table_cellf(struct term_table *t, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (buf_error(&text))
		t->error = -ENOMEM;
	term_table_cell(t, TERM_PLAIN, text.data);
}

static bool has_titles(const struct term_table *t)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].title)
			return true;
	return false;
}

/* The column of the next cell; after the last column, the first one. */
static size_t next_column(const struct term_table *t, size_t column)
{
	return column + 1 < t->column_count ? column + 1 : 0;
}

static size_t *measure(struct term_table *t)
{
	size_t *widths = arena_alloc(&t->arena, t->column_count * sizeof(*widths)), column = 0;

	if (!widths)
		return NULL;
	for (size_t i = 0; i < t->column_count; i++)
		widths[i] = t->columns[i].title ? term_columns(t->columns[i].title) : 0;
	for (const struct term_cell *cell = t->first; cell; cell = cell->next) {
		if (cell->columns > widths[column])
			widths[column] = cell->columns;
		column = next_column(t, column);
	}
	return widths;
}

struct pen {
	struct buf *out;
	const struct term *term;
	const struct term_table *table;
	const size_t *widths;
	size_t at; /* column on the screen */
};

static void pad(struct pen *pen, size_t n)
{
	buf_addf(pen->out, "%*s", (int)n, "");
	pen->at += n;
}

static void write_wrapped(struct pen *pen, const struct term_cell *cell)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	term_wrap(&text, cell->text, pen->at, pen->at, pen->term->width);
	term_add(pen->out, pen->term, cell->style, text.data);
}

static void write_cell(struct pen *pen, size_t column, const struct term_cell *cell)
{
	const struct term_column *kind = &pen->table->columns[column];
	bool is_last = column + 1 == pen->table->column_count;
	size_t fill = pen->widths[column] - cell->columns;

	if (kind->align == TERM_RIGHT)
		pad(pen, fill);
	if (is_last && kind->is_wrapped && pen->term->is_terminal)
		write_wrapped(pen, cell);
	else
		term_add(pen->out, pen->term, cell->style, cell->text);
	pen->at += cell->columns;
	if (is_last) {
		buf_addc(pen->out, '\n');
		pen->at = 0;
		return;
	}
	pad(pen, kind->align == TERM_LEFT ? fill + GAP : GAP);
}

static void write_titles(struct pen *pen)
{
	for (size_t i = 0; i < pen->table->column_count; i++) {
		const char *title = pen->table->columns[i].title ? pen->table->columns[i].title : "";
		struct term_cell cell = { .text = title, .columns = term_columns(title), .style = TERM_BOLD };

		write_cell(pen, i, &cell);
	}
}

/* Empty last cells leave trailing blanks; remove them. */
static void trim_line(struct buf *out)
{
	size_t len = out->len;

	if (len == 0 || out->data[len - 1] != '\n')
		return;
	while (len >= 2 && out->data[len - 2] == ' ')
		len--;
	if (len == out->len)
		return;
	out->data[len - 1] = '\n';
	out->data[len] = '\0';
	out->len = len;
}

int term_table_write(struct term_table *t, struct buf *out, const struct term *term)
{
	struct pen pen = { .out = out, .term = term, .table = t, .widths = measure(t) };
	size_t column = 0;

	if (t->error || !pen.widths)
		return -ENOMEM;
	if (has_titles(t))
		write_titles(&pen);
	for (const struct term_cell *cell = t->first; cell; cell = cell->next) {
		write_cell(&pen, column, cell);
		column = next_column(t, column);
		if (column == 0)
			trim_line(out);
	}
	return buf_error(out);
}

int term_table_print(struct term_table *t, FILE *stream)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct term term = term_of(stream);
	int rc = term_table_write(t, &text, &term);

	if (!rc)
		fwrite(text.data, 1, text.len, stream);
	return rc;
}
