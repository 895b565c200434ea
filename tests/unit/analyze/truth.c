/* Runs with known contents; see truth.h. */
#include "truth.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char json[] = "{\"sonde_run\":1,\"state\":\"complete\",\"name\":\"test\",\"wall_ns\":1000000000,"
			   "\"host\":{\"cpus\":2},\"clock\":{\"start_mono_ns\":1000,\"start_real_ns\":5},"
			   "\"probes\":[{\"name\":\"sched\",\"state\":\"on\",\"events\":5,\"dropped\":1},"
			   "{\"name\":\"net\",\"state\":\"off\",\"reason\":\"not asked for\"}]}";

static const char *const calls[][2] = { { "open", "open" }, { "read", "data" }, { "write", "data" },
	{ "pread", "data" }, { "pwrite", "data" }, { "stat", "meta" }, { "copy_file_range", "data" }, { "recv", "net" },
	{ "send", "net" }, { "connect", "net" }, { "accept", "net" }, { "fread", "stdio" }, { "fwrite", "stdio" },
	{ "nanosleep", "process" }, { "waitpid", "process" } };

void truth_start(struct truth *t)
{
	*t = (struct truth){ .run = NULL };
	bundle_make(&t->bundle);
	t->bundle.json = json;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		truth_row(t, "call", "call category arg_names", "%s %s -", calls[i][0], calls[i][1]);
}

union cell {
	int64_t integer;
	double real;
	const struct store_text *text;
};

static void set(struct truth *t, const struct store_column_schema *column, const char *word, union cell *cell,
		struct store_text *text)
{
	if (strcmp(word, "-") == 0)
		return;
	if (column->kind == STORE_TEXT) {
		*text = (struct store_text){ word, strlen(word) };
		cell->text = text;
	} else if (column->kind == STORE_REAL) {
		cell->real = strtod(word, NULL);
	} else if (column->semantic == STORE_STRING) {
		cell->integer = bundle_name(&t->bundle, word);
	} else {
		cell->integer = strtoll(word, NULL, 10);
	}
}

void truth_row(struct truth *t, const char *table, const char *columns, const char *values, ...)
{
	const struct store_schema *schema = store_schema_find(table);
	char names[1024], words[4096], *name_at, *word_at;
	struct store_text texts[STORE_COLUMNS_MAX];
	union cell row[STORE_COLUMNS_MAX];
	enum store_table_id id = 0;
	va_list args;

	assert_non_null(schema);
	va_start(args, values);
	vsnprintf(words, sizeof(words), values, args);
	va_end(args);
	snprintf(names, sizeof(names), "%s", columns);
	while (store_schemas[id] != schema)
		id++;
	for (unsigned i = 0; i < schema->count; i++) {
		row[i].integer = STORE_NULL;
		if (schema->columns[i].kind == STORE_REAL)
			row[i].real = STORE_NULL_REAL;
		else if (schema->columns[i].kind == STORE_TEXT)
			row[i].text = NULL;
	}
	for (char *name = strtok_r(names, " ", &name_at), *word = strtok_r(words, " ", &word_at); name;
			name = strtok_r(NULL, " ", &name_at), word = strtok_r(NULL, " ", &word_at)) {
		int column = store_schema_column(schema, name);

		assert_true(column >= 0);
		assert_non_null(word);
		set(t, &schema->columns[column], word, &row[column], &texts[column]);
	}
	store_sink_add(&t->bundle.sink, id, row);
}

void truth_call(struct truth *t, const char *call, int64_t at_ns, int64_t dur_ns, int64_t file, int64_t ret)
{
	char number[32];

	snprintf(number, sizeof(number), "%" PRId64, file);
	truth_row(t, "io", "ts_ns dur_ns process pid tid call file ret errnum size",
			"%" PRId64 " %" PRId64 " 1 10 10 %s %s %" PRId64 " 0 %" PRId64, T0 + at_ns, dur_ns, call,
			file ? number : "-", ret, ret);
}

void truth_modules(struct truth *t)
{
	truth_row(t, "module", "module kind path", "1 kernel [kernel]");
	truth_row(t, "module", "module kind path", "2 memory /bin/program");
	truth_row(t, "module", "module kind path", "3 memory /usr/lib/libc.so.6");
}

void truth_stack(struct truth *t, int64_t stack, int64_t parent, int module, const char *function)
{
	char number[32];

	snprintf(number, sizeof(number), "%" PRId64, parent);
	truth_row(t, "stack", "stack parent module address", "%" PRId64 " %s %d %" PRId64, stack, parent ? number : "-",
			module, stack * 256);
	truth_row(t, "symbol", "module start bytes name", "%d %" PRId64 " 256 %s", module, stack * 256, function);
}

void truth_open(struct truth *t)
{
	if (!t->run)
		t->run = bundle_open(&t->bundle);
}

void truth_analyze(struct truth *t, const struct analyze_opts *opts)
{
	struct analyze_opts none = { .threads = 1, .part = { 0, 1 } };
	struct sonde_err err = SONDE_ERR_INIT;

	truth_open(t);
	analyze_free(t->a);
	t->a = NULL;
	if (analyze_new(&t->a, t->run, opts ? opts : &none, &err) < 0 || analyze_scan(t->a, &err) < 0 ||
			analyze_finish(t->a, &t->result, &err) < 0)
		fail_msg("%s", err.text);
}

void truth_end(struct truth *t)
{
	analyze_free(t->a);
	bundle_remove(&t->bundle, t->run);
}

/* Text. */

static void add_value(struct buf *out, enum analyze_unit unit, const struct analyze_value *v)
{
	if (v->is_null)
		buf_adds(out, "-");
	else if (unit == ANALYZE_TEXT)
		buf_add(out, v->text.data, v->text.bytes);
	else if (unit == ANALYZE_REAL || unit == ANALYZE_RATIO)
		buf_addf(out, "%.6g", v->real);
	else
		buf_addf(out, "%" PRId64, v->integer);
}

static void add_rows(struct buf *out, const struct analyze_table *table)
{
	for (size_t i = 0; i < table->rows * table->column_count; i++) {
		add_value(out, table->columns[i % table->column_count].unit, &table->values[i]);
		buf_adds(out, (i + 1) % table->column_count ? " " : "\n");
	}
	if (table->all_rows > table->rows)
		buf_addf(out, "of %zu\n", table->all_rows);
}

void truth_expect(struct truth *t, const char *section, const char *text)
{
	const struct analyze_section *s = analyze_find(t->result, section);
	struct buf out = BUF_INIT;

	assert_non_null(s);
	if (s->absent)
		buf_addf(&out, "absent %s\n", s->absent);
	for (const struct analyze_field *f = s->fields; f; f = f->next) {
		buf_addf(&out, "%s ", f->column.key);
		add_value(&out, f->column.unit, &f->value);
		buf_adds(&out, "\n");
	}
	for (const struct analyze_table *table = s->tables; table; table = table->next) {
		buf_addf(&out, "%s:\n", table->name.key);
		add_rows(&out, table);
	}
	assert_string_equal(out.data ? out.data : "", text);
	buf_release(&out);
}

static const struct analyze_table *find_table(struct truth *t, const char *section, const char *table)
{
	const struct analyze_section *s = analyze_find(t->result, section);

	for (const struct analyze_table *at = s ? s->tables : NULL; at; at = at->next)
		if (strcmp(at->name.key, table) == 0)
			return at;
	return NULL;
}

void truth_table(struct truth *t, const char *section, const char *table, const char *text)
{
	const struct analyze_table *found = find_table(t, section, table);
	struct buf out = BUF_INIT;

	assert_non_null(found);
	add_rows(&out, found);
	assert_string_equal(out.data ? out.data : "", text);
	buf_release(&out);
}

void truth_field(struct truth *t, const char *section, const char *field, int64_t value)
{
	const struct analyze_value *v = analyze_find_field(analyze_find(t->result, section), field);

	assert_non_null(v);
	assert_int_equal(v->is_null ? STORE_NULL : v->integer, value);
}

const char *truth_cell(struct truth *t, const char *section, const char *table, const char *row, const char *column)
{
	static char text[2048];
	const struct analyze_table *found = find_table(t, section, table);
	struct buf out = BUF_INIT;

	text[0] = '\0';
	for (size_t i = 0; found && i < found->rows; i++) {
		const struct analyze_value *v = &found->values[i * found->column_count];

		if (v->is_null || v->text.bytes != strlen(row) || memcmp(v->text.data, row, v->text.bytes) != 0)
			continue;
		for (size_t c = 0; c < found->column_count; c++)
			if (strcmp(found->columns[c].key, column) == 0)
				add_value(&out, found->columns[c].unit, &v[c]);
		snprintf(text, sizeof(text), "%s", out.data ? out.data : "");
		buf_release(&out);
		break;
	}
	return text;
}

bool truth_has_finding(struct truth *t, const char *rule)
{
	return *truth_cell(t, "diagnosis", "diagnosis", rule, "rule") != '\0';
}
