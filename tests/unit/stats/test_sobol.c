/* sobol: every axis is stratified, pairs fill evenly, seeds differ, points are repeatable. */
#include "../support.h"

#include "near.h"
#include "stats/rng.h"

#include <string.h>

/* Of the first 2^k points one falls into each of 2^k intervals, on every axis and for every seed. */
static void every_axis_is_stratified(void **state)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct stats_sobol s;
		unsigned char seen[STATS_SOBOL_DIMS][64] = { { 0 } };

		stats_sobol_init(&s, STATS_SOBOL_DIMS, seed);
		for (uint32_t i = 0; i < 64; i++) {
			double x[STATS_SOBOL_DIMS];

			stats_sobol_point(&s, i, x);
			for (size_t j = 0; j < STATS_SOBOL_DIMS; j++) {
				assert_true(x[j] > 0 && x[j] < 1);
				assert_int_equal(seen[j][(int)(x[j] * 64)]++, 0);
			}
		}
	}
}

/* The first two axes are a (0, m, 2)-net: each elementary box of area 2^-6 has one of 64 points. */
static void the_first_plane_is_a_net(void **state)
{
	struct stats_sobol s;

	stats_sobol_init(&s, 2, 11);
	for (int wide = 0; wide <= 6; wide++) {
		unsigned char seen[64] = { 0 };

		for (uint32_t i = 0; i < 64; i++) {
			double x[2];

			stats_sobol_point(&s, i, x);
			assert_int_equal(seen[(int)(x[0] * (1 << wide)) * (1 << (6 - wide)) +
							 (int)(x[1] * (1 << (6 - wide)))]++,
					0);
		}
	}
}

static void means_are_those_of_the_cube(void **state)
{
	struct stats_sobol s;
	double sum[10] = { 0 };

	stats_sobol_init(&s, 10, 1);
	for (uint32_t i = 0; i < 1024; i++) {
		double x[10];

		stats_sobol_point(&s, i, x);
		for (size_t j = 0; j < 10; j++)
			sum[j] += x[j] / 1024;
	}
	for (size_t j = 0; j < 10; j++)
		assert_true(is_within(sum[j], 0.5, 0.002));
}

static void seeds_differ_and_repeat(void **state)
{
	struct stats_sobol a, b, c;
	double x[3], y[3], z[3];

	stats_sobol_init(&a, 3, 1);
	stats_sobol_init(&b, 3, 1);
	stats_sobol_init(&c, 3, 2);
	stats_sobol_point(&a, 5, x);
	stats_sobol_point(&b, 5, y);
	stats_sobol_point(&c, 5, z);
	assert_memory_equal(x, y, sizeof(x));
	assert_memory_not_equal(x, z, sizeof(x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_axis_is_stratified),
		cmocka_unit_test(the_first_plane_is_a_net),
		cmocka_unit_test(means_are_those_of_the_cube),
		cmocka_unit_test(seeds_differ_and_repeat),
	};

	return RUN_TESTS(tests);
}
