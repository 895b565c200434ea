/*
 * result-text: a result as text: fields on a line or one per line, tables with aligned columns.
 */
#include "base/cleanup.h"
#include "result/result.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 32 };

/* Values. */

/* Of a column that may hold changes: the sign is always printed, and the size in the unit. */
static void add_signed(struct buf *out, enum analyze_unit unit, double v, bool has_plus)
{
	char text[TERM_TEXT];

	if (isnan(v)) {
		buf_addc(out, '-');
		return;
	}
	buf_adds(out, v < 0 ? "-" : has_plus ? "+" : "");
	if (unit == ANALYZE_NS || unit == ANALYZE_SUM_NS)
		buf_adds(out, term_ns(text, (int64_t)fabs(v)));
	else if (unit == ANALYZE_BYTES)
		buf_adds(out, term_bytes(text, (uint64_t)fabs(v)));
	else
		buf_addf(out, "%.4g", fabs(v));
}

void result_add_value(struct buf *out, enum analyze_unit unit, const struct analyze_value *v)
{
	char text[TERM_TEXT];

	if (v->is_null) {
		buf_adds(out, "-");
		return;
	}
	switch (unit) {
	case ANALYZE_COUNT:
		buf_adds(out, term_count(text, (uint64_t)v->integer));
		break;
	case ANALYZE_ID:
		buf_addf(out, "%lld", (long long)v->integer);
		break;
	case ANALYZE_NS:
	case ANALYZE_SUM_NS:
		buf_adds(out, term_ns(text, v->integer));
		break;
	case ANALYZE_BYTES:
		buf_adds(out, term_bytes(text, (uint64_t)v->integer));
		break;
	case ANALYZE_RATIO:
		buf_addf(out, "%.1f %%", 100 * v->real);
		break;
	case ANALYZE_REAL:
		buf_addf(out, "%.4g", v->real);
		break;
	case ANALYZE_BOOL:
		buf_adds(out, v->integer ? "yes" : "no");
		break;
	case ANALYZE_ESTIMATE:
	case ANALYZE_INTERVAL:
		add_signed(out, v->interval->unit, v->interval->estimate, false);
		break;
	case ANALYZE_TEXT:
	case ANALYZE_JSON:
		term_safe(out, v->text.data);
		break;
	}
}

/* Fields. */

void result_add_field(const struct result_page *p, struct buf *line, const char *title, const struct analyze_field *f)
{
	int64_t v = f->value.integer;

	buf_addf(line, "%s%s", line->len ? ", " : "", title);
	result_add_value(line, f->column.unit, &f->value);
	/* A sum over threads can exceed the wall time: only a time of its own is a share of it. */
	if (f->column.unit == ANALYZE_NS && !f->value.is_null && p->wall_ns > 0 && v >= 0 && v < p->wall_ns)
		buf_addf(line, " (%.1f%%)", 100.0 * (double)v / (double)p->wall_ns);
}

static bool is_printed(const struct analyze_field *f)
{
	return f->column.title && !f->value.is_null;
}

static void add_lines(const struct result_page *p, const struct analyze_section *s)
{
	size_t width = 0;

	for (const struct analyze_field *f = s->fields; f; f = f->next)
		if (is_printed(f) && strlen(f->column.title) > width)
			width = strlen(f->column.title);
	for (const struct analyze_field *f = s->fields; f; f = f->next) {
		if (!is_printed(f))
			continue;
		term_add(p->out, p->term, TERM_BOLD, f->column.title);
		buf_addf(p->out, "%*s", (int)(width + 2 - strlen(f->column.title)), "");
		result_add_value(p->out, f->column.unit, &f->value);
		buf_addc(p->out, '\n');
	}
}

void result_add_fields(const struct result_page *p, const struct analyze_section *s)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT, title = BUF_INIT;

	for (const struct analyze_field *f = s->fields; f; f = f->next) {
		if (!is_printed(f))
			continue;
		buf_reset(&title);
		buf_addf(&title, "%s ", f->column.title);
		result_add_field(p, &line, title.data, f);
	}
	if (!line.len)
		return;
	term_wrap(p->out, line.data, 0, 0, p->term->width);
	buf_addc(p->out, '\n');
}

/* Tables. */

void result_truncate(struct buf *cell, size_t most)
{
	if (cell->len <= most)
		return;
	if (cell->data[0] == '/') {
		memmove(cell->data + 3, cell->data + cell->len - (most - 3), most - 3);
		memcpy(cell->data, "...", 3);
	} else {
		memcpy(cell->data + most - 3, "...", 3);
	}
	cell->len = most;
	cell->data[most] = '\0';
}

/* A printed column: an interval has a second one for its bounds. */
struct printed {
	size_t index;
	bool is_bounds;
};

static size_t order_columns(const struct analyze_table *t, struct term_column columns[COLUMNS_MAX],
		struct printed printed[COLUMNS_MAX])
{
	static const unsigned ranks[] = { ANALYZE_FIRST, 0, ANALYZE_LAST };
	size_t n = 0;

	for (size_t rank = 0; rank < 3; rank++)
		for (size_t c = 0; c < t->column_count && n + 1 < COLUMNS_MAX; c++) {
			const struct analyze_column *column = &t->columns[c];

			if (!column->title || (column->flags & (ANALYZE_FIRST | ANALYZE_LAST)) != ranks[rank])
				continue;
			printed[n] = (struct printed){ c, false };
			columns[n++] = (struct term_column){ .title = column->title,
				.align = column->unit == ANALYZE_TEXT ? TERM_LEFT : TERM_RIGHT,
				.is_wrapped = column->flags & ANALYZE_WRAP };
			if (column->unit != ANALYZE_INTERVAL)
				continue;
			printed[n] = (struct printed){ c, true };
			columns[n++] = (struct term_column){ .title = "INTERVAL" };
		}
	return n;
}

static void add_cell(struct buf *cell, const struct analyze_column *column, const struct analyze_value *v,
		bool is_bounds)
{
	const struct analyze_interval *i = column->unit == ANALYZE_INTERVAL && !v->is_null ? v->interval : NULL;

	if (!i) {
		result_add_value(cell, column->unit, v);
	} else if (!is_bounds) {
		add_signed(cell, i->unit, i->estimate, column->flags & ANALYZE_SIGNED);
	} else {
		add_signed(cell, i->unit, i->lo, false);
		if (!isnan(i->lo)) {
			buf_adds(cell, " to ");
			add_signed(cell, i->unit, i->hi, false);
		}
	}
}

static int add_table(const struct result_page *p, const struct analyze_table *t)
{
	CLEANUP(buf_release) struct buf cell = BUF_INIT;
	struct term_column columns[COLUMNS_MAX];
	struct printed printed[COLUMNS_MAX];
	struct term_table table;
	size_t n = order_columns(t, columns, printed);
	int rc;

	term_table_init(&table, columns, n);
	for (size_t row = 0; row < t->rows; row++)
		for (size_t c = 0; c < n; c++) {
			size_t index = printed[c].index;

			buf_reset(&cell);
			add_cell(&cell, &t->columns[index], &t->values[row * t->column_count + index],
					printed[c].is_bounds);
			if (p->cell_columns)
				result_truncate(&cell, p->cell_columns);
			term_table_cell(&table, TERM_PLAIN, cell.data);
		}
	rc = term_table_write(&table, p->out, p->term);
	term_table_release(&table);
	if (t->all_rows > t->rows && p->all)
		buf_addf(p->out, "... and %zu more (%s)\n", t->all_rows - t->rows, p->all);
	else if (t->all_rows > t->rows)
		buf_addf(p->out, "... and %zu more (--top %zu)\n", t->all_rows - t->rows, t->all_rows);
	return rc;
}

/* Sections. */

void result_add_heading(const struct result_page *p, const char *title)
{
	buf_addc(p->out, '\n');
	term_add(p->out, p->term, TERM_BOLD, title);
	buf_addc(p->out, '\n');
}

static bool has_rows(const struct analyze_table *t)
{
	return t->name.title && !(t->flags & ANALYZE_DETAIL) && t->rows;
}

static bool has_text(const struct analyze_section *s)
{
	for (const struct analyze_field *f = s->fields; f; f = f->next)
		if (is_printed(f))
			return true;
	for (const struct analyze_table *t = s->tables; t; t = t->next)
		if (has_rows(t))
			return true;
	return s->note != NULL;
}

int result_add_section(const struct result_page *p, const struct analyze_section *s)
{
	int rc = 0;

	if (s->absent || !has_text(s))
		return 0;
	if (s->title)
		result_add_heading(p, s->title);
	if (s->is_lines)
		add_lines(p, s);
	else
		result_add_fields(p, s);
	if (s->note)
		buf_addf(p->out, "%s\n", s->note);
	for (const struct analyze_table *t = s->tables; t && rc == 0; t = t->next) {
		if (!has_rows(t))
			continue;
		if (t->column_count > 1) {
			rc = add_table(p, t);
			continue;
		}
		for (size_t row = 0; row < t->rows; row++) { /* sentences */
			result_add_value(p->out, t->columns[0].unit, &t->values[row]);
			buf_addc(p->out, '\n');
		}
	}
	return rc;
}

int result_write_text(const struct analyze_result *r, const struct result_page *p)
{
	int rc = r->error;

	for (const struct analyze_section *s = r->sections; s && rc == 0; s = s->next)
		rc = result_add_section(p, s);
	return rc < 0 ? rc : buf_error(p->out);
}
