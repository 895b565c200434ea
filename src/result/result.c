#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void analyze_result_release(struct analyze_result *r)
{
	arena_release(&r->arena);
	*r = (struct analyze_result){ .error = 0 };
}

static void *alloc(struct analyze_result *r, size_t n)
{
	void *at = arena_alloc(&r->arena, n);

	if (!at)
		r->error = -ENOMEM;
	return at;
}

struct analyze_section *analyze_section(struct analyze_result *r, const char *key, const char *title)
{
	struct analyze_section *s = alloc(r, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct analyze_section){ .key = key, .title = title, .result = r };
	if (r->last)
		r->last->next = s;
	else
		r->sections = s;
	r->last = s;
	return s;
}

static const char *format(struct analyze_result *r, const char *fmt, va_list ap)
{
	char text[512];
	const char *copy;

	vsnprintf(text, sizeof(text), fmt, ap);
	copy = arena_strdup(&r->arena, text);
	if (!copy)
		r->error = -ENOMEM;
	return copy;
}

void analyze_absent(struct analyze_section *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (s)
		s->absent = format(s->result, fmt, ap);
	va_end(ap);
}

void analyze_note(struct analyze_section *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (s)
		s->note = format(s->result, fmt, ap);
	va_end(ap);
}

/* Values. */

static struct analyze_value of_int(int64_t v)
{
	return (struct analyze_value){ .is_null = v == STORE_NULL, .integer = v };
}

static struct analyze_value of_real(double v)
{
	return (struct analyze_value){ .is_null = !isfinite(v), .real = v };
}

static struct analyze_value of_bytes(struct analyze_result *r, const struct store_text *v)
{
	struct analyze_value value = { .is_null = !v || !v->data };

	if (value.is_null)
		return value;
	value.text.data = arena_copy(&r->arena, v->data, v->bytes);
	value.text.bytes = v->bytes;
	if (!value.text.data) {
		r->error = -ENOMEM;
		value.is_null = true;
	}
	return value;
}

static struct analyze_value of_text(struct analyze_result *r, const char *v)
{
	struct store_text text = { .data = v, .bytes = v ? strlen(v) : 0 };

	return of_bytes(r, &text);
}

/* Fields. */

static void add_field(struct analyze_section *s, struct analyze_column column, struct analyze_value value)
{
	struct analyze_field *f = alloc(s->result, sizeof(*f));

	if (!f)
		return;
	*f = (struct analyze_field){ .column = column, .value = value };
	if (s->last_field)
		s->last_field->next = f;
	else
		s->fields = f;
	s->last_field = f;
}

void analyze_int(struct analyze_section *s, const char *key, const char *title, enum analyze_unit unit, int64_t v)
{
	if (s)
		add_field(s, (struct analyze_column){ key, title, unit }, of_int(v));
}

void analyze_real(struct analyze_section *s, const char *key, const char *title, enum analyze_unit unit, double v)
{
	if (s)
		add_field(s, (struct analyze_column){ key, title, unit }, of_real(v));
}

void analyze_text(struct analyze_section *s, const char *key, const char *title, const char *v)
{
	if (s)
		add_field(s, (struct analyze_column){ key, title, ANALYZE_TEXT }, of_text(s->result, v));
}

void analyze_json(struct analyze_section *s, const char *key, const char *json, size_t n)
{
	if (s)
		add_field(s, (struct analyze_column){ key, NULL, ANALYZE_JSON },
				of_bytes(s->result, &(struct store_text){ .data = json, .bytes = n }));
}

static struct analyze_value of_interval(struct analyze_result *r, struct analyze_interval v)
{
	struct analyze_interval *copy = alloc(r, sizeof(*copy));

	if (copy)
		*copy = v;
	return (struct analyze_value){ .is_null = !copy, .interval = copy };
}

void analyze_interval(struct analyze_section *s, const char *key, const char *title, struct analyze_interval v)
{
	if (s)
		add_field(s, (struct analyze_column){ key, title, ANALYZE_INTERVAL }, of_interval(s->result, v));
}

/* Tables. */

struct analyze_table *analyze_table(struct analyze_section *s, const char *key, const char *title,
		const struct analyze_column *columns, size_t column_count, unsigned flags)
{
	struct analyze_table *t = s ? alloc(s->result, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	*t = (struct analyze_table){ .name = { .key = key, .title = title },
		.columns = columns,
		.column_count = column_count,
		.flags = flags,
		.result = s->result };
	if (s->last_table)
		s->last_table->next = t;
	else
		s->tables = t;
	s->last_table = t;
	return t;
}

static void add_cell(struct analyze_table *t, struct analyze_value value)
{
	if (t->value_count == t->value_cap) {
		size_t cap = t->value_cap ? 2 * t->value_cap : 16 * t->column_count;
		struct analyze_value *values = alloc(t->result, cap * sizeof(*values));

		if (!values)
			return;
		if (t->value_count)
			memcpy(values, t->values, t->value_count * sizeof(*values));
		t->values = values;
		t->value_cap = cap;
	}
	t->values[t->value_count++] = value;
	t->rows = t->value_count / t->column_count;
	if (t->all_rows < t->rows)
		t->all_rows = t->rows;
}

void analyze_cell_int(struct analyze_table *t, int64_t v)
{
	if (t)
		add_cell(t, of_int(v));
}

void analyze_cell_real(struct analyze_table *t, double v)
{
	if (t)
		add_cell(t, of_real(v));
}

void analyze_cell_text(struct analyze_table *t, const char *v)
{
	if (t)
		add_cell(t, of_text(t->result, v));
}

void analyze_cell_bytes(struct analyze_table *t, const struct store_text *v)
{
	if (t)
		add_cell(t, of_bytes(t->result, v));
}

void analyze_cell_interval(struct analyze_table *t, struct analyze_interval v)
{
	if (t)
		add_cell(t, of_interval(t->result, v));
}

/* Reading. */

const struct analyze_section *analyze_find(const struct analyze_result *r, const char *key)
{
	for (const struct analyze_section *s = r->sections; s; s = s->next)
		if (strcmp(s->key, key) == 0)
			return s;
	return NULL;
}

const struct analyze_value *analyze_find_field(const struct analyze_section *s, const char *key)
{
	for (const struct analyze_field *f = s ? s->fields : NULL; f; f = f->next)
		if (strcmp(f->column.key, key) == 0)
			return &f->value;
	return NULL;
}
