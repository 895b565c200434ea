/* results: files of harnesses become rows, rows become tables and runs; what is damaged is refused as a whole. */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "duet/results.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-results-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	return chdir(scratch);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(fs_replace_file(AT_FDCWD, path, text, strlen(text), NULL), 0);
}

struct parsed {
	struct duet_table table;
	struct sonde_err err;
	int rc;
};

static void parse_as(struct parsed *p, const char *text, const char *format, const char *pattern, double unit_ns)
{
	struct duet_parse how = { "f", &p->table, pattern, unit_ns, .err = &p->err };

	duet_table_release(&p->table);
	p->err = (struct sonde_err)SONDE_ERR_INIT;
	put("f", text);
	p->rc = duet_parse_result(&how, format ? duet_format_named(format) : NULL);
}

static struct parsed parsed = { .table = DUET_TABLE_INIT };

/* The rows as CSV, without the columns that a file does not know: suite to order, pair and run. */
static void accept_as(const char *text, const char *format, const char *pattern, double unit_ns, const char *rows)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	parse_as(&parsed, text, format, pattern, unit_ns);
	if (parsed.rc)
		fail_msg("%s: %s", text, parsed.err.text);
	duet_table_csv(&parsed.table, &out);
	assert_string_equal(strchr(out.data, '\n') + 1, rows);
}

static void accept(const char *text, const char *rows)
{
	accept_as(text, NULL, NULL, 0, rows);
}

static void refuse(const char *text, const char *message)
{
	parse_as(&parsed, text, NULL, NULL, 0);
	assert_int_equal(parsed.rc, -EBADMSG);
	assert_string_equal(parsed.err.text, message);
	assert_int_equal(parsed.table.count, 0);
}

static void renaissance(void **state)
{
#define REN(data) "{\"environment\": {\"vm\": {\"start_unix_ms\": 1600000000123}}, \"data\": " data "}"
	accept(REN("{\"b\": {\"results\": [{\"duration_ns\": 100, \"uptime_ns\": 5}, {\"duration_ns\": 70, "
		   "\"uptime_ns\": 200}]}}"),
			",b,,,,-1,0,1600000000123000005,1600000000123000105,100,1600000000123,5\n"
			",b,,,,-1,1,1600000000123000200,1600000000123000270,70,1600000000123,200\n");
	assert_string_equal(parsed.table.columns[0], "epoch_start_ms");
	assert_string_equal(parsed.table.columns[1], "uptime_ns");
	refuse(REN("{\"b\": {}}"), "'f' has no list 'data.b.results'");
	refuse(REN("{\"b\": {\"results\": [{\"duration_ns\": 100}]}}"),
			"'f' lacks duration_ns or uptime_ns of "
			"iteration 0");
	refuse(REN("{\"b\": {\"results\": [{\"uptime_ns\": 100}]}}"),
			"'f' lacks duration_ns or uptime_ns of "
			"iteration 0");
	refuse(REN("[]"), "'f' has no 'environment.vm.start_unix_ms' or no 'data'");
	refuse("{\"start_unix_ms\": 1, \"data\": {}}", "'f' has no 'environment.vm.start_unix_ms' or no 'data'");
	refuse(REN("{}"), "'f' has no iterations in it");
	refuse(REN("{"), "'f' is not whole JSON: '}' expected near end of file in line 1");
}

static void hyperfine(void **state)
{
	accept("{\"results\": [{\"command\": \"a, b\", \"times\": [0.5, 1e-3]}]}",
			",\"a, b\",,,,-1,0,,,500000000,\"a, b\"\n,\"a, b\",,,,-1,1,,,1000000,\"a, b\"\n");
	refuse("{\"results\": [{\"command\": \"a\"}]}", "'f' has a result without its times");
	refuse("{\"results\": [{\"command\": \"a\", \"times\": [1, \"x\"]}]}", "'f' has a time that is not a number");
	refuse("{\"results\": 1, \"command\": 2}", "'f' has no list 'results'");
}

static void google(void **state)
{
#define GOOGLE(rest) "{\"benchmarks\": [{\"name\": \"b\", " rest "}]}"
	accept("{\"benchmarks\": [{\"name\": \"b\", \"real_time\": 2, \"cpu_time\": 1.5, \"time_unit\": \"us\", "
	       "\"repetition_index\": 3},"
	       "{\"name\": \"b_mean\", \"run_type\": \"aggregate\", \"real_time\": 2, \"time_unit\": \"us\"},"
	       "{\"name\": \"c\", \"run_type\": \"iteration\", \"real_time\": 2, \"time_unit\": \"s\"}]}",
			",b,,,,-1,3,,,2000,1500\n,c,,,,-1,0,,,2000000000,\n");
	assert_true(parsed.table.rows[0].cpu_ns == 1500);
	assert_true(isnan(parsed.table.rows[1].cpu_ns));
	refuse(GOOGLE("\"real_time\": 2, \"time_unit\": \"years\""),
			"'f' has a benchmark without name, real_time "
			"or time_unit");
	refuse(GOOGLE("\"real_time\": null, \"time_unit\": \"ns\""),
			"'f' has a benchmark without name, real_time "
			"or time_unit");
	refuse("{\"benchmarks\": [{\"real_time\": 2, \"time_unit\": \"ns\"}]}",
			"'f' has a benchmark without name, real_time or time_unit");
	refuse(GOOGLE("\"real_time\": 2, \"time_unit\": \"ns\", \"error_occurred\": true, \"error_message\": \"bad\""),
			"'f' reports that 'b' failed: bad");
	refuse("{\"real_time\": 2, \"time_unit\": \"ns\"}", "'f' has no list 'benchmarks'");
}

static void jmh(void **state)
{
#define JMH(metric) "[{\"benchmark\": \"b\", \"mode\": \"avgt\", \"primaryMetric\": {" metric "}}]"
	accept(JMH("\"scoreUnit\": \"us/op\", \"rawData\": [[1, 2], [3]]"),
			",b avgt,,,,-1,0,,,1000,0\n,b avgt,,,,-1,1,,,2000,0\n,b avgt,,,,-1,2,,,3000,1\n");
	accept(JMH("\"scoreUnit\": \"ops/ms\", \"rawData\": [[4]]"), ",b avgt,,,,-1,0,,,250000,0\n");
	accept("[{\"benchmark\": \"b\", \"params\": {\"n\": \"10\", \"k\": \"x\"}, \"primaryMetric\": "
	       "{\"scoreUnit\": \"s/op\", "
	       "\"rawData\": [[1]]}}]",
			",\"b (n=10, k=x)\",,,,-1,0,,,1000000000,0\n");
	refuse(JMH("\"scoreUnit\": \"ops/ms\", \"rawData\": [[0]]"),
			"'f' has a score of 'b avgt' that is not a time "
			"in 'ops/ms'");
	refuse(JMH("\"scoreUnit\": \"apples\", \"rawData\": [[1]]"),
			"'f' has a score of 'b avgt' that is not a time "
			"in 'apples'");
	refuse(JMH("\"rawData\": [[1]]"), "'f' has a score of 'b avgt' that is not a time in '(no unit)'");
	refuse(JMH("\"scoreUnit\": \"ms/op\", \"rawData\": [[\"x\"]]"),
			"'f' has a score of 'b avgt' that is not a "
			"time in 'ms/op'");
	refuse(JMH("\"scoreUnit\": \"ms/op\""), "'f' has a benchmark without primaryMetric.rawData");
	refuse("[{\"primaryMetric\": {\"rawData\": []}}]", "'f' has a benchmark without primaryMetric.rawData");
	refuse(JMH("\"rawDataHistogram\": []"), "'f' has a histogram of 'b avgt' in place of its times");
	assert_string_equal(parsed.err.hint, "jmh -bm avgt and -bm ss write them");
}

static void pytest(void **state)
{
	accept("{\"benchmarks\": [{\"fullname\": \"t.py::x\", \"name\": \"x\", \"stats\": {\"data\": [0.001]}}, "
	       "{\"name\": \"y\", \"stats\": {\"data\": [2]}}]}",
			",t.py::x,,,,-1,0,,,1000000\n,y,,,,-1,0,,,2000000000\n");
	refuse("{\"benchmarks\": [{\"name\": \"x\", \"stats\": {}}]}", "'f' has no times of single rounds");
	assert_string_equal(parsed.err.hint, "pytest --benchmark-save-data writes them");
	refuse("{\"benchmarks\": [{\"stats\": {\"data\": [1]}}]}", "'f' has no times of single rounds");
	refuse("{\"benchmarks\": [{\"name\": \"x\", \"stats\": {\"data\": [null]}}]}",
			"'f' has a time that is not a "
			"number");
}

static void csv(void **state)
{
	accept("iteration_time_ns,start_unix,process_cpu_time_ns,note\n100,2,50,\"a,b\"\n\n70,2.5,x,c\n",
			",,,,,-1,1,2000000,2000100,100,2,50,\"a,b\"\n,,,,,-1,2,2500000,2500070,70,2.5,x,c\n");
	assert_true(parsed.table.rows[0].cpu_ns == 50);
	assert_true(isnan(parsed.table.rows[1].cpu_ns));
	accept("total_ms,iteration_time_ns\n3,100\n", ",,,,,-1,1,3000000,3000100,100,3\n");
	accept("iteration_time_ns\n0\n", ",,,,,-1,1,,,0\n");
	refuse("iteration_time_ns,x\n1\n", "'f' has 1 fields in line 2, and its header 2: it is cut or damaged");
	refuse("iteration_time_ns\n1\n-1\n", "'f' has an invalid time '-1' in line 3");
	refuse("iteration_time_ns\nx\n", "'f' has an invalid time 'x' in line 2");
	refuse("iteration_time_ns\n12", "'f' ends within a line: it is cut");
	refuse("iteration_time_ns\n", "'f' has no iterations in it");
	refuse("my_iteration_time_ns\n1\n", "'f' has no column 'iteration_time_ns'");
}

static void spec(void **state)
{
	accept(" Rate Start: 2022-05-15 (1652640000.5)\nnoise\n Rate End: x (1652640001.75)\n",
			",,,,,-1,0,1652640000500000000,1652640001750000000,1250000000\n");
	refuse(" Rate Start: (1.5)\n Rate Start: (2.5)\n",
			"'f' has an iteration that starts before the last one "
			"ended");
	refuse(" Rate Start: (1.5)\n", "'f' ends within an iteration: it is cut");
	refuse(" Rate Start:\n Rate End: (1.5)\n", "'f' has an iteration that ends without a start");
	refuse(" Rate Start: (2.5)\n Rate End: (1.5)\n", "'f' has an iteration that ends without a start");
	assert_int_equal(mkdir("d", 0700), 0);
	put("d/a.002.log", " Rate Start: (1.5)\n Rate End: (2.5)\n");
	put("d/b.003.log", "");
	struct duet_parse how = { "d", &parsed.table, NULL, 0, .err = &parsed.err };
	duet_table_release(&parsed.table);
	assert_int_equal(duet_parse_result(&how, duet_format_named("spec")), 0);
	assert_int_equal(parsed.table.rows[0].end_ns, 2500000000);
	put("d/c.002.log", "");
	assert_int_equal(duet_parse_result(&how, NULL), -EBADMSG);
	assert_string_equal(parsed.err.text, "'d' has 2 files that end in '002.log', and must have one");
}

static void lines(void **state)
{
	accept("# start end\n10 30\n\n40 60\n", ",,,,,-1,0,10,30,20\n,,,,,-1,1,40,60,20\n");
	accept("1.5 2.000000001\n1e0 2.5e0\n",
			",,,,,-1,0,1500000000,2000000001,500000001\n,,,,,-1,1,1,2500000000,"
			"2499999999\n");
	accept("5 5\n", ",,,,,-1,0,5,5,0\n");
	refuse("10 30\n30 20\n", "'f' has a line 2 that is not a start and an end");
	refuse("10 30\n30 x\n", "'f' has a line 2 that is not a start and an end");
	refuse("10 30\n30 40 50\n", "'f' has a line 2 that is not a start and an end");
	refuse("10 30\n99999999999999999999 40\n", "'f' has a line 2 that is not a start and an end");
	refuse("10 30\n30 40", "'f' ends within a line: it is cut");
	refuse("# no more", "'f' looks like no format of results that is known");
	refuse("words", "'f' looks like no format of results that is known");
	assert_string_equal(parsed.err.hint, "--regex takes times out of any text");
}

static void expressions(void **state)
{
	accept_as("took 1.5 s\ntook 2 s\n", NULL, "took ([0-9.]+) s", 0,
			",,,,,-1,0,,,1500000000\n,,,,,-1,1,,,"
			"2000000000\n");
	accept_as("1-3\n", NULL, "^([0-9]+)-([0-9]+)", 1e6, ",,,,,-1,0,1000000,3000000,2000000\n");
	accept_as("a 5 b 6", NULL, "([0-9])", 1, ",,,,,-1,0,,,5\n,,,,,-1,1,,,6\n");
	parse_as(&parsed, "3-1\n", NULL, "([0-9]+)-([0-9]+)", 1);
	assert_string_equal(parsed.err.text, "'f' has an iteration that ends before it starts");
	parse_as(&parsed, "x\n", NULL, "(x)", 1);
	assert_string_equal(parsed.err.text, "'f' has a match 'x' that is not a number");
	parse_as(&parsed, "x\n", NULL, "x", 1);
	assert_int_equal(parsed.rc, -EINVAL);
	assert_string_equal(parsed.err.text,
			"the regular expression has 0 groups, and needs one (the time) or two (start and end)");
	parse_as(&parsed, "x\n", NULL, "(x)(y)(z)", 1);
	assert_int_equal(parsed.rc, -EINVAL);
	parse_as(&parsed, "x\n", NULL, "(x", 1);
	assert_int_equal(parsed.rc, -EINVAL);
	assert_string_equal(parsed.err.text, "invalid regular expression '(x': Unmatched ( or \\(");
	parse_as(&parsed, "y\n", NULL, "(x)", 1);
	assert_string_equal(parsed.err.text, "'f' has no iterations in it");
}

static void formats_have_names(void **state)
{
	assert_string_equal(duet_format_named("dacapo-9")->name, "dacapo");
	assert_string_equal(duet_format_named("spec")->name, "speccpu");
	assert_string_equal(duet_format_named("gbench")->name, "google-benchmark");
	assert_string_equal(duet_format_named("pytest")->name, "pytest-benchmark");
	assert_string_equal(duet_format_named("jmh")->name, "jmh");
	assert_null(duet_format_named("none"));
	assert_string_equal(duet_format_of(" [\"primaryMetric\"")->name, "jmh");
	assert_null(duet_format_of("x\niteration_time_ns"));
	assert_null(duet_format_of("1 2 3"));
	assert_string_equal(duet_format_of("1 2")->name, "lines");
}

static void numbers(void **state)
{
	char text[] = " 12.0000000019x", *at = text;
	double number;
	int64_t ns;

	assert_true(duet_parse_instant(&at, true, &ns));
	assert_int_equal(ns, 12000000001);
	assert_string_equal(at, "x");
	assert_false(duet_parse_instant(&at, true, &ns));
	assert_true(duet_parse_number(" 1.5 ", &number) && number == 1.5);
	assert_false(duet_parse_number("1.5x", &number));
	assert_false(duet_parse_number("", &number));
	assert_false(duet_parse_number("inf", &number));
}

static void tables(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct duet_table t = DUET_TABLE_INIT;
	struct duet_row *row = duet_table_add(&t);
	char line[] = "a,\"b \"\"c\"\", d\",,e\r\n", *fields[5];

	row->suite = "s,1";
	row->pair = 'B';
	row->runid = 3;
	row->time_ns = 1.5;
	assert_int_equal(duet_table_put(&t, row, "x", "q\"r"), 0);
	row = duet_table_add(&t);
	assert_int_equal(duet_table_putf(&t, row, "y", "%d", 5), 0);
	duet_table_csv(&t, &out);
	assert_string_equal(out.data,
			"suite,benchmark,type,order,pair,runid,iteration,iteration_start_ns,iteration_end_ns,"
			"iteration_time_ns,x,y\n"
			"\"s,1\",,,,B,3,-1,,,1.5,\"q\"\"r\",\n,,,,,-1,-1,,,,,5\n");
	buf_reset(&out);
	duet_table_json(&t, &out);
	assert_string_equal(out.data,
			"[{\"suite\":\"s,1\",\"pair\":\"B\",\"runid\":3,\"iteration\":-1,\"iteration_time_ns\":1.5,"
			"\"x\":\"q\\\"r\"},"
			"{\"runid\":-1,\"iteration\":-1,\"y\":\"5\"}]\n");
	assert_int_equal(duet_csv_split(line, fields, 5), 4);
	assert_string_equal(fields[0], "a");
	assert_string_equal(fields[1], "b \"c\", d");
	assert_string_equal(fields[2], "");
	assert_string_equal(fields[3], "e");
	strcpy(line, "a,b,c");
	assert_int_equal(duet_csv_split(line, fields, 2), 2);
	for (int i = 0; i < DUET_COLUMNS_MAX + 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%d", i);
		assert_int_equal(duet_table_put(&t, &t.rows[1], name, "v"), 0);
	}
	assert_int_equal(t.column_count, DUET_COLUMNS_MAX);
	assert_int_equal(duet_table_column(&t, "c1"), 3);
	assert_true(duet_table_column(&t, "c256") == SIZE_MAX);
	duet_table_release(&t);
}

static size_t troubles;

static void on_trouble(void *arg, const struct sonde_err *why)
{
	troubles++;
	assert_non_null(strstr(why->text, "s.b.3.duet.AB.A.f"));
}

/* Directories. Run 1 has both sides, run 2 too, run 3 is damaged, run 4 has one side only. */
static void directories_become_runs(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct duet_results r = DUET_RESULTS_INIT;
	struct duet_setup setup = { .pairing = { .metric = DUET_WALL }, .margin = 1.01, .level = 0.95 };
	struct sonde_err err = SONDE_ERR_INIT;
	struct arena arena = ARENA_INIT;
	struct duet_entry *entries;
	size_t count;

	assert_int_equal(fs_mkdir_p("r/artifacts", 0700, NULL), 0);
	put("r/s.b.1.duet.AB.A.f", "0 100\n100 200\n");
	put("r/s.b.1.duet.AB.B.f", "0 110\n110 220\n");
	put("r/s.b.2.duet.BA.A.f", "1000 1100\n1100 1200\n");
	put("r/s.b.2.duet.BA.B.f", "1000 1120\n1120 1240\n");
	put("r/s.b.3.duet.AB.A.f", "damaged");
	put("r/s.b.4.duet.AB.A.f", "0 1\n");
	put("r/s.c.1.seqn.AB.A.f", "0 100\n");
	put("r/debug.c.1.seqn.AB.A.f", "0 100\n");
	put("r/.hidden.c.1.seqn.AB.A.f", "0 100\n");
	put("r/notes.txt", "x");
	put("r/artifacts/lscpu", "CPUs: 2\nModel name:   Fast CPU  \nMore: x\n");
	put("r/artifacts/kernel", " 6.1 \nmore\n");
	put("r/artifacts/meminfo", "nothing\n");
	r.on_trouble = on_trouble;
	troubles = 0;
	assert_int_equal(duet_results_read(&r, "r", &err), 0);
	assert_int_equal(r.files, 6);
	assert_int_equal(r.unread, 1);
	assert_int_equal(troubles, 1);
	assert_int_equal(r.sources, 1);
	assert_int_equal(r.table.count, 10);
	duet_table_csv(&r.table, &out);
	assert_true(strncmp(strchr(out.data, '\n'), "\ns,b,duet,AB,A,1,0,0,100,100,6.1,Fast CPU\n", 42) == 0);
	assert_int_equal(duet_results_judge(&r, &setup, &entries, &count, &arena, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(entries[0].name, "s/b duet");
	assert_string_equal(entries[1].name, "s/c seqn");
	assert_int_equal(entries[0].result->run_count, 2);
	assert_int_equal(entries[0].result->runs[0].design, DUET_ASYNC);
	assert_int_equal(entries[0].result->runs[0].number, 1);
	assert_false(entries[0].result->runs[0].is_first_b);
	assert_true(entries[0].result->runs[1].is_first_b);
	assert_int_equal(entries[0].result->runs[1].start_ns, 1000);
	assert_int_equal(entries[0].result->runs[1].end_ns, 1240);
	assert_int_equal(entries[0].result->runs[0].sides[DUET_B].count, 2);
	assert_true(entries[0].result->runs[0].sides[DUET_B].items[1].metrics[DUET_WALL] == 110);
	assert_int_equal(entries[1].result->run_count, 0);
	for (size_t i = 0; i < count; i++)
		duet_result_release(entries[i].result);
	buf_reset(&out);
	assert_int_equal(duet_results_overlaps(&r, 0.5, &out, &err), 0);
	assert_string_equal(out.data,
			"suite,benchmark,type,runid,iteration_A,iteration_B,overlap_ns,overlap_rate,log_ratio\n"
			"s,b,duet,1,0,0,100,0.909091,0.0953101798\n"
			"s,b,duet,1,1,1,90,0.818182,0.0953101798\n"
			"s,b,duet,2,0,0,100,0.833333,0.182321557\n"
			"s,b,duet,2,1,1,80,0.666667,0.182321557\n");
	assert_int_equal(duet_results_read(&r, "none", &err), -ENOENT);
	assert_int_equal(duet_results_read(&r, "r/artifacts", &err), -ENODATA);
	assert_string_equal(err.text, "no results found in 'r/artifacts'");
	assert_string_equal(err.hint,
			"result files are called <suite>.<benchmark>.<runid>.<type>.<order>.<A|B>.<file>");
	duet_results_release(&r);
	arena_release(&arena);
}

/* Old harnesses count from their start: the artifact `date` says when that was. */
static void dates_anchor_times(void **state)
{
	struct duet_results r = DUET_RESULTS_INIT;
	struct sonde_err err;

	assert_int_equal(fs_mkdir_p("r/artifacts", 0700, NULL), 0);
	put("r/artifacts/date", "Thu Jan  1 00:01:40 UTC 1970\n");
	put("r/s.b.1.seqn.AB.A.f", "7 9\n946684800000000000 946684800000000005\n");
	put("r/s.b.1.seqn.AB.B.g",
			"{\"results\": [{\"command\": \"x\", \"times\": [1]}, {\"command\": \"y\", "
			"\"times\": [2]}]}");
	assert_int_equal(duet_results_read(&r, "r", &err), 0);
	assert_int_equal(r.table.rows[0].start_ns, 100000000007);
	assert_int_equal(r.table.rows[0].end_ns, 100000000009);
	assert_int_equal(r.table.rows[1].start_ns, 946684800000000000);
	assert_int_equal(r.table.rows[2].start_ns, DUET_UNKNOWN_NS);
	assert_string_equal(r.table.rows[0].benchmark, "b");
	assert_string_equal(r.table.rows[2].benchmark, "b/x");
	assert_string_equal(r.table.rows[3].benchmark, "b/y");
	duet_results_release(&r);
}

static void tables_become_runs(void **state)
{
	struct duet_results r = DUET_RESULTS_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	put("t.csv",
			"suite,benchmark,type,order,pair,runid,iteration,iteration_start_ns,iteration_end_ns,"
			"iteration_time_ns\n"
			"s,b,duet,AB,A,1,0,5,15,10\ns,b,duet,AB,A,1,1,1.5e1,25.0,10\ns,b,duet,AB,B,1,0,x,,7.5\n"
			"s,b,duet,AB,A,1,0,30,40,10\n");
	assert_int_equal(duet_results_read_csv(&r, "t.csv", &err), 0);
	assert_int_equal(r.table.count, 4);
	assert_int_equal(r.files, 1);
	assert_int_equal(r.table.rows[0].source, 0);
	assert_int_equal(r.table.rows[1].source, 0);
	assert_int_equal(r.table.rows[1].start_ns, 15);
	assert_int_equal(r.table.rows[1].end_ns, 25);
	assert_int_equal(r.table.rows[2].start_ns, DUET_UNKNOWN_NS);
	assert_true(r.table.rows[2].time_ns == 7.5);
	assert_int_equal(r.table.rows[2].pair, 'B');
	assert_int_equal(r.table.rows[3].source, 1); /* its iterations start again: another run */
	assert_int_equal(r.sources, 2);
	put("t.csv", "suite,pair\ns,A\n");
	assert_int_equal(duet_results_read_csv(&r, "t.csv", &err), -EBADMSG);
	assert_string_equal(err.text, "'t.csv' is not a table of results: it has no column 'benchmark'");
	assert_string_equal(err.hint, "sonde duet process makes one of a directory of results");
	put("t.csv", "benchmark\nb\n");
	assert_int_equal(duet_results_read_csv(&r, "t.csv", &err), -EBADMSG);
	assert_string_equal(err.text, "'t.csv' is not a table of results: it has no column 'pair'");
	put("t.csv", "benchmark,pair\nb\n");
	assert_int_equal(duet_results_read_csv(&r, "t.csv", &err), -EBADMSG);
	assert_string_equal(err.text, "'t.csv' has a line without all of its 2 columns");
	put("t.csv", "benchmark,pair\n");
	assert_int_equal(duet_results_read_csv(&r, "t.csv", &err), -ENODATA);
	assert_string_equal(err.text, "'t.csv' has no iterations in it");
	duet_results_release(&r);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(renaissance),
		IN_SCRATCH(hyperfine),
		IN_SCRATCH(google),
		IN_SCRATCH(jmh),
		IN_SCRATCH(pytest),
		IN_SCRATCH(csv),
		IN_SCRATCH(spec),
		IN_SCRATCH(lines),
		IN_SCRATCH(expressions),
		cmocka_unit_test(formats_have_names),
		cmocka_unit_test(numbers),
		cmocka_unit_test(tables),
		IN_SCRATCH(directories_become_runs),
		IN_SCRATCH(dates_anchor_times),
		IN_SCRATCH(tables_become_runs),
	};
	int failed = RUN_TESTS(tests);

	duet_table_release(&parsed.table);
	return failed;
}
