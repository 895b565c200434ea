/*
 * optimizer: every method keeps the space's rules; the usual one repeats by seed, spreads, learns, and
 * survives trouble.
 */
#include "../support.h"

#include "studies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CONSTRAINED MIXED "constraints: ['sync >= NORMAL', 'n * x <= 40']\n"

static double cost_of(const double *p)
{
	return (p[0] - 0.3) * (p[0] - 0.3) + fabs(log(p[1] / 9)) + (p[2] == 1 ? 0.02 * fabs(p[3] - 5) : 0.7) +
			0.2 * p[4] + 0.1 * (p[5] == 0);
}

static void tell(struct tune_optimizer *o, uint64_t id, double value)
{
	struct tune_result result = { .state = TUNE_DONE, .values = { value } };

	assert_int_equal(tune_tell(o, id, &result, NULL), 0);
}

static double run(struct tune_optimizer *o, size_t trials)
{
	double best = INFINITY;

	for (size_t t = 0; t < trials; t++) {
		const struct tune_trial *trial;
		double cost;

		assert_int_equal(tune_ask(o, &trial, NULL), 0);
		cost = cost_of(trial->point);
		best = fmin(best, cost);
		tell(o, trial->id, cost);
	}
	return best;
}

static void check_points(const struct tune_optimizer *o, bool may_repeat)
{
	for (size_t t = 0; t < o->count; t++) {
		double point[TUNE_PARAMS_MAX];

		memcpy(point, o->trials[t].point, o->space->count * sizeof(*point));
		tune_point_canonical(o->space, point);
		assert_true(tune_point_equal(o->space, point, o->trials[t].point));
		assert_true(tune_point_is_allowed(o->space, point));
		assert_true(may_repeat || !o->trials[t].is_again);
	}
}

static void every_method_keeps_the_rules(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;

	assert_int_equal(parse(&study, CONSTRAINED, &arena, NULL), 0);
	for (size_t m = 0; tune_methods[m]; m++) {
		struct tune_optimizer o;

		study.method = tune_methods[m];
		assert_int_equal(make(&o, &study, 5), 0);
		assert_true(run(&o, 25) < 3);
		check_points(&o, strcmp(tune_methods[m]->name, "selftf") == 0);
		tune_optimizer_release(&o);
	}
	arena_release(&arena);
}

static void the_default_comes_first(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	double point[TUNE_PARAMS_MAX];

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 1), 0);
	run(&o, 1);
	tune_point_default(&study.space, point);
	assert_true(tune_point_equal(&study.space, o.trials[0].point, point));
	tune_optimizer_release(&o);
	arena_release(&arena);
}

/* Better than random configurations, by the median of several seeds. */
static void it_learns(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	double best[2][7];

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	for (int m = 0; m < 2; m++)
		for (int seed = 0; seed < 7; seed++) {
			struct tune_optimizer o;

			study.method = tune_method_find(m ? "random" : "gp");
			assert_int_equal(make(&o, &study, (uint64_t)seed), 0);
			best[m][seed] = run(&o, 30);
			tune_optimizer_release(&o);
		}
	for (int m = 0; m < 2; m++)
		for (int i = 1; i < 7; i++)
			for (int k = i; k > 0 && best[m][k] < best[m][k - 1]; k--) {
				double other = best[m][k];

				best[m][k] = best[m][k - 1];
				best[m][k - 1] = other;
			}
	assert_true(best[0][3] < 0.5 * best[1][3]);
	arena_release(&arena);
}

/* The same answers give the same proposals, and so does an optimizer that was told of the past in one go. */
static void a_seed_repeats_and_nothing_is_remembered(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer a, b, c;
	const struct tune_trial *next_a, *next_c;

	assert_int_equal(parse(&study, CONSTRAINED, &arena, NULL), 0);
	assert_int_equal(make(&a, &study, 9), 0);
	assert_int_equal(make(&b, &study, 9), 0);
	assert_int_equal(make(&c, &study, 9), 0);
	run(&a, 18);
	run(&b, 18);
	for (size_t t = 0; t < a.count; t++) {
		assert_true(tune_point_equal(&study.space, a.trials[t].point, b.trials[t].point));
		assert_int_equal(tune_add(&c, a.trials[t].id, a.trials[t].point, NULL, NULL), 0);
		assert_int_equal(tune_tell(&c, a.trials[t].id, &a.trials[t].result, NULL), 0);
	}
	assert_int_equal(tune_ask(&a, &next_a, NULL), 0);
	assert_int_equal(tune_ask(&c, &next_c, NULL), 0);
	assert_true(next_a->id == next_c->id && tune_point_equal(&study.space, next_a->point, next_c->point));
	tune_optimizer_release(&a);
	tune_optimizer_release(&b);
	tune_optimizer_release(&c);
	arena_release(&arena);
}

/* Sixteen at once, told in another order. */
static void pending_trials_spread(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 4), 0);
	run(&o, 10);
	for (int round = 0; round < 2; round++) {
		uint64_t ids[16];

		for (int i = 0; i < 16; i++) {
			const struct tune_trial *trial;

			assert_int_equal(tune_ask(&o, &trial, NULL), 0);
			ids[i] = trial->id;
		}
		for (int i = 15; i >= 0; i--)
			tell(&o, ids[i], cost_of(tune_find(&o, ids[i])->point));
	}
	check_points(&o, false);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

static void failures_are_avoided(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_result failed = { .state = TUNE_FAILED };
	double best = INFINITY;
	size_t late = 0;

	assert_int_equal(parse(&study,
					 "params: [{name: x, type: float, low: 0, high: 1, default: 0.9}, {name: y, "
					 "type: float, "
					 "low: 0, high: 1}]\n"
					 "objective: {name: value}\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 2), 0);
	for (int t = 0; t < 40; t++) { /* the best value lies beside a region that never works */
		const struct tune_trial *trial;

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		if (trial->point[0] < 0.4) {
			late += t >= 20 && trial->point[0] < 0.3; /* near the edge it may look where that is */
			assert_int_equal(tune_tell(&o, trial->id, &failed, NULL), 0);
		} else {
			best = fmin(best, trial->point[0] + trial->point[1]);
			tell(&o, trial->id, trial->point[0] + trial->point[1]);
		}
	}
	assert_true(late <= 2 && best < 0.45);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

static void all_failing_and_nan_go_on(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_best best;

	assert_int_equal(parse(&study, CONSTRAINED, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 3), 0);
	for (int t = 0; t < 25; t++) {
		const struct tune_trial *trial;
		struct tune_result result = { .state = t % 2 ? TUNE_FAILED : TUNE_DONE,
			.values = { t % 3 ? NAN : INFINITY } };

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		assert_int_equal(tune_tell(&o, trial->id, &result, NULL), 0);
		assert_int_equal(tune_find(&o, trial->id)->result.state, TUNE_FAILED);
	}
	check_points(&o, false);
	assert_int_equal(tune_recommend(&o, &best, &arena, NULL), 0);
	assert_null(best.trial);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

/* Values that are all the same, huge, tiny or negative. */
static void odd_values_go_on(void **state)
{
	static const double scales[] = { 0, 1e300, 1e-300, -5, 1e15 };
	struct arena arena = ARENA_INIT;
	struct tune_study study;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
		struct tune_optimizer o;
		struct tune_best best;

		assert_int_equal(make(&o, &study, 3), 0);
		for (int t = 0; t < 20; t++) {
			const struct tune_trial *trial;

			assert_int_equal(tune_ask(&o, &trial, NULL), 0);
			tell(&o, trial->id, scales[s] * cost_of(trial->point));
		}
		check_points(&o, false);
		assert_int_equal(tune_recommend(&o, &best, &arena, NULL), 0);
		assert_non_null(best.trial);
		tune_optimizer_release(&o);
	}
	arena_release(&arena);
}

static void impossible_constraints_are_named(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct sonde_err err = SONDE_ERR_INIT;
	const struct tune_trial *trial;

	assert_int_equal(parse(&study, MIXED "constraints: ['n > 64']\n", &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 3), 0);
	assert_int_equal(tune_ask(&o, &trial, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no configuration was found that satisfies the constraints"));
	assert_non_null(strstr(err.hint, "n > 64"));
	assert_int_equal(o.count, 0);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

/* Where one configuration in ten million is allowed, and the default is one. */
static void narrow_constraints_are_walked_along(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;

	assert_int_equal(parse(&study,
					 "params: [{name: a, type: float, low: 0, high: 1, default: 0.005}, "
					 "{name: b, type: float, low: 0, high: 1, default: 0.001}, "
					 "{name: c, type: float, low: 0, high: 1, default: 0.9995}, "
					 "{name: m, type: categorical, choices: [u, v]}]\n"
					 "constraints: ['a + b <= 0.01', 'c >= 0.999']\nobjective: {name: value}\n",
					 &arena, NULL),
			0);
	for (size_t m = 0; tune_methods[m]; m++) {
		struct tune_optimizer o;
		double least = INFINITY;

		study.method = tune_methods[m];
		assert_int_equal(make(&o, &study, 3), 0);
		for (int t = 0; t < 20; t++) {
			const struct tune_trial *trial;
			double cost;

			assert_int_equal(tune_ask(&o, &trial, NULL), 0);
			cost = fabs(trial->point[0] - 0.002) + (trial->point[3] == 0);
			least = fmin(least, cost);
			tell(&o, trial->id, cost);
		}
		check_points(&o, true);
		assert_true(least < 0.003);
		tune_optimizer_release(&o);
	}
	arena_release(&arena);
}

/* When all is tried, the best are measured again instead of failing. */
static void small_spaces_are_tried_whole(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;

	assert_int_equal(parse(&study,
					 "params: [{name: a, type: int, low: 1, high: 4}, {name: b, type: bool}]\n"
					 "constraints: ['a != 2 or b']\nobjective: {name: value}\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 3), 0);
	for (int t = 0; t < 12; t++) {
		const struct tune_trial *trial;

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		assert_int_equal(trial->is_again, t >= 7);
		tell(&o, trial->id, trial->point[0]);
	}
	check_points(&o, true);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

static void goals_and_limits_are_kept(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_best best;

	assert_int_equal(parse(&study,
					 "params: [{name: x, type: float, low: 0, high: 1, default: 0.1}]\n"
					 "objective: {name: value, goal: maximize}\nlimits: [{name: memory, max: "
					 "0.6}]\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 3), 0);
	for (int t = 0; t < 25; t++) { /* more is better, but takes more */
		const struct tune_trial *trial;
		struct tune_result result = { .state = TUNE_DONE };

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		result.values[0] = trial->point[0];
		result.limits[0] = trial->point[0];
		assert_int_equal(tune_tell(&o, trial->id, &result, NULL), 0);
	}
	assert_int_equal(tune_recommend(&o, &best, &arena, NULL), 0);
	assert_true(best.trial->point[0] <= 0.6 && best.trial->point[0] > 0.5);
	assert_true(best.lo <= best.value && best.value <= best.hi);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

/* Seconds, megabytes or bytes: the unit of a limit changes nothing. */
static void limits_of_any_size_are_learnt(void **state)
{
	static const double units[] = { 1e-6, 1e-3, 1, 1e9 };
	struct arena arena = ARENA_INIT;

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		struct tune_study study;
		struct tune_optimizer o;
		struct tune_best best;
		char text[400];
		int beyond = 0;

		snprintf(text, sizeof(text),
				"params: [{name: a, type: float, low: 0, high: 1, default: 0.2}, "
				"{name: b, type: float, low: 0, high: 1, default: 0.2}]\n"
				"objective: {name: value}\nlimits: [{name: memory, max: %g}]\n",
				0.9 * units[u]);
		assert_int_equal(parse(&study, text, &arena, NULL), 0);
		assert_int_equal(make(&o, &study, 3), 0);
		for (int t = 0; t < 30; t++) {
			const struct tune_trial *trial;
			struct tune_result result = { .state = TUNE_DONE };

			assert_int_equal(tune_ask(&o, &trial, NULL), 0);
			result.values[0] = pow(1 - trial->point[0], 2) + pow(1 - trial->point[1], 2);
			result.limits[0] = units[u] * (pow(trial->point[0], 2) + trial->point[1]);
			beyond += t >= 10 && result.limits[0] > study.limits[0].limit.max;
			assert_int_equal(tune_tell(&o, trial->id, &result, NULL), 0);
		}
		assert_true(beyond <= 12);
		assert_int_equal(tune_recommend(&o, &best, &arena, NULL), 0);
		assert_true(best.trial->result.values[0] < 0.37); /* 0.3645 is possible */
		tune_optimizer_release(&o);
	}
	arena_release(&arena);
}

/* The largest number where a configuration is no good: the others are told apart as if it had failed. */
static void numbers_that_stand_for_bad_are_none(void **state)
{
	static const double words[] = { 1e30, 1e100, 1.7e308 };
	struct arena arena = ARENA_INIT;
	struct tune_study study;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	for (size_t s = 0; s < sizeof(words) / sizeof(words[0]); s++) {
		struct tune_optimizer o;
		struct tune_best best;

		assert_int_equal(make(&o, &study, 3), 0);
		for (int t = 0; t < 30; t++) {
			const struct tune_trial *trial;

			assert_int_equal(tune_ask(&o, &trial, NULL), 0);
			tell(&o, trial->id, trial->point[0] > 0.6 ? words[s] : cost_of(trial->point));
		}
		assert_int_equal(tune_recommend(&o, &best, &arena, NULL), 0);
		assert_true(cost_of(best.trial->point) < 0.3);
		assert_true(best.lo <= best.value && best.value <= best.hi && best.value < 1);
		tune_optimizer_release(&o);
	}
	arena_release(&arena);
}

static void several_objectives_make_a_front(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	size_t front = 0;

	assert_int_equal(parse(&study,
					 "params: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, "
					 "low: 0, high: 1}]\n"
					 "objectives: [{name: a}, {name: b}]\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 3), 0);
	for (int t = 0; t < 30; t++) {
		const struct tune_trial *trial;
		struct tune_result result = { .state = TUNE_DONE };

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		result.values[0] = trial->point[0] * trial->point[0] + trial->point[1];
		result.values[1] = (trial->point[0] - 1) * (trial->point[0] - 1) + trial->point[1];
		assert_int_equal(tune_tell(&o, trial->id, &result, NULL), 0);
	}
	for (size_t t = 0; t < o.count; t++) {
		bool is_on = true;

		for (size_t k = 0; k < o.count; k++)
			is_on &= !tune_dominates(&o, &o.trials[k], &o.trials[t]);
		front += is_on;
	}
	assert_true(front >= 8);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

/* The recommendation is not the luckiest of many noisy measurements. */
static void luck_is_not_believed(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_best best;

	assert_int_equal(parse(&study, "params: [{name: x, type: float, low: 0, high: 1}]\nobjective: {name: value}\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 3), 0);
	for (int t = 0; t < 40; t++) { /* a clear valley at 0.5, and one lie at its edge */
		double x = t / 39.0;

		assert_int_equal(tune_add(&o, 0, &x, NULL, NULL), 0);
		tell(&o, (uint64_t)t + 1, t == 38 ? -0.5 : 20 * (x - 0.5) * (x - 0.5) + (t % 2 ? 0.3 : -0.3));
	}
	assert_int_equal(tune_recommend(&o, &best, &arena, NULL), 0);
	assert_true(fabs(best.trial->point[0] - 0.5) < 0.15);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

/* Two valleys as deep as each other, one of them twenty times as dear: what 16 trials take, and the least they find. */
static double seconds_of(const char *more, double *least)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	char text[200];
	double sum = 0;

	snprintf(text, sizeof(text), "params: [{name: x, type: float, low: 0, high: 1}]\nobjective: {name: value}\n%s",
			more);
	assert_int_equal(parse(&study, text, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 3), 0);
	*least = INFINITY;
	for (int t = 0; t < 16; t++) {
		struct tune_result result = { .state = TUNE_DONE };
		const struct tune_trial *trial;
		double x;

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		x = trial->point[0];
		result.values[0] = 1 - exp(-50 * pow(x - 0.23, 2)) - exp(-50 * pow(x - 0.77, 2));
		result.wall_s = x > 0.5 ? 20 : 1;
		*least = fmin(*least, result.values[0]);
		sum += result.wall_s;
		assert_int_equal(tune_tell(&o, trial->id, &result, NULL), 0);
	}
	tune_optimizer_release(&o);
	arena_release(&arena);
	return sum;
}

static void hope_may_count_by_the_second(void **state)
{
	double least, thrifty_least, all = seconds_of("", &least),
				     thrifty = seconds_of("per_second: yes\n", &thrifty_least);

	assert_true(thrifty < 0.6 * all);
	assert_true(thrifty_least < 0.001);
}

/* How many of 40 trials measure a configuration again, where each value is disturbed by as much, and by waves. */
static size_t measured_again(double noise, double waves)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct stats_rng rng;
	size_t again = 0;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 5), 0);
	stats_rng_init(&rng, 1, 1);
	for (int t = 0; t < 40; t++) {
		const struct tune_trial *trial;

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		again += trial->is_again;
		tell(&o, trial->id,
				1 + pow(trial->point[0] - 0.3, 2) + waves * sin(200 * trial->point[0]) +
						noise * stats_rng_normal(&rng));
	}
	tune_optimizer_release(&o);
	arena_release(&arena);
	return again;
}

static void noise_is_met_by_measuring_again(void **state)
{
	assert_int_equal(measured_again(0, 0), 0);
	assert_true(measured_again(0.3, 0) > 0);
	assert_true(measured_again(0.3, 0) <= 40 / 4);
	assert_int_equal(measured_again(0, 0.3), 1); /* looks like noise until it comes out the same */
}

/* Another study of the same: a bowl at 0.8, or its reverse. */
static void learn(struct tune_warm_start *e, const struct tune_space *space, double sign, struct arena *arena)
{
	char path[] = "/tmp/earlier-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (int i = 1; i <= 20; i++) {
		double x = i / 20.0 - 0.025;

		dprintf(fd, "{\"ask\":%d,\"params\":{\"x\":%g,\"gone\":1}}\n{\"tell\":%d,\"values\":[%g]}\n", i, x, i,
				sign * 9 * pow(x - 0.8, 2));
	}
	assert_int_equal(tune_warm_start_read(e, path, space, false, arena, NULL), 0);
	close(fd);
	unlink(path);
}

static double best_of_four(double sign)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_options how;
	struct tune_optimizer o;
	struct tune_warm_start earlier;
	double best = INFINITY;

	assert_int_equal(parse(&study,
					 "params: [{name: x, type: float, low: 0, high: 1, default: 0.1}]\n"
					 "objective: {name: value}\n",
					 &arena, NULL),
			0);
	learn(&earlier, &study.space, sign, &arena);
	tune_study_options(&study, &how);
	how.earlier = &earlier;
	how.warm_start_count = 1;
	assert_int_equal(tune_optimizer_init(&o, &study.space, &how, NULL), 0);
	for (int t = 0; t < (sign > 0 ? 4 : 20); t++) {
		const struct tune_trial *trial;
		double value;

		assert_int_equal(tune_ask(&o, &trial, NULL), 0);
		value = 5 + pow(trial->point[0] - 0.75, 2);
		best = fmin(best, value - 5);
		tell(&o, trial->id, value);
	}
	tune_optimizer_release(&o);
	arena_release(&arena);
	return best;
}

static void earlier_studies_lead_and_do_not_mislead(void **state)
{
	assert_true(best_of_four(1) < 0.01);
	assert_true(best_of_four(-1) < 0.01);
}

static void what_failed_can_be_run_again(void **state)
{
	struct tune_result failed = { .state = TUNE_FAILED };
	struct arena arena = ARENA_INIT;
	const struct tune_trial *trial;
	struct tune_study study;
	struct tune_optimizer o;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 3), 0);
	assert_int_equal(tune_ask(&o, &trial, NULL), 0);
	assert_int_equal(tune_retry(&o, 1, NULL), -ENOENT);
	assert_int_equal(tune_tell(&o, 1, &failed, NULL), 0);
	assert_int_equal(tune_retry(&o, 1, NULL), 0);
	tell(&o, 1, 2);
	assert_int_equal(tune_retry(&o, 1, NULL), -ENOENT);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

static void telling_is_checked(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_result result = { .state = TUNE_DONE };

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	assert_int_equal(make(&o, &study, 3), 0);
	run(&o, 2);
	assert_int_equal(tune_tell(&o, 7, &result, NULL), -ENOENT);
	assert_int_equal(tune_tell(&o, 1, &result, NULL), -EEXIST);
	assert_int_equal(tune_add(&o, 2, o.trials[0].point, NULL, NULL), -EEXIST);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_keeps_the_rules),
		cmocka_unit_test(the_default_comes_first),
		cmocka_unit_test(it_learns),
		cmocka_unit_test(a_seed_repeats_and_nothing_is_remembered),
		cmocka_unit_test(pending_trials_spread),
		cmocka_unit_test(failures_are_avoided),
		cmocka_unit_test(all_failing_and_nan_go_on),
		cmocka_unit_test(odd_values_go_on),
		cmocka_unit_test(impossible_constraints_are_named),
		cmocka_unit_test(narrow_constraints_are_walked_along),
		cmocka_unit_test(small_spaces_are_tried_whole),
		cmocka_unit_test(goals_and_limits_are_kept),
		cmocka_unit_test(limits_of_any_size_are_learnt),
		cmocka_unit_test(numbers_that_stand_for_bad_are_none),
		cmocka_unit_test(several_objectives_make_a_front),
		cmocka_unit_test(luck_is_not_believed),
		cmocka_unit_test(hope_may_count_by_the_second),
		cmocka_unit_test(noise_is_met_by_measuring_again),
		cmocka_unit_test(earlier_studies_lead_and_do_not_mislead),
		cmocka_unit_test(what_failed_can_be_run_again),
		cmocka_unit_test(telling_is_checked),
	};

	return RUN_TESTS(tests);
}
