#include "cli/summary-text.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/stdout-buffer.h"
#include "cli/summary-text-private.h"

#include <string.h>

size_t summary_top(const struct summary_opts *o)
{
	if (o->top > 0)
		return (size_t)o->top;
	return o->is_json ? SUMMARY_ROWS_JSON : SUMMARY_ROWS_TEXT;
}

/* Values. */

void summary_add_value(struct buf *out, enum analyze_unit unit, const struct analyze_value *v)
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
	case ANALYZE_TEXT:
		term_safe(out, v->text.data);
		break;
	}
}

/* Fields. */

/* "I/O 39.3 s (69 %)": of the wall time, if it can be a share of it. */
void summary_add_field(const struct summary_page *p, struct buf *line, const struct analyze_field *f)
{
	int64_t v = f->value.integer;

	buf_addf(line, "%s%s", line->len ? ", " : "", f->column.title);
	summary_add_value(line, f->column.unit, &f->value);
	if (f->column.unit == ANALYZE_NS && !f->value.is_null && p->wall_ns > 0 && v >= 0 && v < p->wall_ns)
		buf_addf(line, " (%.1f%%)", 100.0 * (double)v / (double)p->wall_ns);
}

static void add_titled(const struct summary_page *p, struct buf *line, const struct analyze_field *f)
{
	CLEANUP(buf_release) struct buf title = BUF_INIT;
	struct analyze_field told = *f;

	buf_addf(&title, "%s ", f->column.title);
	told.column.title = buf_error(&title) ? f->column.title : title.data;
	summary_add_field(p, line, &told);
}

void summary_add_fields(const struct summary_page *p, const struct analyze_section *s)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	for (const struct analyze_field *f = s->fields; f; f = f->next)
		if (f->column.title && !f->value.is_null)
			add_titled(p, &line, f);
	if (!line.len)
		return;
	term_wrap(p->out, line.data, 0, 0, p->term->width);
	buf_addc(p->out, '\n');
}

/* Tables. */

static enum term_align align_of(enum analyze_unit unit)
{
	return unit == ANALYZE_TEXT ? TERM_LEFT : TERM_RIGHT;
}

static size_t shown_columns(const struct analyze_table *t, struct term_column columns[32], size_t index[32])
{
	size_t n = 0;

	for (size_t c = 0; c < t->column_count && n < 32; c++)
		if (t->columns[c].title) {
			index[n] = c;
			columns[n++] = (struct term_column){ .title = t->columns[c].title,
				.align = align_of(t->columns[c].unit) };
		}
	return n;
}

/* Long names end with "..." or, for paths, begin with it. */
void summary_cut(struct buf *cell, size_t most)
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

#define CELL_MAX 60

static int add_table(const struct summary_page *p, const struct analyze_table *t)
{
	CLEANUP(buf_release) struct buf cell = BUF_INIT;
	struct term_column columns[32];
	struct term_table table;
	size_t index[32], n = shown_columns(t, columns, index);
	int rc;

	term_table_init(&table, columns, n);
	for (size_t row = 0; row < t->rows; row++)
		for (size_t c = 0; c < n; c++) {
			buf_reset(&cell);
			summary_add_value(&cell, t->columns[index[c]].unit,
					&t->values[row * t->column_count + index[c]]);
			summary_cut(&cell, CELL_MAX);
			term_table_cell(&table, TERM_PLAIN, cell.data);
		}
	rc = term_table_write(&table, p->out, p->term);
	term_table_release(&table);
	if (t->all_rows > t->rows)
		buf_addf(p->out, "... and %zu more, --top %zu shows them\n", t->all_rows - t->rows, t->all_rows);
	return rc;
}

/* Sentences, one per line. */
static void add_list(const struct summary_page *p, const struct analyze_table *t)
{
	for (size_t row = 0; row < t->rows; row++) {
		summary_add_value(p->out, t->columns[0].unit, &t->values[row]);
		buf_addc(p->out, '\n');
	}
}

/* Sections. */

void summary_add_heading(const struct summary_page *p, const char *title)
{
	buf_addc(p->out, '\n');
	term_add(p->out, p->term, TERM_BOLD, title);
	buf_addc(p->out, '\n');
}

/* Whether it has anything to print as text. */
static bool has_words(const struct analyze_section *s)
{
	for (const struct analyze_field *f = s->fields; f; f = f->next)
		if (f->column.title && !f->value.is_null)
			return true;
	for (const struct analyze_table *t = s->tables; t; t = t->next)
		if (!(t->flags & ANALYZE_DETAIL) && t->rows)
			return true;
	return false;
}

static bool is_shown(const struct analyze_section *s)
{
	return !s->absent && !s->is_top && !(s->is_list && s->tables && !s->tables->rows) && has_words(s);
}

static int add_section(const struct summary_page *p, const struct analyze_section *s)
{
	int rc = 0;

	if (!is_shown(s))
		return 0;
	summary_add_heading(p, s->title);
	summary_add_fields(p, s);
	for (const struct analyze_table *t = s->tables; t && rc == 0; t = t->next) {
		if (t->flags & ANALYZE_DETAIL || !t->rows)
			continue;
		if (t->column_count == 1)
			add_list(p, t);
		else
			rc = add_table(p, t);
	}
	return rc;
}

/* Issues are printed first: rule, what, evidence, range, recoverable, next. */
static void add_diagnosis(const struct summary_page *p, const struct analyze_section *s)
{
	const struct analyze_table *t = s ? s->tables : NULL;

	for (size_t row = 0; t && row < t->rows; row++) {
		const struct analyze_value *v = &t->values[row * t->column_count];
		char text[TERM_TEXT];

		if (row == 0)
			summary_add_heading(p, s->title);
		term_add(p->out, p->term, TERM_YELLOW, v[1].text.data);
		if (!v[5].is_null)
			buf_addf(p->out, " (at most %s to win)", term_ns(text, v[5].integer));
		buf_adds(p->out, "\n  ");
		summary_add_value(p->out, ANALYZE_TEXT, &v[2]);
		buf_adds(p->out, "\n  try: ");
		summary_add_value(p->out, ANALYZE_TEXT, &v[6]);
		buf_addc(p->out, '\n');
	}
}

static void add_absent(const struct summary_page *p, const struct analyze_result *r)
{
	bool has_heading = false;

	for (const struct analyze_section *s = r->sections; s; s = s->next) {
		if (!s->absent)
			continue;
		if (!has_heading)
			summary_add_heading(p, "Not recorded");
		has_heading = true;
		buf_addf(p->out, "%s: %s\n", s->title, s->absent);
	}
}

int summary_write_full(const struct summary_page *p, const struct analyze_result *r)
{
	int rc = 0;

	add_diagnosis(p, analyze_find(r, "diagnosis"));
	for (const struct analyze_section *s = r->sections; s && rc == 0; s = s->next)
		if (strcmp(s->key, "diagnosis") != 0)
			rc = add_section(p, s);
	add_absent(p, r);
	return rc < 0 ? rc : buf_error(p->out);
}

int summary_write_text(const struct analyze_result *r, bool is_full, struct buf *out, const struct term *term)
{
	const struct analyze_section *overview = analyze_find(r, "overview");
	const struct analyze_value *wall = analyze_find_field(overview, "wall_ns");
	struct summary_page p = { .out = out, .term = term, .wall_ns = STORE_NULL };

	if (overview)
		summary_add_fields(&p, overview);
	p.wall_ns = wall && !wall->is_null ? wall->integer : STORE_NULL;
	return is_full ? summary_write_full(&p, r) : summary_write_brief(&p, r);
}

int summary_write_json(const struct analyze_result *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	analyze_write_json(r, &j);
	json_end(&j);
	buf_addc(out, '\n');
	return buf_error(out);
}

int summary_print(struct cli_context *ctx, struct analyze *a, const struct summary_opts *o)
{
	CLEANUP(out_release) struct out out = OUT_INIT;
	struct term term = term_of(stdout);
	const struct analyze_result *result;
	int rc = analyze_finish(a, &result, ctx->err);

	if (rc < 0)
		return rc;
	out_init(&out);
	rc = o->is_json ? summary_write_json(result, &out.text)
			: summary_write_text(result, o->is_full || o->top, &out.text, &term);
	if (rc < 0)
		return err_sys(ctx->err, -rc, "cannot print the summary");
	return out_finish(&out, ctx->err);
}
