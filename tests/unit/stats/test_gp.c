/* gp: evidence, gradient and predictions as numpy has them; fits find what is there; bad data is refused. */
#include "../support.h"

#include "near.h"
#include "oracle-gp.h"
#include "stats/gp-private.h"

#include <errno.h>
#include <string.h>

enum { DIMS = 3, ROWS = COUNT(gp_y) };

static const bool is_category[DIMS] = { false, false, true };
static const struct stats_gp_data data = { .n = ROWS,
	.dims = DIMS,
	.x = gp_x,
	.y = gp_y,
	.noise = gp_noise,
	.is_category = is_category };

static struct stats_gp_prior the_prior(void)
{
	return (struct stats_gp_prior){ .scale_mean = { -0.6, -0.6, -0.2 },
		.scale_sd = 0.9,
		.variance_mean = -0.5,
		.variance_sd = 0.7,
		.additive_mean = -0.9,
		.additive_sd = 1,
		.noise_mean = -4,
		.noise_sd = 2 };
}

static struct stats_gp_parameters the_parameters(void)
{
	struct stats_gp_parameters q = { .variance = gp_theta[DIMS],
		.additive = gp_theta[DIMS + 1],
		.noise = gp_theta[DIMS + 2] };

	memcpy(q.scale, gp_theta, DIMS * sizeof(double));
	return q;
}

static double evidence_of(const struct stats_gp_data *some, const struct stats_gp_prior *prior,
		const struct stats_gp_parameters *q, double *gradient, struct arena *arena)
{
	struct gp_evidence e;

	assert_int_equal(gp_evidence_init(&e, some, prior, arena), 0);
	return gp_log_posterior(&e, q, gradient);
}

static void evidence_matches_numpy(void **state)
{
	struct arena arena = ARENA_INIT;
	struct stats_gp_prior prior = the_prior();
	struct stats_gp_parameters q = the_parameters();
	double gradient[DIMS + 3];

	assert_true(is_near(evidence_of(&data, &prior, &q, gradient, &arena), gp_evidence[0], 1e-9));
	for (size_t k = 0; k < DIMS + 3; k++)
		assert_true(is_within(gradient[k], gp_gradient[k], 1e-6));
	arena_release(&arena);
}

static void predictions_match_numpy(void **state)
{
	struct arena arena = ARENA_INIT;
	struct stats_gp_parameters q = the_parameters();
	struct stats_gp gp;

	assert_int_equal(stats_gp_condition(&gp, &data, &q, &arena, NULL), 0);
	for (size_t i = 0; i < COUNT(gp_mean); i++) {
		double mean, variance;

		stats_gp_predict(&gp, gp_at + i * DIMS, &mean, &variance, NULL, NULL);
		assert_true(is_near(mean, gp_mean[i], 1e-8) && is_near(variance, gp_variance[i], 1e-8));
	}
	arena_release(&arena);
}

static void check_gradients(const struct stats_gp *gp)
{
	double by_mean[DIMS], by_variance[DIMS], mean, variance, h = 1e-6;

	stats_gp_predict(gp, gp_at, &mean, &variance, by_mean, by_variance);
	for (size_t k = 0; k < 2; k++) {
		double x[DIMS], up[2], down[2];

		memcpy(x, gp_at, sizeof(x));
		x[k] += h;
		stats_gp_predict(gp, x, &up[0], &up[1], NULL, NULL);
		x[k] -= 2 * h;
		stats_gp_predict(gp, x, &down[0], &down[1], NULL, NULL);
		assert_true(is_within(by_mean[k], (up[0] - down[0]) / (2 * h), 1e-6));
		assert_true(is_within(by_variance[k], (up[1] - down[1]) / (2 * h), 1e-6));
	}
	assert_true(by_mean[2] == 0 && by_variance[2] == 0);
}

static void gradients_are_slopes(void **state)
{
	struct arena arena = ARENA_INIT;
	struct stats_gp_parameters q = the_parameters();
	double mean, variance, before;
	struct stats_gp gp;

	assert_int_equal(stats_gp_condition(&gp, &data, &q, &arena, NULL), 0);
	check_gradients(&gp);
	stats_gp_predict(&gp, gp_x + DIMS, &mean, &before, NULL, NULL);
	assert_int_equal(stats_gp_relate(&gp, 1, &arena), 0);
	check_gradients(&gp);
	stats_gp_predict(&gp, gp_x + DIMS, &mean, &variance, NULL, NULL);
	assert_true(before > 1e-6 && variance < 1e-6 * before); /* a row and itself do not differ */
	arena_release(&arena);
}

/* The second coordinate does nothing: its scale grows; the fit is no less probable than its start. */
static void a_fit_finds_what_matters(void **state)
{
	enum { N = 40 };
	struct arena arena = ARENA_INIT;
	double x[2 * N], y[N], gradient[5];
	struct stats_gp_data some = { .n = N, .dims = 2, .x = x, .y = y };
	struct stats_gp_prior prior;
	struct stats_gp_parameters start = { 0 };
	struct stats_rng rng;
	struct stats_gp gp;

	stats_rng_init(&rng, 3, 0);
	for (size_t i = 0; i < N; i++) {
		x[2 * i] = stats_rng_uniform(&rng);
		x[2 * i + 1] = stats_rng_uniform(&rng);
		y[i] = sin(6 * x[2 * i]) + 0.05 * stats_rng_normal(&rng);
	}
	stats_gp_prior_usual(&prior, &some);
	memcpy(start.scale, prior.scale_mean, sizeof(start.scale));
	start.noise = -6;
	assert_int_equal(stats_gp_fit(&gp, &some, &prior, &start, 1, 60, &arena, NULL), 0);
	assert_true(gp.parameters.scale[1] > gp.parameters.scale[0] + 1);
	assert_true(gp.evidence >= evidence_of(&some, &prior, &start, gradient, &arena));
	assert_true(gp.noise > 0.0005 && gp.noise < 0.02);
	arena_release(&arena);
}

/* Slice sampling leaves the posterior alone: with next to no data it draws the prior. */
static void samples_of_no_data_are_the_prior(void **state)
{
	struct arena arena = ARENA_INIT;
	double x[1] = { 0.5 }, y[1] = { 0 }, sum = 0, sum2 = 0;
	struct stats_gp_data one = { .n = 1, .dims = 1, .x = x, .y = y };
	struct stats_gp_parameters q = { .noise = -4 };
	struct stats_gp_prior prior;
	struct stats_rng rng;

	stats_rng_init(&rng, 5, 0);
	stats_gp_prior_usual(&prior, &one);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(stats_gp_sample(&q, &one, &prior, 1, &rng, &arena), 0);
		sum += q.scale[0];
		sum2 += q.scale[0] * q.scale[0];
	}
	assert_true(is_within(sum / 2000, prior.scale_mean[0], 0.15));
	assert_true(is_within(sqrt(sum2 / 2000 - sum * sum / 2000 / 2000), prior.scale_sd, 0.15));
	arena_release(&arena);
}

/* Two rows that are wrong by the same amount, however large: their difference is right. */
static void what_is_wrong_together_cancels(void **state)
{
	struct arena arena = ARENA_INIT;
	double x[3] = { 0.1, 0.9, 0.5 }, y[3] = { 5, 6, 0 }, alike[4] = { 1.001, 1, 1, 1.001 },
	       ones[3] = { 1, 1, 0.01 };
	struct stats_gp_data
			some = { .n = 3, .dims = 1, .x = x, .y = y, .noise = ones, .shared = alike, .shared_rows = 2 };
	struct stats_gp_parameters q = { .scale = { -1.5 }, .noise = 4 };
	struct stats_gp_prior prior;
	double a, b, variance, gradient[4], ignored[4], h = 1e-5;
	struct stats_gp gp;

	assert_int_equal(stats_gp_condition(&gp, &some, &q, &arena, NULL), 0);
	stats_gp_predict(&gp, x, &a, &variance, NULL, NULL);
	stats_gp_predict(&gp, x + 1, &b, &variance, NULL, NULL);
	assert_true(is_within(b - a, 1, 0.05) && fabs(a) < 2);
	some.shared = NULL;
	assert_int_equal(stats_gp_condition(&gp, &some, &q, &arena, NULL), 0);
	stats_gp_predict(&gp, x, &a, &variance, NULL, NULL);
	stats_gp_predict(&gp, x + 1, &b, &variance, NULL, NULL);
	assert_true(fabs(b - a) < 0.2);
	some.shared = alike;
	stats_gp_prior_usual(&prior, &some);
	evidence_of(&some, &prior, &q, gradient, &arena);
	q.noise += h;
	a = evidence_of(&some, &prior, &q, ignored, &arena);
	q.noise -= 2 * h;
	b = evidence_of(&some, &prior, &q, ignored, &arena);
	assert_true(is_within(gradient[3], (a - b) / (2 * h), 1e-4));
	arena_release(&arena);
}

static void bad_data_is_refused(void **state)
{
	struct arena arena = ARENA_INIT;
	double x[2] = { 0, 1 }, y[2] = { 0, NAN };
	struct stats_gp_data some = { .n = 2, .dims = 1, .x = x, .y = y };
	struct stats_gp_parameters q = { .noise = -4 };
	struct stats_gp gp;

	assert_int_equal(stats_gp_condition(&gp, &some, &q, &arena, NULL), -EINVAL);
	y[1] = 1;
	x[1] = INFINITY;
	assert_int_equal(stats_gp_condition(&gp, &some, &q, &arena, NULL), -EINVAL);
	some.n = 0;
	assert_int_equal(stats_gp_condition(&gp, &some, &q, &arena, NULL), -EINVAL);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evidence_matches_numpy),
		cmocka_unit_test(predictions_match_numpy),
		cmocka_unit_test(gradients_are_slopes),
		cmocka_unit_test(a_fit_finds_what_matters),
		cmocka_unit_test(samples_of_no_data_are_the_prior),
		cmocka_unit_test(what_is_wrong_together_cancels),
		cmocka_unit_test(bad_data_is_refused),
	};

	return RUN_TESTS(tests);
}
