/* model: rows of measured configurations, pending trials, earlier studies; gradients against differences. */
#include "../support.h"

#include "studies.h"
#include "tune/acquisition.h"

#include <errno.h>
#include <stdlib.h>

#define SPACE \
	"params: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]\n" \
	"objective: {name: value, goal: minimize}\nmethod: sobol\n"

struct world {
	struct arena arena;
	struct tune_study study;
	struct tune_optimizer o;
	double cost[700];
};

static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	arena_init(&w->arena);
	assert_int_equal(parse(&w->study, SPACE, &w->arena, NULL), 0);
	assert_int_equal(make(&w->o, &w->study, 1), 0);
}

static void end(struct world *w)
{
	tune_optimizer_release(&w->o);
	arena_release(&w->arena);
}

static void add(struct world *w, double x, double y, double cost, unsigned repeats)
{
	const struct tune_trial *t;
	double point[] = { x, y };

	assert_int_equal(tune_add(&w->o, 0, point, &t, NULL), 0);
	w->cost[w->o.count - 1] = cost;
	if (!isnan(cost))
		assert_int_equal(tune_tell(&w->o, t->id,
						 &(struct tune_result){ .state = TUNE_DONE,
								 .values = { cost },
								 .repeats = repeats },
						 NULL),
				0);
}

static double truth_at(double x, double y)
{
	return 3 * (x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6) + 0.5 * x * y;
}

/* A grid of n by n. */
static void add_grid(struct world *w, int n, double sign)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			add(w, (i + 0.5) / n, (k + 0.5) / n, 10 + sign * truth_at((i + 0.5) / n, (k + 0.5) / n), 1);
}

static struct tune_model *fit_as(struct world *w, struct tune_model_options how)
{
	struct tune_model *m = arena_alloc(&w->arena, sizeof(*m));
	struct sonde_err err = SONDE_ERR_INIT;

	how.cost = how.cost ? how.cost : w->cost;
	if (tune_model_fit(m, &w->o, &how, &w->arena, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

static double mean_at(const struct tune_model *m, double x, double y)
{
	double mean, variance;

	tune_model_predict(m, &m->gp, (double[]){ x, y }, &mean, &variance, NULL, NULL);
	assert_true(variance >= 0);
	return mean;
}

static void repeated_configurations_are_one_row(void **state)
{
	struct world twice, once;
	struct tune_model *a, *b;
	struct sonde_err err = SONDE_ERR_INIT;
	struct tune_model_options how = { .cost = NULL };

	begin(&twice);
	begin(&once);
	add(&twice, 0.1, 0.2, 10, 1);
	how.cost = twice.cost;
	a = arena_alloc(&twice.arena, sizeof(*a));
	assert_int_equal(tune_model_fit(a, &twice.o, &how, &twice.arena, &err), -ENODATA);
	assert_string_equal(err.text, "too few trials for a model");
	add(&twice, 0.7, 0.8, 1, 0);
	add(&twice, 0.1, 0.2, 2, 3); /* the mean is 4 of 4 */
	add(&twice, 0.4, 0.9, NAN, 0);
	add(&once, 0.1, 0.2, 4, 4);
	add(&once, 0.7, 0.8, 1, 1);
	a = fit_as(&twice, (struct tune_model_options){ .is_warped = true });
	b = fit_as(&once, (struct tune_model_options){ .is_warped = true });
	assert_int_equal(a->n, 2);
	assert_int_equal(a->trials[0], 0);
	assert_int_equal(a->trials[1], 1);
	assert_int_equal(tune_model_row(a, &twice.o, twice.o.trials[2].point), 0);
	assert_int_equal(tune_model_row(a, &twice.o, twice.o.trials[3].point), 2);
	for (double x = 0; x <= 1; x += 0.25)
		assert_true(fabs(mean_at(a, x, 0.5) - mean_at(b, x, 0.5)) < 1e-9);
	assert_int_equal(a->best, 1);
	assert_true(fabs(a->best_mean - mean_at(a, 0.7, 0.8)) < 1e-12);
	end(&twice);
	end(&once);
}

static void it_predicts_between_trials(void **state)
{
	struct world w;
	struct tune_model *m;
	double worst = 0;
	size_t best = 0;

	begin(&w);
	add_grid(&w, 6, 1);
	m = fit_as(&w, (struct tune_model_options){ .is_warped = true });
	assert_int_equal(m->n, 36);
	for (int i = 1; i < 6; i++)
		for (int k = 1; k < 6; k++)
			worst = fmax(worst,
					fabs(tune_unwarp(&m->warp, mean_at(m, i / 6.0, k / 6.0)) - 10 -
							truth_at(i / 6.0, k / 6.0)));
	assert_true(worst < 0.1);
	for (size_t i = 0; i < 36; i++)
		best = mean_at(m, w.o.trials[i].point[0], w.o.trials[i].point[1]) <
						mean_at(m, w.o.trials[best].point[0], w.o.trials[best].point[1])
				? i
				: best;
	assert_int_equal(m->trials[m->best], best);
	end(&w);
}

static void pending_trials_are_expected(void **state)
{
	struct world w;
	struct tune_model *without, *with;

	begin(&w);
	add_grid(&w, 4, 1);
	add(&w, 0.33, 0.77, NAN, 0);
	add(&w, 0.125, 0.125, NAN, 0); /* measured already */
	without = fit_as(&w, (struct tune_model_options){ .is_warped = true });
	with = fit_as(&w, (struct tune_model_options){ .is_warped = true, .has_pending = true, .has_others = true });
	assert_int_equal(without->gp.data.n, 16);
	assert_int_equal(with->gp.data.n, 17);
	assert_int_equal(with->n, 16);
	assert_true(fabs(mean_at(with, 0.33, 0.77) - mean_at(without, 0.33, 0.77)) < 1e-3);
	{
		double mean, here, before;

		tune_model_predict(with, &with->gp, (double[]){ 0.33, 0.77 }, &mean, &here, NULL, NULL);
		tune_model_predict(without, &without->gp, (double[]){ 0.33, 0.77 }, &mean, &before, NULL, NULL);
		assert_true(here < before); /* it will be known there */
	}
	assert_int_equal(with->other_count, TUNE_ENSEMBLE); /* 4000 / 16^2 are more */
	end(&w);
}

/* Of more than 500 rows the best 250 are kept, and the newest of the others. */
static void many_rows_are_thinned(void **state)
{
	struct world w;
	struct tune_model *m;
	size_t worse = 0;

	begin(&w);
	for (int i = 0; i < 520; i++)
		add(&w, (i + 0.5) / 520, (i * 7 % 520 + 0.5) / 520, i % 2 ? 100 + i : 1 + i, 1); /* 260 are good */
	m = fit_as(&w, (struct tune_model_options){ .is_warped = false });
	assert_int_equal(m->n, 500);
	for (size_t i = 0; i < m->n; i++) {
		if (i)
			assert_true(m->trials[i] > m->trials[i - 1]);
		assert_ptr_equal(m->points[i], w.o.trials[m->trials[i]].point);
		assert_true(m->x[2 * i] == w.o.trials[m->trials[i]].point[0] &&
				m->x[2 * i + 1] == w.o.trials[m->trials[i]].point[1]);
		worse += m->trials[i] % 2;
	}
	assert_true(worse >= 240 && worse <= 250);
	end(&w);
}

/* Earlier studies. */

static void earlier_studies_have_weights(void **state)
{
	struct world old, other, w;
	struct tune_warm_start earlier[3] = { { .has_model = true }, { .has_model = true }, { .has_model = false } };
	struct tune_model *m;

	begin(&old);
	add_grid(&old, 5, 1);
	begin(&other);
	add_grid(&other, 5, -1);
	earlier[0].gp = fit_as(&old, (struct tune_model_options){ .is_warped = true })->gp;
	earlier[1].gp = fit_as(&other, (struct tune_model_options){ .is_warped = true })->gp;
	begin(&w);
	w.o.options.earlier = earlier;
	w.o.options.warm_start_count = 3;
	add_grid(&w, 3, 1);
	m = fit_as(&w, (struct tune_model_options){ .is_warped = true, .has_earlier = true });
	assert_int_equal(m->warm_start_count, 3);
	assert_true(m->weights[0] > 0.5 && m->weights[0] <= 1);
	assert_true(m->weights[1] == 0); /* it says the opposite */
	assert_true(m->weights[2] == 0);
	m = fit_as(&w, (struct tune_model_options){ .is_warped = true });
	assert_int_equal(m->warm_start_count, 0);
	/* Its prediction and gradient include the earlier one's. */
	m = fit_as(&w, (struct tune_model_options){ .is_warped = true, .has_earlier = true });
	for (double x = 0.2; x < 1; x += 0.3) {
		double gradient[2], variance_gradient[2], mean, variance, own;

		tune_model_predict(m, &m->gp, (double[]){ x, 0.4 }, &mean, &variance, gradient, variance_gradient);
		assert_true(fabs((mean_at(m, x + 1e-5, 0.4) - mean_at(m, x - 1e-5, 0.4)) / 2e-5 - gradient[0]) < 1e-3);
		assert_true(fabs((mean_at(m, x, 0.4 + 1e-5) - mean_at(m, x, 0.4 - 1e-5)) / 2e-5 - gradient[1]) < 1e-3);
		stats_gp_predict(&m->gp, (double[]){ x, 0.4 }, &own, &variance, NULL, NULL);
		stats_gp_predict(&earlier[0].gp, (double[]){ x, 0.4 }, &variance, &variance_gradient[0], NULL, NULL);
		assert_true(fabs(mean - own - m->weights[0] * variance) < 1e-9);
	}
	end(&old);
	end(&other);
	end(&w);
}

/* The acquisition. */

static void the_gradient_is_the_slope(void **state)
{
	struct world w;
	struct tune_acquisition *a = calloc(1, sizeof(*a));
	double labels[100], seconds[100];

	begin(&w);
	add_grid(&w, 4, 1);
	for (size_t i = 0; i < w.o.count; i++) {
		labels[i] = w.o.trials[i].point[0] > 0.6 ? 1 : -1;
		seconds[i] = 0.5 + w.o.trials[i].point[1];
	}
	a->space = &w.study.space;
	a->model = *fit_as(&w, (struct tune_model_options){ .is_warped = true, .has_others = true });
	a->members[a->member_count++] = &a->model.gp;
	for (size_t i = 0; i < 3; i++)
		a->members[a->member_count++] = &a->model.others[i];
	for (size_t i = 0; i < a->member_count; i++)
		a->targets[i] = a->model.best_mean + 0.1 * (double)i;
	for (int part = 0; part < 3; part++) {
		if (part == 1) {
			a->feasibility[0] = *fit_as(&w,
					(struct tune_model_options){ .cost = labels, .is_label = true });
			a->feasibility_count = 1;
		} else if (part == 2) {
			a->seconds = *fit_as(&w, (struct tune_model_options){ .cost = seconds });
			a->has_seconds = true;
		}
		for (double x = 0.15; x < 1; x += 0.2)
			for (double y = 0.1; y < 1; y += 0.2) {
				double at[] = { x, y }, gradient[2], value = tune_acquisition(a, at, gradient);

				assert_true(fabs(value - tune_acquisition(a, at, NULL)) < 1e-12);
				for (int k = 0; k < 2; k++) {
					double up[] = { x, y }, down[] = { x, y }, slope;

					up[k] += 1e-5;
					down[k] -= 1e-5;
					slope = (tune_acquisition(a, up, NULL) - tune_acquisition(a, down, NULL)) /
							2e-5;
					assert_true(fabs(slope - gradient[k]) <= 1e-3 * (1 + fabs(slope)));
				}
			}
	}
	/* What is less likely to be feasible, or takes longer, is worth less. */
	assert_true(tune_acquisition(a, (double[]){ 0.9, 0.5 }, NULL) <
			tune_acquisition(a, (double[]){ 0.3, 0.5 }, NULL));
	free(a);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_configurations_are_one_row),
		cmocka_unit_test(it_predicts_between_trials),
		cmocka_unit_test(pending_trials_are_expected),
		cmocka_unit_test(many_rows_are_thinned),
		cmocka_unit_test(earlier_studies_have_weights),
		cmocka_unit_test(the_gradient_is_the_slope),
	};

	return RUN_TESTS(tests);
}
