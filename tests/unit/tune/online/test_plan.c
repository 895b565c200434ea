/* plan: what a job file says, and what is wrong with those that are. */
#include "../../support.h"

#include "tune/job-file.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PARAMS "params: [{name: w, type: int, low: 1, high: 8, class: live}]\n"

static int parse(struct train_plan *plan, const char *text, struct arena *arena, struct sonde_err *err)
{
	return train_plan_parse(plan, "dir/cnn.yml", text, strlen(text), arena, err);
}

static void the_least(void **state)
{
	struct arena arena = ARENA_INIT;
	struct train_plan plan;

	assert_int_equal(parse(&plan, PARAMS, &arena, NULL), 0);
	assert_string_equal(plan.name, "cnn");
	assert_true(isnan(plan.target_loss));
	assert_int_equal(plan.explore, 8);
	assert_int_equal(plan.finish, TRAIN_FINISH_AVERAGE);
	assert_int_equal(plan.study.space.params[0].class, TUNE_LIVE);
	assert_null(plan.curve);
	arena_release(&arena);
}

static void everything(void **state)
{
	struct arena arena = ARENA_INIT;
	struct train_plan plan;

	assert_int_equal(parse(&plan,
					 PARAMS "name: x\ncommand: [a, b]\nconstraints: ['w < 5']\nmode: fixed\n"
						"target_loss: 0.5\nfinish: most\nwindow: 9\ncurve: selftf\nexplore: 3\n"
						"iterations: 4\nonline_iterations: 7\nconfidence: 2\nmethod: sobol\n"
						"timeout: 5s\nseed: 6\n"
						"settings: {rate: 0.1, optimizer: Adam}\n",
					 &arena, NULL),
			0);
	assert_string_equal(plan.command[1], "b");
	assert_int_equal(plan.mode, TRAIN_FIXED);
	assert_int_equal(plan.finish, TRAIN_FINISH_MOST);
	assert_string_equal(plan.curve->name, "selftf");
	assert_int_equal(plan.timeout_ns, 5000000000);
	assert_int_equal(plan.setting_count, 2);
	assert_true(plan.settings[0].is_number && !plan.settings[1].is_number);
	assert_int_equal(plan.study.space.constraint_count, 1);
	arena_release(&arena);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *text, *words;
	} bad[] = {
		{ "name: x\n", "no 'params'" },
		{ PARAMS "finish: maybe\n", "'finish' must be average, all, once or most" },
		{ PARAMS "curve: cubic\n", "'curve' must be ensemble" },
		{ PARAMS "method: magic\n", "'method' must be gp" },
		{ PARAMS "window: 5000\n", "'window' must be at most" },
		{ PARAMS "confidence: -1\n", "'confidence' must be 0 or more" },
		{ PARAMS "moving_share: -1\n", "'moving_share' must be 0 or more" },
		{ PARAMS "settings: [1]\n", "'settings' must map names to values" },
		{ PARAMS "settings: {a: [1]}\n", "a setting needs a name and a value" },
		{ PARAMS "iteration: 5\n", "iteration" },
		{ PARAMS "target_loss: low\n", "target_loss" },
		{ "params: [{name: w}]\n", "w" },
		{ "", "" },
	};
	struct train_plan plan;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct arena arena = ARENA_INIT;
		struct sonde_err err = SONDE_ERR_INIT;

		assert_int_equal(parse(&plan, bad[i].text, &arena, &err), -EINVAL);
		if (!strstr(err.text, bad[i].words) || !strstr(err.text, "cnn.yml"))
			fail_msg("%s", err.text);
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least),
		cmocka_unit_test(everything),
		cmocka_unit_test(what_is_wrong_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
