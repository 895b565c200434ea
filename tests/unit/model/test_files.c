/*
 * Files and the paths that their chains of directories make.
 */
#include "bundle.h"

#include "model/dimensions.h"

#include <stdio.h>
#include <string.h>

#define NONE STORE_NULL

static struct model_run *open_files(struct bundle *b)
{
	struct model_run *run = bundle_open(b);

	assert_int_equal(model_load(run, MODEL_FILES, NULL), 0);
	return run;
}

static void is_path(struct model_run *run, int64_t file, const char *want)
{
	struct store_text path = model_file_path(run, file);

	if (!want) {
		assert_null(path.data);
		return;
	}
	assert_non_null(path.data);
	assert_string_equal(path.data, want);
	assert_int_equal(path.bytes, strlen(want));
}

static void chains_are_joined(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "/home/me");
	bundle_file(&b, 2, 1, "src/");
	bundle_file(&b, 3, 2, "./a.c");
	bundle_file(&b, 4, 3, "/etc//hosts");
	bundle_file(&b, (int64_t)7 << 32 | 1, 2, "../b.c");
	bundle_file(&b, 5, 1, "");
	run = open_files(&b);
	is_path(run, 3, "/home/me/src/a.c");
	is_path(run, 2, "/home/me/src");
	is_path(run, 1, "/home/me");
	is_path(run, 4, "/etc/hosts");
	is_path(run, (int64_t)7 << 32 | 1, "/home/me/src/../b.c");
	is_path(run, 5, "/home/me");
	bundle_remove(&b, run);
}

static void unknown_files_have_no_path(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "/x");
	run = open_files(&b);
	is_path(run, 2, NULL);
	is_path(run, NONE, NULL);
	is_path(run, 0, NULL);
	is_path(run, -1, NULL);
	assert_int_equal(model_file_number(run, 2), 0);
	bundle_remove(&b, run);
}

static void a_lost_base_leaves_a_relative_path(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, 99, "data//x");
	bundle_file(&b, 2, 1, "y");
	bundle_file(&b, 3, 99, "/abs");
	run = open_files(&b);
	is_path(run, 1, "data/x");
	is_path(run, 2, "data/x/y");
	is_path(run, 3, "/abs");
	bundle_remove(&b, run);
}

static void names_that_are_no_paths_stay(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "pipe:[77]");
	bundle_file(&b, 2, NONE, "socket:[1]//.");
	run = open_files(&b);
	is_path(run, 1, "pipe:[77]");
	is_path(run, 2, "socket:[1]//.");
	bundle_remove(&b, run);
}

static void circles_have_no_path(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, 1, "self");
	bundle_file(&b, 2, 3, "a");
	bundle_file(&b, 3, 2, "b");
	bundle_file(&b, 4, 3, "below a circle");
	bundle_file(&b, 5, 4, "further below");
	bundle_file(&b, 6, NONE, "/fine");
	run = open_files(&b);
	for (int64_t file = 1; file <= 5; file++)
		is_path(run, file, NULL);
	is_path(run, 6, "/fine");
	for (int64_t file = 5; file >= 1; file--)
		is_path(run, file, NULL);
	bundle_remove(&b, run);
}

/* A chain that is too long has no path, however it is asked for; resolved from above it has one. */
static void depth_is_bounded(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "/r");
	for (int64_t i = 2; i <= 2 * MODEL_PATH_DEPTH_MAX; i++)
		bundle_file(&b, i, i - 1, "d");
	run = open_files(&b);
	is_path(run, MODEL_PATH_DEPTH_MAX + 2, NULL);
	assert_non_null(model_file_path(run, MODEL_PATH_DEPTH_MAX).data);
	assert_int_equal(model_file_path(run, MODEL_PATH_DEPTH_MAX).bytes, 2 + 2 * (MODEL_PATH_DEPTH_MAX - 1));
	bundle_remove(&b, run);
}

static void length_is_bounded(void **state)
{
	static char name[MODEL_PATH_BYTES_MAX];
	struct bundle b;
	struct model_run *run;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "/r");
	bundle_file(&b, 2, 1, name);
	bundle_file(&b, 3, 2, "x");
	run = open_files(&b);
	is_path(run, 2, NULL);
	is_path(run, 3, NULL);
	is_path(run, 1, "/r");
	bundle_remove(&b, run);
}

static void equal_paths_have_one_number(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "/d");
	bundle_file(&b, 2, 1, "x");
	bundle_file(&b, 3, NONE, "/d/x");
	bundle_file(&b, 4, NONE, "/d/./x");
	bundle_file(&b, 5, 1, "y");
	run = open_files(&b);
	assert_int_not_equal(model_file_number(run, 2), 0);
	assert_int_equal(model_file_number(run, 3), model_file_number(run, 2));
	assert_int_equal(model_file_number(run, 4), model_file_number(run, 2));
	assert_int_not_equal(model_file_number(run, 5), model_file_number(run, 2));
	assert_int_equal(model_path_count(run), 3);
	assert_string_equal(model_path(run, model_file_number(run, 4)).data, "/d/x");
	bundle_remove(&b, run);
}

static void the_last_of_rows_with_one_id_counts(void **state)
{
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	bundle_file(&b, 1, NONE, "/first");
	bundle_file(&b, 2, NONE, "/other");
	bundle_file(&b, 1, NONE, "/second");
	run = open_files(&b);
	is_path(run, 1, "/second");
	is_path(run, 2, "/other");
	bundle_remove(&b, run);
}

/* A name that is not in the table of strings. */
static void a_lost_name_is_no_path(void **state)
{
	struct store_file row = { .file = 1, .base = STORE_NULL, .name = 1234567 };
	struct bundle b;
	struct model_run *run;

	(void)state;
	bundle_make(&b);
	store_sink_add(&b.sink, STORE_TABLE_FILE, &row);
	bundle_file(&b, 2, 1, "x");
	run = open_files(&b);
	is_path(run, 1, NULL);
	is_path(run, 2, NULL);
	bundle_remove(&b, run);
}

/* Against composing each path by hand, with more files than the small table of recent ones. */
static void many_files(void **state)
{
	enum { COUNT = 5000 };
	static char want[COUNT][32];
	struct bundle b;
	struct model_run *run;

	(void)state;
	random_init();
	bundle_make(&b);
	for (int i = 0; i < COUNT; i++) {
		char name[16];
		int base = i < 50 ? -1 : (int)random_below(50);

		snprintf(name, sizeof(name), i < 50 ? "/d%d" : "f%d", i);
		bundle_file(&b, ((int64_t)i << 32) | 5, base < 0 ? NONE : ((int64_t)base << 32) | 5, name);
		snprintf(want[i], sizeof(want[i]), base < 0 ? "%s%s" : "%s/%s", base < 0 ? "" : want[base], name);
	}
	run = open_files(&b);
	for (int i = 0; i < 3 * COUNT; i++) {
		size_t n = random_below(COUNT);

		is_path(run, ((int64_t)n << 32) | 5, want[n]);
	}
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_joined),
		cmocka_unit_test(unknown_files_have_no_path),
		cmocka_unit_test(a_lost_base_leaves_a_relative_path),
		cmocka_unit_test(names_that_are_no_paths_stay),
		cmocka_unit_test(circles_have_no_path),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(length_is_bounded),
		cmocka_unit_test(equal_paths_have_one_number),
		cmocka_unit_test(the_last_of_rows_with_one_id_counts),
		cmocka_unit_test(a_lost_name_is_no_path),
		cmocka_unit_test(many_files),
	};

	return RUN_TESTS(tests);
}
