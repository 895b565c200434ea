#include "base/json.h"
#include "result/result.h"

static void write_value(struct json *j, enum analyze_unit unit, const struct analyze_value *v)
{
	if (v->is_null)
		json_null(j);
	else if (unit == ANALYZE_TEXT)
		json_strn(j, v->text.data, v->text.bytes);
	else if (unit == ANALYZE_REAL || unit == ANALYZE_RATIO)
		json_real(j, v->real);
	else
		json_int(j, v->integer);
}

static void write_fields(struct json *j, const struct analyze_section *s)
{
	for (const struct analyze_field *f = s->fields; f; f = f->next) {
		json_key(j, f->column.key);
		write_value(j, f->column.unit, &f->value);
	}
}

static void write_rows(struct json *j, const struct analyze_table *t)
{
	json_array(j);
	for (size_t row = 0; row < t->rows; row++) {
		json_object(j);
		for (size_t c = 0; c < t->column_count; c++) {
			json_key(j, t->columns[c].key);
			write_value(j, t->columns[c].unit, &t->values[row * t->column_count + c]);
		}
		json_end(j);
	}
	json_end(j);
}

static void write_section(struct json *j, const struct analyze_section *s)
{
	json_key(j, s->key);
	if (s->absent) {
		json_null(j);
		return;
	}
	if (s->is_list && s->tables) {
		write_rows(j, s->tables);
		return;
	}
	json_object(j);
	write_fields(j, s);
	for (const struct analyze_table *t = s->tables; t; t = t->next) {
		json_key(j, t->name.key);
		write_rows(j, t);
	}
	json_end(j);
}

void analyze_write_json(const struct analyze_result *r, struct json *j)
{
	for (const struct analyze_section *s = r->sections; s; s = s->next) {
		if (s->is_top)
			write_fields(j, s);
		else
			write_section(j, s);
	}
	json_key(j, "reasons");
	json_object(j);
	for (const struct analyze_section *s = r->sections; s; s = s->next)
		if (s->absent)
			json_kstr(j, s->key, s->absent);
	json_end(j);
}
