/*
 * Bundles: where they are made, how they are found, which are refused.
 */
#include "tables.h"

#include "base/fs.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A scratch directory that is also the current one; runs go to `runs` in it. */
static void enter(struct scratch *s)
{
	scratch_make(s);
	assert_int_equal(chdir(s->path), 0);
	assert_int_equal(setenv("SONDE_RUNS", "runs", 1), 0);
}

static void leave(struct scratch *s)
{
	assert_int_equal(chdir("/"), 0);
	scratch_remove(s);
}

static void write_json(const struct store_run *run, const char *text)
{
	struct buf json = BUF_INIT;

	buf_adds(&json, text);
	assert_int_equal(store_run_write_json(run->dirfd, &json, NULL), 0);
	buf_release(&json);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

static void runs_are_private_named_and_unique(void **state)
{
	struct store_run runs[3] = { STORE_RUN_INIT, STORE_RUN_INIT, STORE_RUN_INIT };
	char link[256] = "";
	struct scratch s;

	(void)state;
	enter(&s);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(store_run_create(&runs[i], NULL, "/usr/bin/my prog", NULL), 0);
		assert_int_equal(strncmp(runs[i].path, "runs/20", 7), 0);
		assert_non_null(strstr(runs[i].path, "-my_prog"));
		assert_int_equal(mode_of(runs[i].path), 0700);
		assert_true(readlink("runs/latest", link, sizeof(link) - 1) > 0);
		assert_string_equal(link, runs[i].path + strlen("runs/"));
		memset(link, 0, sizeof(link));
	}
	assert_string_not_equal(runs[0].path, runs[1].path);
	assert_string_not_equal(runs[1].path, runs[2].path);
	for (int i = 0; i < 3; i++)
		store_run_release(&runs[i]);
	leave(&s);
}

static void a_directory_of_ones_own_must_be_empty(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_run run;
	struct stat st;
	struct scratch s;

	(void)state;
	enter(&s);
	assert_int_equal(store_run_create(&run, "a/b/c", "prog", NULL), 0);
	assert_string_equal(run.path, "a/b/c");
	assert_int_equal(fstatat(run.dirfd, "tables", &st, 0), 0);
	store_run_release(&run);
	assert_int_equal(lstat("runs", &st), -1);
	assert_int_equal(store_run_create(&run, "a/b/c", "prog", &err), -ENOTEMPTY);
	assert_string_not_equal(err.hint, "");
	assert_int_equal(mkdir("empty", 0755), 0);
	assert_int_equal(store_run_create(&run, "empty", "prog", NULL), 0);
	store_run_release(&run);
	scratch_write(&s, "file", "x", 1);
	assert_true(store_run_create(&run, "file", "prog", &err) < 0);
	leave(&s);
}

static void find_as(const char *name, const char *wanted)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf path = BUF_INIT;

	if (store_run_find(name, &path, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(path.data, wanted);
	buf_release(&path);
}

static void find_fails(const char *name, int wanted)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf path = BUF_INIT;

	assert_int_equal(store_run_find(name, &path, &err), wanted);
	assert_string_not_equal(err.text, "");
	buf_release(&path);
}

static void runs_are_found_by_path_name_or_as_the_latest(void **state)
{
	struct store_run run;
	struct scratch s;

	(void)state;
	enter(&s);
	find_fails(NULL, -ENOENT);
	assert_int_equal(store_run_create(&run, NULL, "prog", NULL), 0);
	find_as(NULL, run.path);
	find_as("latest", run.path);
	find_as("runs/latest", run.path);
	find_as(run.path, run.path);
	find_as(run.path + strlen("runs/"), run.path);
	find_fails("nothing", -ENOENT);
	find_fails("./nothing", -ENOENT);
	find_fails("", -ENOENT);
	find_fails("..", -ENOENT);
	store_run_release(&run);
	assert_int_equal(store_run_create(&run, "own", "prog", NULL), 0);
	store_run_release(&run);
	find_as("own", "own");
	leave(&s);
}

static void latest_is_never_followed_outside(void **state)
{
	struct store_run run;
	struct scratch s;

	(void)state;
	enter(&s);
	assert_int_equal(store_run_create(&run, "elsewhere", "prog", NULL), 0);
	store_run_release(&run);
	assert_int_equal(mkdir("runs", 0700), 0);
	assert_int_equal(symlink("../elsewhere", "runs/latest"), 0);
	find_fails(NULL, -EPERM);
	find_fails("runs/latest", -EPERM);
	assert_int_equal(unlink("runs/latest"), 0);
	assert_int_equal(symlink("..", "runs/latest"), 0);
	find_fails(NULL, -EPERM);
	leave(&s);
}

static void a_bundle_opens_by_its_version(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf bad = BUF_INIT;
	struct store_run run, again;
	struct scratch s;

	(void)state;
	enter(&s);
	assert_int_equal(store_run_create(&run, "run", "prog", NULL), 0);
	assert_int_equal(store_run_open(&again, "run", &err), -ENOENT);
	assert_non_null(strstr(err.hint, "recover"));
	assert_int_equal(store_run_open_any(&again, "run", NULL), 0);
	store_run_release(&again);
	write_json(&run, "{\n  \"sonde_run\": 1,\n  \"command\": []\n}\n");
	assert_int_equal(mode_of("run/run.json"), 0600);
	assert_int_equal(store_run_open(&again, "run", NULL), 0);
	assert_true(again.dirfd >= 0 && again.tablesfd >= 0);
	store_run_release(&again);
	scratch_write(&s, "run/run.json", "{\"sonde_run\":2}", 15);
	assert_int_equal(store_run_open(&again, "run", &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "version 2"));
	scratch_write(&s, "run/run.json", "[1, 2]", 6);
	assert_int_equal(store_run_open(&again, "run", &err), -EBADMSG);
	buf_adds(&bad, "{\"other\": 1}");
	assert_int_equal(store_run_write_json(run.dirfd, &bad, &err), -EINVAL);
	buf_release(&bad);
	store_run_release(&run);
	leave(&s);
}

static void what_is_no_bundle_is_refused(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_run run;
	struct scratch s;

	(void)state;
	enter(&s);
	assert_int_equal(store_run_open(&run, "none", &err), -ENOENT);
	assert_int_equal(mkdir("plain", 0700), 0);
	assert_int_equal(store_run_open(&run, "plain", &err), -ENOENT);
	assert_non_null(strstr(err.text, "is not a run"));
	assert_int_equal(symlink("/tmp", "plain/tables"), 0);
	assert_true(store_run_open_any(&run, "plain", &err) < 0);
	store_run_release(&run);
	leave(&s);
}

static void tables_of_a_run_go_into_it(void **state)
{
	struct store_run run;
	struct store_writer *w;
	struct store_table *t;
	struct scratch s;
	struct stat st;

	(void)state;
	enter(&s);
	assert_int_equal(store_run_create(&run, NULL, "prog", NULL), 0);
	assert_int_equal(store_writer_open(&w, run.tablesfd, &every_schema, NULL), 0);
	every_add(w, 0, 5);
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(fstatat(run.dirfd, "tables/every.tbl", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(store_table_open(&t, run.tablesfd, "every", NULL), 0);
	assert_int_equal(every_read(t), 5);
	store_table_free(t);
	store_run_release(&run);
	leave(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_private_named_and_unique),
		cmocka_unit_test(a_directory_of_ones_own_must_be_empty),
		cmocka_unit_test(runs_are_found_by_path_name_or_as_the_latest),
		cmocka_unit_test(latest_is_never_followed_outside),
		cmocka_unit_test(a_bundle_opens_by_its_version),
		cmocka_unit_test(what_is_no_bundle_is_refused),
		cmocka_unit_test(tables_of_a_run_go_into_it),
	};

	return RUN_TESTS(tests);
}
