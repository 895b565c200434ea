/* params: every key of a study file with its default and bounds, and the whole message where one is wrong. */
#include "../support.h"

#include "studies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECTIVE "objective: {name: value, goal: minimize}\n"
#define X "params: [{name: x, type: float, low: 0, high: 1}]\n"

static struct arena arena = ARENA_INIT;
static struct tune_study study;

static void accept(const char *text)
{
	struct sonde_err err = SONDE_ERR_INIT;

	if (parse(&study, text, &arena, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void refuse_with_hint(const char *text, const char *message, const char *hint)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(parse(&study, text, &arena, &err), -EINVAL);
	assert_string_equal(err.text, message);
	assert_string_equal(err.hint, hint);
}

static void refuse(const char *text, const char *message)
{
	refuse_with_hint(text, message, "");
}

static void one(const char *param)
{
	char text[600];

	snprintf(text, sizeof(text), "params: [%s]\n" OBJECTIVE, param);
	accept(text);
}

static void no(const char *param, const char *message)
{
	char text[600];

	snprintf(text, sizeof(text), "params: [%s]\n" OBJECTIVE, param);
	refuse(text, message);
}

static void parameters_have_types(void **state)
{
	const struct tune_param *p = study.space.params;

	one("{name: a.b-c_1, type: float, low: -1, high: 1e3, default: 2.5, arg: '--x={}', env: X, knob: k, class: "
	    "live}");
	assert_string_equal(p->name, "a.b-c_1");
	assert_true(p->low == -1 && p->high == 1000 && p->start == 2.5 && p->has_default);
	assert_string_equal(p->argument, "--x={}");
	assert_string_equal(p->variable, "X");
	assert_string_equal(p->knob, "k");
	assert_int_equal(p->class, TUNE_LIVE);
	assert_int_equal(p->line, 1);
	one("{name: n, type: int, low: 2, high: 2}");
	assert_true(p->start == 2 && !p->has_default);
	assert_int_equal(p->class, TUNE_RESTART);
	one("{name: n, type: int, low: 1, high: 100, log: true, class: rebuild}");
	assert_true(p->is_log && p->start == 7); /* the middle of 0.5 to 100.5 */
	assert_int_equal(p->class, TUNE_REBUILD);
	one("{name: o, type: ordinal, choices: [1, 2.5, x], default: 2.5, gives_up: {x: all, 1: some}}");
	assert_int_equal(p->choice_count, 3);
	assert_true(p->start == 1);
	assert_true(p->choices[0].is_number && p->choices[1].number == 2.5 && !p->choices[2].is_number);
	assert_true(isnan(p->choices[2].number));
	assert_string_equal(p->choices[0].gives_up, "some");
	assert_null(p->choices[1].gives_up);
	assert_string_equal(p->choices[2].gives_up, "all");
	one("{name: b, type: bool, default: true, gives_up: {false: safety}}");
	assert_true(p->start == 1);
	assert_string_equal(p->choices[0].gives_up, "safety");
	assert_null(p->choices[1].gives_up);
	one("{name: c, type: categorical, choices: ['1']}"); /* quoted: not a number */
	assert_false(p->choices[0].is_number);
}

static void parameters_are_refused(void **state)
{
	char many[400] = "{name: c, type: categorical, choices: [a]}", name[80];

	no("{type: bool}", "s.yml:1: a parameter needs a 'name' of letters, digits, _, - and .");
	no("{name: 1x, type: bool}", "s.yml:1: a parameter needs a 'name' of letters, digits, _, - and .");
	no("{name: 'a b', type: bool}", "s.yml:1: a parameter needs a 'name' of letters, digits, _, - and .");
	no("{name: x}", "s.yml:1: parameter 'x' needs a 'type': float, int, ordinal, categorical or bool");
	no("{name: x, type: bool}, {name: x, type: bool}", "s.yml:1: duplicate parameter 'x'");
	no("{name: x, type: float, low: 0}", "s.yml:1: parameter 'x' needs 'low' and 'high'");
	no("{name: x, type: float, high: 0}", "s.yml:1: parameter 'x' needs 'low' and 'high'");
	no("{name: x, type: float, low: a, high: 1}", "s.yml:1: 'low' of parameter 'x' must be a number");
	no("{name: x, type: float, low: 0, high: b}", "s.yml:1: 'high' of parameter 'x' must be a number");
	no("{name: x, type: float, low: 2, high: 1}", "s.yml:1: 'low' of parameter 'x' is above 'high'");
	no("{name: x, type: float, low: -1e308, high: 1e308}",
			"s.yml:1: 'low' and 'high' of parameter 'x' are too "
			"far apart");
	no("{name: x, type: int, low: 0.5, high: 1}",
			"s.yml:1: 'low' and 'high' of parameter 'x', an int, must be "
			"whole numbers");
	no("{name: x, type: int, low: 0, high: 1.5}",
			"s.yml:1: 'low' and 'high' of parameter 'x', an int, must be "
			"whole numbers");
	no("{name: x, type: int, low: 0, high: 1e16}",
			"s.yml:1: 'low' and 'high' of parameter 'x', an int, must be "
			"whole numbers");
	no("{name: x, type: int, low: 0, high: 5, log: true}",
			"s.yml:1: 'low' of parameter 'x' must be above 0, "
			"since it is logarithmic");
	no("{name: x, type: float, low: 0, high: 1, choices: [a]}",
			"s.yml:1: parameter 'x' must not have 'choices': they are for ordinal and categorical");
	no("{name: x, type: bool, choices: [a]}",
			"s.yml:1: parameter 'x' must not have 'choices': they are for "
			"ordinal and categorical");
	no("{name: x, type: bool, low: 1}",
			"s.yml:1: parameter 'x' must not have 'low' and 'high': they are for "
			"float and int");
	no("{name: x, type: ordinal, choices: [a], high: 1}",
			"s.yml:1: parameter 'x' must not have 'low' and 'high': they are for float and int");
	no("{name: x, type: ordinal}", "s.yml:1: parameter 'x' needs 'choices'");
	no("{name: x, type: ordinal, choices: []}", "s.yml:1: 'choices' of parameter 'x' must be a list of 1 to 256");
	no("{name: x, type: ordinal, choices: [[a]]}",
			"s.yml:1: a choice of parameter 'x' must be a string or a "
			"number");
	no("{name: x, type: ordinal, choices: [a, b, a]}", "s.yml:1: duplicate choice 'a' of parameter 'x'");
	no("{name: x, type: ordinal, choices: [1, 1.0]}",
			"s.yml:1: the choices '1' and '1.0' of parameter 'x' are "
			"the same number");
	no("{name: x, type: ordinal, choices: [a], gives_up: x}",
			"s.yml:1: 'gives_up' must map choices to texts "
			"(choice: text)");
	no("{name: x, type: float, low: 0, high: 1, gives_up: {a: b}}",
			"s.yml:1: 'gives_up' must map choices to "
			"texts (choice: text)");
	no("{name: x, type: ordinal, choices: [a], gives_up: {a: [b]}}",
			"s.yml:1: 'gives_up' must map choices to "
			"texts");
	no("{name: x, type: ordinal, choices: [a], arg: --x}",
			"s.yml:1: 'arg' of parameter 'x' needs a {} where "
			"the value goes");
	no("{name: x, type: ordinal, choices: [a], env: A=B}",
			"s.yml:1: 'env' of parameter 'x' is not a valid "
			"variable name");
	no("{name: x, type: ordinal, choices: [a], env: ''}",
			"s.yml:1: 'env' of parameter 'x' is not a valid "
			"variable name");
	no("{name: x, type: ordinal, choices: [a], knob: ''}",
			"s.yml:1: 'knob' of parameter 'x' must be a name of "
			"at most 63 bytes");
	no("{name: x, type: ordinal, choices: ['a|b'], knob: k}",
			"s.yml:1: choice 'a|b' of parameter 'x' cannot be "
			"the value of a knob");
	no("{name: x, type: ordinal, choices: [a], default: [a]}",
			"s.yml:1: 'default' of parameter 'x' must be one "
			"value");
	no("{name: x, type: bool, active_if: [a]}",
			"s.yml:1: 'active_if' must be a parameter and its values: "
			"{mode: [a, b]}");
	no("{name: x, type: bool, active_if: {[a]: b}}", "s.yml:1: unknown parameter 'something' in 'active_if'");
	no("{name: x, type: bool}, {name: y, type: bool, active_if: {x: {}}}",
			"s.yml:1: 'active_if' needs the "
			"values of 'x', as a list");
	no("{name: x, type: bool}, {name: y, type: bool, active_if: {x: [[true]]}}",
			"s.yml:1: a value of 'x' must "
			"be one text or number");
	refuse_with_hint("params: [{name: mode, type: bool}, {name: y, type: bool, active_if: {mod: "
			 "true}}]\n" OBJECTIVE,
			"s.yml:1: unknown parameter 'mod' in 'active_if'", "did you mean 'mode'?");
	memset(name, 'k', 64);
	name[64] = '\0';
	snprintf(many, sizeof(many), "{name: x, type: bool, knob: %s}", name);
	no(many, "s.yml:1: 'knob' of parameter 'x' must be a name of at most 63 bytes");
	name[63] = '\0';
	snprintf(many, sizeof(many), "{name: x, type: bool, knob: %s}", name);
	one(many);
}

static void conditions_are_kept(void **state)
{
	const struct tune_param *p = study.space.params;

	one("{name: y, type: bool, active_if: {m: [a, c], n: 2}}, {name: m, type: categorical, choices: [a, b, c]}, "
	    "{name: n, type: int, low: 1, high: 3}");
	assert_int_equal(p[0].condition_count, 2);
	assert_int_equal(p[0].conditions[0].param, 1);
	assert_int_equal(p[0].conditions[0].value_count, 2);
	assert_true(p[0].conditions[0].values[0] == 0 && p[0].conditions[0].values[1] == 2);
	assert_int_equal(p[0].conditions[1].param, 2);
	assert_int_equal(p[0].conditions[1].value_count, 1);
	assert_true(p[0].conditions[1].values[0] == 2);
	assert_int_equal(p[1].condition_count, 0);
}

static void studies_have_defaults(void **state)
{
	accept(X OBJECTIVE);
	assert_string_equal(study.name, "s");
	assert_int_equal(study.trials, 50);
	assert_int_equal(study.confirm, 10);
	assert_int_equal(study.settle, 2);
	assert_int_equal(study.repeats, 1);
	assert_int_equal(study.parallel, 1);
	assert_true(study.is_capped);
	assert_false(study.is_announced || study.is_per_second);
	assert_int_equal(study.objectives[0].metric.source, TUNE_TOLD);
	assert_int_equal(study.objectives[0].metric.line, 2);
	accept(X OBJECTIVE "parallel: 64\nrepeats: 100\nwindow: 5\nsettle: 0\nper_second: yes\nstep: loop\nprepare: "
			   "make it\nname: n\n");
	assert_int_equal(study.parallel, 64);
	assert_int_equal(study.repeats, 100);
	assert_int_equal(study.window, 5);
	assert_int_equal(study.settle, 0);
	assert_true(study.is_per_second);
	assert_string_equal(study.step_name, "loop");
	assert_string_equal(study.prepare[1], "it");
	refuse(X OBJECTIVE "parallel: 65\n", "s.yml:1: 'parallel' must be at most 64");
	refuse(X OBJECTIVE "repeats: 101\n", "s.yml:1: 'repeats' must be at most 100");
	refuse(X OBJECTIVE "name: a/b\n", "s.yml:3: 'name' must not contain '/' or start with '.'");
	refuse(X OBJECTIVE "name: .a\n", "s.yml:3: 'name' must not contain '/' or start with '.'");
	refuse(X OBJECTIVE "name: ''\n", "s.yml:3: 'name' must not contain '/' or start with '.'");
	refuse(X OBJECTIVE "budget: {trials: 0}\n", "s.yml:3: 'trials' must be at least 1");
	refuse(X OBJECTIVE "warm_start: [[a]]\n", "s.yml:3: 'warm_start' must be a list of journals");
	refuse(X OBJECTIVE "warm_start: a\n", "s.yml:3: 'warm_start' must be a list");
	refuse(X OBJECTIVE "files: [{path: p, template: t, from: f}]\n",
			"s.yml:3: a file needs a 'path', and its text as 'template' or the file that has it as 'from'");
	refuse(X OBJECTIVE "files: [{template: t}]\n",
			"s.yml:3: a file needs a 'path', and its text as 'template' or the file that has it as 'from'");
	refuse(X OBJECTIVE "steps: [a]\n",
			"s.yml:3: 'steps' must be a regular expression with two groups: the step "
			"and its value");
	refuse(X OBJECTIVE "constraints: x\n", "s.yml:3: 'constraints' must be a list of texts");
	refuse(X OBJECTIVE "constraints: [[x]]\n", "s.yml:3: a constraint must be a text");
	refuse_with_hint(X OBJECTIVE "method: sobl\n", "s.yml:3: unknown method 'sobl'",
			"did you mean 'sobol'? supported: gp, tpe, selftf, sobol, random");
	refuse_with_hint(X OBJECTIVE "method: [a]\n", "s.yml:3: unknown method '?'",
			" supported: gp, tpe, selftf, "
			"sobol, random");
}

static enum tune_source source_of(const char *metric)
{
	char text[300];

	snprintf(text, sizeof(text), X "objective: {%s}\n", metric);
	accept(text);
	return study.objectives[0].metric.source;
}

static void metrics_have_sources(void **state)
{
	assert_int_equal(source_of("name: wall"), TUNE_WALL);
	assert_int_equal(source_of("name: cpu"), TUNE_CPU);
	assert_int_equal(source_of("name: memory"), TUNE_MEMORY);
	assert_int_equal(source_of("name: x, file: f"), TUNE_SIZE);
	assert_int_equal(source_of("name: wall, regex: '(a)'"), TUNE_OUTPUT);
	assert_int_equal(source_of("name: step"), TUNE_STEP);
	assert_true(study.is_announced);
	assert_int_equal(source_of("name: x, target: 3, reach: above, mean_of: 2"), TUNE_TARGET);
	assert_true(study.objectives[0].metric.target == 3 && study.objectives[0].metric.is_rising);
	assert_int_equal(study.objectives[0].metric.mean_of, 2);
	assert_int_equal(source_of("name: x, target: 3"), TUNE_TARGET);
	assert_false(study.objectives[0].metric.is_rising);
	assert_int_equal(source_of("name: pace"), TUNE_RATE);
	assert_int_equal(source_of("name: x, metric: m"), TUNE_METRIC);
	assert_string_equal(study.objectives[0].metric.kept, "m");
	assert_int_equal(source_of("name: x, from: metric"), TUNE_METRIC);
	assert_string_equal(study.objectives[0].metric.kept, "x");
	assert_int_equal(source_of("name: wall, from: cpu"), TUNE_CPU);
	assert_int_equal(source_of("name: other, goal: maximize"), TUNE_TOLD);
	assert_true(study.objectives[0].is_maximized);
	refuse(X "objective: {name: x, from: target}\n",
			"s.yml:2: 'x' is the time to a step value and needs a "
			"'target'");
	refuse(X "objective: {name: x, from: output}\n", "s.yml:2: 'x' comes from the output and needs a 'regex'");
	refuse(X "objective: {name: size}\n", "s.yml:2: 'size' is the size of a file and needs 'file'");
	refuse(X "objective: {name: ''}\n", "s.yml:2: an objective needs a 'name'");
	refuse(X "objectives: [{name: a}, {name: a}]\n", "s.yml:2: duplicate objective 'a'");
	refuse(X "objectives: [{name: a}, {name: b}, {name: c}, {name: d}]\n",
			"s.yml:2: too many objectives "
			"(maximum 3)");
	refuse(X "objectives: a\n", "s.yml:2: 'objectives' must be a list");
	refuse(X OBJECTIVE "limits: [{name: a, min: 2, max: 1}]\n",
			"s.yml:3: 'min' of the limit of 'a' is above "
			"'max'");
	refuse(X OBJECTIVE "limits: [{name: a}]\n", "s.yml:3: the limit of 'a' needs a 'min' or a 'max'");
	refuse(X OBJECTIVE "limits: [{name: a, max: 1}, {name: b, max: 1}, {name: c, max: 1}, {name: d, max: 1}, "
			   "{name: e, max: 1}]\n",
			"s.yml:3: too many limits (maximum 4)");
	accept(X OBJECTIVE "limits: [{name: a, min: 1, max: 1}]\n");
	accept(X OBJECTIVE "steps: 'a (b) (c)'\nearly_stop: median\n");
	assert_false(study.is_announced); /* steps come from the output */
	accept(X OBJECTIVE "early_stop: median\n");
	assert_true(study.is_announced);
	accept("params: [{name: x, type: bool, knob: k}]\n" OBJECTIVE);
	assert_true(study.is_announced);
	accept(X OBJECTIVE "limits: [{name: a, metric: m, max: 1}]\n");
	assert_true(study.is_announced);
}

static void names_come_from_the_path(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = { { "a/b/sqlite.yml", "sqlite" }, { "x", "x" }, { "d.d/x", "x" },
		{ ".hidden",
				".hidde"
				"n" },
		{ "a/x.y.yml", "x.y" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(tune_study_parse(&study, cases[i].path, X OBJECTIVE, strlen(X OBJECTIVE), &arena,
						 NULL),
				0);
		assert_string_equal(study.name, cases[i].name);
		assert_string_equal(study.path, cases[i].path);
	}
}

static void options_are_of_the_study(void **state)
{
	struct tune_options how;

	accept(X "objectives: [{name: a}, {name: b, goal: maximize}]\nlimits: [{name: c, min: 1, max: 2}]\nseed: 5\n"
		 "per_second: yes\n"
		 "method: tpe\n");
	tune_study_options(&study, &how);
	assert_string_equal(how.method->name, "tpe");
	assert_int_equal(how.seed, 5);
	assert_int_equal(how.objective_count, 2);
	assert_false(how.is_maximized[0]);
	assert_true(how.is_maximized[1]);
	assert_int_equal(how.limit_count, 1);
	assert_true(how.limits[0].min == 1 && how.limits[0].max == 2);
	assert_true(how.is_per_second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_types),
		cmocka_unit_test(parameters_are_refused),
		cmocka_unit_test(conditions_are_kept),
		cmocka_unit_test(studies_have_defaults),
		cmocka_unit_test(metrics_have_sources),
		cmocka_unit_test(names_come_from_the_path),
		cmocka_unit_test(options_are_of_the_study),
	};
	int failed = RUN_TESTS(tests);

	arena_release(&arena);
	return failed;
}
