/* coach: a made-up job, whose time an iteration under each configuration is known, trains in no time at all. */
#include "../../support.h"

#include "stats/rng.h"
#include "stats/summary.h"
#include "tune/online-controller.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPACE \
	"params: [{name: w, type: int, low: 1, high: 16, log: true, default: 1, class: live}," \
	" {name: t, type: int, low: 1, high: 8, default: 1, class: live}," \
	" {name: r, type: int, low: 1, high: 2, default: 1}]\ntarget_loss: 0.4\nwindow: 20\n"

struct world {
	struct arena arena;
	struct train_plan plan;
	struct online_controller controller;
	struct stats_rng rng;
	double now_s, move_s, restart_s;
	double length; /* of the job: 1 is some 1200 iterations */
	size_t moves, restarts, iterations;
	bool has_cliff; /* with more than two threads everything is ten times slower */
};

/* Seconds an iteration: best at w = 4, t = 2. */
static double pace_of(const struct world *w, const double *point)
{
	return (w->has_cliff && point[1] > 2 ? 0.5 : 0.05) * (1 + fabs(log2(point[0] / 4)) + 0.5 * fabs(point[1] - 2)) *
			(point[2] == 2 ? 0.98 : 1);
}

static void set_up(struct world *w, const char *more, uint64_t seed)
{
	char text[2000];

	memset(w, 0, sizeof(*w));
	arena_init(&w->arena);
	snprintf(text, sizeof(text), "%s%s", SPACE, more);
	assert_int_equal(train_plan_parse(&w->plan, "job.yml", text, strlen(text), &w->arena, NULL), 0);
	w->plan.seed = (int64_t)seed;
	stats_rng_init(&w->rng, seed, 0);
	w->length = 1;
	w->move_s = 0.2;
	w->restart_s = 5;
	assert_int_equal(online_controller_init(&w->controller, &w->plan, NULL), 0);
	assert_int_equal(online_controller_start(&w->controller, 0, NULL), 0);
}

static void tear_down(struct world *w)
{
	online_controller_release(&w->controller);
	arena_release(&w->arena);
}

static double loss_at(struct world *w)
{
	return (2.3 / (1 + 0.004 * (double)w->iterations / w->length) + 0.01) * exp(0.1 * stats_rng_normal(&w->rng));
}

static enum train_act decide(struct world *w)
{
	struct train_decision d;

	assert_int_equal(online_controller_decide(&w->controller, w->now_s, &d, NULL), 0);
	if (d.act == TRAIN_MOVE) {
		bool is_restart = online_controller_is_restart(&w->controller, d.point);

		assert_int_equal(online_controller_moved(&w->controller, &d, w->now_s, NULL), 0);
		w->now_s += is_restart ? w->restart_s : w->move_s;
		w->moves++;
		w->restarts += is_restart;
	}
	return d.act;
}

/* One iteration, and what the coach makes of it; while it lasts the coach is asked now and then. */
static enum train_act turn(struct world *w)
{
	const struct online_stage *s = online_controller_now(&w->controller);
	double end_s = w->now_s + pace_of(w, s->point) * (0.8 + 0.4 * stats_rng_uniform(&w->rng));
	enum train_act act = TRAIN_WAIT;

	while (w->now_s + 0.1 < end_s && act == TRAIN_WAIT) {
		w->now_s += 0.1;
		act = decide(w);
	}
	if (act != TRAIN_WAIT)
		return act;
	w->now_s = end_s;
	w->iterations++;
	assert_int_equal(online_controller_report(&w->controller, s->index, (unsigned)(w->iterations % 3), loss_at(w),
					 w->now_s, NULL),
			0);
	return decide(w);
}

static double train_to_the_end(struct world *w)
{
	for (size_t i = 0; i < 100000; i++)
		if (turn(w) == TRAIN_FINISH)
			return w->now_s;
	fail_msg("it never ended");
	return NAN;
}

/* The median over all fixed configurations that are as likely. */
static double fixed_median(const struct world *w)
{
	double times[16 * 8], point[3] = { 0, 0, 1 };
	size_t n = 0;

	for (int i = 0; i <= 8; i++)
		for (point[1] = 1; point[1] <= 8; point[1]++) {
			point[0] = round(exp2(i / 2.0));
			times[n++] = pace_of(w, point) * (double)w->iterations;
		}
	return stats_median(times, n);
}

static void it_beats_most_fixed_configurations(void **state)
{
	double ratios[10];

	for (uint64_t seed = 0; seed < 10; seed++) {
		struct world w;
		double seconds;

		set_up(&w, "", seed + 1);
		seconds = train_to_the_end(&w);
		ratios[seed] = fixed_median(&w) / seconds;
		tear_down(&w);
	}
	if (!(stats_median(ratios, 10) > 1.4))
		fail_msg("%g times sooner", stats_median(ratios, 10));
}

/* Iterations, and seconds, under configurations that are so many times slower than the best. */
static size_t spent_at(const struct world *w, double times, double *seconds)
{
	const struct online_controller *c = &w->controller;
	size_t sum = 0;

	*seconds = 0;
	for (size_t i = 0; i < c->stage_count; i++) {
		const struct online_stage *s = c->stages[i];

		if (pace_of(w, s->point) < times * 0.05)
			continue;
		sum += s->count;
		*seconds += (i + 1 < c->stage_count ? c->stages[i + 1]->asked_s : w->now_s) - s->asked_s;
	}
	return sum;
}

static void what_is_far_worse_is_left_at_once(void **state)
{
	double shares[20], last[20];
	size_t bad = 0, all = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct world w;
		double seconds;

		set_up(&w, "", seed + 1);
		w.has_cliff = true;
		w.length = 5;
		train_to_the_end(&w);
		bad += spent_at(&w, 5, &seconds);
		all += w.iterations;
		shares[seed] = seconds / w.now_s;
		last[seed] = pace_of(&w, online_controller_now(&w.controller)->point) / 0.05;
		tear_down(&w);
	}
	if (bad > all / 200 || stats_median(shares, 20) > 0.15)
		fail_msg("%zu of %zu iterations, %g of the time", bad, all, stats_median(shares, 20));
	if (stats_median(last, 20) > 1.5)
		fail_msg("at the end it is %g times slower than the best", stats_median(last, 20));
}

static void a_dear_move_is_not_made_late(void **state)
{
	struct world w;
	size_t before;

	set_up(&w, "", 5);
	while (w.controller.phase == TRAIN_EXPLORING)
		turn(&w);
	before = w.moves;
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 50; k++)
			stats_moments_add(&w.controller.cost[i], 1e6); /* from now on everything is known to be dear */
	train_to_the_end(&w);
	assert_int_equal(w.moves, before);
	assert_true(w.controller.looks > before);
	tear_down(&w);
}

static void a_fixed_job_stays(void **state)
{
	struct world w;

	set_up(&w, "mode: fixed\n", 1);
	train_to_the_end(&w);
	assert_int_equal(w.controller.stage_count, 1);
	assert_int_equal(w.moves, 0);
	tear_down(&w);
}

static void somebody_sets_a_parameter(void **state)
{
	struct world w;
	double value;
	size_t since;

	set_up(&w, "", 2);
	for (int i = 0; i < 30; i++)
		turn(&w);
	value = online_controller_now(&w.controller)->point[0] == 3 ? 7 : 3;
	assert_int_equal(online_controller_pin(&w.controller, "nothing", "3", NULL), -ENOENT);
	assert_int_equal(online_controller_pin(&w.controller, "w", "x", NULL), -EINVAL);
	assert_int_equal(online_controller_pin(&w.controller, "w", value == 3 ? "3" : "7", NULL), 0);
	since = w.controller.stage_count;
	turn(&w);
	assert_int_equal(w.controller.stage_count, since + 1);
	assert_int_equal(online_controller_now(&w.controller)->reason, TRAIN_HAND);
	train_to_the_end(&w);
	for (size_t i = since; i < w.controller.stage_count; i++)
		assert_true(w.controller.stages[i]->point[0] == value);
	for (size_t i = since + 1; i < w.controller.stage_count; i++)
		assert_false(tune_point_equal(w.controller.optimizer.space, w.controller.stages[i]->point,
				w.controller.stages[i - 1]->point));
	tear_down(&w);
}

static void somebody_sets_all_of_them(void **state)
{
	struct world w;
	size_t since;

	set_up(&w, "", 2);
	for (int i = 0; i < 300; i++)
		turn(&w);
	assert_int_equal(online_controller_pin(&w.controller, "w", "16", NULL), 0);
	assert_int_equal(online_controller_pin(&w.controller, "t", "8", NULL), 0);
	assert_int_equal(online_controller_pin(&w.controller, "r", "1", NULL), 0);
	since = w.controller.stage_count;
	train_to_the_end(&w);
	assert_int_equal(w.controller.stage_count, since + 1); /* there is nowhere to go */
	tear_down(&w);
}

static void losses_that_are_no_numbers_are_left(void **state)
{
	struct train_decision d;
	struct world w;
	size_t tried;

	set_up(&w, "", 3);
	w.restart_s = w.move_s = 0; /* else it might be back at the best by then */
	while (w.controller.stage_count < 4 || online_controller_now(&w.controller)->reason == TRAIN_BEST)
		turn(&w);
	tried = w.controller.stage_count - 1;
	assert_int_equal(online_controller_report(&w.controller, (unsigned)tried, 0, NAN, w.now_s, NULL), 0);
	assert_int_equal(online_controller_decide(&w.controller, w.now_s, &d, NULL), 0);
	assert_int_equal(d.act, TRAIN_MOVE);
	assert_true(w.controller.stages[tried]->is_failed && w.controller.stages[tried]->is_told);
	tear_down(&w);
}

static void a_job_that_is_silent_is_cut(void **state)
{
	struct train_decision d;
	struct world w;

	set_up(&w, "", 4);
	while (w.controller.stage_count < 3)
		turn(&w);
	turn(&w); /* the first report under it; then nothing */
	assert_int_equal(online_controller_decide(&w.controller, w.now_s + 100, &d, NULL), 0);
	assert_int_equal(d.act, TRAIN_MOVE);
	assert_true(w.controller.stages[2]->value > 10);
	tear_down(&w);
}

static void what_was_learnt_is_recalled(void **state)
{
	double slow[TUNE_PARAMS_MAX] = { 1, 1, 1 }, fast[TUNE_PARAMS_MAX] = { 4, 2, 1 };
	struct world w;

	set_up(&w, "", 6);
	online_controller_release(&w.controller);
	assert_int_equal(online_controller_init(&w.controller, &w.plan, NULL), 0);
	assert_int_equal(online_controller_recall(&w.controller, slow, NULL), 0);
	assert_int_equal(online_controller_recall(&w.controller, fast, NULL), 0);
	assert_int_equal(online_controller_recall(&w.controller, slow, NULL), 0);
	assert_int_equal(online_controller_recall_value(&w.controller, 0, false, 0.2, NULL), 0);
	assert_int_equal(online_controller_recall_value(&w.controller, 1, false, 0.05, NULL), 0);
	assert_int_equal(online_controller_start(&w.controller, 0, NULL), 0);
	assert_true(online_controller_now(&w.controller)->point[0] == 4 &&
			online_controller_now(&w.controller)->point[1] == 2);
	assert_int_equal(w.controller.stage_count, 4);
	train_to_the_end(&w);
	tear_down(&w);
}

static void the_remaining_time_is_about_right(void **state)
{
	struct stats_interval remaining;
	size_t held = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct world w;
		double then;

		set_up(&w, "mode: fixed\n", seed);
		for (int i = 0; i < 500; i++)
			turn(&w);
		stats_curve_fit(&w.controller.fit, w.controller.losses, w.controller.loss_count, 0.4, NULL);
		remaining = online_controller_remaining(&w.controller);
		then = w.now_s;
		held += stats_interval_holds(&remaining, train_to_the_end(&w) - then);
		tear_down(&w);
	}
	assert_true(held >= 7);
}

/* The worth of a stage of `count` reports of so many workers, each 10 ms after the other. */
static double worth_of(struct world *w, unsigned workers, unsigned count)
{
	const struct online_stage *s = online_controller_now(&w->controller);

	for (unsigned i = 0; i < count; i++) {
		w->now_s += 0.01;
		assert_int_equal(online_controller_report(&w->controller, s->index, i % workers, 2, w->now_s, NULL), 0);
	}
	return progress_cost_measured(&w->controller, s).mean;
}

static void of_the_same_pace_fewer_workers_are_better(void **state)
{
	struct world one, eight;

	set_up(&one, "", 1);
	set_up(&eight, "", 1);
	double alone = worth_of(&one, 1, 90), crowd = worth_of(&eight, 8, 90);
	assert_true(fabs(alone - 0.01) < 1e-9);
	assert_true(crowd > 1.2 * alone && crowd < 1.4 * alone);
	assert_true(progress_cost_usual(&one.controller) == 1 && progress_cost_usual(&eight.controller) < 0.85);
	tear_down(&one);
	tear_down(&eight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_beats_most_fixed_configurations),
		cmocka_unit_test(what_is_far_worse_is_left_at_once),
		cmocka_unit_test(a_dear_move_is_not_made_late),
		cmocka_unit_test(a_fixed_job_stays),
		cmocka_unit_test(somebody_sets_a_parameter),
		cmocka_unit_test(somebody_sets_all_of_them),
		cmocka_unit_test(losses_that_are_no_numbers_are_left),
		cmocka_unit_test(a_job_that_is_silent_is_cut),
		cmocka_unit_test(what_was_learnt_is_recalled),
		cmocka_unit_test(the_remaining_time_is_about_right),
		cmocka_unit_test(of_the_same_pace_fewer_workers_are_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
