/*
 * term: colors, widths, numbers, tables and the progress line.
 */
#include "result/term.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WRAP_ROOM_MIN 20
#define PROGRESS_EVERY_NS 100000000

static const char *const styles[] = {
	[TERM_PLAIN] = "",
	[TERM_BOLD] = "\033[1m",
	[TERM_DIM] = "\033[2m",
	[TERM_GREEN] = "\033[32m",
	[TERM_YELLOW] = "\033[33m",
	[TERM_RED] = "\033[31m",
	[TERM_CYAN] = "\033[36m",
};

struct term term_of(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM"), *columns = getenv("COLUMNS");
	unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;
	int fd = fileno(stream);
	struct term term = { .is_terminal = isatty(fd), .width = n > 0 && n <= 10000 ? n : WIDTH_DEFAULT };

	term.has_colour = term.is_terminal && !(no_color && *no_color) && kind && strcmp(kind, "dumb") != 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		term.width = size.ws_col;
	return term;
}

void term_add(struct buf *out, const struct term *term, enum term_style style, const char *text)
{
	bool is_styled = term->has_colour && style != TERM_PLAIN;

	buf_adds(out, is_styled ? styles[style] : "");
	buf_adds(out, text);
	buf_adds(out, is_styled ? "\033[0m" : "");
}

/* Returns the length of the well-formed UTF-8 sequence at text; 0 if it is malformed or a control character. */
static size_t printable(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t n = c[0] < 0x80                        ? 1
			: c[0] >= 0xc2 && c[0] < 0xe0 ? 2
			: (c[0] & 0xf0) == 0xe0       ? 3
			: c[0] >= 0xf0 && c[0] < 0xf5 ? 4
						      : 0;

	if (n == 1)
		return c[0] >= 0x20 && c[0] != 0x7f;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if (c[0] == 0xc2 && c[1] < 0xa0) /* C1 controls */
		return 0;
	return n;
}

void term_safe(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = printable(text);

		buf_add(out, n ? text : "?", n ? n : 1);
		text += n ? n : 1;
	}
}

size_t term_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static size_t columns_of(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

void term_wrap(struct buf *out, const char *text, size_t at, size_t indent, size_t width)
{
	bool is_start = true;

	if (width < indent + WRAP_ROOM_MIN) {
		buf_adds(out, text);
		return;
	}
	while (*text) {
		size_t len = strcspn(text, " "), columns = columns_of(text, len);

		if (!is_start && at + 1 + columns > width) {
			buf_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!is_start) {
			buf_addc(out, ' ');
			at++;
		}
		buf_add(out, text, len);
		at += columns;
		text += len + (text[len] == ' ');
		is_start = false;
	}
}

void term_progress_init(struct term_progress *p)
{
	struct term term = term_of(stderr);
	const char *kind = getenv("TERM");

	*p = (struct term_progress){ .is_on = term.is_terminal && kind && strcmp(kind, "dumb") != 0,
		.width = term.width };
}

/* Bytes of text that fill at most `columns` columns. */
static size_t cut(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++) {
		bool is_head = ((unsigned char)text[i] & 0xc0) != 0x80;

		if (is_head && columns-- == 0)
			break;
	}
	return i;
}

void term_progress_show(struct term_progress *p, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(buf_release) struct buf safe = BUF_INIT;
	int64_t now_ns;
	va_list ap;

	if (!p->is_on)
		return;
	now_ns = clock_mono_ns();
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + PROGRESS_EVERY_NS;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	term_safe(&safe, text.data);
	fprintf(stderr, "\r%.*s\033[K", (int)cut(safe.data, p->width - 1), safe.data);
	fflush(stderr);
	p->is_shown = true;
}

void term_progress_end(struct term_progress *p)
{
	if (p->is_shown)
		fputs("\r\033[K", stderr);
	p->is_shown = false;
}

/* Numbers. */

struct unit {
	double above; /* smallest value that is written in this unit */
	double factor;
	const char *name;
};

/* Units from the largest down; the first one with `above` <= value is used. `above` is half of the last
 * digit below the unit, so that 999.96 k becomes 1.00 M, not 1000 k. */
static const struct unit byte_units[] = {
	{ 1023.5 * 1024 * 1024 * 1024, 1024.0 * 1024 * 1024 * 1024, " TiB" },
	{ 1023.5 * 1024 * 1024, 1024.0 * 1024 * 1024, " GiB" },
	{ 1023.5 * 1024, 1024.0 * 1024, " MiB" },
	{ 1024, 1024, " KiB" },
	{ 0, 1, " B" },
};

static const struct unit ns_units[] = {
	{ 999.5e6, 1e9, " s" },
	{ 999.5e3, 1e6, " ms" },
	{ 1000, 1e3, " us" },
	{ 0, 1, " ns" },
};

static const struct unit count_units[] = {
	{ 999.5e9, 1e12, " T" },
	{ 999.5e6, 1e9, " G" },
	{ 999.5e3, 1e6, " M" },
	{ 1000, 1e3, " k" },
	{ 0, 1, "" },
};

static char *in_units(char text[TERM_TEXT], double value, const struct unit *unit)
{
	double scaled;

	while (value < unit->above)
		unit++;
	scaled = value / unit->factor;
	snprintf(text, TERM_TEXT, "%.*f%s",
			unit->factor == 1 || scaled >= 99.95 ? 0
					: scaled >= 9.995    ? 1
							     : 2,
			scaled, unit->name);
	return text;
}

char *term_bytes(char text[TERM_TEXT], uint64_t bytes)
{
	return in_units(text, (double)bytes, byte_units);
}

char *term_count(char text[TERM_TEXT], uint64_t count)
{
	return in_units(text, (double)count, count_units);
}

char *term_ns(char text[TERM_TEXT], int64_t ns)
{
	enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400 };
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, s = size / 1000000000;
	char *start = text;

	if (ns < 0)
		*text++ = '-';
	if (s < 100)
		in_units(text, (double)size, ns_units);
	else if (s < HOUR_S)
		snprintf(text, TERM_TEXT - 1, "%d min %02d s", (int)(s / MINUTE_S), (int)(s % MINUTE_S));
	else if (s < DAY_S)
		snprintf(text, TERM_TEXT - 1, "%d h %02d min", (int)(s / HOUR_S), (int)(s % HOUR_S / MINUTE_S));
	else
		snprintf(text, TERM_TEXT - 1, "%llu d %02d h", (unsigned long long)(s / DAY_S),
				(int)(s % DAY_S / HOUR_S));
	return start;
}

/* Tables. */

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

static void write_cell(struct pen *pen, size_t column, const struct term_cell *cell)
{
	const struct term_column *kind = &pen->table->columns[column];
	bool is_last = column + 1 == pen->table->column_count;
	size_t fill = pen->widths[column] - cell->columns;

	if (kind->align == TERM_RIGHT)
		pad(pen, fill);
	if (is_last && kind->is_wrapped && pen->term->is_terminal) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		term_wrap(&text, cell->text, pen->at, pen->at, pen->term->width);
		term_add(pen->out, pen->term, cell->style, text.data);
	} else {
		term_add(pen->out, pen->term, cell->style, cell->text);
	}
	pen->at += cell->columns;
	if (is_last) {
		buf_addc(pen->out, '\n');
		pen->at = 0;
		return;
	}
	pad(pen, kind->align == TERM_LEFT ? fill + GAP : GAP);
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
	bool has_titles = false;

	if (t->error || !pen.widths)
		return -ENOMEM;
	for (size_t i = 0; i < t->column_count; i++)
		has_titles |= t->columns[i].title != NULL;
	for (size_t i = 0; has_titles && i < t->column_count; i++) {
		const char *title = t->columns[i].title ? t->columns[i].title : "";

		write_cell(&pen, i,
				&(struct term_cell){ .text = title,
						.columns = term_columns(title),
						.style = TERM_BOLD });
	}
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
