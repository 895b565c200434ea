/*
 * Opening runs: run.json, the tables, what is missing, and names that are not there.
 */
#include "bundle.h"

#include "base/fs.h"
#include "model/dimensions.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All sentences of a run, one a line. */
static void add_sentence(void *arg, const char *sentence)
{
	buf_addf(arg, "%s\n", sentence);
}

static void losses(struct model_run *run, struct buf *out)
{
	buf_reset(out);
	assert_int_equal(model_losses(run, add_sentence, out, NULL), 0);
}

static void has_sentence(struct model_run *run, const char *part)
{
	struct buf text = BUF_INIT;

	losses(run, &text);
	if (!strstr(text.data, part))
		fail_msg("no '%s' in:\n%s", part, text.data);
	buf_release(&text);
}

static void values_of_run_json(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct buf text = BUF_INIT;

	(void)state;
	bundle_make(&b);
	b.json = "{\"sonde_run\":1,\"state\":\"complete\",\"wall_ns\":12,\"host\":{\"name\":\"h\",\"cpus\":2},"
		 "\"clock\":{\"start_mono_ns\":1000,\"error_ns\":1.5},\"exit\":null}";
	run = bundle_open(&b);
	assert_string_equal(model_run_str(run, "host.name"), "h");
	assert_int_equal(model_run_int(run, "host.cpus"), 2);
	assert_int_equal(model_run_int(run, "wall_ns"), 12);
	assert_true(model_run_real(run, "clock.error_ns") == 1.5);
	assert_true(model_run_real(run, "wall_ns") == 12);
	assert_null(model_run_str(run, "wall_ns"));
	assert_null(model_run_str(run, "host.name.further"));
	assert_null(model_run_str(run, "nothing"));
	assert_int_equal(model_run_int(run, "exit.code"), STORE_NULL);
	assert_int_equal(model_run_int(run, "host"), STORE_NULL);
	assert_true(isnan(model_run_real(run, "host.name")));
	assert_false(model_run_is_unfinished(run));
	assert_int_equal(model_run_start_ns(run), 1000);
	assert_false(model_run_is_damaged(run));
	losses(run, &text);
	assert_string_equal(text.data, "");
	buf_release(&text);
	bundle_remove(&b, run);
}

static void a_damaged_run_json_costs_only_what_it_says(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, STORE_NULL, "/x");
	b.json = "{\"sonde_run\":1,\"state\":";
	run = bundle_open(&b);
	assert_null(model_run_str(run, "state"));
	assert_int_equal(model_run_start_ns(run), STORE_NULL);
	assert_int_equal(model_load(run, MODEL_FILES, NULL), 0);
	assert_string_equal(model_file_path(run, 1).data, "/x");
	assert_true(model_run_is_damaged(run));
	has_sentence(run, "run.json is damaged");
	bundle_remove(&b, run);
}

static void times_start_with_the_first_event_when_nothing_says_otherwise(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	for (int64_t ts_ns = 900; ts_ns > 500; ts_ns -= 100) {
		struct store_mark row = store_mark_nulls;

		row.ts_ns = ts_ns;
		store_sink_add(&b.sink, STORE_TABLE_MARK, &row);
		store_sink_flush(&b.sink);
	}
	b.json = "{\"sonde_run\":1}";
	run = bundle_open(&b);
	assert_int_equal(model_run_start_ns(run), 600);
	bundle_remove(&b, run);
}

static void tables_are_listed(void **state)
{
	struct bundle b;
	struct model_run *run;
	const struct model_table *tables;
	size_t count;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, STORE_NULL, "/x");
	assert_int_equal(fs_replace_file(b.run.tablesfd, "zoo.tbl", "nonsense", 8, NULL), 0);
	assert_int_equal(fs_replace_file(b.run.tablesfd, "notes.txt", "nonsense", 8, NULL), 0);
	run = bundle_open(&b);
	tables = model_tables(run, &count);
	assert_int_equal(count, 3);
	assert_string_equal(tables[0].name, "file");
	assert_int_equal(store_table_rows(tables[0].table), 1);
	assert_true(tables[0].bytes > 0);
	assert_string_equal(tables[1].name, "string");
	assert_string_equal(tables[2].name, "zoo");
	assert_null(tables[2].table);
	assert_true(tables[2].trouble[0]);
	assert_non_null(model_table(run, STORE_TABLE_FILE));
	assert_null(model_table(run, STORE_TABLE_IO));
	assert_true(model_run_is_damaged(run));
	has_sentence(run, tables[2].trouble);
	bundle_remove(&b, run);
}

static void missing_tables_are_told(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	b.json = "{\"sonde_run\":1,\"state\":\"complete\",\"tables\":{\"io\":12,\"span\":0,\"string\":0}}";
	run = bundle_open(&b);
	assert_true(model_run_is_damaged(run));
	has_sentence(run, "the table 'io' is gone; it had 12 rows");
	bundle_remove(&b, run);
}

static void what_the_recorder_counted_is_told(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	b.json = "{\"sonde_run\":1,\"state\":\"recording\",\"lost_rows\":3,"
		 "\"trouble\":\"No space left on device\",\"probes\":["
		 "{\"name\":\"trace\",\"state\":\"ran\",\"events\":5,\"dropped\":7,\"blind_processes\":1}]}";
	run = bundle_open(&b);
	assert_true(model_run_is_unfinished(run));
	has_sentence(run, "trace: 7 events were dropped");
	has_sentence(run, "trace: 1 process or program could not be traced");
	has_sentence(run, "No space left");
	has_sentence(run, "could not write 3 rows");
	has_sentence(run, "has not finished");
	bundle_remove(&b, run);
}

static void processes_that_were_not_seen_are_told(void **state)
{
	struct bundle b;
	struct model_run *run;
	static const char *const states[] = { "ended", "replaced by exec", "running", "running",
		"became '/bin/x', which is not traced: a static program" };

	(void)state;
	bundle_make(&b);
	for (int i = 0; i < 5; i++) {
		struct store_process row = store_process_nulls;

		row.process = i + 1;
		row.pid = 100 + i;
		row.state = bundle_name(&b, states[i]);
		store_sink_add(&b.sink, STORE_TABLE_PROCESS, &row);
	}
	run = bundle_open(&b);
	has_sentence(run, "2 processes were still running");
	has_sentence(run, "process 5 (pid 104): became '/bin/x', which is not traced: a static program");
	bundle_remove(&b, run);
}

/* Cut off at every length: opens, never more rows than there were, and says what is missing. */
static void cut_tables_are_read_as_far_as_they_go(void **state)
{
	struct buf whole = BUF_INIT;
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	for (int64_t i = 0; i < 300; i++) {
		bundle_file(&b, i, STORE_NULL, "/x");
		if (i % 50 == 0)
			store_sink_flush(&b.sink);
	}
	run = bundle_open(&b);
	model_run_free(run);
	assert_int_equal(fs_read_file(b.run.tablesfd, "file.tbl", 1 << 20, &whole, NULL), 0);
	for (size_t n = 0; n < whole.len; n += 7) {
		assert_int_equal(fs_replace_file(b.run.tablesfd, "file.tbl", whole.data, n, NULL), 0);
		assert_int_equal(model_run_open(&run, "latest", NULL), 0);
		assert_int_equal(model_run_check(run, NULL), 0);
		assert_true(model_run_is_damaged(run));
		assert_int_equal(model_load(run, MODEL_FILES, NULL), 0);
		has_sentence(run, "file");
		model_run_free(run);
	}
	buf_release(&whole);
	bundle_remove(&b, NULL);
}

static void names_that_are_not_there_get_a_hint(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct bundle b;
	struct model_run *run = NULL;

	(void)state;
	bundle_make(&b);
	assert_int_equal(mkdir("runs/20260101-000000-train", 0700), 0);
	assert_int_equal(model_run_open(&run, "20260101-000000-tarin", &err), -ENOENT);
	assert_null(run);
	assert_string_equal(err.hint, "did you mean '20260101-000000-train'?");
	assert_int_equal(model_run_open(&run, "train", &err), -ENOENT);
	assert_string_equal(err.hint, "did you mean '20260101-000000-train'?");
	assert_int_equal(model_run_open(&run, "runs/20260101-000000-trian", &err), -ENOENT);
	assert_string_equal(err.hint, "did you mean '20260101-000000-train'?");
	assert_int_equal(model_run_open(&run, "quite different", &err), -ENOENT);
	assert_non_null(strstr(err.hint, "in 'runs' are: "));
	assert_int_equal(setenv("SONDE_RUNS", "nowhere", 1), 0);
	assert_int_equal(model_run_open(&run, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.hint, "sonde record"));
	run = NULL;
	assert_int_equal(setenv("SONDE_RUNS", "runs", 1), 0);
	run = bundle_open(&b);
	assert_int_equal(model_run_show_as(run, "somewhere else", NULL), 0);
	assert_string_equal(model_run_path(run), "somewhere else");
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_run_json),
		cmocka_unit_test(a_damaged_run_json_costs_only_what_it_says),
		cmocka_unit_test(times_start_with_the_first_event_when_nothing_says_otherwise),
		cmocka_unit_test(tables_are_listed),
		cmocka_unit_test(missing_tables_are_told),
		cmocka_unit_test(what_the_recorder_counted_is_told),
		cmocka_unit_test(processes_that_were_not_seen_are_told),
		cmocka_unit_test(cut_tables_are_read_as_far_as_they_go),
		cmocka_unit_test(names_that_are_not_there_get_a_hint),
	};

	return RUN_TESTS(tests);
}
