/*
 * A run made by hand as a Chrome trace: every row is there, at its time, nested.
 */
#include "bundle.h"

#include "exchange/exchange.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The trace, parsed; NULL when it is not JSON. */
static json_t *export(struct model_run *run, const struct exchange_options *options)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	json_error_t where;
	json_t *json;

	assert_string_equal(exchange_formats[0]->name, exchange_names[0]);
	assert_int_equal(exchange_formats[0]->write(run, out, options, NULL), 0);
	fclose(out);
	json = json_loadb(text, n, JSON_ALLOW_NUL, &where);
	if (!json)
		fail_msg("line %d: %s\n%s", where.line, where.text, text);
	free(text);
	return json;
}

static const char *str(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

/* The nth event of a phase and name, or NULL. */
static const json_t *find(const json_t *trace, const char *phase, const char *name, size_t n)
{
	const json_t *events = json_object_get(trace, "traceEvents"), *event;
	size_t i;

	json_array_foreach(events, i, event)
		if (strcmp(str(event, "ph"), phase) == 0 && strcmp(str(event, "name"), name) == 0 && n-- == 0)
			return event;
	return NULL;
}

static double number(const json_t *event, const char *key)
{
	return json_number_value(json_object_get(event, key));
}

static const json_t *arg(const json_t *event, const char *key)
{
	return json_object_get(json_object_get(event, "args"), key);
}

static void add_span(struct bundle *b, const char *name, int64_t ts_ns, int64_t dur_ns, const char *args)
{
	struct store_text text = { .data = args, .bytes = args ? strlen(args) : 0 };
	struct store_span row = store_span_nulls;

	row.ts_ns = ts_ns;
	row.dur_ns = dur_ns;
	row.pid = row.tid = 10;
	row.name = bundle_name(b, name);
	row.is_open = strcmp(name, "open") == 0;
	row.args = args ? &text : NULL;
	store_sink_add(&b->sink, STORE_TABLE_SPAN, &row);
}

static void add_call(struct bundle *b, const char *name, int64_t ts_ns, int64_t dur_ns)
{
	struct store_io row = store_io_nulls;

	row.ts_ns = ts_ns;
	row.dur_ns = dur_ns;
	row.pid = row.tid = 10;
	row.call = bundle_name(b, name);
	row.file = 1;
	row.ret = -1;
	row.errnum = 2;
	row.arg0 = 7;
	store_sink_add(&b->sink, STORE_TABLE_IO, &row);
}

static void add_notes(struct bundle *b)
{
	struct store_mark mark = store_mark_nulls;
	struct store_counter counter = store_counter_nulls;
	struct store_step step = store_step_nulls;

	mark.ts_ns = 1500;
	mark.pid = mark.tid = 10;
	mark.name = bundle_name(b, "here");
	mark.category = bundle_name(b, "marks");
	store_sink_add(&b->sink, STORE_TABLE_MARK, &mark);
	counter.ts_ns = 1600;
	counter.pid = counter.tid = 10;
	counter.name = bundle_name(b, "queue");
	counter.value = 2.5;
	store_sink_add(&b->sink, STORE_TABLE_COUNTER, &counter);
	counter.value = NAN;
	store_sink_add(&b->sink, STORE_TABLE_COUNTER, &counter);
	step.ts_ns = 1700;
	step.pid = step.tid = 10;
	step.name = bundle_name(b, "train");
	step.index = 3;
	step.value = 0.5;
	store_sink_add(&b->sink, STORE_TABLE_STEP, &step);
	step.index = 4;
	step.value = NAN;
	store_sink_add(&b->sink, STORE_TABLE_STEP, &step);
}

static void add_process(struct bundle *b)
{
	static const char argv[] = "prog\0-x\0a \"b\"\0";
	struct store_text text = { .data = argv, .bytes = sizeof(argv) - 1 };
	struct store_process process = store_process_nulls;
	struct store_thread thread = store_thread_nulls;

	process.process = 1;
	process.pid = 10;
	process.exe = bundle_name(b, "/usr/bin/prog");
	process.argv = &text;
	store_sink_add(&b->sink, STORE_TABLE_PROCESS, &process);
	thread.process = 1;
	thread.pid = 10;
	thread.tid = 11;
	thread.name = bundle_name(b, "worker");
	store_sink_add(&b->sink, STORE_TABLE_THREAD, &thread);
}

static void every_kind_of_row(void **state)
{
	static const struct exchange_options all = { .range.has_range = false };
	struct bundle b;
	struct model_run *run;
	json_t *trace;
	const json_t *event;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, STORE_NULL, "/data/a \"b\"\n");
	add_process(&b);
	add_call(&b, "read", 1010, 20);
	add_call(&b, "exec", 1900, STORE_NULL);
	add_span(&b, "outer", 1000, 800, "{\"k\":[1,\"x\"]}");
	add_span(&b, "open", 1100, 100, "{}");
	add_span(&b, "broken", 1250, 10, "{not json");
	add_notes(&b);
	run = bundle_open(&b);
	trace = export(run, &all);

	event = find(trace, "X", "read", 0);
	assert_true(number(event, "ts") == 0.01);
	assert_true(number(event, "dur") == 0.02);
	assert_int_equal(number(event, "pid"), 10);
	assert_string_equal(json_string_value(arg(event, "path")), "/data/a \"b\"\n");
	assert_string_equal(json_string_value(arg(event, "error")), "ENOENT");
	assert_int_equal(json_integer_value(arg(event, "arg0")), 7);
	assert_null(arg(event, "size"));
	assert_non_null(find(trace, "i", "exec", 0));
	assert_null(find(trace, "X", "exec", 0));

	event = find(trace, "X", "outer", 0);
	assert_true(number(event, "ts") == 0 && number(event, "dur") == 0.8);
	assert_int_equal(json_array_size(arg(event, "k")), 2);
	assert_int_equal(json_integer_value(arg(find(trace, "X", "open", 0), "is_open")), 1);
	assert_string_equal(json_string_value(arg(find(trace, "X", "broken", 0), "args")), "{not json");

	assert_string_equal(str(find(trace, "i", "here", 0), "cat"), "marks");
	assert_true(json_number_value(arg(find(trace, "C", "queue", 0), "value")) == 2.5);
	assert_non_null(find(trace, "i", "queue", 0));
	assert_int_equal(json_integer_value(arg(find(trace, "i", "train", 0), "index")), 3);
	assert_int_equal(json_integer_value(arg(find(trace, "i", "train", 1), "index")), 4);
	assert_true(json_number_value(arg(find(trace, "C", "train", 0), "value")) == 0.5);
	assert_null(find(trace, "C", "train", 1));

	assert_string_equal(json_string_value(arg(find(trace, "M", "process_name", 0), "name")), "prog");
	assert_string_equal(json_string_value(arg(find(trace, "M", "process_labels", 0), "labels")), "prog -x a \"b\"");
	event = find(trace, "M", "thread_name", 0);
	assert_int_equal(number(event, "tid"), 11);
	assert_string_equal(json_string_value(arg(event, "name")), "worker");
	json_decref(trace);
	bundle_remove(&b, run);
}

static void what_encloses_comes_first_and_what_crosses_goes_aside(void **state)
{
	static const struct exchange_options all = { .range.has_range = false };
	struct bundle b;
	struct model_run *run;
	json_t *trace;
	const json_t *event;

	(void)state;
	bundle_make(&b);
	add_span(&b, "child", 2000, 100000, NULL);
	add_span(&b, "parent", 2000, 200000, NULL);
	add_span(&b, "sticks out", 3000, 99000 + 40, NULL);
	add_span(&b, "crosses", 150000, 500000, "{\"k\":1}");
	run = bundle_open(&b);
	trace = export(run, &all);
	event = json_array_get(json_object_get(trace, "traceEvents"), 0);
	assert_string_equal(str(event, "name"), "parent");
	event = find(trace, "X", "sticks out", 0);
	assert_true(number(event, "dur") == 99);
	assert_int_equal(json_integer_value(arg(event, "dur_ns")), 99040);
	assert_null(find(trace, "X", "crosses", 0));
	event = find(trace, "b", "crosses", 0);
	assert_true(number(event, "ts") == 149);
	assert_int_equal(json_integer_value(arg(event, "k")), 1);
	assert_true(number(find(trace, "e", "crosses", 0), "ts") == 649);
	assert_true(number(find(trace, "e", "crosses", 0), "id") == number(event, "id"));
	json_decref(trace);
	bundle_remove(&b, run);
}

static void an_empty_run_and_a_range(void **state)
{
	struct exchange_options range = { .range = { .has_range = true, .from_ns = 2000, .to_ns = 3000 } };
	struct bundle b;
	struct model_run *run;
	json_t *trace;

	(void)state;
	bundle_make(&b);
	run = bundle_open(&b);
	trace = export(run, &range);
	assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 0);
	json_decref(trace);
	bundle_remove(&b, run);
	bundle_make(&b);
	for (int64_t ts_ns = 1000; ts_ns < 4000; ts_ns += 500)
		add_span(&b, "s", ts_ns, 10, NULL);
	run = bundle_open(&b);
	trace = export(run, &range);
	assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 2);
	json_decref(trace);
	bundle_remove(&b, run);
}

/* Values that no recorder writes. */
static int64_t strange_int(void)
{
	static const int64_t values[] = { 0, 1, 2, 3, -1, STORE_NULL, INT64_MAX, INT64_MIN + 1, (int64_t)1 << 32, 1000,
		20 };

	return values[random_below(sizeof(values) / sizeof(*values))];
}

static double strange_real(void)
{
	static const double values[] = { 0, -1.5, 1e300, INFINITY, -INFINITY, NAN, 4.9e-324 };

	return values[random_below(sizeof(values) / sizeof(*values))];
}

static void add_strange_row(struct bundle *b, enum store_table_id table)
{
	const struct store_schema *schema = store_schemas[table];
	int64_t row[STORE_COLUMNS_MAX];
	struct store_text texts[STORE_COLUMNS_MAX];
	char bytes[STORE_COLUMNS_MAX][16];

	for (unsigned c = 0; c < schema->count; c++) {
		const struct store_text *text = random_below(3) ? &texts[c] : NULL;
		double real = strange_real();

		random_bytes(bytes[c], sizeof(bytes[c]));
		texts[c] = random_below(3) ? (struct store_text){ bytes[c], random_below(sizeof(bytes[c])) }
					   : (struct store_text){ " {\"a\": [1]} ", 12 };
		row[c] = strange_int();
		if (schema->columns[c].kind == STORE_REAL)
			memcpy(&row[c], &real, sizeof(real));
		else if (schema->columns[c].kind == STORE_TEXT)
			memcpy(&row[c], &text, sizeof(text));
	}
	store_sink_add(&b->sink, table, row);
}

static void hostile_tables_make_valid_traces(void **state)
{
	static const struct exchange_options all = { .range.has_range = false };

	(void)state;
	random_init();
	for (int round = 0; round < 10; round++) {
		struct bundle b;
		struct model_run *run;

		bundle_make(&b);
		for (int i = 0; i < 5; i++) {
			char bytes[16];

			random_bytes(bytes, sizeof(bytes));
			store_strings_id(&b.sink.strings, bytes, random_below(sizeof(bytes)));
		}
		for (int table = 0; table < STORE_TABLE_COUNT; table++)
			for (size_t rows = random_below(300); table != STORE_TABLE_STRING && rows > 0; rows--)
				add_strange_row(&b, table);
		run = bundle_open(&b);
		json_decref(export(run, &all));
		bundle_remove(&b, run);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	static const struct exchange_options all = { .range.has_range = false };
	struct sonde_err err = SONDE_ERR_INIT;
	struct bundle b;
	struct model_run *run;
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	bundle_make(&b);
	add_span(&b, "s", 1000, 10, NULL);
	run = bundle_open(&b);
	assert_true(exchange_formats[0]->write(run, out, &all, &err) < 0);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(out);
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_row),
		cmocka_unit_test(what_encloses_comes_first_and_what_crosses_goes_aside),
		cmocka_unit_test(an_empty_run_and_a_range),
		cmocka_unit_test(hostile_tables_make_valid_traces),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return RUN_TESTS(tests);
}
