/* study: what a file says arrives; what is wrong is named with its line and what was probably meant. */
#include "../support.h"

#include "studies.h"

#include <errno.h>

#define OBJECTIVE "objective: {name: value, goal: minimize}\n"
#define X "params: [{name: x, type: float, low: 0, high: 1}]\n"

static void everything_arrives(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study s;
	struct sonde_err err = SONDE_ERR_INIT;
	int rc = parse(&s,
			"name: demo\ncommand: prog --level={x} 'two words'\ndirectory: /tmp\nenvironment: {A: 'b "
			"c'}\n" X "objectives: [{name: wall}, {name: rate, goal: maximize, regex: '([0-9.]+) MB/s'}]\n"
			"limits: [{name: memory, max: 1e9}, {name: bytes, file: out.bin, min: 5}]\n"
			"files: [{path: a.conf, template: 'x = {x}'}]\nconstraints: [x <= 0.5]\n"
			"budget: {trials: 7, time: 2m}\nrepeats: 3\nparallel: 2\nseed: 42\ntimeout: 500ms\nconfirm: "
			"0\ncap: no\n"
			"early_stop: asha\nsteps: 'step ([0-9]+) loss ([0-9.]+)'\nwarm_start: [old.jsonl]\nmethod: "
			"tpe\n",
			&arena, &err);

	assert_string_equal(err.text, "");
	assert_int_equal(rc, 0);
	assert_string_equal(s.name, "demo");
	assert_string_equal(s.command[2], "two words");
	assert_string_equal(s.environment[0], "A=b c");
	assert_true(s.objective_count == 2 && s.objectives[0].metric.source == TUNE_WALL &&
			!s.objectives[0].is_maximized);
	assert_true(s.objectives[1].metric.source == TUNE_OUTPUT && s.objectives[1].is_maximized);
	assert_true(s.limit_count == 2 && s.limits[0].metric.source == TUNE_MEMORY && s.limits[0].limit.max == 1e9);
	assert_true(s.limits[1].metric.source == TUNE_SIZE && s.limits[1].limit.min == 5 &&
			isinf(s.limits[1].limit.max));
	assert_true(s.trials == 7 && s.budget_ns == 120000000000 && s.repeats == 3 && s.parallel == 2 && s.seed == 42);
	assert_true(s.timeout_ns == 500000000 && s.confirm == 0 && !s.is_capped && s.stop == TUNE_STOP_ASHA);
	assert_true(s.file_count == 1 && s.warm_count == 1 && s.space.constraint_count == 1);
	assert_string_equal(s.method->name, "tpe");
	arena_release(&arena);
}

static void wrong_files_are_explained(void **state)
{
	static const struct {
		const char *text, *why, *hint;
	} wrong[] = {
		{ "", "s.yml: the file is empty", "" },
		{ "- 1\n", "s.yml:1: a study must be a mapping", "" },
		{ "a: [\n", "s.yml:2: ", "" },
		{ X, "has no 'objective'", "" },
		{ OBJECTIVE, "has no 'params'", "" },
		{ X OBJECTIVE "paralel: 2\n", "s.yml:3: unknown key 'paralel' in a study", "did you mean 'parallel'?" },
		{ X OBJECTIVE "seed: 1\nseed: 2\n", "s.yml:4: duplicate key 'seed'", "" },
		{ X OBJECTIVE "repeats: 0\n", "s.yml:3: 'repeats' must be at least 1", "" },
		{ X OBJECTIVE "repeats: many\n", "'repeats' must be an integer", "" },
		{ X OBJECTIVE "timeout: 5\n", "'timeout' must be a duration with a unit", "" },
		{ X OBJECTIVE "method: gpp\n", "unknown method 'gpp'", "did you mean 'gp'?" },
		{ X OBJECTIVE "early_stop: medain\n", "invalid early_stop 'medain' (supported: none, median, asha)",
				"'median'" },
		{ X "objective: {name: value, goal: minimise}\n",
				"invalid goal 'minimise' (supported: minimize, maximize)", "'minimize'" },
		{ X "objective: {goal: minimize}\n", "an objective needs a 'name'", "" },
		{ X "objective: {name: v, regex: '([a'}\n", "invalid regular expression '([a'", "" },
		{ X "objective: {name: v, regex: 'abc'}\n", "needs 1 group in parentheses", "" },
		{ X "objective: {name: v, from: output}\n", "needs a 'regex'", "" },
		{ X OBJECTIVE "limits: [{name: memory}]\n", "needs a 'min' or a 'max'", "" },
		{ X OBJECTIVE "constraints: [y < 1]\n", "s.yml:3: invalid constraint 'y < 1': unknown parameter 'y'",
				"" },
		{ X OBJECTIVE "files: [{path: x}]\n", "a file needs a 'path'", "" },
		{ X OBJECTIVE "steps: 'a (b)'\n", "needs 2 groups", "" },
		{ "params: 3\n" OBJECTIVE, "'params' must be a list", "" },
		{ "params:\n  - {name: x, type: flaot, low: 0, high: 1}\n" OBJECTIVE, "s.yml:2: invalid type 'flaot'",
				"'float'" },
		{ "params:\n  - {name: x, type: float, lo: 0, high: 1}\n" OBJECTIVE,
				"s.yml:2: unknown key 'lo' in parameter 'x'", "'low'" },
		{ "params:\n  - {name: x, type: float, high: 1}\n" OBJECTIVE, "parameter 'x' needs 'low' and 'high'",
				"" },
		{ "params: [{name: x, type: float, low: 2, high: 1}]\n" OBJECTIVE,
				"'low' of parameter 'x' is above 'high'", "" },
		{ "params: [{name: x, type: float, low: 0, high: 1, log: true}]\n" OBJECTIVE, "must be above 0", "" },
		{ "params: [{name: x, type: int, low: 0.5, high: 1}]\n" OBJECTIVE, "must be whole numbers", "" },
		{ "params: [{name: x, type: float, low: .inf, high: 1}]\n" OBJECTIVE,
				"'low' of parameter 'x' must be a number", "" },
		{ "params: [{name: x, type: float, low: 0, high: 1, default: 3}]\n" OBJECTIVE,
				"s.yml:1: the default: 'x' must be between 0 and 1", "" },
		{ "params: [{name: m, type: categorical}]\n" OBJECTIVE, "parameter 'm' needs 'choices'", "" },
		{ "params: [{name: m, type: categorical, choices: []}]\n" OBJECTIVE, "must be a list of 1 to", "" },
		{ "params: [{name: m, type: categorical, choices: [a, a]}]\n" OBJECTIVE, "duplicate choice 'a'", "" },
		{ "params: [{name: m, type: categorical, choices: [fast, slow], default: fsat}]\n" OBJECTIVE,
				"no choice 'fsat'", "'fast'" },
		{ "params:\n  - {name: x, type: bool}\n  - {name: x, type: bool}\n" OBJECTIVE,
				"s.yml:3: duplicate parameter 'x'", "" },
		{ "params: [{name: 'a b', type: bool}]\n" OBJECTIVE, "needs a 'name' of letters", "" },
		{ "params:\n  - {name: x, type: bool, active_if: {y: true}}\n" OBJECTIVE,
				"s.yml:2: unknown parameter 'y' in 'active_if'", "" },
		{ "params:\n  - {name: x, type: bool}\n  - {name: y, type: bool, active_if: {x: maybe}}\n" OBJECTIVE,
				"s.yml:3: 'active_if': 'x' must be true or false", "" },
		{ "params:\n  - {name: x, type: bool, active_if: {y: true}}\n  - {name: y, type: bool, active_if: {x: "
		  "true}}\n" OBJECTIVE,
				"depends on itself", "" },
		{ "params: [{name: x, type: float, low: -1e308, high: 1e308}]\n" OBJECTIVE,
				"'low' and 'high' of parameter 'x' are too far apart", "" },
		{ "params: [{name: m, type: categorical, choices: [1, 1.0]}]\n" OBJECTIVE,
				"the choices '1' and '1.0' of parameter 'm' are the same number", "" },
		{ "params: [{name: m, type: categorical, choices: [a], low: 1}]\n" OBJECTIVE,
				"parameter 'm' must not have 'low' and 'high'", "" },
		{ "params: [{name: m, type: int, low: 1, high: 2, choices: [1, 2]}]\n" OBJECTIVE,
				"parameter 'm' must not have 'choices'", "" },
		{ X "objectives: [{name: v}, {name: v}]\n", "s.yml:2: duplicate objective 'v'", "" },
		{ X OBJECTIVE "limits: [{name: memory, min: 2, max: 1}]\n",
				"'min' of the limit of 'memory' is above 'max'", "" },
		{ X OBJECTIVE "name: ../x\n", "s.yml:3: 'name' must not contain '/'", "" },
		{ "params: [{name: x, type: bool, arg: '--x'}]\n" OBJECTIVE, "needs a {} where the value goes", "" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct arena arena = ARENA_INIT;
		struct sonde_err err = SONDE_ERR_INIT;
		struct tune_study s;

		assert_int_equal(parse(&s, wrong[i].text, &arena, &err), -EINVAL);
		if (!strstr(err.text, wrong[i].why) || !strstr(err.hint, wrong[i].hint))
			fail_msg("case %zu gave: %s (hint: %s)", i, err.text, err.hint);
		arena_release(&arena);
	}
}

/* Damaged files are read or refused. */
static void any_bytes_are_fine(void **state)
{
	static const char good[] = MIXED
			"constraints: [n * k <= 64]\nlimits: [{name: memory, max: 5}]\nbudget: {trials: 3}\n";

	random_init();
	for (int t = 0; t < 3000; t++) {
		char text[sizeof(good)];
		struct arena arena = ARENA_INIT;
		struct tune_study s;

		memcpy(text, good, sizeof(text));
		for (size_t n = 1 + random_below(4); n > 0; n--)
			text[random_below(sizeof(text) - 1)] = random_below(3) ? "{}[]:,'\"\n -0aN"[random_below(14)]
									       : (char)random_u64();
		(void)tune_study_parse(&s, "s.yml", text, sizeof(text) - 1, &arena, NULL);
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_arrives),
		cmocka_unit_test(wrong_files_are_explained),
		cmocka_unit_test(any_bytes_are_fine),
	};

	return RUN_TESTS(tests);
}
