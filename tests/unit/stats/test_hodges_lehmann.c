/* hodges_lehmann: as if all averages were made, exact rank distributions, intervals that cover. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "sample.h"
#include "stats/ranks.h"
#include "stats/summary.h"

#include <string.h>

enum { N_MAX = 60, ALL_MAX = N_MAX * N_MAX };

static size_t all_averages(const double *x, size_t n, double *out)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			out[count++] = x[i] / 2 + x[j] / 2;
	return count;
}

static void same_as_all_averages(void **state)
{
	double x[N_MAX], copy[N_MAX], weight[N_MAX], all[ALL_MAX];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 1500; round++) {
		size_t n = 1 + stats_rng_below(&r, N_MAX), count;
		double expected;

		sample_fill(&r, round, x, n);
		memcpy(copy, x, sizeof(x));
		for (size_t i = 0; i < n; i++)
			weight[i] = 3.5;
		count = all_averages(x, n, all);
		expected = stats_median(all, count);
		assert_true(is_near(stats_hl(x, n), expected, 1e-15));
		assert_true(is_near(stats_hl_weighted(copy, weight, n), expected, 1e-15));
	}
}

/* The weighted median of all averages, from the definition; weights have mean 1. */
static double weighted_by_definition(const double *x, const double *w, size_t n)
{
	double all[ALL_MAX], weight[ALL_MAX], total = 0, sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			all[count] = x[i] / 2 + x[j] / 2;
			weight[count] = i == j ? w[i] * (w[i] + 1) / 2 : w[i] * w[j];
			total += weight[count++];
		}
	stats_sort_with(all, weight, count);
	for (size_t i = 0; i < count; i++) {
		sum += weight[i];
		if (sum >= total / 2)
			return all[i];
	}
	return NAN;
}

static void weighted_as_defined(void **state)
{
	double x[20], w[20], scaled[20];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 1000; round++) {
		size_t n = 1 + stats_rng_below(&r, 20);
		double sum = 0, expected;

		sample_fill(&r, round, x, n);
		for (size_t i = 0; i < n; i++)
			sum += w[i] = stats_rng_exponential(&r);
		for (size_t i = 0; i < n; i++)
			scaled[i] = w[i] * (double)n / sum;
		expected = weighted_by_definition(x, scaled, n);
		assert_true(is_near(stats_hl_weighted(x, w, n), expected, 1e-15));
	}
}

static void weight_draws_the_estimate(void **state)
{
	double x[] = { 0, 1, 2, 100 }, light[] = { 1, 1, 1, 1e-9 }, heavy[] = { 1, 1, 1, 1e9 };
	double y[] = { 0, 1, 2, 100 }, bad[] = { 1, 1, 0, 1 };

	assert_true(is_near(stats_hl_weighted(x, light, 4), 1, 1e-12));
	assert_true(is_near(stats_hl_weighted(y, heavy, 4), 100, 1e-12));
	assert_true(isnan(stats_hl_weighted(x, bad, 4)) && isnan(stats_hl_weighted(x, bad, 0)));
}

/* P(W <= w) of the signed-rank statistic, for 0 <= w < n (n + 1) / 2: a cut excludes the averages up to its number. */
static double signed_rank_cdf(double w, size_t n)
{
	return stats_signed_rank_tail(n, floor(w) + 1);
}

static void matches_scipy(void **state)
{
	double x[COUNT(sample)];

	memcpy(x, sample, sizeof(x));
	assert_true(is_near(stats_hl(x, COUNT(x)), sample_hl, 1e-13));
	for (size_t i = 0; i < COUNT(signed_rank_oracle); i++) {
		double w = signed_rank_oracle[i].w, n = signed_rank_oracle[i].n;

		assert_true(w >= n * (n + 1) / 2 ||
				is_near(signed_rank_cdf(w, (size_t)n), signed_rank_oracle[i].p, 1e-13));
	}
}

static void distributions_meet_their_approximation(void **state)
{
	for (double w = 500; w < 750; w += 10)
		assert_true(is_within(signed_rank_cdf(w * 1.0404, 51), signed_rank_cdf(w, 50), 0.02));
}

/* A cut is where its tail is, up to the size of a step; the smallest tail is that of one average. */
static void a_cut_and_its_tail_are_inverse(void **state)
{
	for (size_t n = 6; n < 70; n++)
		for (double tail = 0.02; tail < 0.5; tail += 0.03)
			assert_true(is_near(stats_signed_rank_tail(n, stats_signed_rank_cut(n, tail)), tail, 1e-9));
	assert_true(stats_signed_rank_tail(4, 0) == 1.0 / 16 && stats_signed_rank_tail(4, 0.5) == 1.0 / 16);
	assert_true(stats_signed_rank_cut(4, 0.01) < 1 && stats_signed_rank_cut(4, 1.0 / 16) == 1);
	assert_true(stats_signed_rank_tail(4, 2) == 2.0 / 16 &&
			is_near(stats_signed_rank_tail(4, 3.5), 4.0 / 16, 1e-12));
}

/* Ends lie between those averages whose ranks enclose the level. */
static void ends_are_at_their_ranks(void **state)
{
	double x[N_MAX], all[ALL_MAX];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 500; round++) {
		size_t n = 6 + stats_rng_below(&r, N_MAX - 6), count, cut = 0;
		struct stats_interval i;

		sample_fill(&r, round % 2, x, n);
		count = all_averages(x, n, all);
		stats_sort(all, count);
		while (signed_rank_cdf((double)cut, n) <= 0.025)
			cut++;
		i = stats_hl_interval(x, n, 0.95);
		/* beyond exact ranks one more, for the approximation */
		cut -= n > STATS_SIGNED_RANK_EXACT;
		assert_true(i.lo >= all[cut - 1] && i.lo <= all[cut + 1]);
		assert_true(i.hi <= all[count - cut] && i.hi >= all[count - cut - 2]);
		assert_true(i.lo <= i.estimate && i.estimate <= i.hi);
	}
}

static void small_samples_are_open(void **state)
{
	double x[] = { 1, 2, 3, 4, 5, 6 };
	struct stats_interval i = stats_hl_interval(x, 5, 0.95);

	assert_true(i.estimate == 3 && i.lo == -INFINITY && i.hi == INFINITY);
	i = stats_hl_interval(x, 6, 0.95);
	assert_true(i.lo >= 1 && i.lo < 1.5 && i.hi <= 6 && i.hi > 5.5);
	i = stats_hl_interval(x, 0, 0.95);
	assert_true(isnan(i.estimate) && i.lo == -INFINITY);
	assert_true(isnan(stats_hl(x, 0)) && stats_hl(x, 1) == 1 && stats_hl(x, 2) == 1.5);
}

static void equal_and_absent_values(void **state)
{
	double x[] = { 2, 2, 2, 2, 2, 2, 2 }, y[] = { 1, NAN, 3 }, huge[] = { -1.7e308, -1.7e308, 1.7e308, 1.7e308 };
	struct stats_interval i = stats_hl_interval(x, 7, 0.95);

	assert_true(i.estimate == 2 && i.lo == 2 && i.hi == 2);
	assert_true(stats_hl_p(x, 7, 2) == 1 && is_near(stats_hl_p(x, 7, 1), 2.0 / 128, 1e-12));
	assert_true(isnan(stats_hl(y, 3)) && isnan(stats_hl_p(y, 3, 0)) && isnan(stats_hl_p(x, 7, NAN)));
	assert_true(stats_hl(huge, 4) == 0);
}

static void scale_shift_and_order(void **state)
{
	double x[40], y[40];
	struct stats_interval i, j;
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	sample_fill(&r, 0, x, 40);
	for (size_t k = 0; k < 40; k++)
		y[k] = 3 - 4 * x[k];
	stats_rng_shuffle(&r, y, 40, sizeof(*y));
	i = stats_hl_interval(x, 40, 0.9);
	j = stats_hl_interval(y, 40, 0.9);
	assert_true(is_within(j.estimate, 3 - 4 * i.estimate, 1e-12));
	assert_true(is_within(j.lo, 3 - 4 * i.hi, 1e-12) && is_within(j.hi, 3 - 4 * i.lo, 1e-12));
}

/* p is the error at which the interval just reaches the value. */
static void p_is_the_interval_turned_around(void **state)
{
	double x[70];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 300; round++) {
		size_t n = 8 + stats_rng_below(&r, 60);
		double level = 0.7 + 0.29 * stats_rng_uniform(&r);
		struct stats_interval i;

		sample_fill(&r, 0, x, n);
		i = stats_hl_interval(x, n, level);
		assert_true(is_near(stats_hl_p(x, n, i.lo), 1 - level, 1e-6));
		assert_true(is_near(stats_hl_p(x, n, i.hi), 1 - level, 1e-6));
	}
}

static void covers(void **state)
{
	static const size_t sizes[] = { 6, 10, 25, 60 };
	struct stats_rng r;

	stats_rng_init(&r, 12, 0);
	for (size_t s = 0; s < COUNT(sizes); s++) {
		int held = 0;

		for (int k = 0; k < 4000; k++) {
			double x[60];
			struct stats_interval i;

			/* Cauchy: no mean, no variance */
			for (size_t j = 0; j < sizes[s]; j++)
				x[j] = tan(M_PI * (stats_rng_open(&r) - 0.5));
			i = stats_hl_interval(x, sizes[s], 0.95);
			held += stats_interval_holds(&i, 0);
		}
		assert_true(is_within(held, 3800, 55));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_all_averages),
		cmocka_unit_test(weighted_as_defined),
		cmocka_unit_test(weight_draws_the_estimate),
		cmocka_unit_test(matches_scipy),
		cmocka_unit_test(distributions_meet_their_approximation),
		cmocka_unit_test(a_cut_and_its_tail_are_inverse),
		cmocka_unit_test(ends_are_at_their_ranks),
		cmocka_unit_test(small_samples_are_open),
		cmocka_unit_test(equal_and_absent_values),
		cmocka_unit_test(scale_shift_and_order),
		cmocka_unit_test(p_is_the_interval_turned_around),
		cmocka_unit_test(covers),
	};

	return RUN_TESTS(tests);
}
