/* file: every key of a rules file with its default and bounds; histories of samples; regulators step by step. */
#include "../../support.h"

#include "base/fs.h"
#include "live/rules/rule-eval.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define RULE "rules: [{name: r, when: m > 1, do: report x}]\n"

static struct arena arena = ARENA_INIT;
static char dir[] = "/tmp/sonde-rules-XXXXXX";
static struct rules_file *file;

static int set_up(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	file = calloc(1, sizeof(*file));
	return chdir(dir);
}

static int tear_down(void **state)
{
	free(file);
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, dir);
}

static int load(const char *text, struct sonde_err *err)
{
	*err = (struct sonde_err)SONDE_ERR_INIT;
	assert_int_equal(fs_replace_file(AT_FDCWD, "f.yml", text, strlen(text), NULL), 0);
	return rules_load(file, "f.yml", &arena, err);
}

static void accept(const char *text)
{
	struct sonde_err err;

	if (load(text, &err) < 0)
		fail_msg("%s", err.text);
}

static void refuse(const char *text, const char *message)
{
	struct sonde_err err;

	assert_int_equal(load(text, &err), -EINVAL);
	assert_string_equal(err.text, message);
}

static void settings_have_defaults(void **state)
{
	accept(RULE);
	assert_int_equal(file->interval_ns, 250000000);
	assert_int_equal(file->stale_ns, 5 * SECOND);
	assert_int_equal(file->lease_ns, 10 * SECOND);
	assert_int_equal(file->rate_max, 600);
	assert_false(file->is_dry_run || file->is_utc);
	assert_null(file->journal);
	assert_int_equal(file->rules[0].hold_ns, 30 * SECOND);
	assert_int_equal(file->rules[0].for_ns, 0);
	assert_int_equal(file->rules[0].priority, 0);
	assert_int_equal(file->rules[0].action_count, 1);
	assert_null(file->rules[0].until);
	accept("interval: 10ms\nstale: 1s\nlease: 40ms\ndry_run: yes\nutc: true\njournal: j\noff_file: o\nspool: s\n"
	       "max_rate: 1\n" RULE);
	assert_int_equal(file->interval_ns, 10000000);
	assert_int_equal(file->lease_ns, 40000000);
	assert_true(file->is_dry_run && file->is_utc);
	assert_string_equal(file->journal, "j");
	assert_string_equal(file->off_file, "o");
	assert_string_equal(file->spool, "s");
	assert_int_equal(file->rate_max, 1);
	accept("interval: 1h\nlease: 4h\n" RULE);
	refuse("interval: 9ms\n" RULE, "f.yml:1: 'interval' must be from 10ms to 1h");
	refuse("interval: 61m\nlease: 100h\n" RULE, "f.yml:1: 'interval' must be from 10ms to 1h");
	refuse("interval: 10ms\nlease: 39ms\n" RULE, "f.yml:1: 'lease' must be at least four intervals");
	refuse("max_rate: 0\n" RULE, "f.yml:1: 'max_rate' must be at least 1");
	refuse("interval: 1s\n", "f.yml:1: no rules and no regulators");
}

static void rules_have_parts(void **state)
{
	char many[8000] = "rules:\n";

	accept("rules:\n - {name: a, when: m > 1, until: m < 2, for: 1s, cooldown: 2s, hold: 3s, priority: -5, do: "
	       "[report x, freeze y], "
	       "else: thaw y}\n - {name: b, when: m > 1, do: [report x]}\n - {name: c, when: m > 1, do: [report x]}\n");
	assert_string_equal(file->rules[0].name, "b"); /* by priority, then in order */
	assert_string_equal(file->rules[1].name, "c");
	assert_string_equal(file->rules[2].name, "a");
	assert_int_equal(file->rules[2].for_ns, SECOND);
	assert_int_equal(file->rules[2].cooldown_ns, 2 * SECOND);
	assert_int_equal(file->rules[2].hold_ns, 3 * SECOND);
	assert_int_equal(file->rules[2].action_count, 2);
	assert_int_equal(file->rules[2].otherwise_count, 1);
	assert_string_equal(file->rules[2].when_text, "m > 1");
	assert_string_equal(file->rules[2].until_text, "m < 2");
	refuse("rules: x\n", "f.yml:1: 'rules' must be a list");
	refuse("rules: [{when: m > 1, do: report x}]\n", "f.yml:1: a rule needs 'name', 'when' and 'do'");
	refuse("rules: [{name: r, do: report x}]\n", "f.yml:1: a rule needs 'name', 'when' and 'do'");
	refuse("rules: [{name: r, when: m > 1, do: []}]\n", "f.yml:1: a rule needs 'name', 'when' and 'do'");
	refuse("rules: [{name: r, when: [m], do: report x}]\n", "f.yml:1: an expression must be a string");
	refuse("rules: [{name: r, when: m + 1, do: report x}]\n",
			"f.yml:1: column 1: expected a boolean, not a "
			"number");
	refuse("rules: [{name: r, when: m > 1, do: {a: b}}]\n", "f.yml:1: actions must be a list of strings");
	refuse("rules: [{name: r, when: m > 1, do: [[report]]}]\n", "f.yml:1: an action must be a string");
	refuse("rules: [{name: r, when: m > 1, do: [report x, report x, report x, report x, report x, report x, "
	       "report x, report x, report x]}]\n",
			"f.yml:1: too many actions (maximum 8)");
	refuse("rules:\n - name: r\n   when: m > 1\n   do: [report x, wait]\n", "f.yml:4: unknown action 'wait'");
	for (int i = 0; i < RULES_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many),
				" - {name: r%d, when: m > 1, do: report "
				"x}\n",
				i);
	accept(many);
	assert_int_equal(file->rule_count, RULES_MAX);
	strcat(many, " - {name: more, when: m > 1, do: report x}\n");
	refuse(many, "f.yml:66: too many rules (maximum 64)");
}

#define REGULATOR(more) "regulators: [{name: g, measure: m, " more "}]\n"

static void regulators_have_parts(void **state)
{
	const struct rules_regulator *g = file->regulators;

	accept(REGULATOR("at_least: 30, act: [cap h 2..1, weight a 1..2, knob a k 1..2, io a 1..2]"));
	assert_false(g->settings.is_upper);
	assert_true(g->settings.target == 30);
	assert_int_equal(g->settings.method, REGULATOR_AIMD);
	assert_true(g->settings.band == 0.15 && g->settings.raise == 0.08 && g->settings.lower == 0.01);
	assert_int_equal(g->settings.saturation_ns, 3 * SECOND);
	assert_int_equal(g->settings.retry_ns, 60 * SECOND);
	assert_int_equal(g->settings.rung_count, 4);
	assert_int_equal(g->rungs[0].kind, ACTION_WEIGHT);
	assert_int_equal(g->rungs[1].kind, ACTION_IO);
	assert_int_equal(g->rungs[2].kind, ACTION_CAP);
	assert_int_equal(g->rungs[3].kind, ACTION_KNOB);
	accept(REGULATOR("at_most: -2, method: pi, band: 0, raise: 1, lower: 1, proportional: 2, integral: 3, "
			 "saturation: 1s, retry: 2s, "
			 "act: weight a 1..2"));
	assert_true(g->settings.is_upper);
	assert_true(g->settings.target == -2);
	assert_int_equal(g->settings.method, REGULATOR_PI);
	assert_true(g->settings.band == 0 && g->settings.raise == 1 && g->settings.lower == 1);
	assert_true(g->settings.proportional == 2 && g->settings.integral == 3);
	assert_int_equal(g->settings.saturation_ns, SECOND);
	assert_int_equal(g->settings.retry_ns, 2 * SECOND);
	refuse(REGULATOR("at_least: 1"), "f.yml:1: a regulator needs 'name', 'measure' and 'act'");
	refuse(REGULATOR("act: weight a 1..2"), "f.yml:1: a regulator needs either 'at_least' or 'at_most'");
	refuse(REGULATOR("at_least: 1, at_most: 2, act: weight a 1..2"),
			"f.yml:1: a regulator needs either "
			"'at_least' or 'at_most'");
	refuse(REGULATOR("at_least: 0, act: weight a 1..2"), "f.yml:1: the target must not be 0");
	refuse(REGULATOR("at_least: 1, band: -0.1, act: weight a 1..2"),
			"f.yml:1: 'band' must be at least 0, 'raise' and 'lower' above 0 and at most 1");
	refuse(REGULATOR("at_least: 1, raise: 0, act: weight a 1..2"),
			"f.yml:1: 'band' must be at least 0, 'raise' and 'lower' above 0 and at most 1");
	refuse(REGULATOR("at_least: 1, lower: 1.1, act: weight a 1..2"),
			"f.yml:1: 'band' must be at least 0, 'raise' and 'lower' above 0 and at most 1");
	refuse("regulators: x\n", "f.yml:1: 'regulators' must be a list");
	refuse("regulators: [{name: g, measure: m > 1, at_least: 1, act: weight a 1..2}]\n",
			"f.yml:1: column 1: expected a number, not a boolean");
}

static void applications_have_floors(void **state)
{
	accept("apps: {a: {cgroup: /x, protected: true}, b: {floor: {cpus: 0.5, weight: 10, memory: 2M}}}\n" RULE);
	assert_int_equal(file->app_count, 2);
	assert_string_equal(rules_app(file, "a")->cgroup, "/x");
	assert_true(rules_app(file, "a")->is_protected);
	assert_false(rules_app(file, "b")->is_protected);
	assert_true(rules_app(file, "b")->floor_cpus == 0.5 && rules_app(file, "b")->floor_weight == 10);
	assert_true(rules_app(file, "b")->floor_memory == 2097152);
	assert_null(rules_app(file, "c"));
	assert_null(rules_app(file, NULL));
	refuse("apps: []\n" RULE, "f.yml:1: 'apps' must be a mapping of names to settings");
	refuse("apps: {[a]: {}}\n" RULE, "f.yml:1: an application name must be a string");
	refuse("apps: {a: {floor: {memory: x}}}\n" RULE, "f.yml:1: 'memory' must be a size such as 512M");
	refuse("apps: {a: {floor: {memory: [1M]}}}\n" RULE, "f.yml:1: 'memory' must be a size such as 512M");
}

/* Samples. */

static void histories_are_bounded(void **state)
{
	struct memory m = MEMORY_INIT;
	struct memory_label labels[9];
	const struct memory_series *s;

	assert_int_equal(memory_watch(&m, "a", 10), 0);
	assert_int_equal(memory_watch(&m, "a", 5), 0); /* the longer one counts */
	assert_true(memory_wants(&m, "a"));
	assert_false(memory_wants(&m, "b"));
	assert_int_equal(memory_add(&m, "b", NULL, 0, 1, 1), 0);
	assert_int_equal(m.series_count, 0);
	for (int i = 1; i <= 40; i++)
		assert_int_equal(memory_add(&m, "a", NULL, 0, i, i), 0);
	s = &m.series[0];
	assert_int_equal(s->first_ns, 1);
	assert_int_equal(s->count, 11); /* of (30, 40], and the one before */
	assert_int_equal(memory_sample(s, 0)->ns, 30);
	assert_int_equal(memory_sample(s, 10)->ns, 40);
	assert_true(memory_sample(s, 10)->value == 40);
	assert_int_equal(memory_add(&m, "a", NULL, 0, 39, 99), 0); /* older than the newest */
	assert_int_equal(memory_add(&m, "a", NULL, 0, 41, INFINITY), 0);
	assert_int_equal(m.series[0].count, 11);
	assert_int_equal(memory_add(&m, "a", NULL, 0, 40, 41), 0); /* the same time is not older */
	assert_int_equal(m.series[0].count, 12);
	for (int i = 0; i < 9; i++)
		labels[i] = (struct memory_label){ "key", "value" };
	labels[1] = (struct memory_label){ "app", "x" };
	assert_int_equal(memory_add(&m, "a", labels, 9, 50, 1), 0);
	assert_int_equal(m.series_count, 2);
	assert_int_equal(m.series[1].label_count, MEMORY_LABELS_MAX);
	assert_string_equal(memory_label(&m.series[1], "app"), "x");
	assert_string_equal(memory_label(&m.series[1], "none"), "");
	assert_string_equal(memory_label(&m.series[0], "app"), "");
	memory_release(&m);
	assert_int_equal(memory_watch(&m, "a", INT64_MAX / 2), 0);
	for (int i = 1; i <= MEMORY_SAMPLES_MAX + 5; i++)
		assert_int_equal(memory_add(&m, "a", NULL, 0, i, i), 0);
	assert_int_equal(m.series[0].count, MEMORY_SAMPLES_MAX);
	assert_int_equal(memory_sample(&m.series[0], 0)->ns, 6);
	for (int i = 1; i <= MEMORY_SERIES_MAX + 2; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", i);
		labels[0].value = text;
		assert_int_equal(memory_add(&m, "a", labels, 1, 9999, 1), 0);
	}
	assert_int_equal(m.series_count, MEMORY_SERIES_MAX);
	assert_int_equal(m.dropped, 3);
	memory_release(&m);
}

/* Values of functions at the edges of their windows. */
static void windows_have_edges(void **state)
{
	struct memory m = MEMORY_INIT;
	struct expr_now now = { .mono_ns = 100 * SECOND,
		.real_ns = 3 * SECOND / 2,
		.stale_ns = 5 * SECOND,
		.is_utc = true };
	static const struct {
		const char *text;
		double value; /* NaN: unknown */
		const char *why;
	} cases[] = {
		{ "count(g[10s])", 3, NULL }, /* 91, 95, 100; 90 is outside */
		{ "avg(g[10s])", 5, NULL },
		{ "min(g[10s])", 2, NULL },
		{ "max(g[10s])", 9, NULL },
		{ "delta(g[10s])", 8, NULL }, /* from the one before the window: 9 - 1 */
		{ "delta(g[1us])", 5, NULL },
		{ "rate(g[10s])", 0.8, NULL },
		{ "increase(g[10s])", 8, NULL },
		{ "quantile(0, g[10s])", 2, NULL },
		{ "quantile(0.25, g[10s])", 3, NULL },
		{ "quantile(0.75, g[10s])", 6.5, NULL },
		{ "quantile(1.1, g[10s])", NAN, "invalid quantile 1.1 (expected 0 to 1)" },
		{ "quantile(none, g[10s])", NAN, "none not found" },
		{ "quantile(0.5, none[10s])", NAN, "none[10s] has no samples" },
		{ "ewma(g[10s])", NAN, "" },
		{ "ewma(none[10s])", NAN, "none[10s] has no samples" },
		{ "avg(none[10s])", NAN, "none[10s] has no samples" },
		{ "count(none[10s])", 0, NULL },
		{ "count(none)", 0, NULL },
		{ "sum(none)", NAN, "none has no fresh sample" },
		{ "rate(one[10s])", NAN, "one[10s] has fewer than two samples" },
		{ "delta(one[10s])", NAN, "one[10s] has fewer than two samples" },
		{ "old", NAN, "old is stale" },
		{ "fresh", 7, NULL }, /* exactly as old as it may be */
		{ "two", NAN, "two matches 2 series: select one, or use sum() or max()" },
		{ "sum(two)", 30, NULL },
		{ "avg(two)", 15, NULL },
		{ "min(two)", 10, NULL },
		{ "max(two)", 20, NULL },
		{ "time()", 1.5, NULL },
		{ "abs(none)", NAN, "none not found" },
		{ "1 / 0", NAN, "the result is not finite" },
	};
	static const struct {
		const char *text;
		bool value;
	} truths[] = { { "stale(old, 6s)", false }, { "stale(old, 5999ms)", true },
		{ "after(g, "
		  "10s)",
				true },
		{ "after(g, 10001ms)", false }, { "present(two)", true }, { "present(none)", false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) + sizeof(truths) / sizeof(truths[0]); i++) {
		bool is_truth = i >= sizeof(cases) / sizeof(cases[0]);
		size_t k = is_truth ? i - sizeof(cases) / sizeof(cases[0]) : i;
		const char *text = is_truth ? truths[k].text : cases[k].text;
		struct sonde_err err = SONDE_ERR_INIT;
		struct expr_value v;
		struct expr *e;

		if (rule_expr_compile(&e, text, is_truth ? EXPR_TRUTH : EXPR_NUMBER, &arena, &err) < 0)
			fail_msg("%s: %s", text, err.text);
		assert_int_equal(rule_expr_watch(e, &m), 0);
		if (i == 0) {
			static const struct memory_label a = { "app", "a" }, b = { "app", "b" };

			for (int n = 0; n < 5; n++)
				memory_watch(&m, (const char *[]){ "g", "one", "old", "fresh", "two" }[n], 60 * SECOND);
			memory_add(&m, "g", NULL, 0, 90 * SECOND, 1);
			memory_add(&m, "g", NULL, 0, 91 * SECOND, 2);
			memory_add(&m, "g", NULL, 0, 95 * SECOND, 4);
			memory_add(&m, "g", NULL, 0, 100 * SECOND, 9);
			memory_add(&m, "one", NULL, 0, 99 * SECOND, 1);
			memory_add(&m, "old", NULL, 0, 94 * SECOND, 1);
			memory_add(&m, "fresh", NULL, 0, 95 * SECOND, 7);
			memory_add(&m, "two", &a, 1, 99 * SECOND, 10);
			memory_add(&m, "two", &b, 1, 99 * SECOND, 20);
		}
		v = rule_expr_eval(e, &m, &now);
		if (is_truth) {
			assert_true(v.is_known);
			assert_int_equal(v.number != 0, truths[k].value);
		} else if (strcmp(text, "ewma(g[10s])") == 0) {
			double w1 = exp(-2.7), w2 = exp(-1.5);

			assert_true(fabs(v.number - (w1 * 2 + w2 * 4 + 9) / (w1 + w2 + 1)) < 1e-9);
		} else if (isnan(cases[k].value)) {
			assert_false(v.is_known);
			assert_string_equal(v.why, cases[k].why);
		} else if (!v.is_known || fabs(v.number - cases[k].value) > 1e-9) {
			fail_msg("%s is %g (%s)", text, v.number, v.why);
		}
	}
	memory_release(&m);
}

/* Regulators, step by step. */

static void efforts_follow_the_shortfall(void **state)
{
	struct regulator_settings s = REGULATOR_USUAL;
	struct regulator r = { .efforts = { 0 } };

	s.target = 100;
	s.rung_count = 1;
	assert_true(regulator_shortfall(&s, 80) == 0.2);
	assert_true(regulator_shortfall(&s, 120) == -0.2);
	assert_int_equal(regulator_step(&r, &s, 99, SECOND), REGULATOR_MOVED);
	assert_true(r.efforts[0] == 0.08);
	assert_int_equal(regulator_step(&r, &s, 100, 2 * SECOND), REGULATOR_SAME); /* at the target, within the band */
	assert_int_equal(regulator_step(&r, &s, 114, 3 * SECOND), REGULATOR_SAME);
	assert_true(r.efforts[0] == 0.08);
	assert_int_equal(regulator_step(&r, &s, 116, 4 * SECOND), REGULATOR_MOVED);
	assert_true(r.efforts[0] == 0.07);
	s.is_upper = true;
	assert_true(regulator_shortfall(&s, 80) == -0.2);
	s.is_upper = false;
	s.target = -100;
	assert_true(regulator_shortfall(&s, -120) == 0.2);
	assert_string_equal(regulator_event_word(REGULATOR_SAME), "same");
	assert_string_equal(regulator_event_word(REGULATOR_RECOVERED), "recovered");
}

static void integrals_do_not_wind_up(void **state)
{
	struct regulator_settings s = REGULATOR_USUAL;
	struct regulator r = { .efforts = { 0 } };

	s.method = REGULATOR_PI;
	s.target = 100;
	s.rung_count = 1;
	assert_int_equal(regulator_step(&r, &s, 50, SECOND), REGULATOR_MOVED);
	assert_true(fabs(r.efforts[0] - 0.15) < 1e-9); /* 0.3 * 0.5, no time has passed */
	regulator_step(&r, &s, 50, 2 * SECOND);
	assert_true(fabs(r.efforts[0] - 0.4) < 1e-9); /* and 0.5 * 0.5 */
	for (int i = 3; i < 30; i++)
		regulator_step(&r, &s, 50, i * SECOND / 10 + 2 * SECOND);
	assert_true(r.efforts[0] <= 1);
	/* Far beyond the band: the integral falls from at most 1. */
	regulator_step(&r, &s, 215, 100 * SECOND);
	assert_true(r.efforts[0] < 1);
}

static void a_failure_is_told_and_tried_again(void **state)
{
	struct regulator_settings s = REGULATOR_USUAL;
	struct regulator r = { .efforts = { 0 } };

	s.method = REGULATOR_THRESHOLD;
	s.target = 100;
	s.rung_count = 2;
	s.saturation_ns = 2 * SECOND;
	s.retry_ns = 10 * SECOND;
	assert_int_equal(regulator_step(&r, &s, 50, 10 * SECOND), REGULATOR_MOVED);
	assert_int_equal(regulator_step(&r, &s, 60, 11 * SECOND), REGULATOR_SAME);
	assert_int_equal(regulator_step(&r, &s, 60, 12 * SECOND), REGULATOR_ESCALATED); /* full for two seconds */
	assert_true(r.efforts[0] == 1);                                                 /* it helped */
	assert_int_equal(r.rung, 1);
	assert_int_equal(regulator_step(&r, &s, 60, 13 * SECOND), REGULATOR_MOVED);
	assert_int_equal(regulator_step(&r, &s, 62, 14 * SECOND), REGULATOR_SAME);
	assert_int_equal(regulator_step(&r, &s, 62, 15 * SECOND), REGULATOR_SATURATED);
	assert_true(r.efforts[1] == 0); /* 2 of 100 is no response */
	assert_true(r.is_saturated);
	assert_int_equal(regulator_step(&r, &s, 62, 24 * SECOND), REGULATOR_SAME);
	assert_int_equal(regulator_step(&r, &s, 62, 25 * SECOND), REGULATOR_MOVED); /* retried */
	assert_false(r.is_saturated);
	assert_int_equal(r.rung, 1);
	assert_int_equal(regulator_step(&r, &s, 62, 26 * SECOND), REGULATOR_SAME);
	assert_int_equal(regulator_step(&r, &s, 62, 27 * SECOND), REGULATOR_SATURATED);
	assert_int_equal(regulator_step(&r, &s, 100, 28 * SECOND), REGULATOR_RECOVERED);
	assert_int_equal(regulator_step(&r, &s, 200, 29 * SECOND),
			REGULATOR_MOVED); /* the last rung is lowered first */
	assert_true(r.efforts[0] == 0);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(settings_have_defaults),
		IN_DIR(rules_have_parts),
		IN_DIR(regulators_have_parts),
		IN_DIR(applications_have_floors),
		cmocka_unit_test(histories_are_bounded),
		cmocka_unit_test(windows_have_edges),
		cmocka_unit_test(efforts_follow_the_shortfall),
		cmocka_unit_test(integrals_do_not_wind_up),
		cmocka_unit_test(a_failure_is_told_and_tried_again),
	};
	int failed = RUN_TESTS(tests);

	arena_release(&arena);
	return failed;
}
