/* stop: rungs of steps, the median rule and ASHA's third. */
#include "../support.h"

#include "studies.h"
#include "tune/trial-slot.h"

static void rungs_hold_the_best_so_far(void **state)
{
	struct tune_step steps[] = { { 1, 0, 5 }, { 2, 0, 3 }, { 3, 0, 4 }, { 4, 0, 6 }, { 5, 0, 1 }, { 6, 0, 2 },
		{ 7, 0, 2 } };
	double rungs[TUNE_RUNGS_MAX];

	assert_int_equal(tune_rungs(steps, 7, false, rungs), 3); /* after 1, 2 and 4 */
	assert_true(rungs[0] == 5 && rungs[1] == 3 && rungs[2] == 3);
	assert_int_equal(tune_rungs(steps, 4, true, rungs), 3);
	assert_true(rungs[0] == 5 && rungs[1] == 5 && rungs[2] == 6);
	assert_int_equal(tune_rungs(steps, 0, false, rungs), 0);
}

/* Nine trials, whose third rungs are 1 .. 9. */
static void fill(struct tune_optimizer *o, const struct tune_study *study)
{
	double point[TUNE_PARAMS_MAX];

	assert_int_equal(make(o, study, 1), 0);
	for (int t = 1; t <= 9; t++) {
		struct tune_result result = { .state = TUNE_DONE, .rungs = { 10 + t, 5 + t, t }, .rung_count = 3 };

		tune_point_default(&study->space, point);
		point[0] = t / 10.0;
		assert_int_equal(tune_add(o, 0, point, NULL, NULL), 0);
		assert_int_equal(tune_tell(o, (uint64_t)t, &result, NULL), 0);
	}
}

static bool stops(enum tune_stop rule, const struct tune_optimizer *o, double third, bool is_maximized)
{
	struct arena arena = ARENA_INIT;
	double rungs[] = { 10, 10, third };
	bool is_stopped = tune_should_stop(rule, o, rungs, 3, is_maximized, &arena);

	arena_release(&arena);
	return is_stopped;
}

static void rules_compare_at_the_same_rung(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	fill(&o, &study);
	assert_true(!stops(TUNE_STOP_NONE, &o, 100, false) && stops(TUNE_STOP_MEDIAN, &o, 5.5, false) &&
			!stops(TUNE_STOP_MEDIAN, &o, 4.5, false));
	assert_true(stops(TUNE_STOP_ASHA, &o, 4.5, false) && !stops(TUNE_STOP_ASHA, &o, 3, false));
	assert_true(stops(TUNE_STOP_ASHA, &o, 5, true) && !stops(TUNE_STOP_ASHA, &o, 8, true));
	assert_true(stops(TUNE_STOP_MEDIAN, &o, NAN, false)); /* diverged */
	o.count = 4;                                          /* too few to compare with */
	assert_false(stops(TUNE_STOP_MEDIAN, &o, 100, false));
	tune_optimizer_release(&o);
	arena_release(&arena);
}

static double end_of(const struct tune_optimizer *o, double third, bool is_maximized)
{
	struct arena arena = ARENA_INIT;
	double rungs[] = { 10, 10, third }, end = tune_expected_end(o, rungs, 3, is_maximized, &arena);

	arena_release(&arena);
	return end;
}

static void a_stopped_trial_counts_by_where_others_came_from_there(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;

	assert_int_equal(parse(&study, MIXED, &arena, NULL), 0);
	fill(&o, &study);
	assert_true(isnan(end_of(&(struct tune_optimizer){ 0 }, 5, false))); /* nobody went on */
	for (size_t t = 0; t < o.count; t++) /* they lose 10 more, one of them next to nothing */
		o.trials[t].result.values[0] = o.trials[t].result.rungs[2] - (t == 4 ? 0.1 : 10);
	assert_float_equal(end_of(&o, 7.5, false), -2.5, 1e-9);
	assert_float_equal(end_of(&o, 0.5, false), -9, 1e-9); /* no better than the best that went on */
	assert_float_equal(end_of(&o, 20, true), 4.9, 1e-9);
	o.trials[8].result.state = TUNE_CUT; /* its value is a guess itself */
	assert_float_equal(end_of(&o, 20, true), 4.9, 1e-9);
	tune_optimizer_release(&o);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rungs_hold_the_best_so_far),
		cmocka_unit_test(rules_compare_at_the_same_rung),
		cmocka_unit_test(a_stopped_trial_counts_by_where_others_came_from_there),
	};

	return RUN_TESTS(tests);
}
