/* Counters out of text: the right numbers under the right names, also when lines come and go. */
#include "sinks.h"

#include "probe/proc/series.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void parse(struct series_reader *f, struct counters *c, const char *text)
{
	struct buf b = BUF_INIT;
	buf_adds(&b, text);
	c->now_ns += 1000;
	series_parse(f, c, &b);
	buf_release(&b);
}

static double last_of(const struct series_reader *f, const char *key, unsigned field)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->lines[i].key, key))
			return f->lines[i].counters[field].last;
	fail_msg("no line '%s'", key);
	return 0;
}

/* A device that appears between two others shifts nobody (SOFA's diskstat did). */
static void devices_come_and_go(void **state)
{
	struct made_sink sink;
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	struct series_reader f = series_reader_of(SERIES_FILE_DISK);
	parse(&f, &c, "   8 0 sda 10 0 100 5 20 0 200 7 0 9 12\n   8 16 sdc 1 0 8 1 1 0 8 1 0 1 1\n");
	parse(&f, &c,
			"   8 0 sda 11 0 102 5 20 0 200 7 3 9 12\n   8 8 sdb 1000 0 9000 1 1 0 9 1 0 1 1\n   8 16 sdc "
			"1 0 8 1 3 0 8 1 0 1 1\n");
	parse(&f, &c, "   8 16 sdc 1 0 8 1 4 0 8 1 0 1 1\n   8 0 sda 12 0 104 5 20 0 200 7 0 9 12\n");
	assert_true(last_of(&f, "sda", 0) == 2);         /* reads */
	assert_true(last_of(&f, "sda", 1) == 4 * 512.0); /* bytes read */
	assert_true(last_of(&f, "sdb", 0) == 0);         /* counts from its first reading */
	assert_true(last_of(&f, "sdc", 3) == 3);         /* writes */
	assert_int_equal(f.count, 3);
	series_close(&f, &c);
	counters_release(&c);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

static void idle_devices_are_left_out(void **state)
{
	struct made_sink sink;
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	struct series_reader f = series_reader_of(SERIES_FILE_DISK);
	parse(&f, &c, "   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n   8 0 sda 10 0 100 5 20 0 200 7 0 9 12\n");
	assert_int_equal(f.count, 1);
	series_close(&f, &c);
	counters_release(&c);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

static void pairs_in_any_order(void **state)
{
	static const char *const texts[] = { "MemTotal:  100 kB\nMemFree:   50 kB\nMemAvailable: 60 kB\nOther: 1 kB\n",
		"Other: 1 kB\nMemAvailable: 60 kB\nMemFree:   50 kB\nMemTotal:  100 kB\n" };
	for (int i = 0; i < 2; i++) {
		struct made_sink sink;
		sink_make(&sink);
		struct counters c = { .sink = &sink.sink };
		struct series_reader f = series_reader_of(SERIES_FILE_MEMORY);
		parse(&f, &c, texts[i]);
		assert_true(f.lines[0].counters[0].last == 100 * 1024.0);
		assert_true(f.lines[0].counters[1].last == 50 * 1024.0);
		assert_true(f.lines[0].counters[2].last == 60 * 1024.0);
		assert_int_equal(f.lines[0].counters[3].name, 0); /* absent is not zero: it has no row at all */
		series_close(&f, &c);
		counters_release(&c);
		store_sink_close(&sink.sink, NULL);
		sink_remove(&sink);
	}
}

static void nonsense_does_no_harm(void **state)
{
	struct made_sink sink;
	random_init();
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	for (enum series_file_id i = 0; i < SERIES_FILES; i++) {
		struct series_reader f = series_reader_of(i);
		if (series_files[i].scope == SERIES_PROCESS) /* system.c reads them */
			continue;
		for (int pass = 0; pass < 300; pass++) {
			char text[200];
			static const char some[] = "cpu0123 :\n  abc=total some sda 99 ";
			size_t n = random_below(sizeof(text));
			for (size_t at = 0; at < n; at++)
				text[at] = some[random_below(sizeof(some) - 1)];
			text[n] = '\0';
			parse(&f, &c, text);
		}
		series_close(&f, &c);
	}
	counters_release(&c);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

/* Written when they change, with the last reading of the old value; the end is always there. */
static void values_are_written_when_they_change(void **state)
{
	static const double values[] = { 5, 5, 5, 7, 7, 7 };
	struct made_sink sink;
	struct counter k;
	struct store_counter rows[8];
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	counter_init(&c, &k, "level", "bytes", false, STORE_NULL);
	for (size_t i = 0; i < 6; i++) {
		c.now_ns = (int64_t)(i + 1) * 10;
		counter_set(&c, &k, values[i]);
	}
	counter_finish(&c, &k);
	counters_release(&c);
	assert_int_equal(sink_rows(&sink, STORE_TABLE_COUNTER, rows, 8), 4);
	static const int64_t times[] = { 10, 30, 40, 60 };
	static const double wanted[] = { 5, 5, 7, 7 };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(rows[i].ts_ns, times[i]);
		assert_true(rows[i].value == wanted[i]);
	}
	sink_remove(&sink);
}

static const struct series_row *row_of(enum series_file_id file, const char *name)
{
	size_t count;
	const struct series_row *s = series_of_file(file, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(s[i].name, name))
			return &s[i];
	fail_msg("no row '%s'", name);
	return s;
}

static void values_of_texts(void **state)
{
	static const struct {
		enum series_file_id file;
		const char *name, *text;
		double value;
	} cases[] = {
		{ SERIES_FILE_CPU, "idle_ns", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 9 9 9 9 9 9 9 9 9 9\n", 4e7 },
		{ SERIES_FILE_SCHED, "forks", "intr 7 1 1\nctxt 8\nprocesses 9\n", 9 },
		{ SERIES_FILE_MEMORY, "available_bytes", "MemTotal:  2 kB\nMemAvailable:   3 kB\n", 3072 },
		{ SERIES_FILE_PRESSURE_IO, "full.stall_ns",
				"some avg10=0.10 avg60=0.20 avg300=0.30 total=400\n"
				"full avg10=0.10 avg60=0.20 avg300=0.30 total=500\n",
				500e3 },
		{ SERIES_FILE_GROUP_CPU, "throttled_ns", "usage_usec 10\nnr_throttled 1\nthrottled_usec 12\n", 12e3 },
		{ SERIES_FILE_GROUP_MEMORY, "memory_bytes", "4096\n", 4096 },
		{ SERIES_FILE_GROUP1_CPUACCT, "system_ns", "user 3\nsystem 4\n", 4e7 },
		{ SERIES_FILE_PROCESS_IO, "read_bytes", "rchar: 1\nwchar: 2\nread_bytes: 4096\n", 4096 },
		{ SERIES_FILE_PROCESS_SCHEDSTAT, "run_delay_ns", "100 200 3\n", 200 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(series_value(row_of(cases[i].file, cases[i].name), cases[i].text) == cases[i].value);
}

/* Absent is never zero: a missing file, line, column or number has no value and no counter. */
static void absent_is_never_zero(void **state)
{
	static const char *const texts[] = { "", "\n", "max\n", "other 1\n", "some avg10=0.00\n", "cpu\n",
		"user_usec\n", "MemTotal:\n", "MemTotalX: 5 kB\n" };
	struct made_sink sink;
	struct store_counter rows[1];
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink };
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
		for (size_t i = 0; i < series_count; i++)
			if (series_rows[i].key || k < 3) /* without a key the first line is meant, whatever it is */
				assert_true(isnan(series_value(&series_rows[i], texts[k])));
	for (enum series_file_id i = 0; i < SERIES_FILES; i++) {
		struct series_reader r = series_reader_of(i);
		bool is_meant = series_files[i].format == SERIES_KEYS && series_files[i].scope != SERIES_PROCESS;
		for (size_t k = 0; is_meant && k < sizeof(texts) / sizeof(*texts); k++)
			parse(&r, &c, texts[k]);
		series_close(&r, &c);
	}
	struct series_reader r;
	assert_false(series_open(&r, SERIES_FILE_GROUP_CPU, "/no/such/directory"));
	assert_int_equal(series_open_cgroups(&r, 1, 0, "/no/such/directory"), 0);
	counters_release(&c);
	assert_int_equal(sink_rows(&sink, STORE_TABLE_COUNTER, rows, 1), 0);
	sink_remove(&sink);
}

/* As series.def states: rows of a file are adjacent, a series of v1 is one of v2, a metric has one kind and unit. */
static void the_table_is_consistent(void **state)
{
	for (size_t i = 0; i < series_count; i++) {
		const struct series_row *s = &series_rows[i], *first;
		size_t count;
		bool is_in_v2 = series_files[s->file].scope != SERIES_CGROUP1;
		first = series_of_file(s->file, &count);
		assert_true(s >= first && s < first + count && count <= SERIES_ROWS_MAX);
		for (size_t k = 0; k < series_count; k++) {
			const struct series_row *other = &series_rows[k];
			is_in_v2 |= series_files[other->file].scope == SERIES_CGROUP2 &&
					!strcmp(other->name, s->name) && !strcmp(other->unit, s->unit) &&
					!strcmp(series_files[other->file].prefix, series_files[s->file].prefix);
			if (s->metric && other->metric == s->metric) {
				assert_true(s->is_total == other->is_total);
				assert_string_equal(s->unit, other->unit);
			}
		}
		assert_true(is_in_v2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_come_and_go),
		cmocka_unit_test(idle_devices_are_left_out),
		cmocka_unit_test(pairs_in_any_order),
		cmocka_unit_test(nonsense_does_no_harm),
		cmocka_unit_test(values_are_written_when_they_change),
		cmocka_unit_test(values_of_texts),
		cmocka_unit_test(absent_is_never_zero),
		cmocka_unit_test(the_table_is_consistent),
	};
	return RUN_TESTS(tests);
}
