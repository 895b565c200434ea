/* changepoint: the best of all cuttings, steps found where they are, outliers left alone, few cuts in vain. */
#include "../support.h"

#include "near.h"
#include "stats/rng.h"
#include "stats/series.h"
#include "stats/summary.h"

#include <errno.h>
#include <string.h>

enum { N_MAX = 200 };

struct cuts {
	size_t count;
	struct stats_segment segments[N_MAX];
};

static struct cuts cuts_of(const double *x, size_t n, struct stats_changes how)
{
	struct arena arena = ARENA_INIT;
	struct stats_segment *segments;
	struct cuts c;

	assert_int_equal(stats_changepoints(x, n, &how, &arena, &segments, &c.count, NULL), 0);
	memcpy(c.segments, segments, c.count * sizeof(*segments));
	arena_release(&arena);
	return c;
}

static void make_steps(struct stats_rng *r, double *x, size_t n, size_t every, double step)
{
	for (size_t i = 0; i < n; i++)
		x[i] = 100 + step * (double)(i / every % 2) + stats_rng_normal(r);
}

static void steps_are_found(void **state)
{
	double x[N_MAX];
	struct stats_rng r;
	struct cuts c;

	stats_rng_init(&r, 71, 0);
	make_steps(&r, x, 120, 40, 4);
	c = cuts_of(x, 120, (struct stats_changes){ 0 });
	assert_int_equal(c.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(is_within((double)c.segments[i].first, 40.0 * (double)i, 1));
		assert_true(is_within(c.segments[i].median, i == 1 ? 104 : 100, 0.6));
	}
	assert_int_equal(c.segments[2].first + c.segments[2].count, 120);
}

static void outliers_are_no_changes(void **state)
{
	double x[N_MAX];
	struct stats_rng r;
	struct cuts c;

	stats_rng_init(&r, 72, 0);
	make_steps(&r, x, 100, 1000, 0);
	x[30] = 1e6;
	x[31] = -1e6;
	x[70] = 1e9;
	c = cuts_of(x, 100, (struct stats_changes){ 0 });
	assert_int_equal(c.count, 1);
}

/* The cost of the cutting that begins at `start`, by trying all. */
static double best_by_trying(const double *x, size_t start, size_t n, size_t shortest, double penalty)
{
	double best = INFINITY, scratch[N_MAX];

	if (start == n)
		return 0;
	for (size_t end = start + shortest; end <= n; end++) {
		double median, cost = start ? penalty : 0, rest;

		memcpy(scratch, x + start, (end - start) * sizeof(*x));
		median = stats_median(scratch, end - start);
		for (size_t i = start; i < end; i++)
			cost += fabs(x[i] - median);
		rest = best_by_trying(x, end, n, shortest, penalty);
		best = fmin(best, cost + rest);
	}
	return best;
}

static double cost_of(const double *x, const struct cuts *c, double penalty)
{
	double cost = (double)(c->count - 1) * penalty;

	for (size_t s = 0; s < c->count; s++)
		for (size_t i = 0; i < c->segments[s].count; i++)
			cost += fabs(x[c->segments[s].first + i] - c->segments[s].median);
	return cost;
}

/* In units of the noise as the search sees it. */
static double noise_of(const double *x, size_t n)
{
	double d[N_MAX];

	for (size_t i = 0; i + 1 < n; i++)
		d[i] = fabs(x[i + 1] - x[i]);
	return stats_median(d, n - 1) * 1.482602218505602 / M_SQRT2;
}

static void best_of_all_cuttings(void **state)
{
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 150; round++) {
		size_t n = 4 + stats_rng_below(&r, 12), shortest = 1 + stats_rng_below(&r, 3);
		double x[N_MAX], penalty = 0.2 + 3 * stats_rng_uniform(&r), noise;
		struct cuts c;

		if (n < 2 * shortest)
			continue;
		make_steps(&r, x, n, 4, 3);
		noise = noise_of(x, n);
		c = cuts_of(x, n, (struct stats_changes){ .shortest = shortest, .penalty = penalty });
		assert_true(is_near(cost_of(x, &c, penalty * noise), best_by_trying(x, 0, n, shortest, penalty * noise),
				1e-9));
	}
}

static void scale_and_shift(void **state)
{
	double x[N_MAX], y[N_MAX];
	struct stats_rng r;
	struct cuts c, d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	make_steps(&r, x, 150, 30, 3);
	for (size_t i = 0; i < 150; i++)
		y[i] = -1e-6 * x[i] + 7;
	c = cuts_of(x, 150, (struct stats_changes){ 0 });
	d = cuts_of(y, 150, (struct stats_changes){ 0 });
	assert_int_equal(c.count, d.count);
	for (size_t i = 0; i < c.count; i++)
		assert_int_equal(c.segments[i].first, d.segments[i].first);
}

static void cuts_in_vain_are_rare(void **state)
{
	struct stats_rng r;
	int cut = 0;

	stats_rng_init(&r, 73, 0);
	for (int k = 0; k < 1000; k++) {
		double x[N_MAX];

		make_steps(&r, x, 60, 1000, 0);
		cut += cuts_of(x, 60, (struct stats_changes){ 0 }).count > 1;
	}
	assert_true(cut <= 20);
}

static void odd_series(void **state)
{
	double equal[] = { 5, 5, 5, 5, 5, 5, 5, 5 }, step[] = { 1, 1, 1, 1, 1, 2, 2, 2, 2, 2 };
	struct cuts c = cuts_of(NULL, 0, (struct stats_changes){ 0 });

	assert_int_equal(c.count, 0);
	for (size_t n = 1; n <= 8; n++) {
		c = cuts_of(equal, n, (struct stats_changes){ 0 });
		assert_true(c.count == 1 && c.segments[0].count == n && c.segments[0].median == 5);
	}
	c = cuts_of(step, 10, (struct stats_changes){ 0 });
	assert_true(c.count == 2 && c.segments[1].first == 5 && c.segments[1].median == 2);
	c = cuts_of(step, 10, (struct stats_changes){ .shortest = 6 });
	assert_int_equal(c.count, 1);
}

static void refusals(void **state)
{
	const double nan[] = { 1, NAN, 2, 3, 4, 5, 6 }, infinite[] = { 1, 2, INFINITY, 3, 4, 5, 6 };
	struct arena arena = ARENA_INIT;
	struct stats_segment *segments;
	struct stats_changes how = { 0 };
	struct sonde_err err;
	size_t count;

	assert_int_equal(stats_changepoints(nan, 7, &how, &arena, &segments, &count, &err), -EINVAL);
	assert_int_equal(stats_changepoints(infinite, 7, &how, &arena, &segments, &count, &err), -EINVAL);
	arena_release(&arena);
	alloc_fail_after(0);
	assert_int_equal(stats_changepoints(infinite, 2, &how, &arena, &segments, &count, &err), -ENOMEM);
	alloc_fail_never();
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_found),
		cmocka_unit_test(outliers_are_no_changes),
		cmocka_unit_test(best_of_all_cuttings),
		cmocka_unit_test(scale_and_shift),
		cmocka_unit_test(cuts_in_vain_are_rare),
		cmocka_unit_test(odd_series),
		cmocka_unit_test(refusals),
	};

	return RUN_TESTS(tests);
}
