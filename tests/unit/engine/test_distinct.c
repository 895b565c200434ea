/*
 * Counting different values: exact when few, near when many, the same however they are grouped.
 */
#include "support.h"

#include "engine/distinct.h"

#include <math.h>
#include <string.h>

static uint64_t count_of(size_t different, size_t rows)
{
	struct distinct d = { 0 };
	uint64_t count;

	for (size_t i = 0; i < rows; i++)
		assert_int_equal(distinct_add(&d, (int64_t)(i % different) * 977 - 5), 0);
	count = distinct_count(&d);
	assert_true(distinct_is_exact(&d) == (different <= DISTINCT_EXACT));
	distinct_release(&d);
	return count;
}

static void few_are_exact(void **state)
{
	(void)state;
	for (size_t n = 1; n <= DISTINCT_EXACT; n += 1 + n / 2)
		assert_int_equal(count_of(n, 3 * n), n);
}

static void many_are_near(void **state)
{
	static const size_t sizes[] = { DISTINCT_EXACT, DISTINCT_EXACT + 1, 100000, 300000, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		double n = (double)sizes[i];

		assert_true(fabs((double)count_of(sizes[i], sizes[i]) - n) < 0.08 * n); /* five deviations */
	}
}

static void parts_are_the_whole(void **state)
{
	(void)state;
	random_init();
	for (int round = 0; round < 30; round++) {
		struct distinct whole = { 0 }, parts[3] = { 0 }, merged = { 0 };
		struct buf first = BUF_INIT, second = BUF_INIT;
		size_t values = 1 + random_below(round % 3 ? 600 : 2 * DISTINCT_EXACT), rows = random_below(3 * values);

		for (size_t i = 0; i < rows; i++) {
			int64_t v = (int64_t)random_below(values) - 100;

			assert_int_equal(distinct_add(&whole, v), 0);
			assert_int_equal(distinct_add(&parts[random_below(3)], v), 0);
		}
		for (int p = 2; p >= 0; p--) {
			struct distinct loaded = { 0 };
			struct unpack u;

			buf_reset(&first);
			assert_int_equal(distinct_save(&first, &parts[p]), 0);
			u = (struct unpack){ .at = (uint8_t *)first.data, .end = (uint8_t *)first.data + first.len };
			assert_int_equal(distinct_load(&u, &loaded), 0);
			assert_false(u.is_bad);
			assert_int_equal(distinct_merge(&merged, &loaded), 0);
			distinct_release(&loaded);
			distinct_release(&parts[p]);
		}
		buf_reset(&first);
		assert_int_equal(distinct_save(&first, &whole), 0);
		assert_int_equal(distinct_save(&second, &merged), 0);
		assert_int_equal(first.len, second.len);
		assert_memory_equal(first.data, second.data, first.len);
		distinct_release(&whole);
		distinct_release(&merged);
		buf_release(&first);
		buf_release(&second);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_exact),
		cmocka_unit_test(many_are_near),
		cmocka_unit_test(parts_are_the_whole),
	};

	return RUN_TESTS(tests);
}
