/* any input: arrays of NaN, infinities, the largest, the smallest and equal values; every answer is defined. */
#include "../support.h"

#include "stats/dist.h"
#include "stats/effect.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/sequential.h"
#include "stats/series.h"
#include "stats/sketch.h"
#include "stats/summary.h"
#include "stats/verdict.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 70 };

static struct stats_rng rng;

static double strange(unsigned mask)
{
	static const double values[] = { 0, 1, -1, DBL_MAX, -DBL_MAX, DBL_MIN, 4e-324, INFINITY, -INFINITY, NAN, 1e-9,
		1e9 };
	uint64_t pick = stats_rng_below(&rng, 24);

	if (pick >= sizeof(values) / sizeof(*values))
		return stats_rng_normal(&rng);
	return isfinite(values[pick]) || mask & 1 ? values[pick] : 0;
}

static size_t fill(double *x, unsigned mask)
{
	size_t n = stats_rng_below(&rng, N + 1);

	for (size_t i = 0; i < n; i++)
		x[i] = mask & 2 ? x[0] : strange(mask);
	return n;
}

/* In order, or open, or of no known estimate. */
static void check(const struct stats_interval *i)
{
	assert_true(isnan(i->lo) || isnan(i->hi) || i->lo <= i->hi);
	assert_true(isnan(i->estimate) || isnan(i->lo) || i->lo <= i->estimate || isinf(i->estimate));
	assert_non_null(i->method);
	(void)stats_verdict(i, 1.01);
	(void)stats_interval_p(i, 0);
}

static void arrays(const double *x, size_t n)
{
	double a[N], b[N];
	struct stats_moments m = stats_moments_of(x, n), half = stats_moments_of(x, n / 2);
	struct stats_interval i = stats_moments_interval(&m, 0.95);

	check(&i);
	i = stats_welch_interval(&m, &half, 0.95);
	check(&i);
	memcpy(a, x, n * sizeof(*x));
	i = stats_hl_interval(a, n, 0.95);
	if (isfinite(m.min) && isfinite(m.max))
		check(&i);
	(void)stats_hl_p(a, n, 0);
	memcpy(b, x, n * sizeof(*x));
	for (size_t k = 0; k < n; k++)
		a[k] = fabs(x[k]);
	(void)stats_hl_weighted(b, a, n);
	i = stats_median_interval(b, n, 0.95);
	(void)stats_autocorrelation(x, n, 2);
	assert_true(stats_block_length(x, n) >= 1 && stats_block_length(x, n) <= n + 1);
}

static void with_arena(const double *x, size_t n)
{
	struct arena arena = ARENA_INIT;
	struct stats_segment *segments;
	struct stats_sketch s;
	struct stats_warmup w;
	size_t count;

	if (stats_changepoints(x, n, &(struct stats_changes){ 0 }, &arena, &segments, &count, NULL) == 0)
		assert_true(n == 0 || (count >= 1 && segments[0].first == 0));
	if (stats_warmup(x, n, &arena, &w, NULL) == 0)
		assert_true(w.first <= n);
	stats_sketch_init(&s, &arena);
	for (size_t k = 0; k < n; k++)
		assert_int_equal(stats_sketch_add(&s, x[k], 1), 0);
	assert_true(s.count + s.invalid == n && (!s.count || isfinite(stats_sketch_quantile(&s, 0.5))));
	arena_release(&arena);
}

static void runs_of(const double *x, size_t n)
{
	static const enum stats_effect_method methods[] = { STATS_AUTO, STATS_STUDENT, STATS_RANKS, STATS_SIGNS,
		STATS_HIERARCHICAL };
	size_t first[N + 2] = { 0 }, count = 0;
	struct stats_runs runs = { .x = x, .first = first };
	struct arena arena = ARENA_INIT;
	struct stats_effect e;

	while (first[count] < n) {
		size_t left = n - first[count], step = stats_rng_below(&rng, 4);

		first[count + 1] = first[count] + (step < left ? step : left);
		if (++count > N)
			break;
	}
	runs.count = count;
	for (size_t k = 0; k < sizeof(methods) / sizeof(*methods); k++)
		if (stats_effect(&runs, &(struct stats_effect_options){ .method = methods[k], .draws = 39 }, &arena, &e,
				    NULL) == 0)
			assert_true(e.pairs + e.dropped == first[count]);
	arena_release(&arena);
}

static void every_answer_is_defined(void **state)
{
	random_init();
	stats_rng_init(&rng, random_u64(), 0);
	for (unsigned round = 0; round < 800; round++) {
		double x[N] = { strange(1) };
		size_t n = fill(x, round % 4);

		arrays(x, n);
		with_arena(x, n);
		runs_of(x, n);
	}
}

static void distributions(void **state)
{
	random_init();
	stats_rng_init(&rng, random_u64(), 0);
	for (int round = 0; round < 3000; round++) {
		double p = strange(1), a = strange(1), b = strange(1), v;

		v = stats_t_cdf(p, a);
		assert_true(isnan(v) || (v >= 0 && v <= 1));
		v = stats_beta_cdf(p, fmin(a, 1e6), fmin(b, 1e6));
		assert_true(isnan(v) || (v >= 0 && v <= 1));
		v = stats_chi2_quantile(stats_rng_uniform(&rng), fmin(a, 1e8));
		assert_true(isnan(v) || v >= 0);
		(void)stats_t_quantile(stats_rng_uniform(&rng), a);
		(void)stats_normal_quantile(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_answer_is_defined),
		cmocka_unit_test(distributions),
	};

	return RUN_TESTS(tests);
}
