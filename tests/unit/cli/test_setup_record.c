/*
 * The record of changes: round trip, first `before` kept, damaged files refused.
 */
#include "doctor/setup.h"

#include "../support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/sonde-setup-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/state/setup.json", dir);
	return 0;
}

static int remove_dir(void **state)
{
	char *slash = strrchr(path, '/');

	unlink(path);
	*slash = '\0';
	rmdir(path);
	return rmdir(dir);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void a_missing_file_is_an_empty_record(void **state)
{
	struct setup_record record = { .count = 7 };
	struct arena arena = ARENA_INIT;

	assert_int_equal(setup_record_load(&record, path, &arena, NULL), 0);
	assert_int_equal(record.count, 0);
	arena_release(&arena);
}

static void what_was_saved_is_loaded(void **state)
{
	struct setup_record record = { .count = 0 }, loaded;
	struct arena arena = ARENA_INIT;

	assert_int_equal(setup_record_add(&record, "perf", "2", "1"), 0);
	assert_int_equal(setup_record_add(&record, "delays", "a \"quote\"\n", "1"), 0);
	assert_int_equal(setup_record_save(&record, path, NULL), 0);
	assert_int_equal(setup_record_load(&loaded, path, &arena, NULL), 0);
	assert_int_equal(loaded.count, 2);
	assert_string_equal(setup_record_find(&loaded, "perf")->before, "2");
	assert_string_equal(setup_record_find(&loaded, "delays")->before, "a \"quote\"\n");
	assert_null(setup_record_find(&loaded, "none"));
	arena_release(&arena);
}

static void the_first_value_is_kept(void **state)
{
	struct setup_record record = { .count = 0 };

	setup_record_add(&record, "perf", "4", "1");
	setup_record_add(&record, "perf", "3", "0");
	assert_int_equal(record.count, 1);
	assert_string_equal(record.changes[0].before, "4");
	assert_string_equal(record.changes[0].after, "0");
}

static void removing_keeps_the_others(void **state)
{
	struct setup_record record = { .count = 0 };

	setup_record_add(&record, "a", "1", "2");
	setup_record_add(&record, "b", "1", "2");
	setup_record_add(&record, "c", "1", "2");
	setup_record_remove(&record, "a");
	setup_record_remove(&record, "none");
	assert_int_equal(record.count, 2);
	assert_string_equal(record.changes[0].id, "b");
	assert_string_equal(record.changes[1].id, "c");
}

static void an_empty_record_removes_the_file(void **state)
{
	struct setup_record record = { .count = 0 };

	setup_record_add(&record, "perf", "2", "1");
	assert_int_equal(setup_record_save(&record, path, NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	setup_record_remove(&record, "perf");
	assert_int_equal(setup_record_save(&record, path, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(setup_record_save(&record, path, NULL), 0);
}

static void it_has_a_size(void **state)
{
	static char ids[40][4];
	struct setup_record record = { .count = 0 };
	int rc = 0, n = 0;

	for (; !rc && n < 40; n++) {
		snprintf(ids[n], sizeof(ids[n]), "%d", n);
		rc = setup_record_add(&record, ids[n], "0", "1");
	}
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(setup_record_add(&record, "0", "0", "1"), 0);
}

static void damaged_files_are_refused(void **state)
{
	static const char *const bad[] = { "", "{", "[]", "{}", "{\"version\": 1}", "{\"version\": 2, \"changes\": []}",
		"{\"version\": 1, \"changes\": [1]}",
		"{\"version\": 1, \"changes\": [{\"step\": \"perf\", \"before\": 2}]}",
		"{\"version\": \"1\", \"changes\": []}", NULL };
	struct setup_record record = { .count = 0 };
	struct arena arena = ARENA_INIT;

	setup_record_add(&record, "perf", "2", "1");
	assert_int_equal(setup_record_save(&record, path, NULL), 0);
	for (size_t i = 0; bad[i]; i++) {
		struct sonde_err err = SONDE_ERR_INIT;

		write_file(bad[i]);
		assert_int_equal(setup_record_load(&record, path, &arena, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "is not a record of changes"));
		assert_true(err.hint[0]);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_file_is_an_empty_record),
		cmocka_unit_test(what_was_saved_is_loaded),
		cmocka_unit_test(the_first_value_is_kept),
		cmocka_unit_test(removing_keeps_the_others),
		cmocka_unit_test(an_empty_record_removes_the_file),
		cmocka_unit_test(it_has_a_size),
		cmocka_unit_test(damaged_files_are_refused),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
