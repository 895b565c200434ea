/* rng: the published stream, the same for a seed, another for another, and even. */
#include "../support.h"

#include "near.h"
#include "stats/rng.h"
#include "stats/summary.h"

#include <string.h>

/* The reference implementation of xoshiro256** from the state 1, 2, 3, 4. */
static void published_stream(void **state)
{
	static const uint64_t expected[] = { 11520, 0, 1509978240, 1215971899390074240, 1216172134540287360,
		607988272756665600 };
	struct stats_rng r = { .s = { 1, 2, 3, 4 } };

	for (size_t i = 0; i < COUNT(expected); i++)
		assert_true(stats_rng_next(&r) == expected[i]);
}

static void seeds_and_streams(void **state)
{
	struct stats_rng a, b, c, d;

	stats_rng_init(&a, 7, 0);
	stats_rng_init(&b, 7, 0);
	stats_rng_init(&c, 8, 0);
	stats_rng_init(&d, 7, 1);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = stats_rng_next(&a);

		assert_true(v == stats_rng_next(&b));
		assert_true(v != stats_rng_next(&c));
		assert_true(v != stats_rng_next(&d));
	}
}

static void moments_of_each_kind(void **state)
{
	struct stats_moments u, z, e, o;
	struct stats_rng r;

	stats_rng_init(&r, 3, 0);
	stats_moments_init(&u);
	stats_moments_init(&z);
	stats_moments_init(&e);
	stats_moments_init(&o);
	for (int i = 0; i < 200000; i++) {
		stats_moments_add(&u, stats_rng_uniform(&r));
		stats_moments_add(&z, stats_rng_normal(&r));
		stats_moments_add(&e, stats_rng_exponential(&r));
		stats_moments_add(&o, stats_rng_open(&r));
	}
	assert_true(u.min >= 0 && u.max < 1 && o.min > 0 && o.max < 1 && e.min > 0);
	assert_true(is_within(u.mean, 0.5, 0.004) && is_within(stats_variance(&u), 1.0 / 12, 0.002));
	assert_true(is_within(z.mean, 0, 0.012) && is_within(stats_variance(&z), 1, 0.02));
	assert_true(is_within(e.mean, 1, 0.012) && is_within(stats_variance(&e), 1, 0.05));
	assert_true(z.min < -4 && z.max > 4 && e.max > 9);
}

static void bounded_values_are_even(void **state)
{
	uint64_t counts[7] = { 0 };
	struct stats_rng r;

	stats_rng_init(&r, 4, 0);
	for (int i = 0; i < 70000; i++)
		counts[stats_rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_true(is_within((double)counts[i], 10000, 500));
	assert_true(stats_rng_below(&r, 0) == 0 && stats_rng_below(&r, 1) == 0);
	for (int i = 0; i < 1000; i++)
		assert_true(stats_rng_below(&r, UINT64_MAX) < UINT64_MAX);
}

/* All 24 orders of 4 items, as often. */
static void shuffles_are_even(void **state)
{
	int counts[256] = { 0 };
	struct stats_rng r;

	stats_rng_init(&r, 5, 0);
	for (int i = 0; i < 24000; i++) {
		uint16_t items[] = { 0, 1, 2, 3 };

		stats_rng_shuffle(&r, items, 4, sizeof(*items));
		counts[items[0] << 6 | items[1] << 4 | items[2] << 2 | items[3]]++;
	}
	for (int i = 0; i < 256; i++)
		assert_true(counts[i] == 0 || is_within(counts[i], 1000, 160));
	stats_rng_shuffle(&r, NULL, 0, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_stream),
		cmocka_unit_test(seeds_and_streams),
		cmocka_unit_test(moments_of_each_kind),
		cmocka_unit_test(bounded_values_are_even),
		cmocka_unit_test(shuffles_are_even),
	};

	return RUN_TESTS(tests);
}
