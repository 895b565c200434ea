/* compare: designs, budgets, looks and verdicts, on programs whose truth is known and a clock that is ours. */
#include "../support.h"

#include "base/cleanup.h"
#include "duet/compare.h"
#include "duet/duet-report.h"
#include "fake.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static struct duet_setup usual(void)
{
	return (struct duet_setup){ .design = DUET_RMIT,
		.pairing = { .metric = DUET_WALL },
		.margin = 1.01,
		.level = 0.95,
		.budget_ns = 10 * SECOND,
		.seed = 5 };
}

static struct duet_result compare(const struct duet_setup *setup, struct fake *f)
{
	struct duet_runner runner = fake_runner(f);
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_result r;

	assert_int_equal(duet_compare(setup, &runner, &r, &err), 0);
	return r;
}

static void verdicts(void **state)
{
	static const struct {
		double factor;
		enum stats_verdict verdict;
	} cases[] = { { 1.05, STATS_SLOWER }, { 0.95, STATS_FASTER }, { 1, STATS_EQUIVALENT } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct duet_setup setup = usual();
		struct fake f;
		struct duet_result r;

		fake_init(&f, cases[i].factor, 0.01);
		r = compare(&setup, &f);
		assert_int_equal(r.verdict, cases[i].verdict);
		assert_int_equal(r.stop, DUET_DECIDED);
		assert_true(fabs(r.effect.ratio.estimate - cases[i].factor) < 0.02);
		assert_true(stats_interval_holds(&r.effect.ratio, cases[i].factor));
		duet_result_release(&r);
	}
}

static void a_clear_answer_comes_early(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 1.3, 0.01);
	r = compare(&setup, &f);
	assert_int_equal(r.verdict, STATS_SLOWER);
	assert_true(r.run_count <= 8);
	assert_true(r.seconds < 3);
	duet_result_release(&r);
}

/*
 * B leaves the caches cold: what comes after it takes 4.13 times as long (3.7 ms become 15.3 ms). B itself is a little
 * quicker, so that the balanced order calls it faster; alone it is 3.7 times slower.
 */
static void carry_over_has_no_verdict(void **state)
{
	size_t few = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct duet_setup setup = usual();
		struct fake f;
		struct duet_result r;

		setup.seed = seed;
		setup.budget_ns = seed % 2 ? 4 * SECOND : 3 * SECOND / 4; /* many pairs, or about ten */
		fake_init(&f, 0.9, seed % 4 < 2 ? 0.02 : 0.15);
		stats_rng_init(&f.rng, seed, 1);
		f.left_by[DUET_B] = 4.13;
		r = compare(&setup, &f);
		if (r.carry.is_checked) {
			assert_int_equal(r.verdict, STATS_INCONCLUSIVE);
			assert_true(r.carry.is_found && r.carry.is_blocking && r.carry.p <= 0.05);
			assert_true(r.carry.medians[DUET_A][DUET_B] > 3 * r.carry.medians[DUET_A][DUET_A]);
			assert_true(r.carry.medians[DUET_B][DUET_B] > 3 * r.carry.medians[DUET_B][DUET_A]);
		}
		few += !r.carry.is_checked;
		duet_result_release(&r);
	}
	assert_true(few <= 2);
}

/* Each program profits from its own leftovers, not from the other's: no side is favoured, and it is reported. */
static void carry_over_of_both_sides(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 1, 0.02);
	f.own_quicker = 0.7;
	r = compare(&setup, &f);
	assert_true(r.carry.is_found);
	duet_result_release(&r);
}

/* What B leaves behind costs A a tenth, but B takes 50 times as long in every order: the verdict stands. */
static void carry_over_that_does_not_matter(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 50, 0.01);
	f.base_ns = 1e6;
	f.left_by[DUET_B] = 1.1;
	r = compare(&setup, &f);
	assert_int_equal(r.verdict, STATS_SLOWER);
	assert_true(r.carry.is_found && !r.carry.is_blocking);
	duet_result_release(&r);
}

/* Without carry-over: A against A, a real difference, outliers, a slower second execution, a drifting machine. */
static void carry_over_is_not_invented(void **state)
{
	enum { ROUNDS = 60 };
	static const struct {
		double factor, noise, far_off, second_slower, drift, budget_s;
	} worlds[] = { { 1, 0.05, 0, 1, 0, 0.7 }, { 1, 0.05, 0, 1, 0, 0.2 }, { 1, 0.05, 0, 1, 0, 0.4 },
		{ 1.2, 0.05, 0, 1, 0, 0.7 }, { 1, 0.05, 0.1, 1, 0, 0.7 }, { 1, 0.05, 0.1, 1, 0, 0.5 },
		{ 1, 0.02, 0, 1.1, 0, 0.7 }, { 1, 0.02, 0, 1.1, 0, 0.2 }, { 1, 0.05, 0, 1, 0.01, 0.7 } };

	for (size_t w = 0; w < sizeof(worlds) / sizeof(*worlds); w++) {
		size_t found = 0, checked = 0;

		for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
			struct duet_setup setup = usual();
			struct fake f;
			struct duet_result r;

			setup.seed = seed;
			setup.budget_ns = (int64_t)(worlds[w].budget_s * 1e9);
			fake_init(&f, worlds[w].factor, worlds[w].noise);
			stats_rng_init(&f.rng, seed, w);
			f.far_off = worlds[w].far_off;
			f.second_slower = worlds[w].second_slower;
			f.drift = worlds[w].drift;
			r = compare(&setup, &f);
			found += r.carry.is_found;
			checked += r.carry.is_checked;
			duet_result_release(&r);
		}
		print_message("# world %zu: carry-over found in %zu of %d, checked in %zu\n", w, found, ROUNDS,
				checked);
		assert_true(found <= ROUNDS / 20);
		assert_true(checked >= ROUNDS / 2);
	}
}

/* Programs that fail when two of them run at once are compared one after the other, and the result says why. */
static void a_pilot_that_fails_falls_back(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	setup.is_auto = setup.is_pinned = true;
	fake_init(&f, 1.3, 0.01);
	f.fails_at_once = true;
	r = compare(&setup, &f);
	assert_int_equal(r.verdict, STATS_SLOWER);
	assert_int_equal(r.schedule.design, DUET_RMIT);
	assert_int_equal(f.tried[DUET_ASYNC], 1);
	assert_non_null(strstr(r.why_in_turn, "the port is in use"));
	duet_result_release(&r);
}

static const char *they_collide(void *arg)
{
	return "A calls bind";
}

static void programs_that_collide_are_not_tried_at_once(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	setup.is_auto = setup.is_pinned = true;
	setup.why_not_at_once = they_collide;
	fake_init(&f, 1.3, 0.01);
	r = compare(&setup, &f);
	assert_int_equal(f.tried[DUET_ASYNC] + f.tried[DUET_SYNC], 0);
	assert_string_equal(r.why_in_turn, "A calls bind");
	duet_result_release(&r);
}

static void the_budget_is_kept(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 1.01, 0.2); /* on the threshold itself: never decided */
	f.base_ns = 1e8;
	r = compare(&setup, &f);
	assert_int_equal(r.verdict, STATS_INCONCLUSIVE);
	assert_true(r.stop == DUET_BUDGET_OVER || r.stop == DUET_RUNS_OVER);
	assert_true(f.clock_ns <= 11 * SECOND);
	assert_true(f.clock_ns >= 7 * SECOND);
	assert_true(r.effect.locations.n == r.run_count);
	duet_result_release(&r);
}

/* Told when the pilot is over: from now on others leave the machine to us. */
static int calm_down(void *arg, const struct duet_result *so_far, struct sonde_err *err)
{
	struct fake *f = arg;

	f->base_ns *= 0.9;
	f->busy = 1;
	return 0;
}

static void goes_on_when_calm(struct duet_setup *setup, struct fake *f)
{
	struct duet_result r;

	setup->on_schedule = calm_down;
	setup->arg = f;
	r = compare(setup, f);
	assert_int_equal(r.verdict, STATS_INCONCLUSIVE);
	assert_int_equal(r.stop, DUET_BUDGET_OVER);
	duet_result_release(&r);
}

static void a_busy_pilot_does_not_end_it_early(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;

	fake_init(&f, 1.01, 0.2);
	f.base_ns = 2e7;
	setup.has_aa = true;
	goes_on_when_calm(&setup, &f);
}

/* All that is known of the time a turn takes is one turn, and others were at work in it. */
static void a_busy_first_turn_does_not_end_it_early(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;

	fake_init(&f, 1.01, 0.2);
	f.base_ns = 1e8;
	f.busy = 2.5;
	goes_on_when_calm(&setup, &f);
}

static void one_run_at_least_and_it_is_indicative(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 2, 0.01);
	f.base_ns = 30e9;
	r = compare(&setup, &f);
	assert_int_equal(r.run_count, 1);
	assert_int_equal(r.verdict, STATS_INCONCLUSIVE);
	assert_true(r.effect.is_indicative);
	assert_int_equal(r.needed_runs, 0);
	duet_result_release(&r);
}

static void says_what_it_would_take(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	setup.seed = 6;
	fake_init(&f, 1.03, 0.1);
	f.base_ns = 4e8;
	r = compare(&setup, &f);
	assert_int_equal(r.verdict, STATS_INCONCLUSIVE);
	assert_true(r.needed_runs > r.run_count);
	assert_true(r.needed_seconds > (double)r.needed_runs * 0.5);
	assert_true(r.detectable > 1.01);
	duet_result_release(&r);
}

/* Defect 8: a side that is slower when it comes second must not look slower. */
static void position_does_not_matter(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 1, 0.001);
	f.second_slower = 1.2;
	r = compare(&setup, &f);
	assert_true(stats_interval_holds(&r.effect.ratio, 1));
	assert_true(fabs(r.effect.ratio.estimate - 1) < 0.005);
	duet_result_release(&r);
	setup.design = DUET_SYNC;
	setup.is_pinned = true;
	fake_init(&f, 1, 0.001);
	f.second_slower = 1.2; /* the second CPU is the slower one */
	r = compare(&setup, &f);
	assert_true(stats_interval_holds(&r.effect.ratio, 1));
	assert_true(f.swapped > 0);
	duet_result_release(&r);
}

/* In fixed order it does, and the check of A against itself says so. */
static void the_self_check_finds_a_bias(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	setup.design = DUET_SEQ;
	setup.has_aa = true;
	fake_init(&f, 1, 0.001);
	f.second_slower = 1.05;
	r = compare(&setup, &f);
	assert_true(r.self.runs > 0);
	assert_true(r.self.is_biased);
	assert_true(fabs(r.self.ratio.estimate - 1.05) < 0.01);
	duet_result_release(&r);
	f.second_slower = 1;
	r = compare(&setup, &f);
	assert_false(r.self.is_biased);
	duet_result_release(&r);
}

static void no_self_check_when_it_is_too_dear(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	setup.has_aa = true;
	fake_init(&f, 1, 0.001);
	f.base_ns = 1e9;
	r = compare(&setup, &f);
	assert_int_equal(f.aa_runs, 0);
	assert_int_equal(r.self.runs, 0);
	duet_result_release(&r);
}

static void the_pilot_takes_the_quieter_design(void **state)
{
	static const enum duet_design quiet[] = { DUET_RMIT, DUET_ASYNC };

	for (size_t i = 0; i < 2; i++) {
		struct duet_setup setup = usual();
		struct fake f;
		struct duet_result r;

		setup.is_auto = setup.is_pinned = true;
		fake_init(&f, 1.05, 0.1);
		f.base_ns = 4e6;
		f.noise[quiet[i]] = 0.005;
		r = compare(&setup, &f);
		assert_true(r.is_design_piloted);
		assert_int_equal(r.schedule.design, quiet[i]);
		assert_true(r.choices[DUET_RMIT].is_tried && r.choices[DUET_ASYNC].is_tried);
		assert_false(r.choices[DUET_SYNC].is_tried); /* whole commands on wall time: biased */
		assert_true(r.self.runs > 0);
		assert_true(stats_interval_holds(&r.effect.ratio, 1.05));
		duet_result_release(&r);
	}
}

/* Five runs of a design may look much better than they are. */
static void the_pilot_is_not_taken_in_by_chance(void **state)
{
	size_t wrong = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct duet_setup setup = usual();
		struct fake f;
		struct duet_result r;

		setup.is_auto = setup.is_pinned = true;
		setup.runs_max = 2;
		setup.budget_ns = SECOND;
		setup.seed = seed;
		fake_init(&f, 1, 0.1);
		stats_rng_init(&f.rng, seed, 77);
		f.base_ns = 4e5;
		f.noise[DUET_ASYNC] = 0.2; /* it makes more pairs in its time */
		r = compare(&setup, &f);
		assert_true(r.is_design_piloted);
		wrong += r.schedule.design != DUET_RMIT;
		duet_result_release(&r);
	}
	assert_true(wrong <= 3);
}

/* Where a third of the pairs are far off, signs; where none is, ranks, which say more. */
static void who_is_near_or_far_off_is_judged_by_signs(void **state)
{
	size_t with = 0, without = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct duet_setup setup = usual();
		struct fake f;
		struct duet_result r;

		setup.has_aa = true;
		setup.runs_max = 2;
		fake_init(&f, 1, 0.01);
		stats_rng_init(&f.rng, seed, 78);
		f.base_ns = 4e7; /* a pair a run */
		r = compare(&setup, &f);
		without += r.schedule.has_signs;
		duet_result_release(&r);
		f.far_off = 0.2;
		r = compare(&setup, &f);
		with += r.schedule.has_signs;
		duet_result_release(&r);
	}
	assert_true(with >= 15 &&
			without == 0); /* where the first turn was far off, runs seem too long to have enough of them */
}

static void the_pilot_is_told_as_it_was(void **state)
{
	struct duet_result r = { .schedule.design = DUET_ASYNC, .is_design_piloted = true };
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	r.choices[DUET_RMIT] =
			(struct duet_choice){ .is_tried = true, .variance = 4e-4, .run_seconds = 1, .cost = 4e-4 };
	r.choices[DUET_ASYNC] =
			(struct duet_choice){ .is_tried = true, .variance = 1e-4, .run_seconds = 2, .cost = 2e-4 };
	duet_say_pilot(&words, &r);
	assert_string_equal(words.data,
			"the best for its time: rmit (spread 2.00 %, 1.00 s a run) "
			"async (spread 1.00 %, 2.00 s a run)");
	buf_reset(&words);
	r.schedule.design = DUET_RMIT;
	r.choices[DUET_ASYNC].variance = r.choices[DUET_ASYNC].cost = NAN;
	duet_say_pilot(&words, &r);
	assert_string_equal(words.data,
			"the best for its time: rmit (spread 2.00 %, 1.00 s a run) "
			"async (too few pairs, 2.00 s a run)");
}

static void the_pilot_may_not_eat_the_budget(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	setup.is_auto = setup.is_pinned = true;
	fake_init(&f, 1.05, 0.01);
	f.base_ns = 3e8;
	r = compare(&setup, &f);
	assert_false(r.is_design_piloted);
	assert_int_equal(r.schedule.design, DUET_RMIT);
	assert_int_equal(f.aa_runs, 0);
	duet_result_release(&r);
}

static void an_interruption_keeps_what_there_is(void **state)
{
	struct duet_setup setup = usual();
	struct fake f;
	struct duet_result r;

	fake_init(&f, 1.02, 0.1);
	f.fail_at = 8; /* warm-up and six runs */
	f.failure = -EINTR;
	r = compare(&setup, &f);
	assert_int_equal(r.stop, DUET_INTERRUPTED);
	assert_int_equal(r.run_count, 6);
	assert_true(isfinite(r.effect.ratio.lo));
	duet_result_release(&r);
}

static void a_failure_keeps_what_there_is(void **state)
{
	struct duet_setup setup = usual();
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_runner runner;
	struct fake f;
	struct duet_result r;

	fake_init(&f, 1.02, 0.1);
	f.fail_at = 5;
	f.failure = -ECHILD;
	runner = fake_runner(&f);
	assert_int_equal(duet_compare(&setup, &runner, &r, &err), -ECHILD);
	assert_string_equal(err.text, "made to fail");
	assert_int_equal(r.stop, DUET_FAILED);
	assert_int_equal(r.run_count, 3);
	assert_true(isfinite(r.effect.ratio.estimate));
	duet_result_release(&r);
}

/* Going on after a break gives what would have come without it. */
static void resumed_is_as_if_never_stopped(void **state)
{
	struct duet_setup setup = usual(), again;
	struct fake f, g;
	struct duet_result whole, part, rest;

	setup.design = DUET_RMIT;
	setup.turns = 2;
	setup.runs_max = 12;
	fake_init(&f, 1.012, 0.02);
	whole = compare(&setup, &f);
	assert_int_equal(whole.run_count, 12);

	fake_init(&g, 1.012, 0.02);
	g.fail_at = 8;
	g.failure = -EINTR;
	part = compare(&setup, &g);
	assert_int_equal(part.run_count, 6);
	again = setup;
	again.schedule = part.schedule;
	again.done = part.runs;
	again.done_count = part.run_count;
	f.runs = f.turns = f.first_b = 0;
	fake_init(&f, 1.012, 0.02);
	rest = compare(&again, &f);
	assert_int_equal(rest.run_count, 12);
	assert_int_equal(f.runs, 6); /* the rest only: no warm-up, no pilot */
	assert_int_equal(rest.looks, whole.looks);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(rest.runs[i].is_first_b, whole.runs[i].is_first_b);
	duet_result_release(&whole);
	duet_result_release(&part);
	duet_result_release(&rest);
}

/* Peeking with ordinary intervals would cry wolf in a quarter of these. */
static void looking_often_does_not_cry_wolf(void **state)
{
	size_t alarms = 0, tries = 80;

	for (size_t i = 0; i < tries; i++) {
		struct duet_setup setup = usual();
		struct fake f;
		struct duet_result r;

		setup.seed = i;
		setup.margin = 1;
		setup.turns = 1;
		setup.runs_max = 50;
		fake_init(&f, 1, 0.05);
		stats_rng_init(&f.rng, 11, i);
		r = compare(&setup, &f);
		alarms += r.verdict == STATS_SLOWER || r.verdict == STATS_FASTER;
		duet_result_release(&r);
	}
	assert_true(alarms <= 10); /* 5 % are 4; 10 is beyond 99 % of chance */
}

struct told {
	size_t schedules, runs, fail_at;
};

static int tell_schedule(void *arg, const struct duet_result *so_far, struct sonde_err *err)
{
	struct told *t = arg;

	t->schedules++;
	assert_true(so_far->schedule.is_settled && so_far->schedule.turns > 0);
	return 0;
}

static int tell_run(void *arg, const struct duet_run *run, struct sonde_err *err)
{
	struct told *t = arg;

	assert_int_equal(run->number, t->runs);
	if (++t->runs == t->fail_at)
		return err_set(err, ENOSPC, "the disk is full");
	return 0;
}

static void who_listens_can_stop_it(void **state)
{
	struct told told = { .fail_at = 3 };
	struct duet_setup setup = usual();
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_runner runner;
	struct duet_result r;
	struct fake f;

	setup.on_schedule = tell_schedule;
	setup.on_run = tell_run;
	setup.arg = &told;
	fake_init(&f, 1.02, 0.1);
	runner = fake_runner(&f);
	assert_int_equal(duet_compare(&setup, &runner, &r, &err), -ENOSPC);
	assert_int_equal(told.schedules, 1);
	assert_int_equal(told.runs, 3);
	assert_int_equal(r.run_count, 3);
	duet_result_release(&r);
}

static void without_a_metric_it_says_so(void **state)
{
	struct duet_setup setup = usual();
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_runner runner;
	struct duet_result r;
	struct fake f;

	setup.pairing.metric = DUET_RSS;
	setup.runs_max = 4;
	fake_init(&f, 1.02, 0.1);
	runner = fake_runner(&f);
	assert_int_equal(duet_compare(&setup, &runner, &r, &err), -ENODATA);
	assert_non_null(strstr(err.text, "'rss'"));
	duet_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(a_clear_answer_comes_early),
		cmocka_unit_test(carry_over_has_no_verdict),
		cmocka_unit_test(carry_over_of_both_sides),
		cmocka_unit_test(carry_over_that_does_not_matter),
		cmocka_unit_test(carry_over_is_not_invented),
		cmocka_unit_test(a_pilot_that_fails_falls_back),
		cmocka_unit_test(programs_that_collide_are_not_tried_at_once),
		cmocka_unit_test(the_budget_is_kept),
		cmocka_unit_test(a_busy_pilot_does_not_end_it_early),
		cmocka_unit_test(a_busy_first_turn_does_not_end_it_early),
		cmocka_unit_test(one_run_at_least_and_it_is_indicative),
		cmocka_unit_test(says_what_it_would_take),
		cmocka_unit_test(position_does_not_matter),
		cmocka_unit_test(the_self_check_finds_a_bias),
		cmocka_unit_test(no_self_check_when_it_is_too_dear),
		cmocka_unit_test(the_pilot_takes_the_quieter_design),
		cmocka_unit_test(the_pilot_is_not_taken_in_by_chance),
		cmocka_unit_test(who_is_near_or_far_off_is_judged_by_signs),
		cmocka_unit_test(the_pilot_is_told_as_it_was),
		cmocka_unit_test(the_pilot_may_not_eat_the_budget),
		cmocka_unit_test(an_interruption_keeps_what_there_is),
		cmocka_unit_test(a_failure_keeps_what_there_is),
		cmocka_unit_test(resumed_is_as_if_never_stopped),
		cmocka_unit_test(looking_often_does_not_cry_wolf),
		cmocka_unit_test(who_listens_can_stop_it),
		cmocka_unit_test(without_a_metric_it_says_so),
	};

	return RUN_TESTS(tests);
}
