/* SQL over a run: what tables, views and functions return, what is refused, what limits do. */
#include "truth.h"

#include "base/buf.h"
#include "query/query.h"
#include "store/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct fixture {
	struct truth t;
	struct query *q;
	struct buf out;
	struct query_end end;
	struct sonde_err err;
	int row_result;
};

static int on_columns(void *arg, const char *const *names, size_t count)
{
	struct fixture *f = arg;

	for (size_t i = 0; i < count; i++)
		buf_addf(&f->out, "%s%s", i ? "|" : "", names[i]);
	buf_adds(&f->out, "\n");
	return 0;
}

static int on_row(void *arg, const struct query_value *values, size_t count)
{
	struct fixture *f = arg;

	for (size_t i = 0; i < count; i++) {
		const struct query_value *v = &values[i];

		buf_adds(&f->out, i ? "|" : "");
		if (v->kind == QUERY_NULL)
			buf_adds(&f->out, "-");
		else if (v->kind == QUERY_INT)
			buf_addf(&f->out, "%" PRId64, v->integer);
		else if (v->kind == QUERY_REAL)
			buf_addf(&f->out, "%.6gr", v->real);
		else
			buf_addf(&f->out, "%s%.*s", v->kind == QUERY_BLOB ? "x:" : "", (int)v->text.bytes,
					v->text.data);
	}
	buf_adds(&f->out, "\n");
	return f->row_result;
}

static int run_limited(struct fixture *f, const char *sql, const struct query_limits *limits)
{
	struct query_sink sink = { on_columns, on_row, f };

	f->out.len = 0;
	f->err = (struct sonde_err)SONDE_ERR_INIT;
	return query_run(f->q, sql, limits, &sink, &f->end, &f->err);
}

/* The rows, without the line of names. */
static void ask(struct fixture *f, const char *sql, const char *rows)
{
	const char *at;

	if (run_limited(f, sql, NULL) != 0)
		fail_msg("%s: %s", sql, f->err.text);
	at = strchr(f->out.data, '\n') + 1;
	if (strcmp(at, rows) != 0)
		fail_msg("%s\nis:\n%sexpected:\n%s", sql, at, rows);
}

static void refused(struct fixture *f, const char *sql, const char *text)
{
	assert_int_equal(run_limited(f, sql, NULL), -EINVAL);
	assert_string_equal(f->err.text, text);
}

static void open_run(struct fixture *f)
{
	struct sonde_err err = SONDE_ERR_INIT;

	truth_open(&f->t);
	if (query_open(&f->q, f->t.run, &err) < 0)
		fail_msg("%s", err.text);
}

/* A small run with a row of everything. */
static int set_up(void **state)
{
	static struct fixture f;
	struct truth *t = &f.t;

	f = (struct fixture){ .out = BUF_INIT };
	*state = &f;
	truth_start(t);
	bundle_file(&t->bundle, 1, STORE_NULL, "/data");
	bundle_file(&t->bundle, 2, 1, "a");
	bundle_file(&t->bundle, 3, STORE_NULL, "/tmp/b");
	truth_row(t, "process", "process pid ppid parent start_ns end_ns exe cwd exit_code events dropped state",
			"1 10 1 - 1000 5000 /bin/one /home 0 7 0 ended");
	truth_row(t, "process", "process pid ppid parent start_ns end_ns exe exit_signal",
			"2 20 10 1 2000 - /bin/two 9");
	truth_call(t, "open", 0, 10, 2, 3);
	truth_call(t, "read", 100, 20, 2, 100);
	truth_call(t, "read", 200, 40, 2, 50);
	truth_call(t, "write", 300, 5, 3, 70);
	truth_row(t, "io", "ts_ns dur_ns process pid tid call file ret errnum size fd offset",
			"1400 60 2 20 21 read 3 -1 5 100 4 512");
	truth_row(t, "io", "ts_ns dur_ns process pid tid call file file2 ret errnum size",
			"1500 30 2 20 21 copy_file_range 2 3 25 0 64");
	truth_row(t, "io", "ts_ns dur_ns process pid tid call ret errnum", "1600 - 1 10 10 nanosleep 0 0");
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open",
			"1000 100 1 10 10 load io 0 0");
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open",
			"1050 100 1 10 10 load io 1 0");
	truth_row(t, "span", "ts_ns dur_ns process pid tid name depth is_open", "1300 50 1 10 11 compute 0 0");
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open", "2000 8 2 20 20 load - 0 1");
	truth_row(t, "step", "ts_ns process pid tid name index value", "1100 1 10 10 epoch 0 1.5");
	truth_row(t, "step", "ts_ns process pid tid name index value", "1500 1 10 10 epoch 1 -");
	truth_row(t, "step", "ts_ns process pid tid name index value", "1600 1 10 10 batch 0 2.5");
	truth_row(t, "step", "ts_ns process pid tid name index value", "2100 1 10 10 epoch 2 0.25");
	truth_row(t, "counter", "ts_ns name value", "1000 load 1.5");
	truth_row(t, "counter", "ts_ns name value", "2000 load 2.5");
	truth_row(t, "counter", "ts_ns name value", "3000 other 8");
	truth_row(t, "counter", "ts_ns name value", "4000 other -");
	truth_modules(t);
	truth_stack(t, 1, 0, 2, "main");
	truth_stack(t, 2, 1, 2, "work");
	truth_stack(t, 3, 2, 1, "sys_read");
	truth_stack(t, 4, 1, 3, "memcpy");
	truth_row(t, "sample", "ts_ns process pid tid cpu event weight_ns count is_kernel stack",
			"1010 1 10 10 0 cpu 100 1 0 2");
	truth_row(t, "sample", "ts_ns process pid tid cpu event weight_ns count is_kernel stack",
			"1020 1 10 10 0 cpu 200 1 0 2");
	truth_row(t, "sample", "ts_ns process pid tid cpu event weight_ns count is_kernel stack",
			"1030 1 10 10 1 cpu 400 1 1 3");
	truth_row(t, "sample", "ts_ns process pid tid cpu event weight_ns count is_kernel stack",
			"1040 1 10 10 1 cpu 50 1 0 -");
	open_run(&f);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	query_free(f->q);
	buf_release(&f->out);
	truth_end(&f->t);
	return 0;
}

static void tables_show_their_rows(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT * FROM process",
			"1|10|1|-|1000|5000|/bin/one|/home|-|0|-|7|0|-|ended\n"
			"2|20|10|1|2000|-|/bin/two|-|-|-|9|-|-|-|-\n");
	ask(f,
			"SELECT ts_ns, dur_ns, process, pid, tid, call, file, path, file2, path2, fd, ret, errnum, "
			"size, \"offset\", "
			"category, kind, bytes FROM io",
			"1000|10|1|10|10|open|2|/data/a|-|-|-|3|0|3|-|open|open|-\n"
			"1100|20|1|10|10|read|2|/data/a|-|-|-|100|0|100|-|data|read|100\n"
			"1200|40|1|10|10|read|2|/data/a|-|-|-|50|0|50|-|data|read|50\n"
			"1300|5|1|10|10|write|3|/tmp/b|-|-|-|70|0|70|-|data|write|70\n"
			"1400|60|2|20|21|read|3|/tmp/b|-|-|4|-1|5|100|512|data|read|-\n"
			"1500|30|2|20|21|copy_file_range|2|/data/a|3|/tmp/b|-|25|0|64|-|data|copy|25\n"
			"1600|-|1|10|10|nanosleep|-|-|-|-|-|0|0|-|-|process|wait|-\n");
	ask(f, "SELECT name, \"index\", value FROM step", "epoch|0|1.5r\nepoch|1|-\nbatch|0|2.5r\nepoch|2|0.25r\n");
	ask(f, "SELECT file, base, name, path FROM file", "1|-|/data|/data\n2|1|a|/data/a\n3|-|/tmp/b|/tmp/b\n");
	ask(f, "SELECT weight_ns, stack, function FROM sample", "100|2|work\n200|2|work\n400|3|sys_read\n50|-|-\n");
	ask(f, "SELECT rowid, ts_ns FROM span", "0|1000\n1|1050\n2|1300\n3|2000\n");
	ask(f, "SELECT rowid, ts_ns FROM span WHERE tid = 10", "0|1000\n1|1050\n");
	ask(f, "SELECT count(*) FROM io", "7\n");
	ask(f, "SELECT path LIKE 'runs/%-test', start_ns, end_ns, wall_ns, cpus, host, exit_code FROM run",
			"1|1000|1000001000|1000000000|2|-|-\n");
}

/* Each constraint finds what a scan of all rows finds; constants at, below and above the values. */
static void constraints_select_rows(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT ts_ns FROM io WHERE ts_ns >= 1300", "1300\n1400\n1500\n1600\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns > 1300", "1400\n1500\n1600\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns <= 1200", "1000\n1100\n1200\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns < 1200", "1000\n1100\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns = 1200", "1200\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns BETWEEN 1200 AND 1400 AND ret > 60", "1300\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns >= 1600 AND ts_ns <= 1000", "");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns >= 1299.5 AND ts_ns < 1400.5", "1300\n1400\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns > 1300.0 AND ts_ns <= 1500.0", "1400\n1500\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns = 1300.0", "1300\n");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns = 1300.5", "");
	ask(f, "SELECT ts_ns FROM io WHERE ts_ns > 1e30", "");
	ask(f, "SELECT count(*) FROM io WHERE ts_ns < 1e30", "7\n");
	ask(f, "SELECT count(*) FROM io WHERE ts_ns > -1e30", "7\n");
	ask(f, "SELECT count(*) FROM io WHERE ts_ns < 9223372036854775807", "7\n");
	ask(f, "SELECT count(*) FROM io WHERE ts_ns > 9223372036854775807", "0\n");
	ask(f, "SELECT count(*) FROM io WHERE ts_ns <= -9223372036854775808", "0\n");
	ask(f, "SELECT count(*) FROM io WHERE ts_ns > -9223372036854775808", "7\n");
	ask(f, "SELECT ts_ns FROM io WHERE call = 'read'", "1100\n1200\n1400\n");
	ask(f, "SELECT ts_ns FROM io WHERE call = 'write' AND pid = 10", "1300\n");
	ask(f, "SELECT ts_ns FROM io WHERE call = 'no such call'", "");
	ask(f, "SELECT ts_ns FROM io WHERE call = 'READ'", "");
	ask(f, "SELECT ts_ns FROM io WHERE call = 'WRITE' COLLATE NOCASE", "1300\n");
	ask(f, "SELECT ts_ns FROM io WHERE call > 'w'", "1300\n");
	ask(f, "SELECT ts_ns FROM io WHERE call = 5", "");
	ask(f, "SELECT ts_ns FROM io WHERE pid = 20", "1400\n1500\n");
	ask(f, "SELECT ts_ns FROM io WHERE pid = '20'", "1400\n1500\n");
	ask(f, "SELECT ts_ns FROM io WHERE pid = 15", "");
	ask(f, "SELECT ts_ns FROM io WHERE pid = NULL", "");
	ask(f, "SELECT ts_ns FROM io WHERE pid = 20.0", "1400\n1500\n");
	ask(f, "SELECT ts_ns FROM io WHERE pid > 10 AND tid = 21 AND call = 'read'", "1400\n");
	ask(f, "SELECT ts_ns FROM io WHERE dur_ns IS NULL", "1600\n");
	ask(f, "SELECT ts_ns FROM io WHERE dur_ns < 10", "1300\n");
	ask(f, "SELECT ts_ns FROM io WHERE bytes = 50", "1200\n");
	ask(f, "SELECT ts_ns FROM io WHERE path = '/tmp/b' AND fd = 4", "1400\n");
	ask(f, "SELECT value FROM counter WHERE value > 2", "2.5r\n8r\n");
	ask(f, "SELECT p.exe, i.call FROM process p JOIN io i ON i.process = p.process WHERE i.errnum > 0",
			"/bin/two|read\n");
	ask(f, "SELECT i.ts_ns, p.pid FROM io i JOIN process p USING (process) WHERE i.ts_ns > 1300",
			"1400|20\n1500|20\n1600|10\n");
	ask(f, "SELECT text FROM string WHERE id = (SELECT min(id) FROM string)", "open\n");
}

/* Many blocks: time ranges skip, lookups find, whatever the block. */
static void blocks_are_all_searched(void **state)
{
	enum { ROWS = 200000 };
	struct fixture f = { .out = BUF_INIT };
	char expected[64];

	(void)state;
	truth_start(&f.t);
	for (int i = 0; i < ROWS; i++) {
		struct store_counter row = store_counter_nulls;

		row.ts_ns = 1000 + i;
		row.pid = i % 1000;
		row.name = bundle_name(&f.t.bundle, i % 3 ? "a" : "b");
		row.value = i;
		store_sink_add(&f.t.bundle.sink, STORE_TABLE_COUNTER, &row);
	}
	open_run(&f);
	ask(&f, "SELECT count(*), min(ts_ns), max(ts_ns), min(rowid), max(rowid) FROM counter",
			"200000|1000|200999|0|199999\n");
	ask(&f, "SELECT count(*), sum(ts_ns) FROM counter WHERE pid = 999", "200|20299800\n");
	ask(&f, "SELECT count(*), min(rowid), max(rowid) FROM counter WHERE pid = 999", "200|999|199999\n");
	ask(&f, "SELECT count(*) FROM counter WHERE name = 'b'", "66667\n");
	ask(&f, "SELECT ts_ns, value FROM counter WHERE ts_ns BETWEEN 66535 AND 66537",
			"66535|65535r\n66536|65536r\n66537|65537r\n");
	ask(&f, "SELECT count(*) FROM counter WHERE ts_ns > 100000 AND name = 'a' AND pid < 10", "673\n");
	ask(&f, "SELECT count(*) FROM counter a JOIN counter b ON b.ts_ns = a.ts_ns + 100000 WHERE a.pid = 7", "100\n");
	for (int n = 1; n <= 3; n++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM counter LIMIT %d", n);
		ask(&f, sql, "200000\n");
	}
	snprintf(expected, sizeof(expected), "%d|%d\n", 100, ROWS);
	ask(&f, "SELECT count(*), sum(count) FROM buckets('counter', 100)", expected);
	ask(&f, "SELECT count(*), min(count), max(count) FROM buckets('counter', 100)", "100|2000|2000\n");
	query_free(f.q);
	buf_release(&f.out);
	truth_end(&f.t);
}

static void stacks_have_frames(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT stack, depth, function, module, source, line, is_kernel, is_inlined FROM frame WHERE stack = 3",
			"3|0|sys_read|[kernel]|-|0|1|0\n3|1|work|/bin/program|-|0|0|0\n"
			"3|2|main|/bin/program|-|0|0|0\n");
	ask(f, "SELECT stack, depth, function FROM frame",
			"1|0|main\n2|0|work\n2|1|main\n3|0|sys_read\n3|1|work\n3|2|main\n4|0|memcpy\n4|1|main\n");
	ask(f, "SELECT rowid FROM frame WHERE stack = 2", "2097152\n2097153\n");
	ask(f, "SELECT count(*) FROM frame WHERE stack = 0", "0\n");
	ask(f, "SELECT function FROM frame WHERE stack = 4", "memcpy\nmain\n");
	ask(f, "SELECT count(*) FROM frame WHERE stack = 5", "0\n");
	ask(f, "SELECT count(*) FROM frame WHERE stack = NULL", "0\n");
	ask(f, "SELECT count(*) FROM frame WHERE stack > 2", "5\n");
	ask(f, "SELECT * FROM functions",
			"sys_read|[kernel]|1|400|400\nwork|/bin/program|2|300|700\nmain|/bin/program|0|0|700\n");
}

static void views_add_up(void **state)
{
	struct fixture *f = *state;

	ask(f,
			"SELECT path, calls, opens, read_bytes, written_bytes, bytes, total_ns, errors, processes, "
			"first_ns, last_ns "
			"FROM files",
			"/data/a|4|1|175|-|175|100|0|2|1000|1500\n/tmp/b|3|0|-|95|95|65|1|2|1300|1500\n");
	ask(f, "SELECT step, dur_ns FROM steps WHERE name = 'epoch'", "0|-\n1|400\n2|600\n");
	ask(f, "SELECT process, life_ns FROM processes", "1|4000\n2|-\n");
	ask(f, "SELECT call, bytes FROM calls WHERE path2 IS NOT NULL", "copy_file_range|25\n");
}

static void table_functions_aggregate(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT * FROM stats('span', 'dur_ns')", "-|-|4|258|64.5r|44.4335r|8|100|50|100|100|3\n");
	ask(f,
			"SELECT key, key2, count, sum, min, max, distinct_values FROM stats('span', 'dur_ns', "
			"'name', 'tid') "
			"ORDER BY key, key2",
			"compute|11|1|50|50|50|1\nload|10|2|200|100|100|1\nload|20|1|8|8|8|1\n");
	ask(f,
			"SELECT key, count, sum, mean, stddev, min, max, p50, p95, p99, distinct_values "
			"FROM stats('counter', 'value', 'name') ORDER BY key",
			"load|2|4r|2r|-|1.5r|2.5r|1.5r|1.5r|1.5r|-\nother|2|8r|8r|-|8r|8r|8r|8r|8r|-\n");
	ask(f, "SELECT key, count, sum FROM stats('io', 'bytes', 'path') ORDER BY key",
			"-|1|0\n/data/a|4|175\n/tmp/b|2|70\n");
	ask(f, "SELECT sum FROM stats('span', 'dur_ns') WHERE since_ns = 1050 AND until_ns = 1300", "150\n");
	ask(f, "SELECT count FROM stats('span', 'dur_ns', NULL, NULL, 1300)", "2\n");
	ask(f, "SELECT count FROM stats('span', 'dur_ns', NULL, NULL, NULL, 1050)", "1\n");
	ask(f, "SELECT table_name, column_name, by FROM stats('span', 'dur_ns', 'category') WHERE key = 'io'",
			"span|dur_ns|category\n");
	ask(f, "SELECT key, count, value FROM quantile('span', 'dur_ns', 0.5, 'name') ORDER BY key",
			"compute|1|50\nload|3|100\n");
	ask(f, "SELECT value FROM quantile('span', 'dur_ns', 0)", "8\n");
	ask(f, "SELECT value FROM quantile('span', 'dur_ns', 1)", "100\n");
	ask(f, "SELECT value FROM quantile('counter', 'value', 1)", "8r\n");
	ask(f, "SELECT value FROM quantile('span', 'dur_ns')", "50\n");
	ask(f, "SELECT key, count, total_ns, union_ns, most_at_once FROM union_ns('span', 'name') ORDER BY key",
			"compute|1|50|50|1\nload|3|208|158|2\n");
	ask(f, "SELECT count, total_ns, union_ns, most_at_once FROM union_ns('span')", "4|258|208|2\n");
	ask(f, "SELECT * FROM buckets('span', 4, 'dur_ns')",
			"0|1000|1251|-|2|200|100|100\n1|1251|1502|-|1|50|50|50\n3|1753|2004|-|1|8|8|8\n");
	ask(f, "SELECT bucket, key, count, sum, min FROM buckets('counter', 2, 'value', 'name') ORDER BY bucket, key",
			"0|load|2|4r|-\n1|other|2|8r|-\n");
	ask(f, "SELECT bucket, from_ns, to_ns, count, sum FROM buckets('span', 2, NULL, NULL, 1000, 2000)",
			"0|1000|1500|3|-\n");
	ask(f, "SELECT count(*) FROM buckets('span', 1)", "1\n");
	ask(f, "SELECT sum(count) FROM buckets('span', 100000)", "4\n");
	ask(f, "SELECT count(*) FROM stats('gpu', 'dur_ns', 'name')", "0\n");
	ask(f, "SELECT p.pid, s.count FROM process p JOIN stats('io', 'dur_ns', 'pid') s ON s.key = p.pid ORDER BY 1",
			"10|5\n20|2\n");
}

static void aggregates_are_exact(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT median(dur_ns), quantile(dur_ns, 0), quantile(dur_ns, 1), quantile(dur_ns, 0.74) FROM io",
			"20|5|60|30\n");
	ask(f, "SELECT median(value), quantile(value, 0.99) FROM counter", "2.5r|2.5r\n");
	ask(f, "SELECT median(call) FROM io", "-\n");
	ask(f, "SELECT median(dur_ns) FROM io WHERE pid = 99", "-\n");
	ask(f, "SELECT union_ns(ts_ns, dur_ns) FROM span", "208\n");
	ask(f, "SELECT name, union_ns(ts_ns, dur_ns) FROM span GROUP BY name", "compute|50\nload|158\n");
	ask(f, "SELECT union_ns(ts_ns, dur_ns) FROM io", "165\n");
	ask(f, "SELECT union_ns(ts_ns, 0) FROM io", "0\n");
	ask(f, "SELECT union_ns(ts_ns, dur_ns) FROM io WHERE pid = 99", "0\n");
	ask(f, "SELECT union_ns(a, b) FROM (SELECT 5 AS a, 10 AS b UNION ALL SELECT 0, 3 UNION ALL SELECT 6, 2)",
			"13\n");
	ask(f, "SELECT union_ns(9223372036854775800, 100)", "7\n");
	ask(f,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
			"SELECT median(i), quantile(i, 0.25), quantile(-i * 0.5, 0), union_ns(i * 10, 5) FROM n",
			"500|250|-500|5000\n");
	ask(f, "SELECT median(9007199254740993.0)", "9.0072e+15r\n");
}

static void others_are_listed(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT kind FROM tables WHERE name = 'io' AND \"column\" IS NULL", "table\n");
	ask(f, "SELECT kind FROM tables WHERE name = 'gpu' AND \"column\" IS NULL", "not recorded\n");
	ask(f, "SELECT kind, type, meaning FROM tables WHERE name = 'io' AND \"column\" = 'bytes'",
			"column|INTEGER|bytes that the call moved; null when it moves none or that is unknown\n");
	ask(f, "SELECT kind, type FROM tables WHERE name = 'counter' AND \"column\" = 'value'", "column|REAL\n");
	ask(f, "SELECT type FROM tables WHERE name = 'io' AND \"column\" IN ('path', 'category', 'pid')",
			"INTEGER\nTEXT\nTEXT\n");
	ask(f, "SELECT kind, \"column\", meaning FROM tables WHERE name = 'frame'",
			"table|-|one function of a stack: stack, depth from 0, function, module\n");
	ask(f, "SELECT name FROM tables WHERE kind = 'view'",
			"calls\nfiles\nprocesses\nthreads\nsteps\nstates\nsamples\nfunctions\n");
	ask(f, "SELECT count(*) FROM tables WHERE kind = 'function'", "7\n");
	ask(f, "PRAGMA table_info(counter)",
			"0|ts_ns|INTEGER|0|-|0\n1|process|INTEGER|0|-|0\n2|pid|INTEGER|0|-|0\n"
			"3|tid|INTEGER|0|-|0\n4|name|TEXT|0|-|0\n5|value|REAL|0|-|0\n");
}

static void notes_say_what_is_missing(void **state)
{
	struct fixture *f = *state;

	ask(f, "SELECT count(*) FROM gpu", "0\n");
	assert_string_equal(f->end.notes, "the run has no table 'gpu': nothing of it was recorded");
	ask(f, "SELECT count(*) FROM gpu, packet", "0\n");
	assert_non_null(strstr(f->end.notes, "'gpu': nothing of it was recorded"));
	ask(f, "SELECT (SELECT count(*) FROM gpu) + (SELECT count(*) FROM packet)", "0\n");
	assert_string_equal(f->end.notes,
			"the run has no table 'packet': nothing of it was recorded\n"
			"the run has no table 'gpu': nothing of it was recorded");
	ask(f, "SELECT count(*) FROM stats('block', 'bytes', 'device')", "0\n");
	assert_string_equal(f->end.notes, "the run has no table 'block': nothing of it was recorded");
	ask(f, "SELECT count(*) FROM io", "7\n");
	assert_string_equal(f->end.notes, "");
	assert_int_equal(f->end.rows, 1);
	assert_false(f->end.is_cut);
}

static void only_one_reading_statement(void **state)
{
	struct fixture *f = *state;

	refused(f, "DELETE FROM run", "only questions are answered: not authorized");
	refused(f, "CREATE TABLE t(a)", "only questions are answered: not authorized");
	refused(f, "ATTACH '/tmp/x' AS x", "only questions are answered: not authorized");
	refused(f, "PRAGMA user_version", "only questions are answered: not authorized");
	refused(f, "SELECT load_extension('x')",
			"not authorized to use function: load_extension, at character 8: 'load_extension('x')'");
	refused(f, "EXPLAIN DELETE FROM run", "only questions are answered: not authorized");
	refused(f, "SELECT 1; SELECT 2", "there is more than one statement; one is answered at a time");
	refused(f, "SELECT 1; SELEC", "there is more than one statement; one is answered at a time");
	refused(f, " -- nothing", "there is no statement in ' -- nothing'");
	refused(f, "SELECT 1 FRM io", "near \"io\": syntax error, at character 14: 'io'");
	refused(f, "SELEC 1", "near \"SELEC\": syntax error, at character 1: 'SELEC 1'");
	refused(f, "SELECT a FROM io", "no such column: a, at character 8: 'a FROM io'");
	assert_string_equal(f->err.hint, "what there is: SELECT kind, name, \"column\", meaning FROM tables");
	refused(f, "SELECT * FROM missing", "no such table: missing");
	assert_string_equal(f->err.hint, "what there is: SELECT kind, name, \"column\", meaning FROM tables");
	ask(f, "SELECT 1; -- and no more\n ; ", "1\n");
	ask(f, "VALUES (1), (2)", "1\n2\n");
	ask(f, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
			"1\n2\n3\n");
}

static void wrong_arguments_have_reasons(void **state)
{
	struct fixture *f = *state;

	refused(f, "SELECT * FROM stats", "stats: the name of a table is missing: stats('io', ...)");
	refused(f, "SELECT * FROM stats('nothing', 'dur_ns')", "stats: there is no table 'nothing'");
	refused(f, "SELECT * FROM stats('files', 'dur_ns')", "stats: there is no table 'files'");
	refused(f, "SELECT * FROM stats('io')", "stats: the column is missing");
	refused(f, "SELECT * FROM quantile('io')", "quantile: the column is missing");
	refused(f, "SELECT * FROM stats('io', 'nothing')", "stats: the table 'io' has no column 'nothing'");
	refused(f, "SELECT * FROM stats('io', 'text')", "stats: the column 'text' is text: give one of numbers");
	refused(f, "SELECT * FROM stats('io', 'dur_ns', 'text')",
			"stats: the column 'text' is text: give one of numbers or names");
	refused(f, "SELECT * FROM stats('io', 'dur_ns', 'path2')", "stats: the column 'path2' is not for this");
	refused(f, "SELECT * FROM stats('step', 'index', 'value')",
			"stats: the column 'value' is text: give one of numbers or names");
	refused(f, "SELECT * FROM quantile('io', 'dur_ns', 1.01)", "quantile: p must lie between 0 and 1");
	refused(f, "SELECT * FROM quantile('io', 'dur_ns', -0.01)", "quantile: p must lie between 0 and 1");
	refused(f, "SELECT * FROM union_ns('counter')", "union_ns: the rows of the table 'counter' have no duration");
	refused(f, "SELECT * FROM buckets('io', 0)", "buckets: the number of buckets must lie between 1 and 100000");
	refused(f, "SELECT * FROM buckets('io', 100001)",
			"buckets: the number of buckets must lie between 1 and 100000");
	refused(f, "SELECT * FROM buckets('stack', 2)", "buckets: the table 'stack' has no times");
	refused(f, "SELECT quantile(dur_ns, 1.5) FROM io", "quantile(x, p): p must lie between 0 and 1");
	refused(f, "SELECT quantile(dur_ns, -0.5) FROM io", "quantile(x, p): p must lie between 0 and 1");
	refused(f, "SELECT quantile(dur_ns, NULL) FROM io", "quantile(x, p): p must lie between 0 and 1");
}

static void columns_have_distinct_names(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run_limited(f, "SELECT 1 AS n, 2 AS n, 3 AS m, 4 AS n, 5 AS n_2", NULL), 0);
	assert_string_equal(f->out.data, "n|n_2|m|n_3|n_2_2\n1|2|3|4|5\n");
	assert_int_equal(run_limited(f, "SELECT x'4142' AS b, '' AS t, x'' AS e, 1e999 AS i, 0.5 AS r", NULL), 0);
	assert_string_equal(f->out.data, "b|t|e|i|r\nx:AB||x:|-|0.5r\n");
}

static void limits_stop_a_statement(void **state)
{
	static const char endless[] =
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
	struct fixture *f = *state;

	assert_int_equal(run_limited(f, "SELECT ts_ns FROM io", &(struct query_limits){ .rows = 2 }), 0);
	assert_string_equal(f->out.data, "ts_ns\n1000\n1100\n");
	assert_int_equal(f->end.rows, 2);
	assert_true(f->end.is_cut);
	assert_int_equal(run_limited(f, "SELECT ts_ns FROM io", &(struct query_limits){ .rows = 7 }), 0);
	assert_int_equal(f->end.rows, 7);
	assert_false(f->end.is_cut);
	assert_int_equal(run_limited(f, endless, &(struct query_limits){ .time_ns = 20000000 }), -ETIMEDOUT);
	assert_string_equal(f->err.text, "the statement was stopped after 0.0 s, the limit");
	assert_string_equal(f->err.hint, "narrow it down (ts_ns BETWEEN ... AND ...), or raise the limit");
	assert_int_equal(run_limited(f,
					 "SELECT count(*) FROM frame a, frame b, frame c, frame d, frame e, frame g, "
					 "frame h, frame i, frame j",
					 &(struct query_limits){ .time_ns = 20000000 }),
			-ETIMEDOUT);
	assert_int_equal(run_limited(f, "SELECT length(zeroblob(16000000) || zeroblob(3))",
					 &(struct query_limits){ .memory_bytes = 4 << 20 }),
			-ENOMEM);
	assert_string_equal(f->err.text, "the statement needs more than 4 MiB of memory, the limit");
	ask(f, "SELECT count(*) FROM io", "7\n");
	f->row_result = -ECANCELED;
	assert_int_equal(run_limited(f, "SELECT ts_ns FROM io", NULL), -ECANCELED);
	assert_int_equal(f->end.rows, 1);
	f->row_result = 0;
}

/* A thread that sleeps, waits in the queue of a CPU and runs: the parts are its life. */
static void states_are_a_threads_life(void **state)
{
	struct fixture f = { .out = BUF_INIT };

	(void)state;
	truth_start(&f.t);
	truth_row(&f.t, "task", "process pid tid start_ns end_ns name run_ns", "1 10 10 1000 %lld main %lld",
			T0 + 100 * MS, 50 * MS);
	truth_row(&f.t, "task", "process pid tid start_ns end_ns name run_ns", "1 10 11 - - late 400000000");
	truth_row(&f.t, "sched", "ts_ns dur_ns process pid tid state wake_ns", "%lld %lld 1 10 10 sleep %lld",
			T0 + 10 * MS, 30 * MS, T0 + 30 * MS);
	truth_row(&f.t, "sched", "ts_ns dur_ns process pid tid state", "%lld %lld 1 10 10 preempted", T0 + 60 * MS,
			20 * MS);
	truth_row(&f.t, "sched", "ts_ns process pid tid state", "%lld 1 10 11 disk", T0 + 400 * MS);
	open_run(&f);
	ask(&f, "SELECT tid, state, ns, times FROM states ORDER BY tid, state",
			"10|runnable|30000000|2\n10|running|50000000|-\n10|sleep|20000000|1\n"
			"11|disk|600000000|1\n11|runnable|0|1\n11|running|400000000|-\n");
	ask(&f, "SELECT tid, name, run_ns FROM threads", "10|main|50000000\n11|late|400000000\n");
	query_free(f.q);
	buf_release(&f.out);
	truth_end(&f.t);
}

/* The words of a command line, as a JSON array. */
static void arguments_are_an_array(void **state)
{
	struct fixture f = { .out = BUF_INIT };
	struct store_text argv = { "a\0b \"c\"\0\0", 9 }, open_end = { "x\0y", 3 };
	struct store_process row = store_process_nulls;

	(void)state;
	truth_start(&f.t);
	row.process = 1;
	row.argv = &argv;
	store_sink_add(&f.t.bundle.sink, STORE_TABLE_PROCESS, &row);
	row.argv = &open_end;
	store_sink_add(&f.t.bundle.sink, STORE_TABLE_PROCESS, &row);
	open_run(&f);
	ask(&f, "SELECT argv FROM process", "[\"a\",\"b \\\"c\\\"\",\"\"]\n[\"x\",\"y\"]\n");
	query_free(f.q);
	buf_release(&f.out);
	truth_end(&f.t);
}

/* A table that this program does not know, and ones whose names would be SQL. */
struct foreign {
	int64_t at_ns, number;
	double real;
	const struct store_text *text;
};

static const struct store_column_schema foreign_columns[] = { { "at_ns", "when", STORE_INT, STORE_TIME },
	{ "number", "a number", STORE_INT, STORE_PLAIN }, { "real", "a real", STORE_REAL, STORE_PLAIN },
	{ "text", "a text", STORE_TEXT, STORE_PLAIN } };
static const struct store_column_schema quoted_columns[] = { { "a\" b", "", STORE_INT, STORE_PLAIN } };
static const struct store_schema foreign_schema = { "foreign_rows", "rows of others", 1, 4, foreign_columns };
static const struct store_schema quoted_schema = { "quoted", "", 1, 1, quoted_columns };
static const struct store_schema sqlite_schema = { "sqlite_x", "", 1, 1, foreign_columns };

static void add_foreign(struct truth *t, const struct store_schema *schema, int rows)
{
	struct store_text text = { "hi", 2 };
	struct store_writer *w;

	assert_int_equal(store_writer_open(&w, t->bundle.run.tablesfd, schema, NULL), 0);
	for (int i = 0; i < rows; i++) {
		struct foreign row = { 100 * i, i, i / 2.0, i % 2 ? NULL : &text };

		assert_int_equal(store_writer_add(w, &row, NULL), 0);
	}
	assert_int_equal(store_writer_close(w, NULL), 0);
}

static void tables_of_others_are_shown(void **state)
{
	struct fixture f = { .out = BUF_INIT };

	(void)state;
	truth_start(&f.t);
	f.t.bundle.json = "{\"sonde_run\":1,\"state\":\"complete\",\"name\":\"test\",\"host\":{\"name\":\"box\","
			  "\"cpus\":3},"
			  "\"exit\":{\"code\":4},\"clock\":{\"start_mono_ns\":9223372036854775000},\"wall_ns\":1000}";
	add_foreign(&f.t, &foreign_schema, 3);
	add_foreign(&f.t, &quoted_schema, 1);
	add_foreign(&f.t, &sqlite_schema, 1);
	open_run(&f);
	ask(&f, "SELECT * FROM foreign_rows", "0|0|0r|hi\n100|1|0.5r|-\n200|2|1r|hi\n");
	ask(&f, "SELECT number FROM FOREIGN_ROWS WHERE at_ns > 0 AND number < 2", "1\n");
	ask(&f, "SELECT text FROM foreign_rows WHERE number = 2", "hi\n");
	ask(&f, "SELECT \"column\", type, meaning FROM tables WHERE name = 'foreign_rows'",
			"-|-|\nat_ns|INTEGER|\nnumber|INTEGER|\nreal|REAL|\ntext|TEXT|\n");
	ask(&f, "SELECT count(*) FROM tables WHERE name IN ('quoted', 'sqlite_x')", "0\n");
	refused(&f, "SELECT * FROM stats('foreign_rows', 'number')", "stats: there is no table 'foreign_rows'");
	/* The end is beyond every time: unknown. */
	ask(&f, "SELECT end_ns, wall_ns, cpus, host, exit_code FROM run", "-|1000|3|box|4\n");
	query_free(f.q);
	buf_release(&f.out);
	truth_end(&f.t);
}

/* A block with a flipped byte: the other rows are shown, and the note says what is missing. */
static void damage_is_noted(void **state)
{
	struct fixture f = { .out = BUF_INIT };
	char path[512];
	FILE *file;

	(void)state;
	truth_start(&f.t);
	for (int i = 0; i < 3000; i++) {
		struct store_counter row = store_counter_nulls;

		row.ts_ns = i;
		row.pid = (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u >> 20);
		store_sink_add(&f.t.bundle.sink, STORE_TABLE_COUNTER, &row);
	}
	truth_open(&f.t);
	snprintf(path, sizeof(path), "%s/tables/counter.tbl", model_run_path(f.t.run));
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 2000, SEEK_SET), 0);
	assert_int_equal(fputs("damage", file) >= 0, 1);
	fclose(file);
	open_run(&f);
	ask(&f, "SELECT count(pid) FROM counter", "0\n");
	assert_non_null(strstr(f.end.notes, "of the table 'counter' is missing: 3000 rows"));
	ask(&f, "SELECT 1", "1\n");
	assert_string_equal(f.end.notes, "");
	query_free(f.q);
	buf_release(&f.out);
	truth_end(&f.t);
}

/* The same statement, and one cursor after the other on the same table. */
static void cursors_start_again(void **state)
{
	struct fixture *f = *state;

	ask(f,
			"SELECT a.ts_ns, (SELECT count(*) FROM io b WHERE b.pid = a.pid) FROM io a WHERE a.ts_ns < "
			"1500 AND "
			"a.ts_ns > 1200",
			"1300|5\n1400|2\n");
	ask(f,
			"SELECT a.exe, (SELECT max(ts_ns) FROM io b WHERE b.process = a.process AND b.ts_ns < 1450) "
			"FROM "
			"process a",
			"/bin/one|1300\n/bin/two|1400\n");
	ask(f, "SELECT i.ts_ns, f.function FROM sample i LEFT JOIN frame f ON f.stack = i.stack AND f.depth = 0",
			"1010|work\n1020|work\n1030|sys_read\n1040|-\n");
	ask(f,
			"SELECT union_ns(ts_ns, dur_ns), count(*) FROM (SELECT 10 AS ts_ns, 5 AS dur_ns UNION ALL "
			"SELECT 0, "
			"12)",
			"15|2\n");
	ask(f, "SELECT process, pid FROM process WHERE process IN (2, 1, 5)", "1|10\n2|20\n");
	ask(f,
			"SELECT count(*) FROM io WHERE pid = 10 AND tid = 10 AND process = 1 AND ts_ns >= 1000 AND "
			"ts_ns <= "
			"1600 AND ret >= 0 "
			"AND errnum = 0 AND fd IS NULL",
			"5\n");
	ask(f,
			"SELECT p.pid, s.count FROM process p, stats('io', 'dur_ns', 'pid', NULL, 1000, 1400) s "
			"WHERE s.key "
			"= p.pid",
			"10|4\n");
	ask(f,
			"SELECT t.name, s.sum FROM (SELECT 'span' AS name UNION ALL SELECT 'io') t, stats(t.name, "
			"'dur_ns') "
			"s",
			"span|258\nio|165\n");
}

#define WITH_RUN(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RUN(tables_show_their_rows),
		WITH_RUN(constraints_select_rows),
		cmocka_unit_test(blocks_are_all_searched),
		WITH_RUN(stacks_have_frames),
		WITH_RUN(views_add_up),
		WITH_RUN(table_functions_aggregate),
		WITH_RUN(aggregates_are_exact),
		WITH_RUN(others_are_listed),
		WITH_RUN(notes_say_what_is_missing),
		WITH_RUN(only_one_reading_statement),
		WITH_RUN(wrong_arguments_have_reasons),
		WITH_RUN(columns_have_distinct_names),
		WITH_RUN(limits_stop_a_statement),
		cmocka_unit_test(states_are_a_threads_life),
		cmocka_unit_test(arguments_are_an_array),
		cmocka_unit_test(tables_of_others_are_shown),
		cmocka_unit_test(damage_is_noted),
		WITH_RUN(cursors_start_again),
	};

	return RUN_TESTS(tests);
}
