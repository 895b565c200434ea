/* sequential: published bounds, each look's share of the error for few values, coverage however one stops. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "stats/dist.h"
#include "stats/rng.h"
#include "stats/sequential.h"

/* With very many observations t is z, and the bounds are those of normal theory. */
static void bounds_of_normal_theory(void **state)
{
	struct stats_sequential s;
	double last = 2;

	for (size_t i = 0; i < COUNT(bound_oracle); i++) {
		if (bound_oracle[i].fraction < last)
			stats_sequential_init(&s, (enum stats_spending)bound_oracle[i].kind, 0.95, 3200000000, 2);
		last = bound_oracle[i].fraction;
		stats_sequential_look(&s, (size_t)(last * 3200000000 + 0.5));
		assert_true(is_within(s.bound, bound_oracle[i].z, 3e-6));
	}
}

static void spending_functions(void **state)
{
	for (int kind = STATS_OBRIEN_FLEMING; kind <= STATS_POWER; kind++) {
		double last = 0;

		for (double f = 0; f <= 1.0001; f += 0.05) {
			double spent = stats_spending_at((enum stats_spending)kind, 0.95, 2, f);

			assert_true(spent >= last && spent <= 0.05 + 1e-15);
			last = spent;
		}
		assert_true(stats_spending_at((enum stats_spending)kind, 0.95, 2, -1) == 0);
		assert_true(is_near(stats_spending_at((enum stats_spending)kind, 0.95, 2, 7), 0.05, 1e-12));
	}
}

/* A single look is Student's interval. */
static void one_look_is_students(void **state)
{
	for (size_t n = 2; n < 300; n += n) {
		struct stats_sequential s;

		stats_sequential_init(&s, STATS_POCOCK, 0.95, n, 0);
		stats_sequential_look(&s, n);
		assert_true(is_near(s.bound, -stats_t_quantile(0.025, (double)n - 1), 1e-9));
		assert_true(is_near(s.nominal, 0.05, 1e-9) && is_near(s.spent, 0.05, 1e-12));
	}
}

/* The budget may end early: what is left is spent then, and nothing after it. */
static void the_last_look_spends_the_rest(void **state)
{
	struct stats_sequential s;

	stats_sequential_init(&s, STATS_OBRIEN_FLEMING, 0.95, 100, 0);
	stats_sequential_last(&s, 7);
	assert_true(is_near(s.bound, -stats_t_quantile(0.025, 6), 1e-9));
	stats_sequential_look(&s, 20);
	assert_true(s.bound == INFINITY && s.nominal == 0);
}

static void looks_that_cannot_spend(void **state)
{
	double x[] = { 1, 2, 3 };
	struct stats_moments m = stats_moments_of(x, 3);
	struct stats_sequential s;
	struct stats_interval i;

	stats_sequential_init(&s, STATS_POCOCK, 0.95, 3, 0);
	stats_sequential_look(&s, 0);
	assert_true(s.bound == INFINITY);
	stats_sequential_look(&s, 1);
	assert_true(s.bound == INFINITY);
	stats_sequential_look(&s, 3);
	assert_true(isfinite(s.bound));
	i = stats_sequential_interval(&s, &m);
	assert_true(i.estimate == 2 && is_near(i.hi - 2, s.bound / sqrt(3), 1e-12) && i.level == 0.95);
	stats_sequential_look(&s, 3); /* again: nothing new */
	assert_true(s.bound == INFINITY);
	i = stats_sequential_interval(&s, &m);
	assert_true(i.estimate == 2 && i.lo == -INFINITY && i.hi == INFINITY);
	m = stats_moments_of(x, 2); /* not what was looked at */
	i = stats_sequential_interval(&s, &m);
	assert_true(i.lo == -INFINITY);
	stats_sequential_init(&s, STATS_POCOCK, 0.95, 0, 0);
	stats_sequential_look(&s, 5);
	assert_true(isfinite(s.bound));
}

struct outcome {
	double stopped[16]; /* share of paths that ended at each look */
	double all, held;
};

/* Paths of normal values that stop at the first look whose interval excludes 0. */
static struct outcome simulate(const size_t *looks, size_t count, enum stats_spending spending, double mean, int paths)
{
	struct outcome o = { 0 };
	struct stats_sequential s, at[16];
	struct stats_rng r;

	stats_rng_init(&r, 31, count);
	stats_sequential_init(&s, spending, 0.95, looks[count - 1], 2);
	for (size_t k = 0; k < count; k++) {
		stats_sequential_look(&s, looks[k]);
		at[k] = s;
	}
	for (int path = 0; path < paths; path++) {
		struct stats_interval i = { 0 };
		struct stats_moments m;

		stats_moments_init(&m);
		for (size_t k = 0; k < count; k++) {
			while (m.n < looks[k])
				stats_moments_add(&m, mean + stats_rng_normal(&r));
			i = stats_sequential_interval(&at[k], &m);
			if (!stats_interval_holds(&i, 0)) {
				o.stopped[k] += 1.0 / paths;
				o.all += 1.0 / paths;
				break;
			}
		}
		o.held += stats_interval_holds(&i, mean) ? 1.0 / paths : 0;
	}
	return o;
}

/* Each look stops as many paths as it may, from the third value on: normal theory would stop up to 14 % more. */
static void every_look_spends_its_share(void **state)
{
	static const size_t looks[] = { 3, 4, 6, 9, 16 };

	for (int kind = STATS_OBRIEN_FLEMING; kind <= STATS_POWER; kind++) {
		struct outcome o = simulate(looks, 5, (enum stats_spending)kind, 0, 60000);
		double last = 0;

		for (size_t k = 0; k < 5; k++) {
			double spent = stats_spending_at((enum stats_spending)kind, 0.95, 2, (double)looks[k] / 16);
			double share = spent - last;

			assert_true(is_within(o.stopped[k], share, 4 * sqrt(share / 60000) + 1e-5));
			last = spent;
		}
		assert_true(is_within(o.all, 0.05, 0.0035));
	}
}

/* Beyond 128 values the walk is followed as a Brownian motion: hardly another bound than normal theory's. */
static void exact_and_brownian_steps_meet(void **state)
{
	struct stats_sequential exact, coarse;

	stats_sequential_init(&exact, STATS_POCOCK, 0.95, 256, 0);
	stats_sequential_look(&exact, 64);
	stats_sequential_look(&exact, 127);
	stats_sequential_look(&exact, 256);
	stats_sequential_init(&coarse, STATS_POCOCK, 0.95, 25600000, 0);
	stats_sequential_look(&coarse, 6400000);
	stats_sequential_look(&coarse, 12700000);
	stats_sequential_look(&coarse, 25600000);
	assert_true(is_near(exact.bound, -stats_t_quantile(coarse.nominal / 2, 255), 5e-3));
}

static void covers_however_it_stops(void **state)
{
	static const size_t looks[] = { 5, 8, 12, 20, 32 };
	struct outcome o = simulate(looks, 5, STATS_POWER, 0.5, 10000);

	assert_true(o.held > 0.95 && o.all > 0.7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_of_normal_theory),
		cmocka_unit_test(spending_functions),
		cmocka_unit_test(one_look_is_students),
		cmocka_unit_test(the_last_look_spends_the_rest),
		cmocka_unit_test(looks_that_cannot_spend),
		cmocka_unit_test(every_look_spends_its_share),
		cmocka_unit_test(exact_and_brownian_steps_meet),
		cmocka_unit_test(covers_however_it_stops),
	};

	return RUN_TESTS(tests);
}
