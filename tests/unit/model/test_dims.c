/*
 * Names, processes, threads and calls.
 */
#include "bundle.h"

#include "model/dimensions.h"

#include <string.h>

static void add_call(struct bundle *b, const char *name, const char *category, const char *args)
{
	struct store_text names = { .data = args, .bytes = strlen(args) };
	struct store_call row = store_call_nulls;

	row.call = bundle_name(b, name);
	row.category = bundle_name(b, category);
	row.arg_names = &names;

	store_sink_add(&b->sink, STORE_TABLE_CALL, &row);
}

static void calls_have_names_categories_and_arguments(void **state)
{
	struct bundle b;
	struct model_run *run;
	int64_t open_id, read_id, other_id;
	const struct model_call *call;

	(void)state;
	bundle_make(&b);
	add_call(&b, "openat", "open", "flags,mode");
	add_call(&b, "read", "data", "");
	open_id = bundle_name(&b, "openat");
	read_id = bundle_name(&b, "read");
	other_id = bundle_name(&b, "no call");
	run = bundle_open(&b);
	assert_null(model_call(run, open_id)); /* not loaded yet */
	assert_int_equal(model_load(run, MODEL_CALLS, NULL), 0);
	call = model_call(run, open_id);
	assert_string_equal(call->name->data, "openat");
	assert_string_equal(call->category->data, "open");
	assert_string_equal(call->arg_names[0], "flags");
	assert_string_equal(call->arg_names[1], "mode");
	assert_null(call->arg_names[2]);
	assert_string_equal(model_arg_name(call, 1, STORE_NULL), "mode");
	assert_null(model_arg_name(call, 2, STORE_NULL));
	assert_string_equal(model_arg_name(call, 2, 5), "arg2");
	assert_string_equal(model_arg_name(NULL, 0, 5), "arg0");
	assert_null(model_call(run, read_id)->arg_names[0]);
	assert_null(model_call(run, other_id));
	assert_null(model_call(run, STORE_NULL));
	assert_null(model_call(run, INT64_MAX));
	assert_null(model_call(run, 0));
	bundle_remove(&b, run);
}

static void bytes_of_calls(void **state)
{
	struct bundle b;
	struct model_run *run;
	static const char *const names[] = { "read", "fread", "getc", "mmap", "sendmmsg", "getline", "fputs", "fgets" };
	int64_t ids[8];

	(void)state;
	bundle_make(&b);
	add_call(&b, "read", "data", "");
	add_call(&b, "fread", "stdio", "item");
	add_call(&b, "getc", "stdio", "calls");
	add_call(&b, "mmap", "map", "address");
	add_call(&b, "sendmmsg", "net", "count,flags");
	add_call(&b, "getline", "stdio", "");
	add_call(&b, "fputs", "stdio", "");
	add_call(&b, "fgets", "stdio", "");
	for (int i = 0; i < 8; i++)
		ids[i] = bundle_name(&b, names[i]);
	run = bundle_open(&b);
	assert_int_equal(model_load(run, MODEL_CALLS, NULL), 0);
	assert_int_equal(model_call_bytes(model_call(run, ids[0]), 10, 16, STORE_NULL, STORE_NULL), 10);
	assert_int_equal(model_call_bytes(model_call(run, ids[0]), -1, 16, STORE_NULL, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[0]), 10, STORE_NULL, STORE_NULL, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[0]), STORE_NULL, 16, STORE_NULL, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[0]), 17, 16, STORE_NULL, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[1]), 3, 40, 8, STORE_NULL), 24);
	assert_int_equal(model_call_bytes(model_call(run, ids[1]), INT64_MAX, 40, 8, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[2]), 'x', 1000, 1001, STORE_NULL), 1000);
	assert_int_equal(model_call_bytes(model_call(run, ids[2]), STORE_NULL, 1000, 1001, STORE_NULL), 1000);
	assert_int_equal(model_call_bytes(model_call(run, ids[3]), 4096, 8192, 0, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[4]), 2, 3000, 2, STORE_NULL), 3000);
	assert_int_equal(model_call_bytes(model_call(run, ids[5]), 30, STORE_NULL, STORE_NULL, STORE_NULL), 30);
	assert_int_equal(model_call_bytes(model_call(run, ids[5]), -1, STORE_NULL, STORE_NULL, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(model_call(run, ids[6]), 1, 12, STORE_NULL, STORE_NULL), 12);
	assert_int_equal(model_call_bytes(model_call(run, ids[7]), 1, 4096, STORE_NULL, STORE_NULL), STORE_NULL);
	assert_int_equal(model_call_bytes(NULL, 10, 16, STORE_NULL, STORE_NULL), STORE_NULL);
	bundle_remove(&b, run);
}

/* A run carries what its calls mean: a name that this version does not know, and one that meant something else. */
static void facts_of_the_run_come_first(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct store_call row = store_call_nulls;
	int64_t id, known;

	(void)state;
	bundle_make(&b);
	row.call = id = bundle_name(&b, "frobnicate");
	row.kind = bundle_name(&b, "write");
	row.bytes_from = bundle_name(&b, "arg1");
	row.wait = bundle_name(&b, "disk");
	store_sink_add(&b.sink, STORE_TABLE_CALL, &row);
	row.call = known = bundle_name(&b, "fgets");
	row.kind = bundle_name(&b, "read");
	row.bytes_from = bundle_name(&b, "length");
	row.wait = bundle_name(&b, "nonsense");
	store_sink_add(&b.sink, STORE_TABLE_CALL, &row);
	run = bundle_open(&b);
	assert_int_equal(model_load(run, MODEL_CALLS, NULL), 0);
	assert_int_equal(model_call(run, id)->kind, CALL_KIND_WRITE);
	assert_int_equal(model_call(run, id)->wait, CALL_WAIT_DISK);
	assert_int_equal(model_call_bytes(model_call(run, id), 1, 100, 8, 77), 77);
	assert_int_equal(model_call(run, known)->wait, CALL_WAIT_FD);
	assert_int_equal(model_call_bytes(model_call(run, known), 12, 100, STORE_NULL, STORE_NULL), 12);
	bundle_remove(&b, run);
}

static void processes_are_found_by_number(void **state)
{
	static const char argv[] = "prog\0-x\0";
	struct store_text text = { .data = argv, .bytes = sizeof(argv) - 1 };
	struct bundle b;
	struct model_run *run;
	const struct store_process *p;
	size_t count;

	(void)state;
	bundle_make(&b);
	for (int64_t number = 100; number >= 1; number--) {
		struct store_process row = store_process_nulls;

		row.process = number;
		row.pid = 1000 + number;
		row.argv = &text;
		store_sink_add(&b.sink, STORE_TABLE_PROCESS, &row);
	}
	run = bundle_open(&b);
	assert_int_equal(model_load(run, MODEL_PROCESSES, NULL), 0);
	model_processes(run, &count);
	assert_int_equal(count, 100);
	p = model_process(run, 37);
	assert_int_equal(p->pid, 1037);
	assert_int_equal(p->argv->bytes, sizeof(argv) - 1);
	assert_memory_equal(p->argv->data, argv, sizeof(argv) - 1);
	assert_int_equal(p->exit_code, STORE_NULL);
	assert_null(model_process(run, 101));
	assert_null(model_process(run, STORE_NULL));
	bundle_remove(&b, run);
}

static void threads_come_by_process(void **state)
{
	struct bundle b;
	struct model_run *run;
	const struct store_thread *threads;
	size_t count;

	(void)state;
	bundle_make(&b);
	for (int i = 0; i < 9; i++) {
		struct store_thread row = store_thread_nulls;

		row.process = 3 - i % 3;
		row.tid = i;
		row.start_ns = i;
		store_sink_add(&b.sink, STORE_TABLE_THREAD, &row);
	}
	run = bundle_open(&b);
	assert_int_equal(model_load(run, MODEL_THREADS, NULL), 0);
	threads = model_threads(run, &count);
	assert_int_equal(count, 9);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(threads[i].process, 1 + i / 3);
		if (i % 3)
			assert_true(threads[i].tid > threads[i - 1].tid);
	}
	bundle_remove(&b, run);
}

static void tables_that_are_missing_are_empty(void **state)
{
	struct bundle b;
	struct model_run *run;
	size_t count = 1;

	(void)state;
	bundle_make(&b);
	run = bundle_open(&b);
	assert_int_equal(model_load(run, MODEL_ALL, NULL), 0);
	assert_int_equal(model_load(run, MODEL_ALL, NULL), 0);
	assert_null(model_process(run, 1));
	assert_null(model_call(run, 1));
	assert_null(model_name(run, 1));
	assert_null(model_cname(run, 1));
	model_processes(run, &count);
	assert_int_equal(count, 0);
	bundle_remove(&b, run);
}

static void out_of_memory_is_an_error(void **state)
{
	struct bundle b;
	struct model_run *run;
	bool is_whole = false;

	(void)state;
	bundle_make(&b);
	add_call(&b, "openat", "open", "flags,mode");
	bundle_file(&b, 1, STORE_NULL, "/x");
	for (int64_t i = 0; i < 100; i++) {
		struct store_process row = store_process_nulls;

		row.process = i;
		store_sink_add(&b.sink, STORE_TABLE_PROCESS, &row);
	}
	run = bundle_open(&b);
	for (size_t good = 0; !is_whole; good++) {
		struct sonde_err err = SONDE_ERR_INIT;
		struct model_run *again = NULL;
		int rc;

		alloc_fail_after(good);
		rc = model_run_open(&again, NULL, &err);
		if (rc == 0)
			rc = model_load(again, MODEL_ALL, &err);
		is_whole = !alloc_has_failed();
		alloc_fail_never();
		assert_true(is_whole ? rc == 0 : rc == 0 || err.text[0]);
		model_run_free(again);
	}
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_names_categories_and_arguments),
		cmocka_unit_test(bytes_of_calls),
		cmocka_unit_test(facts_of_the_run_come_first),
		cmocka_unit_test(processes_are_found_by_number),
		cmocka_unit_test(threads_come_by_process),
		cmocka_unit_test(tables_that_are_missing_are_empty),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return RUN_TESTS(tests);
}
