/*
 * The family tree of processes.
 */
#include "bundle.h"

#include "model/dimensions.h"

#include <stdlib.h>

#define NONE STORE_NULL

static void add(struct bundle *b, int64_t number, int64_t parent)
{
	struct store_process row = store_process_nulls;

	row.process = number;
	row.parent = parent;
	store_sink_add(&b->sink, STORE_TABLE_PROCESS, &row);
}

/* The numbers and depths that must come out, ended by 0. */
static void is_tree(struct bundle *b, const int64_t *want)
{
	struct model_run *run = bundle_open(b);
	struct model_tree_row *rows;
	size_t count, i = 0;

	assert_int_equal(model_load(run, MODEL_PROCESSES, NULL), 0);
	assert_int_equal(model_tree(run, &rows, &count, NULL), 0);
	for (; want[2 * i]; i++) {
		assert_true(i < count);
		assert_int_equal(rows[i].process->process, want[2 * i]);
		assert_int_equal(rows[i].depth, want[2 * i + 1]);
	}
	assert_int_equal(i, count);
	free(rows);
	bundle_remove(b, run);
}

static void parents_come_before_children(void **state)
{
	static const int64_t want[] = { 1, 0, 2, 1, 5, 2, 3, 1, 4, 0, 6, 1, 0 };
	struct bundle b;

	(void)state;
	bundle_make(&b);
	add(&b, 6, 4);
	add(&b, 1, NONE);
	add(&b, 2, 1);
	add(&b, 3, 1);
	add(&b, 4, NONE);
	add(&b, 5, 2);
	is_tree(&b, want);
}

static void a_parent_that_is_not_there_makes_a_root(void **state)
{
	static const int64_t want[] = { 2, 0, 3, 1, 0 };
	struct bundle b;

	(void)state;
	bundle_make(&b);
	add(&b, 2, 77);
	add(&b, 3, 2);
	is_tree(&b, want);
}

static void circles_give_each_once(void **state)
{
	static const int64_t want[] = { 4, 0, 1, 0, 2, 1, 3, 2, 5, 0, 6, 1, 0 };
	struct bundle b;

	(void)state;
	bundle_make(&b);
	add(&b, 1, 3);
	add(&b, 2, 1);
	add(&b, 3, 2);
	add(&b, 4, 4);
	add(&b, 5, 6);
	add(&b, 6, 5);
	is_tree(&b, want);
}

static void no_processes(void **state)
{
	static const int64_t want[] = { 0 };
	struct bundle b;

	(void)state;
	bundle_make(&b);
	is_tree(&b, want);
}

/* A chain of forks as deep as there are processes: no recursion. */
static void deep_families(void **state)
{
	enum { COUNT = 200000 };
	static int64_t want[2 * COUNT + 1];
	struct bundle b;

	(void)state;
	bundle_make(&b);
	for (int64_t i = 1; i <= COUNT; i++) {
		add(&b, i, i > 1 ? i - 1 : NONE);
		want[2 * (i - 1)] = i;
		want[2 * (i - 1) + 1] = i - 1;
	}
	is_tree(&b, want);
}

/* Random parents, circles among them: each process exactly once, children below their parents. */
static void every_process_is_listed_once(void **state)
{
	enum { COUNT = 300 };

	(void)state;
	random_init();
	for (int round = 0; round < 20; round++) {
		struct bundle b;
		struct model_run *run;
		struct model_tree_row *rows;
		size_t count;
		bool is_seen[COUNT + 1] = { false };

		bundle_make(&b);
		for (int64_t i = 1; i <= COUNT; i++)
			add(&b, i, (int64_t)random_below(COUNT + 20));
		run = bundle_open(&b);
		assert_int_equal(model_load(run, MODEL_PROCESSES, NULL), 0);
		assert_int_equal(model_tree(run, &rows, &count, NULL), 0);
		assert_int_equal(count, COUNT);
		for (size_t i = 0; i < count; i++) {
			assert_false(is_seen[rows[i].process->process]);
			is_seen[rows[i].process->process] = true;
			if (rows[i].depth)
				assert_true(is_seen[rows[i].process->parent]);
		}
		free(rows);
		bundle_remove(&b, run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents_come_before_children),
		cmocka_unit_test(a_parent_that_is_not_there_makes_a_root),
		cmocka_unit_test(circles_give_each_once),
		cmocka_unit_test(no_processes),
		cmocka_unit_test(deep_families),
		cmocka_unit_test(every_process_is_listed_once),
	};

	return RUN_TESTS(tests);
}
