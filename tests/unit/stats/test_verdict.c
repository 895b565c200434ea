/* verdict: what intervals mean, power as scipy's noncentral t has it, and n that is just enough. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "stats/rng.h"
#include "stats/verdict.h"

static enum stats_verdict of(double lo, double hi)
{
	struct stats_interval i = { .estimate = (lo + hi) / 2, .lo = lo, .hi = hi };

	return stats_verdict(&i, 1.01);
}

static void every_verdict(void **state)
{
	struct stats_interval unknown = stats_interval_open(NAN, 0, 0.95, "");

	assert_int_equal(of(0.011, 0.02), STATS_SLOWER);
	assert_int_equal(of(-0.02, -0.011), STATS_FASTER);
	assert_int_equal(of(-0.005, 0.005), STATS_EQUIVALENT);
	assert_int_equal(of(0.001, 0.009), STATS_EQUIVALENT); /* slower, but not by what matters */
	assert_int_equal(of(0.001, 0.02), STATS_INCONCLUSIVE);
	assert_int_equal(of(-0.02, 0.001), STATS_INCONCLUSIVE);
	assert_int_equal(of(-INFINITY, INFINITY), STATS_INCONCLUSIVE);
	assert_int_equal(stats_verdict(&unknown, 1.01), STATS_INCONCLUSIVE);
	assert_string_equal(stats_verdict_name(STATS_SLOWER), "slower");
	assert_string_equal(stats_verdict_name(STATS_FASTER), "faster");
	assert_string_equal(stats_verdict_name(STATS_EQUIVALENT), "equivalent");
	assert_string_equal(stats_verdict_name(STATS_INCONCLUSIVE), "inconclusive");
	assert_string_equal(stats_verdict_name((enum stats_verdict)77), "inconclusive");
}

static void margins(void **state)
{
	struct stats_interval i = { .estimate = 0.02, .lo = 0.01, .hi = 0.03 };

	assert_int_equal(stats_verdict(&i, 1), STATS_SLOWER);
	assert_int_equal(stats_verdict(&i, 0.9), STATS_INCONCLUSIVE); /* not a margin */
	assert_int_equal(stats_verdict(&i, NAN), STATS_INCONCLUSIVE);
	assert_int_equal(stats_verdict(&i, 1.05), STATS_EQUIVALENT);
	assert_int_equal(stats_direction(&i), 1);
	i.lo = -0.01;
	assert_int_equal(stats_direction(&i), 0);
	i.hi = -0.001;
	assert_int_equal(stats_direction(&i), -1);
}

static void power_matches_scipy(void **state)
{
	for (size_t i = 0; i < COUNT(power_oracle); i++)
		assert_true(is_near(stats_power((size_t)power_oracle[i].n, 1, power_oracle[i].effect,
						    power_oracle[i].level),
				power_oracle[i].power, 1e-6));
	assert_true(is_near(stats_power(10, 5, 2.5, 0.95), stats_power(10, 1, -0.5, 0.95), 1e-12));
}

static void equivalence_power_by_simulation(void **state)
{
	struct stats_rng r;
	int inside = 0;

	stats_rng_init(&r, 51, 0);
	for (int k = 0; k < 20000; k++) {
		double x[8];
		struct stats_interval i;

		for (int j = 0; j < 8; j++)
			x[j] = stats_rng_normal(&r);
		i = stats_mean_interval(x, 8, 0.9);
		inside += i.lo > -1 && i.hi < 1;
	}
	assert_true(is_within(inside / 20000.0, stats_equivalence_power(8, 1, 1, 0.9), 0.012));
}

static void required_n_is_just_enough(void **state)
{
	for (double effect = 0.05; effect < 3; effect *= 1.7) {
		size_t n = stats_required_n(1, effect, 0.95, 0.8, 100000), m;

		assert_true(stats_power(n, 1, effect, 0.95) >= 0.8);
		assert_true(n == 2 || stats_power(n - 1, 1, effect, 0.95) < 0.8);
		m = stats_required_n_equivalent(1, effect, 0.95, 0.8, 100000);
		assert_true(stats_equivalence_power(m, 1, effect, 0.95) >= 0.8);
		assert_true(m == 2 || stats_equivalence_power(m - 1, 1, effect, 0.95) < 0.8);
	}
	assert_int_equal(stats_required_n(1, 0.001, 0.95, 0.8, 1000), 0);
	assert_int_equal(stats_required_n(1, 0.5, 0.95, 0.8, 1), 0);
	assert_int_equal(stats_required_n(0, 0.5, 0.95, 0.8, 1000), 2);
	assert_int_equal(stats_required_n(NAN, 0.5, 0.95, 0.8, 1000), 0);
}

static void detectable_effect_is_its_inverse(void **state)
{
	for (size_t n = 2; n < 100; n += 13) {
		double effect = stats_detectable_effect(n, 0.02, 0.95, 0.8);

		assert_true(is_near(stats_power(n, 0.02, effect, 0.95), 0.8, 1e-6));
	}
	assert_true(stats_detectable_effect(5, 0, 0.95, 0.8) == 0);
	assert_true(isnan(stats_detectable_effect(1, 1, 0.95, 0.8)) &&
			isnan(stats_detectable_effect(5, 1, 0.95, 0.01)));
	assert_true(isnan(stats_power(1, 1, 1, 0.95)) && isnan(stats_power(5, -1, 1, 0.95)) &&
			isnan(stats_power(5, 1, 1, 1)));
	assert_true(stats_power(5, 0, 1, 0.95) == 1 && stats_power(5, 0, 0, 0.95) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_verdict),
		cmocka_unit_test(margins),
		cmocka_unit_test(power_matches_scipy),
		cmocka_unit_test(equivalence_power_by_simulation),
		cmocka_unit_test(required_n_is_just_enough),
		cmocka_unit_test(detectable_effect_is_its_inverse),
	};

	return RUN_TESTS(tests);
}
