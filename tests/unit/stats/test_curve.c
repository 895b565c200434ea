/* curve: each shape finds its own, the ensemble's interval holds the truth, and no losses harm it. */
#include "../support.h"

#include "near.h"
#include "stats/curve.h"
#include "stats/rng.h"

#include <math.h>
#include <string.h>

enum { N_MAX = 4000 };

static double exponential(double k)
{
	return 2 * exp(-k / 700) + 0.1;
}

static double power(double k)
{
	return 3 * pow(k, -0.5);
}

static double hyperbola(double k)
{
	return 1 / (0.002 * k + 0.4) + 0.1;
}

static const struct truth {
	double (*loss)(double k);
	const char *shape;
	double target;
} truths[] = { { exponential, "exponential", 0.3 }, { power, "power", 0.1 }, { hyperbola, "optimus", 0.35 } };

static size_t make(const struct truth *t, double part, double noise, uint64_t seed, double *losses, size_t *when)
{
	struct stats_rng r;
	size_t n;

	stats_rng_init(&r, seed, 0);
	for (*when = 1; t->loss((double)*when) > t->target; ++*when)
		;
	n = (size_t)(part * (double)*when);
	assert_true(n < N_MAX);
	for (size_t i = 0; i < n; i++)
		losses[i] = t->loss((double)i + 1) * exp(noise * stats_rng_normal(&r));
	return n;
}

static void shapes_find_their_own(void **state)
{
	double losses[N_MAX];
	struct stats_curve_fit f;
	size_t when, n;

	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		n = make(&truths[i], 0.5, 0.02, 1, losses, &when);
		stats_curve_fit(&f, losses, n, truths[i].target, stats_curve_find(truths[i].shape));
		if (fabs(log(f.remaining.estimate / (double)(when - n))) > 0.5)
			fail_msg("%s: %g, really %zu", truths[i].shape, f.remaining.estimate, when - n);
		assert_true(fabs(log(stats_curve_loss(&f, (double)n) / truths[i].loss((double)n))) < 0.05);
		assert_true(stats_curve_slope(&f, (double)n) < 0);
	}
}

static void the_interval_holds_the_truth(void **state)
{
	double losses[N_MAX];
	struct stats_curve_fit f;
	size_t when, n, held = 0, all = 0;

	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++)
		for (uint64_t seed = 1; seed <= 10; seed++)
			for (double part = 0.3; part < 0.8; part += 0.2) {
				n = make(&truths[i], part, 0.1, seed, losses, &when);
				stats_curve_fit(&f, losses, n, truths[i].target, NULL);
				all++;
				held += stats_interval_holds(&f.remaining, (double)(when - n));
			}
	if (held < all * 8 / 10)
		fail_msg("%zu of %zu", held, all);
}

static void selftf_is_among_them(void **state)
{
	double losses[N_MAX];
	struct stats_curve_fit f;
	size_t when, n = make(&truths[2], 0.5, 0.02, 1, losses, &when);

	stats_curve_fit(&f, losses, n, truths[2].target, stats_curve_find("selftf"));
	assert_true(isfinite(f.remaining.estimate) && f.remaining.estimate >= 1);
	assert_true(is_near(f.weights[0], 1, 1e-9));
	assert_true(is_near(f.weights[1], 0, 1e-9));
	assert_null(stats_curve_find("cubic"));
}

static void no_losses_harm_it(void **state)
{
	double losses[100];
	struct stats_curve_fit f;

	stats_curve_fit(&f, NULL, 0, 0.1, NULL);
	assert_true(isnan(f.remaining.estimate) && isnan(stats_curve_loss(&f, 3)));
	for (size_t i = 0; i < 100; i++)
		losses[i] = 1;
	stats_curve_fit(&f, losses, 100, 0.1, NULL); /* flat: far away or not known, never a crash */
	assert_true(isnan(f.remaining.estimate) || f.remaining.estimate >= 1);
	for (size_t i = 0; i < 100; i++)
		losses[i] = i % 3 ? NAN : i % 2 ? INFINITY : -1;
	stats_curve_fit(&f, losses, 100, 0.1, NULL);
	assert_true(isnan(f.remaining.estimate));
	for (size_t i = 0; i < 100; i++)
		losses[i] = 2 - (double)i / 100;
	losses[50] = NAN;
	stats_curve_fit(&f, losses, 100, NAN, NULL);
	assert_true(isnan(f.remaining.estimate) && isfinite(stats_curve_loss(&f, 50)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_find_their_own),
		cmocka_unit_test(the_interval_holds_the_truth),
		cmocka_unit_test(selftf_is_among_them),
		cmocka_unit_test(no_losses_harm_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
