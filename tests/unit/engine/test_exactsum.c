/*
 * Exact sums: what cancels, cancels; order and grouping do not matter.
 */
#include "support.h"

#include "engine/exactsum.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double random_real(void)
{
	int exponent = (int)random_below(600) - 300;

	return ldexp((double)random_u64() * (random_below(2) ? 1 : -1), exponent);
}

static void huge_and_tiny_keep_both(void **state)
{
	struct exactsum s = { 0 };

	(void)state;
	exactsum_add(&s, DBL_MAX);
	exactsum_add(&s, DBL_TRUE_MIN);
	exactsum_add(&s, 1);
	exactsum_add(&s, -DBL_MAX);
	exactsum_add(&s, -1);
	assert_true(exactsum_value(&s) == DBL_TRUE_MIN);
	assert_int_equal(s.count, 5);
	exactsum_add(&s, NAN);
	exactsum_add(&s, INFINITY);
	assert_int_equal(s.invalid, 2);
}

static void whole_numbers_are_exact(void **state)
{
	struct exactsum s = { 0 };
	int64_t want = 0;

	(void)state;
	random_init();
	for (int i = 0; i < 10000; i++) {
		int64_t v = (int64_t)(random_u64() >> 24) - ((int64_t)1 << 39);

		want += v;
		exactsum_add(&s, (double)v);
	}
	assert_true(exactsum_value(&s) == (double)want);
}

static void order_and_parts_do_not_matter(void **state)
{
	enum { N = 500 };
	double values[N];
	struct exactsum whole = { 0 }, back = { 0 }, parts[3] = { 0 };
	struct buf first = BUF_INIT, second = BUF_INIT, third = BUF_INIT;

	(void)state;
	for (int i = 0; i < N; i++)
		values[i] = random_real();
	for (int i = 0; i < N; i++) {
		exactsum_add(&whole, values[i]);
		exactsum_add(&back, values[N - 1 - i]);
		exactsum_add(&parts[random_below(3)], values[i]);
	}
	exactsum_merge(&parts[2], &parts[0]);
	exactsum_merge(&parts[2], &parts[1]);
	exactsum_save(&first, &whole);
	exactsum_save(&second, &back);
	exactsum_save(&third, &parts[2]);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
	assert_int_equal(first.len, third.len);
	assert_memory_equal(first.data, third.data, first.len);
	assert_true(exactsum_value(&whole) == exactsum_value(&parts[2]));
	buf_release(&first);
	buf_release(&second);
	buf_release(&third);
}

/* Beside a long double sum of well-conditioned values. */
static void values_are_near(void **state)
{
	struct exactsum s = { 0 };
	long double want = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double v = (double)random_below(1000000) / 7;

		exactsum_add(&s, -v);
		want -= (long double)v;
	}
	assert_true(fabs(exactsum_value(&s) / (double)want - 1) < 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(huge_and_tiny_keep_both),
		cmocka_unit_test(whole_numbers_are_exact),
		cmocka_unit_test(order_and_parts_do_not_matter),
		cmocka_unit_test(values_are_near),
	};

	return RUN_TESTS(tests);
}
