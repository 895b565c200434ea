/*
 * result-json: a result as JSON. Keys are the only thing that scripts may rely on.
 */
#include "base/json.h"
#include "result/result.h"

#include <math.h>

static void write_real(struct json *j, double v)
{
	if (isfinite(v))
		json_real(j, v);
	else
		json_null(j);
}

static void write_value(struct json *j, const struct analyze_column *column, const struct analyze_value *v)
{
	if (!column->key)
		return;
	json_key(j, column->key);
	if (v->is_null) {
		json_null(j);
		return;
	}
	switch (column->unit) {
	case ANALYZE_TEXT:
		json_strn(j, v->text.data, v->text.bytes);
		break;
	case ANALYZE_JSON:
		json_raw(j, v->text.data, v->text.bytes);
		break;
	case ANALYZE_REAL:
	case ANALYZE_RATIO:
		json_real(j, v->real);
		break;
	case ANALYZE_BOOL:
		json_bool(j, v->integer != 0);
		break;
	case ANALYZE_ESTIMATE:
		write_real(j, v->interval->estimate);
		break;
	case ANALYZE_INTERVAL:
		write_real(j, v->interval->estimate);
		json_key(j, "lo");
		write_real(j, v->interval->lo);
		json_key(j, "hi");
		write_real(j, v->interval->hi);
		break;
	default:
		json_int(j, v->integer);
	}
}

static void write_rows(struct json *j, const struct analyze_table *t)
{
	json_array(j);
	for (size_t row = 0; row < t->rows; row++) {
		json_object(j);
		for (size_t c = 0; c < t->column_count; c++)
			write_value(j, &t->columns[c], &t->values[row * t->column_count + c]);
		json_end(j);
	}
	json_end(j);
}

static void write_members(struct json *j, const struct analyze_section *s)
{
	for (const struct analyze_field *f = s->fields; f; f = f->next)
		write_value(j, &f->column, &f->value);
	for (const struct analyze_table *t = s->tables; t; t = t->next) {
		if (!t->name.key)
			continue;
		json_key(j, t->name.key);
		write_rows(j, t);
	}
}

static void write_sections(struct json *j, const struct analyze_result *r)
{
	for (const struct analyze_section *s = r->sections; s; s = s->next) {
		if (s->is_top) {
			write_members(j, s);
			continue;
		}
		json_key(j, s->key);
		if (s->absent) {
			json_null(j);
		} else if (s->is_list && s->tables) {
			write_rows(j, s->tables);
		} else {
			json_object(j);
			write_members(j, s);
			json_end(j);
		}
	}
}

void analyze_write_json(const struct analyze_result *r, struct json *j)
{
	write_sections(j, r);
	json_key(j, "reasons");
	json_object(j);
	for (const struct analyze_section *s = r->sections; s; s = s->next)
		if (s->absent)
			json_kstr(j, s->key, s->absent);
	json_end(j);
}

int result_write_json(const struct analyze_result *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	write_sections(&j, r);
	json_end(&j);
	buf_addc(out, '\n');
	return r->error ? r->error : buf_error(out);
}
