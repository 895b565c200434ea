/* report: verdicts, JSON, CSV and HTML of a study whose trials are told by hand. */
#include "../support.h"

#include "base/cleanup.h"
#include "studies.h"
#include "tune/study-report.h"

#include <errno.h>
#include <stdio.h>

#define STUDY \
	"name: demo <1>\n" \
	"params:\n" \
	"  - {name: x, type: float, low: 0, high: 1, default: 0.5}\n" \
	"  - {name: mode, type: categorical, choices: [safe, 'fast, \"wild\"'],\n" \
	"     gives_up: {'fast, \"wild\"': the <safety>}}\n" \
	"  - {name: k, type: int, low: 1, high: 4, active_if: {mode: [safe]}}\n" \
	"limits: [{name: memory, max: 100}]\nseed: 9\nbudget: {trials: 20}\nmethod: random\n"

struct world {
	struct arena arena;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_outcome outcome;
	struct tune_insight insight;
	struct tune_report report;
};

static void add(struct world *w, double x, double mode, double k, struct tune_result result)
{
	const struct tune_trial *trial;
	double point[] = { x, mode, k };

	assert_int_equal(tune_add(&w->o, 0, point, &trial, NULL), 0);
	if (result.state != TUNE_PENDING)
		assert_int_equal(tune_tell(&w->o, trial->id, &result, NULL), 0);
}

/* The default with 8, one with 4 that gives something up, one cut at 40, a failed and a pending one. */
static void make_world(struct world *w, const char *objective)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char text[2000];

	memset(w, 0, sizeof(*w));
	arena_init(&w->arena);
	snprintf(text, sizeof(text), "%s%s", STUDY, objective);
	if (parse(&w->study, text, &w->arena, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(make(&w->o, &w->study, 9), 0);
	add(w, 0.5, 0, 2,
			(struct tune_result){ .state = TUNE_DONE, .values = { 8, 1 }, .limits = { 50 }, .repeats = 3 });
	add(w, 0.25, 1, NAN, (struct tune_result){ .state = TUNE_DONE, .values = { 4, 2 }, .limits = { 60 } });
	add(w, 0.75, 0, 1,
			(struct tune_result){ .state = TUNE_CUT,
					.values = { 40, 3 },
					.limits = { NAN },
					.rungs = { 50, 40 },
					.rung_count = 2 });
	add(w, 1, 0, 1, (struct tune_result){ .state = TUNE_FAILED });
	add(w, 0, 0, 1, (struct tune_result){ .state = TUNE_PENDING });
	w->outcome = (struct tune_outcome){ .best = { .trial = &w->o.trials[1], .value = 4.5, .lo = 4, .hi = 5 },
		.start = &w->o.trials[0],
		.proof_why = "",
		.done = 2,
		.cut = 1,
		.failed = 1 };
	w->outcome.ratio = w->outcome.difference = stats_interval_open(NAN, 0, 0.95, "");
	w->report = (struct tune_report){ &w->study, &w->o, &w->outcome, &w->insight, .is_paired = false };
}

#define MINIMIZE "objective: {name: loss, goal: minimize}\n"
#define MAXIMIZE "objective: {name: rate, goal: maximize}\n"
#define TWO "objectives: [{name: loss}, {name: bytes, goal: minimize}]\n"

static void release(struct world *w)
{
	tune_optimizer_release(&w->o);
	arena_release(&w->arena);
}

static void set_interval(struct stats_interval *i, double estimate, double lo, double hi)
{
	*i = stats_interval_open(estimate, 10, 0.95, "ranks");
	i->lo = lo;
	i->hi = hi;
}

static void verdict(struct world *w, const char *expected)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	tune_report_verdict(&out, &w->report);
	assert_string_equal(out.data, expected);
}

static void verdicts_of_a_cost(void **state)
{
	struct world w;

	make_world(&w, MINIMIZE);
	verdict(&w, "not compared with the default");
	w.outcome.proof_why = "exit status 1";
	verdict(&w, "not compared with the default: confirmation runs failed: exit status 1");
	w.outcome.gain = TUNE_GAIN_PROVEN;
	w.outcome.pairs = 10;
	set_interval(&w.outcome.ratio, 0.5, 0.4, 0.55);
	verdict(&w, "better than the default: 50.0 % [45.0, 60.0] less loss (10 pairs, ranks)");
	w.outcome.gain = TUNE_GAIN_NONE;
	set_interval(&w.outcome.ratio, 0.98, 0.9, 1.05);
	verdict(&w,
			"no significant improvement: the best configuration found changes loss by -2.0 % [-10.0, +5.0] "
			"(10 pairs, ranks); "
			"keep the default");
	w.outcome.is_difference = true;
	set_interval(&w.outcome.difference, -3, -4, 1);
	verdict(&w, "no significant improvement: loss less by 3 [-1, 4] (10 pairs, ranks); keep the default");
	w.outcome.gain = TUNE_GAIN_PROVEN;
	verdict(&w, "better than the default: loss less by 3 [-1, 4] (10 pairs, ranks)");
	w.outcome.gain = TUNE_GAIN_UNKNOWN;
	w.outcome.start = NULL;
	verdict(&w, "the constraints exclude the default: no comparison");
	w.outcome.start = &w.o.trials[3];
	verdict(&w, "the default failed: no comparison");
	w.outcome.start = &w.o.trials[1];
	verdict(&w, "no improvement: the default is the best configuration found");
	w.outcome.best.trial = NULL;
	w.outcome.done = 0;
	verdict(&w, "all trials failed");
	w.outcome.failed = 0;
	verdict(&w, "no trial has ended yet");
	release(&w);
}

static void verdicts_of_a_score(void **state)
{
	struct world w;

	make_world(&w, MAXIMIZE);
	w.outcome.gain = TUNE_GAIN_PROVEN;
	w.outcome.pairs = 8;
	set_interval(&w.outcome.ratio, 1.5, 1.25, 1.75);
	verdict(&w, "better than the default: 50.0 % [25.0, 75.0] more rate (8 pairs, ranks)");
	w.outcome.is_difference = true;
	set_interval(&w.outcome.difference, 3, 2, 4);
	verdict(&w, "better than the default: rate more by 3 [2, 4] (8 pairs, ranks)");
	release(&w);
	make_world(&w, TWO);
	verdict(&w, "several objectives: see the front");
	release(&w);
}

static void broken_limits_are_named(void **state)
{
	struct world w;

	make_world(&w, MINIMIZE);
	w.outcome.best.trial = NULL;
	w.study.limits[0].limit.max = 40;
	verdict(&w, "no trial met the limits: memory was 50 at least, and may be 40 at most");
	w.study.limits[0].limit = (struct tune_limit){ .min = 70, .max = 90 };
	verdict(&w, "no trial met the limits: memory was 60 at most, and may be 70 at least");
	w.study.limits[0].limit = (struct tune_limit){ .min = 0, .max = 50 };
	verdict(&w, "no trial met all limits");
	release(&w);
}

static void losses_are_what_the_best_gives_up(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make_world(&w, MINIMIZE);
	assert_int_equal(tune_report_losses(&out, &w.report, "<", ">"), 1);
	assert_string_equal(out.data, "<mode = fast, \"wild\" gives up: the <safety>>");
	w.outcome.best.trial = &w.o.trials[0];
	assert_int_equal(tune_report_losses(&out, &w.report, "", ""), 0);
	w.outcome.best.trial = NULL;
	assert_int_equal(tune_report_losses(&out, &w.report, "", ""), 0);
	release(&w);
}

static void json_has_the_fields(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make_world(&w, MINIMIZE);
	tune_report_json(&out, &w.report);
	assert_string_equal(out.data,
			"{\"study\":\"demo <1>\",\"seed\":9,\"method\":\"random\",\"is_paired\":false,"
			"\"is_interrupted\":false,"
			"\"is_running\":false,\"trials_wanted\":20,\"done\":2,\"cut\":1,\"failed\":1,"
			"\"best\":{\"id\":2,\"params\":{\"x\":0.25,\"mode\":\"fast, \\\"wild\\\"\"},\"value\":4.5,"
			"\"lo\":4,\"hi\":5},"
			"\"default\":{\"id\":1,\"state\":\"done\",\"params\":{\"x\":0.5,\"mode\":\"safe\",\"k\":2},"
			"\"values\":{\"loss\":8,\"memory\":50},\"repeats\":3},"
			"\"gain\":\"unknown\",\"ratio\":null,\"verdict\":\"not compared with the default\","
			"\"gives_up\":\"mode = fast, \\\"wild\\\" gives up: the <safety>\","
			"\"objectives\":[{\"name\":\"loss\",\"goal\":\"minimize\"}],\"importance\":null,"
			"\"dependence\":null,"
			"\"trials\":[{\"id\":1,\"state\":\"done\",\"params\":{\"x\":0.5,\"mode\":\"safe\",\"k\":2},"
			"\"values\":{\"loss\":8,\"memory\":50},\"repeats\":3},"
			"{\"id\":2,\"state\":\"done\",\"params\":{\"x\":0.25,\"mode\":\"fast, \\\"wild\\\"\"},"
			"\"values\":{\"loss\":4,\"memory\":60},\"repeats\":1},"
			"{\"id\":3,\"state\":\"cut\",\"params\":{\"x\":0.75,\"mode\":\"safe\",\"k\":1},"
			"\"values\":{\"loss\":40,\"memory\":null},\"repeats\":1,\"rungs\":[50,40]},"
			"{\"id\":4,\"state\":\"failed\",\"params\":{\"x\":1,\"mode\":\"safe\",\"k\":1},\"repeats\":1},"
			"{\"id\":5,\"state\":\"pending\",\"params\":{\"x\":0,\"mode\":\"safe\",\"k\":1},"
			"\"repeats\":1}]}\n");
	buf_reset(&out);
	w.outcome.best.trial = NULL;
	w.outcome.start = NULL;
	w.outcome.knob = "threads";
	w.outcome.gain = TUNE_GAIN_NONE;
	w.outcome.is_difference = true;
	w.outcome.pairs = 4;
	set_interval(&w.outcome.difference, -1, -2, 3);
	set_interval(&w.outcome.ratio, 0.5, 0.25, 0.75);
	w.insight.is_there = true;
	w.insight.importance[0] = 0.75;
	w.insight.curves[2] = (struct tune_curve){ .count = 1, .at = { 3 }, .value = { 5 }, .lo = { 4 }, .hi = { 6 } };
	tune_report_json(&out, &w.report);
	assert_non_null(strstr(out.data,
			",\"failed\":1,\"unused_knob\":\"threads\",\"best\":null,\"default\":null,"
			"\"gain\":\"none\","
			"\"ratio\":{\"estimate\":0.5,\"lo\":0.25,\"hi\":0.75,\"level\":0.95,"
			"\"n\":4,\"method\":\"ranks\"},"
			"\"difference\":{\"estimate\":-1,\"lo\":-2,\"hi\":3,\"level\":0.95,\"n\":4,"
			"\"method\":\"ranks\"},"));
	assert_non_null(strstr(out.data, "\"gives_up\":null,"));
	assert_non_null(strstr(out.data,
			"\"importance\":{\"x\":0.75,\"mode\":0,\"k\":0},\"dependence\":{\"x\":[],"
			"\"mode\":[],"
			"\"k\":[[3,5,4,6]]},"));
	release(&w);
}

static void a_front_has_what_nothing_dominates(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make_world(&w, TWO);
	assert_true(report_is_on_front(&w.report, &w.o.trials[0]));
	assert_true(report_is_on_front(&w.report, &w.o.trials[1]));
	assert_false(report_is_on_front(&w.report, &w.o.trials[2]));
	assert_false(report_is_on_front(&w.report, &w.o.trials[4]));
	tune_report_json(&out, &w.report);
	assert_non_null(strstr(out.data, "\"front\":[1,2],"));
	add(&w, 0.1, 0, 1, (struct tune_result){ .state = TUNE_DONE, .values = { 4, 1 }, .limits = { 50 } });
	assert_false(report_is_on_front(&w.report, &w.o.trials[0]));
	assert_false(report_is_on_front(&w.report, &w.o.trials[1]));
	assert_true(report_is_on_front(&w.report, &w.o.trials[5]));
	release(&w);
}

static void csv_has_a_line_per_trial(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make_world(&w, MINIMIZE);
	tune_report_csv(&out, &w.report);
	assert_string_equal(out.data,
			"id,state,repeats,loss,memory,x,mode,k\n"
			"1,done,3,8,50,0.5,safe,2\n2,done,1,4,60,0.25,\"fast, \"\"wild\"\"\",\n3,cut,1,40,,0.75,"
			"safe,1\n"
			"4,failed,1,,,1,safe,1\n5,pending,1,,,0,safe,1\n");
	release(&w);
}

static void has(const struct buf *out, const char *part)
{
	if (!strstr(out->data, part))
		fail_msg("'%s' is not in:\n%s", part, out->data);
}

/* Positions follow from the ranges: trials 1 to 5 on 46 to 630, values 4 to 40 on 196 to 12. */
static void html_shows_the_study(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make_world(&w, MINIMIZE);
	w.outcome.gain = TUNE_GAIN_PROVEN;
	w.outcome.pairs = 10;
	set_interval(&w.outcome.ratio, 0.5, 0.4, 0.6);
	tune_report_html(&out, &w.report);
	has(&out, "<h1>demo &lt;1&gt;</h1><p>2 trials done, 1 cut, 1 failed; seed 9, method random.</p>");
	has(&out,
			"<p class=\"verdict\">better than the default: 50.0 % [40.0, 60.0] less loss (10 pairs, "
			"ranks)</p>"
			"<p class=\"verdict warn\">mode = fast, &quot;wild&quot; gives up: the &lt;safety&gt;. </p>");
	has(&out,
			"<tr><td>x</td><td>0.5</td><td>0.25</td></tr><tr><td>mode</td><td>safe</td><td>fast, &quot;"
			"wild&quot;</td></tr>");
	has(&out, "<tr><td>expected value</td><td></td><td>4.5 [4, 5]</td></tr></table>");
	/* the gain: 0.34 to 1.06 on 46 to 630 */
	has(&out, "<line x1=\"581.3\" x2=\"581.3\" y1=\"6\" y2=\"46\" stroke=\"#8b949e\"");
	has(&out,
			"<line x1=\"94.7\" x2=\"256.9\" y1=\"29.0\" y2=\"29.0\" stroke=\"#0969da\" "
			"stroke-width=\"4\"/><circle cx=\"175.8\" cy=\"29.0\"");
	has(&out, "0.500 [0.400, 0.600]</text></svg><figcaption>best by default, 95 % of 10 pairs</figcaption>");
	has(&out, "points=\"46.0,175.6 192.0,196.0 338.0,196.0 484.0,196.0 630.0,196.0 \"/>"); /* the best so far */
	has(&out, "<circle cx=\"192.0\" cy=\"196.0\" r=\"3\" fill=\"#0969da\"><title>trial 2: 4</title></circle>");
	has(&out, "<circle cx=\"338.0\" cy=\"12.0\" r=\"3\" fill=\"#bf8700\"><title>trial 3: 40</title></circle>");
	has(&out, "<text x=\"42\" y=\"200.0\" text-anchor=\"end\">4</text>"); /* the axis, at its lowest and highest */
	has(&out, "y1=\"12.0\" y2=\"12.0\" stroke=\"#8b949e\"");
	has(&out, "<text x=\"42\" y=\"16.0\" text-anchor=\"end\">40</text>");
	has(&out, "<text x=\"46\" y=\"214\">trial 1</text><text x=\"630\" y=\"214\" text-anchor=\"end\">5</text>");
	/* steps: after 1 and 2 */
	has(&out, "<h2>Steps</h2>");
	has(&out, "<title>trial 3</title></polyline>");
	has(&out, "text-anchor=\"end\">2</text></svg><figcaption>best value after 1, 2, 4, 8, ... steps;");
	/* trials */
	has(&out, "<tr class=\"best\"><td>2</td><td>done</td><td>4</td><td>0.25</td><td>fast, &quot;wild&quot;</td>");
	has(&out, "<tr class=\"failed\"><td>4</td><td>failed</td><td></td><td>1</td><td>safe</td><td>1</td></tr>");
	assert_null(strstr(out.data, "<h2>Front</h2>"));
	assert_null(strstr(out.data, "<h2>Importance</h2>"));
	release(&w);
}

static void html_shows_a_front_and_a_model(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make_world(&w, TWO);
	w.report.is_paired = true;
	w.outcome.best.trial = NULL;
	w.insight.is_there = true;
	w.insight.importance[0] = 0.75;
	for (size_t k = 0; k < 3; k++)
		w.insight.curves[k] = (struct tune_curve){ .count = 2,
			.at = { 0, 1 },
			.value = { 10, 20 },
			.lo = { 5, 15 },
			.hi = { 15, 25 } };
	tune_report_html(&out, &w.report);
	has(&out, ", each paired with the best so far: values are relative to the default.</p>");
	assert_null(strstr(out.data, "Best and default"));
	has(&out, "<h2>Front</h2><figure>");
	has(&out, "<h2>Importance</h2><table><tr><th>parameter</th>");
	assert_null(strstr(strstr(out.data, "<h2>Front</h2>") + 20,
			"; green: nothing is better in everything</figcaption></figure><figure>"));
	has(&out, "r=\"5\" fill=\"#1a7f37\"><title>trial 1: 8, 1</title>");
	has(&out, "r=\"3\" fill=\"#8b949e\"><title>trial 3: 40, 3</title>");
	has(&out, "<figcaption>bytes by loss; green: nothing is better in everything</figcaption>");
	has(&out,
			"<tr><td>x</td><td>75 %</td><td style=\"text-align:left\"><svg width=\"200\" "
			"height=\"12\"><rect "
			"width=\"150\" height=\"12\"");
	has(&out,
			"<h2>Partial dependence</h2><figure><svg role=\"img\" width=\"300\" height=\"150\" "
			"viewBox=\"0 0 "
			"300 150\"><title>x</title>");
	/* from 46 to 290; 5 to 25 and room */
	has(&out, "stroke-width=\"2\" points=\"46.0,");
	has(&out,
			"<text x=\"46\" y=\"144\">safe</text><text x=\"290\" y=\"144\" text-anchor=\"end\">fast, &quot;"
			"wild&quot;</text>");
	release(&w);
}

/* A cost that depends on one parameter only: it has all of the importance. */
static void importance_is_of_what_matters(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_insight *insight = test_calloc(1, sizeof(*insight));

	assert_int_equal(parse(&study,
					 "params: [{name: x, type: float, low: 0, high: 1}, {name: y, type: int, "
					 "low: 1, high: 3}]\n"
					 "objective: {name: value, goal: maximize}\nmethod: sobol\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 1), 0);
	assert_int_equal(tune_insight(&o, insight, &arena, NULL), 0);
	assert_false(insight->is_there);
	for (int i = 0; i < 24; i++) {
		const struct tune_trial *t;

		assert_int_equal(tune_ask(&o, &t, NULL), 0);
		assert_int_equal(tune_tell(&o, t->id,
						 &(struct tune_result){ .state = TUNE_DONE,
								 .values = { 10 + 5 * t->point[0] } },
						 NULL),
				0);
	}
	assert_int_equal(tune_insight(&o, insight, &arena, NULL), 0);
	assert_true(insight->is_there);
	assert_true(insight->importance[0] > 0.9 && insight->importance[0] <= 1);
	assert_true(insight->importance[1] < 0.05);
	assert_int_equal(insight->curves[0].count, TUNE_CURVE_POINTS);
	assert_int_equal(insight->curves[1].count, 3);
	assert_true(fabs(insight->curves[0].at[0] - 0.5 / 16) < 1e-9);
	for (size_t i = 0; i < TUNE_CURVE_POINTS; i++) {
		const struct tune_curve *c = &insight->curves[0];

		assert_true(fabs(c->value[i] - (10 + 5 * c->at[i])) < 0.5);
		assert_true(c->lo[i] <= c->value[i] && c->value[i] <= c->hi[i]);
	}
	for (size_t i = 0; i < 3; i++)
		assert_true(insight->curves[1].at[i] == (double)i + 1);
	tune_optimizer_release(&o);
	test_free(insight);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_of_a_cost),
		cmocka_unit_test(verdicts_of_a_score),
		cmocka_unit_test(broken_limits_are_named),
		cmocka_unit_test(losses_are_what_the_best_gives_up),
		cmocka_unit_test(json_has_the_fields),
		cmocka_unit_test(a_front_has_what_nothing_dominates),
		cmocka_unit_test(csv_has_a_line_per_trial),
		cmocka_unit_test(html_shows_the_study),
		cmocka_unit_test(html_shows_a_front_and_a_model),
		cmocka_unit_test(importance_is_of_what_matters),
	};

	return RUN_TESTS(tests);
}
