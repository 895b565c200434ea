/* finish: the four rules, with workers that come and go. */
#include "../../support.h"

#include "tune/job-file.h"

#include <math.h>

static struct train_finish *with(enum train_finish_rule rule, size_t window)
{
	static struct train_finish f;

	train_finish_init(&f, rule, 1.0, window);
	return &f;
}

static void report(struct train_finish *f, unsigned worker, size_t times, double loss)
{
	for (size_t i = 0; i < times; i++)
		train_finish_add(f, worker, loss);
}

static void average_is_of_the_last(void **state)
{
	struct train_finish *f = with(TRAIN_FINISH_AVERAGE, 4);

	report(f, 0, 3, 0.5);
	assert_false(train_finish_is_reached(f)); /* fewer than the window */
	report(f, 0, 1, 5);
	assert_false(train_finish_is_reached(f));
	report(f, 1, 3, 0.5);
	assert_false(train_finish_is_reached(f));
	report(f, 1, 1, 0.5);
	assert_true(train_finish_is_reached(f));
	report(f, 1, 1, NAN);
	assert_false(train_finish_is_reached(f));
}

static void average_takes_one_of_each_worker(void **state)
{
	struct train_finish *f = with(TRAIN_FINISH_AVERAGE, 0);

	report(f, 0, 4, 0.5);
	assert_false(train_finish_is_reached(f)); /* at least five */
	report(f, 0, 1, 0.5);
	assert_true(train_finish_is_reached(f));
	for (unsigned w = 0; w < 8; w++)
		report(f, w, 1, w < 2 ? 10 : 0.5);
	assert_int_equal(train_finish_workers(f), 8);
	assert_false(train_finish_is_reached(f)); /* 8 losses, two of them 10 */
}

static void all_means_the_last_of_each(void **state)
{
	struct train_finish *f = with(TRAIN_FINISH_ALL, 0);

	report(f, 0, 3, 0.5);
	report(f, 1, 3, 2);
	assert_false(train_finish_is_reached(f));
	report(f, 1, 1, 0.9);
	assert_true(train_finish_is_reached(f));
	report(f, 0, 1, 1.1);
	assert_false(train_finish_is_reached(f));
	train_finish_change(f); /* worker 0 has gone */
	report(f, 1, 2, 0.9);
	assert_true(train_finish_is_reached(f));
}

static void once_means_that_it_was_there(void **state)
{
	struct train_finish *f = with(TRAIN_FINISH_ONCE, 0);

	report(f, 0, 1, 0.5);
	report(f, 0, 3, 2);
	report(f, 1, 3, 2);
	assert_false(train_finish_is_reached(f));
	report(f, 1, 1, 0.9);
	report(f, 1, 3, 7);
	assert_true(train_finish_is_reached(f));
}

static void most_is_nine_in_ten(void **state)
{
	struct train_finish *f = with(TRAIN_FINISH_MOST, 0);

	for (unsigned w = 0; w < 10; w++)
		report(f, w, 2, w < 8 ? 0.5 : 2);
	assert_false(train_finish_is_reached(f));
	report(f, 8, 1, 0.5);
	assert_true(train_finish_is_reached(f));
}

static void no_target_is_never_reached(void **state)
{
	static struct train_finish f;

	train_finish_init(&f, TRAIN_FINISH_ALL, NAN, 0);
	report(&f, 0, 10, -1e9);
	report(&f, 4000000000U, 10, 0); /* a worker's number is hostile */
	assert_false(train_finish_is_reached(&f));
	assert_int_equal(train_finish_find("most"), TRAIN_FINISH_MOST);
	assert_int_equal(train_finish_find("some"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(average_is_of_the_last),
		cmocka_unit_test(average_takes_one_of_each_worker),
		cmocka_unit_test(all_means_the_last_of_each),
		cmocka_unit_test(once_means_that_it_was_there),
		cmocka_unit_test(most_is_nine_in_ten),
		cmocka_unit_test(no_target_is_never_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
