/* holm: the textbook's steps, whatever the order, and one error for all. */
#include "../support.h"

#include "near.h"
#include "stats/rng.h"
#include "stats/verdict.h"

static void textbook(void **state)
{
	double p[] = { 0.04, 0.01, 0.03, 0.005 }, adjusted[4], scratch[4];

	stats_holm(p, 4, adjusted, scratch);
	assert_true(is_near(adjusted[0], 0.06, 1e-14) && is_near(adjusted[1], 0.03, 1e-14));
	assert_true(is_near(adjusted[2], 0.06, 1e-14) && is_near(adjusted[3], 0.02, 1e-14));
}

static void edges(void **state)
{
	double p[] = { 0.5, NAN, 0.9, 0.5, 0 }, scratch[5];

	stats_holm(p, 0, p, scratch);
	stats_holm(p, 5, p, scratch); /* in place */
	assert_true(p[0] == 1 && isnan(p[1]) && p[2] == 1 && p[3] == 1 && p[4] == 0);
	p[0] = 0.3;
	stats_holm(p, 1, p, scratch);
	assert_true(p[0] == 0.3);
}

static void order_does_not_matter(void **state)
{
	double p[30], adjusted[30], again[30], scratch[30];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (size_t i = 0; i < 30; i++)
		p[i] = stats_rng_uniform(&r) * 0.2;
	stats_holm(p, 30, adjusted, scratch);
	for (size_t i = 0; i < 15; i++) {
		double t = p[i];

		p[i] = p[29 - i];
		p[29 - i] = t;
	}
	stats_holm(p, 30, again, scratch);
	for (size_t i = 0; i < 30; i++) {
		assert_true(adjusted[i] == again[29 - i]);
		assert_true(adjusted[i] >= p[29 - i] && adjusted[i] <= 1);
		for (size_t j = 0; j < 30; j++)
			assert_true(p[29 - i] >= p[29 - j] || adjusted[i] <= adjusted[j]);
	}
}

static void one_error_for_all(void **state)
{
	struct stats_rng r;
	int wrong = 0;

	stats_rng_init(&r, 61, 0);
	for (int k = 0; k < 10000; k++) {
		double p[10], scratch[10];
		bool is_wrong = false;

		for (int i = 0; i < 10; i++)
			p[i] = stats_rng_uniform(&r);
		stats_holm(p, 10, p, scratch);
		for (int i = 0; i < 10; i++)
			is_wrong |= p[i] <= 0.05;
		wrong += is_wrong;
	}
	assert_true(is_within(wrong, 490, 70));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(textbook),
		cmocka_unit_test(edges),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(one_error_for_all),
	};

	return RUN_TESTS(tests);
}
