/* Layers: rules, and the time that layers cover, alone and together. */
#include "truth.h"

#include "analyze/layer-rules.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void span(struct truth *t, const char *name, const char *category, int tid, int64_t from_ns, int64_t dur_ns)
{
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open", "%lld %lld 1 10 %d %s %s 0 0",
			(long long)(T0 + from_ns), (long long)dur_ns, tid, name, category);
}

static void call(struct truth *t, int process, const char *name, int64_t from_ns, int64_t dur_ns, int file, int64_t ret)
{
	truth_row(t, "io", "ts_ns dur_ns process pid tid call file ret errnum size",
			"%lld %lld %d %d %d %s %d %lld 0 %lld", (long long)(T0 + from_ns), (long long)dur_ns, process,
			10 * process, 10 * process, name, file, (long long)ret, (long long)ret);
}

/*
 * In ms: compute 0-400; loading 300-600; reads 350-500 in process 1 and 450-700 in process 2; a write to a pipe,
 * which is no I/O, 0-900.
 */
static void classes_overlap(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	bundle_file(&t.bundle, 2, STORE_NULL, "/data/b");
	bundle_file(&t.bundle, 3, STORE_NULL, "pipe:[1]");
	truth_row(&t, "process", "process pid exe", "1 10 /bin/one");
	truth_row(&t, "process", "process pid exe", "2 20 /bin/two");
	span(&t, "train", "compute", 10, 0, 400 * MS);
	span(&t, "load", "reader", 11, 300 * MS, 300 * MS);
	call(&t, 1, "read", 350 * MS, 100 * MS, 1, 100);
	call(&t, 1, "read", 400 * MS, 100 * MS, 2, 50);
	call(&t, 2, "read", 450 * MS, 250 * MS, 1, 7);
	call(&t, 1, "write", 0, 900 * MS, 3, 1000);
	truth_analyze(&t, NULL);
	truth_field(&t, "layers", "app_io_ns", 300 * MS);
	truth_field(&t, "layers", "unoverlapped_app_io_ns", 200 * MS);
	truth_field(&t, "layers", "unoverlapped_app_compute_ns", 300 * MS);
	truth_field(&t, "layers", "compute_ns", 400 * MS);
	truth_field(&t, "layers", "io_ns", 350 * MS);
	truth_field(&t, "layers", "unoverlapped_io_ns", 300 * MS);
	truth_field(&t, "layers", "unoverlapped_compute_ns", 350 * MS);
	truth_expect(&t, "layers",
			"rules posix\n"
			"hosts 1\n"
			"processes 2\n"
			"compute_threads 1\n"
			"io_threads 2\n"
			"events 6\n"
			"events_as_dfanalyzer 6\n"
			"app_io_ns 300000000\n"
			"unoverlapped_app_io_ns 200000000\n"
			"unoverlapped_app_compute_ns 300000000\n"
			"compute_ns 400000000\n"
			"io_ns 350000000\n"
			"unoverlapped_io_ns 300000000\n"
			"unoverlapped_compute_ns 350000000\n"
			"layers:\n"
			"Compute compute 1 400000000 400000000 350000000 - - 0\n"
			"Application I/O app_io 1 300000000 300000000 200000000 - - 0\n"
			"Pipes none 1 900000000 900000000 500000000 1000 1 0\n"
			"POSIX data io 3 450000000 350000000 300000000 157 2 0\n"
			"by_time:\n"
			"0 0 0 16666667\n"
			"16666667 0 0 16666667\n"
			"33333334 0 0 16666667\n"
			"50000001 0 0 16666667\n"
			"66666668 0 0 16666667\n"
			"83333335 0 0 16666667\n"
			"100000002 0 0 16666667\n"
			"116666669 0 0 16666667\n"
			"133333336 0 0 16666667\n"
			"150000003 0 0 16666667\n"
			"166666670 0 0 16666667\n"
			"183333337 0 0 16666667\n"
			"200000004 0 0 16666667\n"
			"216666671 0 0 16666667\n"
			"233333338 0 0 16666667\n"
			"250000005 0 0 16666667\n"
			"266666672 0 0 16666667\n"
			"283333339 0 6 16666667\n"
			"300000006 0 16666667 16666667\n"
			"316666673 0 16666667 16666667\n"
			"333333340 7 16666667 16666667\n"
			"350000007 16666667 16666667 16666667\n"
			"366666674 16666667 16666667 16666667\n"
			"383333341 16666667 16666667 16666659\n"
			"400000008 16666667 16666667 0\n"
			"416666675 16666667 16666667 0\n"
			"433333342 16666667 16666667 0\n"
			"450000009 16666667 16666667 0\n"
			"466666676 16666667 16666667 0\n"
			"483333343 16666667 16666667 0\n"
			"500000010 16666667 16666667 0\n"
			"516666677 16666667 16666667 0\n"
			"533333344 16666667 16666667 0\n"
			"550000011 16666667 16666667 0\n"
			"566666678 16666667 16666667 0\n"
			"583333345 16666667 16666655 0\n"
			"600000012 16666667 0 0\n"
			"616666679 16666667 0 0\n"
			"633333346 16666667 0 0\n"
			"650000013 16666667 0 0\n"
			"666666680 16666667 0 0\n"
			"683333347 16666653 0 0\n"
			"700000014 0 0 0\n"
			"716666681 0 0 0\n"
			"733333348 0 0 0\n"
			"750000015 0 0 0\n"
			"766666682 0 0 0\n"
			"783333349 0 0 0\n"
			"800000016 0 0 0\n"
			"816666683 0 0 0\n"
			"833333350 0 0 0\n"
			"850000017 0 0 0\n"
			"866666684 0 0 0\n"
			"883333351 0 0 0\n"
			"900000018 0 0 0\n"
			"916666685 0 0 0\n"
			"933333352 0 0 0\n"
			"950000019 0 0 0\n"
			"966666686 0 0 0\n"
			"983333353 0 0 0\n"
			"by_process:\n"
			"1 10 150000000 100000000 300000000 200000000 400000000\n"
			"2 20 250000000 250000000 0 0 0\n");
	truth_end(&t);
}

static const char rules_text[] = "# a comment\n"
				 "layer first\n"
				 "  class io\r\n"
				 "  table io\n"
				 "  name pread* 'read'\n"
				 "  not-path */skip/*\n"
				 "layer \"two words\"\n"
				 "  class compute\n"
				 "  table span\n"
				 "  category c?? [xy]z\n"
				 "  not-category cxx\n"
				 "\n"
				 "layer twice\n"
				 "  again\n"
				 "  not-name write\n"
				 "layer nowhere\n"
				 "  class app_io\n"
				 "  no-path\n"
				 "layer rest\n"
				 "  path /data/*\n";

static void rules_match(void **state)
{
	struct rules r;

	(void)state;
	assert_int_equal(rules_parse(&r, "test", rules_text, NULL), 0);
	assert_int_equal(r.count, 5);
	assert_string_equal(r.layers[1].name, "two words");
	assert_int_equal(r.layers[0].class, RULES_IO);
	assert_int_equal(r.layers[1].class, RULES_COMPUTE);
	assert_int_equal(r.layers[2].class, RULES_NONE);
	assert_int_equal(r.layers[3].class, RULES_APP_IO);
	assert_string_equal(rules_class_word(RULES_APP_IO), "app_io");
	assert_int_equal(rules_names(&r, RULES_OF_CALLS, "read"), 1 | 4 | 8 | 16);
	assert_int_equal(rules_names(&r, RULES_OF_CALLS, "pread64"), 1 | 4 | 8 | 16);
	assert_int_equal(rules_names(&r, RULES_OF_CALLS, "reads"), 4 | 8 | 16);
	assert_int_equal(rules_names(&r, RULES_OF_CALLS, "write"), 8 | 16);
	assert_int_equal(rules_names(&r, RULES_OF_SPANS, "read"), 2 | 4 | 8 | 16);
	assert_int_equal(rules_names(&r, RULES_OF_CALLS, NULL), 4 | 8 | 16);
	assert_int_equal(rules_categories(&r, "cab", NULL), 31);
	assert_int_equal(rules_categories(&r, "cxx", NULL), 31 - 2);
	assert_int_equal(rules_categories(&r, "other", "yz"), 31);
	assert_int_equal(rules_categories(&r, "cab", "cxx"), 31 - 2);
	assert_int_equal(rules_categories(&r, NULL, NULL), 31 - 2);
	assert_int_equal(rules_paths(&r, "/data/a"), 1 | 2 | 4 | 16);
	assert_int_equal(rules_paths(&r, "/data/skip/a"), 2 | 4 | 16);
	assert_int_equal(rules_paths(&r, NULL), 1 | 2 | 4 | 8);
	/* The first that matches, and every `again`. */
	assert_int_equal(r.sets[rules_set(&r, 1 | 2 | 4 | 16)], 1 | 4);
	assert_int_equal(r.sets[rules_set(&r, 2 | 8)], 2);
	assert_int_equal(r.sets[rules_set(&r, 4)], 4);
	assert_int_equal(rules_set(&r, 0), 0);
	rules_release(&r);
}

static void expect_error(const char *text, const char *part)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct rules r;

	assert_int_equal(rules_parse(&r, "test", text, &err), -EINVAL);
	if (!strstr(err.text, part))
		fail_msg("'%s' has no '%s'", err.text, part);
	assert_int_equal(r.count, 0);
}

static void rules_have_errors(void **state)
{
	char many[2048] = "";
	struct rules most;

	(void)state;
	expect_error("", "no layers");
	expect_error("# nothing\n", "no layers");
	expect_error("class io\n", "test, line 1");
	expect_error("layer a\nclass what\n", "test, line 2");
	expect_error("layer a\n\n  table what\n", "test, line 3");
	expect_error("layer a\n  table\n", "line 2");
	expect_error("layer a\n  class\n", "line 2");
	expect_error("layer\n", "line 1");
	expect_error("layer a\n  name\n", "line 2");
	expect_error("layer a\n  nothing\n", "line 2");
	expect_error("layer a\n  name 'open\n", "test, line 2");
	for (int i = 0; i < RULES_LAYERS_MAX; i++)
		strcat(many, "layer a\n");
	assert_int_equal(rules_parse(&most, "test", many, NULL), 0);
	rules_release(&most);
	expect_error(strcat(many, "layer a\n"), "line 17");
	many[0] = '\0';
	for (int i = 0; i < 7; i++)
		strcat(many, "layer a\n  again\n");
	expect_error(many, "");
}

static void rules_come_from_files(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char path[] = "/tmp/sonde-rules-XXXXXX";
	int fd = mkstemp(path);
	struct rules r;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "layer x\n", 8), 8);
	assert_int_equal(rules_open(&r, path, NULL), 0);
	assert_string_equal(r.layers[0].name, "x");
	rules_release(&r);
	close(fd);
	unlink(path);
	assert_int_equal(rules_open(&r, path, &err), -ENOENT);
	assert_non_null(strstr(err.hint, "dlio"));
	assert_int_equal(rules_open(&r, "dlio", NULL), 0);
	assert_string_equal(r.name, "dlio");
	assert_true(r.count > 5);
	rules_release(&r);
}

/* The rules of an analysis: preset, text, or an error that stops it. */
static void analyses_have_rules(void **state)
{
	struct analyze_opts opts = { .threads = 1, .part = { 0, 1 }, .rules = "mine", .rules_text = rules_text };
	struct sonde_err err = SONDE_ERR_INIT;
	struct analyze *a;
	struct truth t;

	(void)state;
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	bundle_file(&t.bundle, 2, STORE_NULL, "/data/skip/a");
	truth_row(&t, "process", "process pid exe", "1 10 /bin/one");
	call(&t, 1, "read", 0, 100, 1, 10);
	call(&t, 1, "read", 200, 50, 2, 10);
	call(&t, 1, "write", 300, 30, 1, 10);
	span(&t, "a", "cab", 10, 0, 20);
	span(&t, "a", "other", 10, 100, 5);
	truth_analyze(&t, &opts);
	truth_table(&t, "layers", "layers",
			"first io 1 100 100 80 10 1 0\n"
			"two words compute 1 20 20 0 - - 0\n"
			"twice none 4 175 155 135 20 2 1\n"
			"nowhere app_io 1 5 5 5 - - 0\n"
			"rest none 2 80 80 80 20 2 0\n");
	opts.rules_text = "nothing\n";
	assert_int_equal(analyze_new(&a, t.run, &opts, &err), -EINVAL);
	opts.rules_text = NULL;
	assert_int_equal(analyze_new(&a, t.run, &opts, &err), -ENOENT);
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_overlap),
		cmocka_unit_test(rules_match),
		cmocka_unit_test(rules_have_errors),
		cmocka_unit_test(rules_come_from_files),
		cmocka_unit_test(analyses_have_rules),
	};

	return RUN_TESTS(tests);
}
