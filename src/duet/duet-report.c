/* duet-report: the summary of several benchmarks, and a report as JSON and CSV. */
#include "duet/duet-report.h"

#include "base/cleanup.h"
#include "duet/explain.h"
#include "duet/measurements.h"
#include "stats/verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* p of "the change is at most the threshold", which faster or slower rejects; 1: the verdict is neither, NaN: no
 * test. */
static double p_of_verdict(const struct duet_result *r, const struct duet_setup *setup, struct arena *arena)
{
	struct stats_effect_options how = { .level = setup->level,
		.seed = setup->seed,
		.method = duet_interval_methods[setup->interval] };
	double shift = r->verdict == STATS_SLOWER ? log(setup->margin) : -log(setup->margin), *x;
	struct stats_runs runs = duet_pairs_runs(&r->pairs);
	struct stats_effect beyond;
	struct sonde_err ignored;

	if (r->verdict != STATS_SLOWER && r->verdict != STATS_FASTER)
		return r->effect.is_indicative || isnan(r->effect.p) ? NAN : 1;
	x = arena_alloc(arena, r->pairs.count * sizeof(*x));
	for (size_t i = 0; x && i < r->pairs.count; i++)
		x[i] = r->pairs.x[i] - shift;
	runs.x = x;
	return x && !stats_effect(&runs, &how, arena, &beyond, &ignored) ? beyond.p : NAN;
}

/* With several benchmarks, keeps "slower" and "faster" only if they hold after the adjustment for multiple tests. */
static void hold_back(struct duet_report *r, double *p, double *scratch, struct arena *arena)
{
	for (size_t i = 0; i < r->count; i++)
		p[i] = p_of_verdict(r->entries[i].result, r->setup, arena);
	stats_holm(p, r->count, p, scratch);
	for (size_t i = 0; i < r->count; i++) {
		enum stats_verdict *verdict = &r->entries[i].result->verdict;

		if ((*verdict != STATS_SLOWER && *verdict != STATS_FASTER) || p[i] <= 1 - r->setup->level)
			continue;
		*verdict = STATS_INCONCLUSIVE;
		r->entries[i].is_held_back = true;
	}
}

int duet_report_finish(struct duet_report *r, struct arena *arena, struct sonde_err *err)
{
	size_t n = r->count;
	double *p = arena_alloc(arena, n * sizeof(*p)), *scratch = arena_alloc(arena, n * sizeof(*scratch));
	struct stats_effect *effects = arena_alloc(arena, n * sizeof(*effects));
	struct stats_interval mean;
	size_t known = 0;

	if (!p || !scratch || !effects)
		return err_sys(err, ENOMEM, "cannot put the benchmarks together");
	for (size_t i = 0; i < n; i++) {
		const struct stats_effect *e = &r->entries[i].result->effect;

		p[i] = e->is_indicative ? NAN : e->p;
		if (e->locations.n)
			effects[known++] = *e;
	}
	stats_holm(p, n, p, scratch);
	for (size_t i = 0; i < n; i++)
		r->entries[i].p_adjusted = p[i];
	hold_back(r, p, scratch, arena);
	mean = stats_effects_mean(effects, known, r->setup->level);
	r->mean = stats_interval_exp(&mean);
	return 0;
}

static void write_interval(struct json *j, const struct stats_interval *ratio)
{
	json_kreal(j, "ratio", ratio->estimate);
	json_kreal(j, "lo", ratio->lo);
	json_kreal(j, "hi", ratio->hi);
}

static void write_choices(struct json *j, const struct duet_result *r)
{
	json_key(j, "pilot");
	json_object(j);
	for (int d = 0; d < DUET_DESIGNS; d++) {
		const struct duet_choice *c = &r->choices[d];

		if (!c->is_tried)
			continue;
		json_key(j, duet_design_names[d]);
		json_object(j);
		json_kuint(j, "runs", c->runs);
		json_kreal(j, "sd", sqrt(c->variance));
		json_kreal(j, "run_seconds", c->run_seconds);
		json_kreal(j, "cost", c->cost);
		json_end(j);
	}
	json_end(j);
}

static void write_self(struct json *j, const struct duet_self_check *self)
{
	json_key(j, "self_check");
	if (!self->runs) {
		json_null(j);
		return;
	}
	json_object(j);
	write_interval(j, &self->ratio);
	json_kreal(j, "level", self->ratio.level);
	json_kuint(j, "runs", self->runs);
	json_kbool(j, "biased", self->is_biased);
	json_end(j);
}

static void write_carry_over(struct json *j, const struct duet_carry_over *c)
{
	static const char *const keys[DUET_SIDES][DUET_SIDES] = { { "a_after_a", "a_after_b" },
		{ "b_after_a", "b_after_b" } };

	json_key(j, "carry_over");
	if (!c->is_checked) {
		json_null(j);
		return;
	}
	json_object(j);
	json_kbool(j, "found", c->is_found);
	json_kbool(j, "no_verdict", c->is_blocking);
	json_kreal(j, "p", c->p);
	for (int side = 0; side < DUET_SIDES; side++)
		for (int after = 0; after < DUET_SIDES; after++)
			json_kreal(j, keys[side][after], c->medians[side][after]);
	json_end(j);
}

static void write_side(struct json *j, const struct duet_report *r, const struct duet_entry *e, enum duet_side side)
{
	json_object(j);
	json_kstr(j, "command", e->commands[side]);
	for (int m = 0; m < DUET_METRICS; m++) {
		double median = duet_metric_median(e->result->runs, e->result->run_count, side, (enum duet_metric)m);

		if (isfinite(median))
			json_kreal(j, duet_metric_names[m], median);
	}
	json_end(j);
}

static void write_iterations(struct json *j, const struct duet_samples *s, enum duet_metric metric)
{
	json_array(j);
	for (size_t i = 0; i < s->count; i++) {
		json_array(j);
		json_int(j, s->items[i].start_ns);
		json_int(j, s->items[i].end_ns);
		json_real(j, s->items[i].metrics[metric]);
		json_end(j);
	}
	json_end(j);
}

/* Runs with their iterations as [start_ns, end_ns, value], and pairs as log-ratios. */
static void write_samples(struct json *j, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_pairs *p = &e->result->pairs;

	json_key(j, "samples");
	json_array(j);
	for (size_t i = 0; i < e->result->run_count; i++) {
		const struct duet_run *run = &e->result->runs[i];

		json_object(j);
		json_kstr(j, "order", run->is_first_b ? "BA" : "AB");
		json_kbool(j, "swapped", run->is_swapped);
		json_key(j, "A");
		write_iterations(j, &run->sides[DUET_A], r->setup->pairing.metric);
		json_key(j, "B");
		write_iterations(j, &run->sides[DUET_B], r->setup->pairing.metric);
		json_key(j, "log_ratios");
		json_array(j);
		for (size_t k = p->first[i]; i < p->runs && k < p->first[i + 1]; k++)
			json_real(j, p->x[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void write_entry(struct json *j, const struct duet_report *r, const struct duet_entry *e, bool has_samples)
{
	const struct duet_result *result = e->result;

	write_interval(j, &result->effect.ratio);
	json_kstr(j, "verdict", stats_verdict_name(result->verdict));
	json_kuint(j, "runs", result->run_count);
	if (r->setup->budget_ns)
		json_kuint(j, "sessions", r->sessions ? r->sessions : 1);
	json_kstr(j, "design", duet_design_names[result->schedule.design]);
	if (result->why_in_turn)
		json_kstr(j, "why_in_turn", result->why_in_turn);
	json_kstr(j, "metric", duet_metric_name(&r->setup->pairing));
	json_kreal(j, "seconds", result->seconds);
	json_kreal(j, "level", r->setup->level);
	json_kreal(j, "threshold", round(1e12 * (r->setup->margin - 1)) / 1e12);
	json_kstr(j, "method", result->effect.log_ratio.method);
	json_kuint(j, "pairs", result->pairs.count);
	json_kuint(j, "looks", result->looks);
	if (result->schedule.runs_max)
		json_kuint(j, "runs_max", result->schedule.runs_max);
	json_kstr(j, "stop", duet_stop_names[result->stop]);
	json_kbool(j, "indicative", result->effect.is_indicative);
	json_kreal(j, "detectable", result->detectable - 1);
	if (result->needed_runs) {
		json_kuint(j, "needed_runs", result->needed_runs);
		json_kreal(j, "needed_seconds", result->needed_seconds);
	}
	if (isfinite(result->cpu.estimate)) {
		json_key(j, "cpu");
		json_object(j);
		write_interval(j, &result->cpu);
		json_end(j);
	}
	write_carry_over(j, &result->carry);
	write_self(j, &result->self);
	if (result->is_design_piloted)
		write_choices(j, result);
	json_key(j, "a");
	write_side(j, r, e, DUET_A);
	json_key(j, "b");
	write_side(j, r, e, DUET_B);
	if (has_samples && result->pairs.first)
		write_samples(j, r, e);
}

static void write_causes(struct json *j, const struct duet_explanation *e)
{
	enum { CAUSES_SHOWN = 200 };

	json_kuint(j, "recordings", e->recordings);
	json_key(j, "causes");
	json_array(j);
	for (size_t i = 0; i < e->count && i < CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];

		json_object(j);
		json_kstr(j, "kind", c->kind);
		json_kstr(j, "name", c->name);
		json_kreal(j, "a_ns", c->a_ns);
		json_kreal(j, "b_ns", c->b_ns);
		json_kreal(j, "a_calls", c->a_calls);
		json_kreal(j, "b_calls", c->b_calls);
		json_kreal(j, "delta_ns", c->delta.estimate);
		json_kreal(j, "lo_ns", c->delta.lo);
		json_kreal(j, "hi_ns", c->delta.hi);
		json_end(j);
	}
	json_end(j);
}

static void write_circumstances(struct json *j, const struct duet_report *r)
{
	json_kuint(j, "seed", r->setup->seed);
	json_kbool(j, "priority", r->setup->has_priority);
	json_kreal(j, "steal", r->interference.steal_share);
	json_kreal(j, "pressure", r->interference.pressure_share);
	json_kstr(j, "repeat", r->repeat);
	json_kstr(j, "machine", r->machine);
	json_key(j, "warnings");
	json_array(j);
	for (size_t i = 0; i < r->warning_count; i++)
		json_str(j, r->warnings[i]);
	json_end(j);
}

/* All commands, best first, relative to the common one. The entries are sorted. */
static void write_ranking(struct json *j, const struct duet_report *r)
{
	size_t next = 0;

	json_key(j, "ranking");
	json_array(j);
	for (size_t rank = 1, has_common = 0; rank <= r->count + 1; rank++) {
		bool is_common = !has_common &&
				(next == r->count || r->entries[next].result->effect.ratio.estimate > 1);

		json_object(j);
		json_kuint(j, "rank", rank);
		json_kstr(j, "command", r->entries[is_common ? 0 : next].commands[is_common ? DUET_A : DUET_B]);
		if (is_common)
			json_kreal(j, "ratio", 1);
		else
			write_interval(j, &r->entries[next].result->effect.ratio);
		json_end(j);
		has_common |= is_common;
		next += !is_common;
	}
	json_end(j);
}

void duet_report_json(struct json *j, const struct duet_report *r, bool has_samples)
{
	json_object(j);
	if (r->count == 1 && !r->entries[0].name) {
		write_entry(j, r, &r->entries[0], has_samples);
	} else {
		json_key(j, "benchmarks");
		json_array(j);
		for (size_t i = 0; i < r->count; i++) {
			json_object(j);
			json_kstr(j, "benchmark", r->entries[i].name);
			write_entry(j, r, &r->entries[i], has_samples);
			json_kreal(j, "p", r->entries[i].result->effect.p);
			json_kreal(j, "p_adjusted", r->entries[i].p_adjusted);
			json_end(j);
		}
		json_end(j);
		if (r->is_ranking)
			write_ranking(j, r);
		json_key(j, "mean");
		json_object(j);
		write_interval(j, &r->mean);
		json_end(j);
		json_kreal(j, "seconds", r->seconds);
	}
	if (r->explanation)
		write_causes(j, r->explanation);
	write_circumstances(j, r);
	json_end(j);
}

static void csv_real(struct buf *out, double value)
{
	buf_addc(out, ',');
	if (isfinite(value))
		buf_addf(out, "%.9g", value);
}

void duet_report_csv(struct buf *out, const struct duet_report *r)
{
	buf_adds(out, "benchmark,metric,design,verdict,ratio,lo,hi,runs,pairs,seconds,a,b,p,p_adjusted\n");
	for (size_t i = 0; i < r->count; i++) {
		const struct duet_entry *e = &r->entries[i];
		const struct duet_result *result = e->result;
		enum duet_metric metric = r->setup->pairing.metric;

		buf_addc(out, '"'); /* always quoted: a name may look like a number */
		for (const char *c = e->name ? e->name : ""; *c; c++)
			buf_addf(out, "%s%c", *c == '"' ? "\"" : "", *c);
		buf_adds(out, "\",");
		duet_csv_cell(out, duet_metric_name(&r->setup->pairing));
		buf_addf(out, ",%s,%s", duet_design_names[result->schedule.design],
				stats_verdict_name(result->verdict));
		csv_real(out, result->effect.ratio.estimate);
		csv_real(out, result->effect.ratio.lo);
		csv_real(out, result->effect.ratio.hi);
		buf_addf(out, ",%zu,%zu", result->run_count, result->pairs.count);
		csv_real(out, result->seconds);
		csv_real(out, duet_metric_median(result->runs, result->run_count, DUET_A, metric));
		csv_real(out, duet_metric_median(result->runs, result->run_count, DUET_B, metric));
		csv_real(out, result->effect.p);
		csv_real(out, e->p_adjusted);
		buf_addc(out, '\n');
	}
}

/* A report in Markdown, as a comment on a pull request. */

/* Escapes a cell: no bar, no newline, no Markdown markup. */
static void cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]#", *text))
			buf_addc(out, '\\');
		buf_addc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
	}
}

static void percent(struct buf *out, double ratio)
{
	if (isfinite(ratio))
		buf_addf(out, "%+.2f %%", 100 * (ratio - 1));
	else
		buf_adds(out, "?");
}

/* A single comparison is titled by its commands or revisions. */
static void title(struct buf *out, const struct duet_entry *e)
{
	if (e->name) {
		cell(out, e->name);
	} else if (e->commands[DUET_A] && e->commands[DUET_B]) {
		cell(out, e->commands[DUET_A]);
		buf_adds(out, " → ");
		cell(out, e->commands[DUET_B]);
	}
}

static void row(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	static const char *const marks[] = { [STATS_INCONCLUSIVE] = "❔",
		[STATS_FASTER] = "🟢",
		[STATS_SLOWER] = "🔴",
		[STATS_EQUIVALENT] = "⚪" };
	const struct duet_result *result = e->result;
	enum duet_metric metric = r->setup->pairing.metric;

	buf_addf(out, "| %s %s | ", marks[result->verdict], duet_verdict_word(&r->setup->pairing, result->verdict));
	title(out, e);
	buf_adds(out, " | ");
	for (int side = 0; side < DUET_SIDES; side++) {
		duet_say_value(out, metric,
				duet_metric_median(result->runs, result->run_count, (enum duet_side)side, metric));
		buf_adds(out, " | ");
	}
	percent(out, result->effect.ratio.estimate);
	buf_adds(out, " | ");
	percent(out, result->effect.ratio.lo);
	buf_adds(out, " to ");
	percent(out, result->effect.ratio.hi);
	buf_addf(out, " | %zu |\n", result->run_count);
}

static void causes(struct buf *out, const struct duet_explanation *e)
{
	enum { CAUSES_SHOWN = 10 };

	buf_addf(out,
			"\n<details><summary>What carries the difference, of %zu recordings of each</summary>\n\n"
			"| kind | name | B - A (ms) | interval |\n|---|---|---:|---:|\n",
			e->recordings);
	for (size_t i = 0; i < e->count && i < CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];

		buf_addf(out, "| %s | ", c->kind);
		cell(out, c->name);
		buf_addf(out, " | %+.3f | %+.3f to %+.3f |\n", c->delta.estimate / 1e6, c->delta.lo / 1e6,
				c->delta.hi / 1e6);
	}
	buf_adds(out, "\n</details>\n");
}

void duet_report_markdown(struct buf *out, const struct duet_report *r)
{
	CLEANUP(buf_release) struct buf need = BUF_INIT;

	if (r->count == 1) {
		buf_adds(out, "**");
		duet_say_answer(out, r, &r->entries[0]);
		buf_adds(out, "**\n\n");
		duet_say_need(&need, r, &r->entries[0]);
		if (need.len)
			buf_addf(out, "%s\n\n", need.data);
	}
	buf_addf(out, "| verdict | benchmark | A (%1$s) | B (%1$s) | change | %2$g %% interval | runs |\n",
			duet_metric_name(&r->setup->pairing), 100 * r->setup->level);
	buf_adds(out, "|---|---|---:|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < r->count; i++)
		row(out, r, &r->entries[i]);
	if (r->count > 1) {
		buf_adds(out, "| | geometric mean | | | ");
		percent(out, r->mean.estimate);
		buf_adds(out, " | ");
		percent(out, r->mean.lo);
		buf_adds(out, " to ");
		percent(out, r->mean.hi);
		buf_adds(out, " | |\n");
	}
	if (r->count > 1) {
		CLEANUP(buf_release) struct buf held = BUF_INIT;

		duet_say_held_back(&held, r);
		if (held.len)
			buf_addf(out, "\n> %s.\n", held.data);
	}
	for (size_t i = 0; i < r->warning_count; i++)
		buf_addf(out, "\n> ⚠ %s.\n", r->warnings[i]);
	if (r->explanation)
		causes(out, r->explanation);
	if (r->repeat)
		buf_addf(out, "\n<details><summary>Repeat it</summary>\n\n    %s\n\n</details>\n", r->repeat);
}
