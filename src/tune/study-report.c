/*
 * Text, JSON and CSV.
 */
#include "tune/study-report.h"

#include "base/json.h"
#include "tune/protocol.h"

#include <math.h>
#include <string.h>

const char *tune_state_word(enum tune_state state)
{
	static const char *const words[] = { "pending", "done", "cut", "failed" };

	return words[state];
}

static const char *noun_of(const struct tune_report *r)
{
	return r->study->objectives[0].metric.name;
}

/* "value less by 3.2 [2.9, 3.5]", and how it was measured. */
static void add_difference(struct buf *out, const struct tune_report *r)
{
	const struct stats_interval *i = &r->outcome->difference;
	bool is_maximized = r->o->options.is_maximized[0];
	double sign = is_maximized ? 1 : -1;

	buf_addf(out, "%s %s by %.4g [%.4g, %.4g]", noun_of(r), is_maximized ? "more" : "less", sign * i->estimate,
			fmin(sign * i->lo, sign * i->hi), fmax(sign * i->lo, sign * i->hi));
}

/* How far the closest trial is beyond a limit; 0 or less: one has kept it. */
static double nearest(const struct tune_report *r, size_t k, double *value)
{
	double least = INFINITY;

	for (size_t t = 0; t < r->o->count; t++) {
		const struct tune_result *result = &r->o->trials[t].result;
		double beyond = fmax(r->study->limits[k].limit.min - result->limits[k],
				result->limits[k] - r->study->limits[k].limit.max);

		if (result->state != TUNE_DONE || !(beyond < least))
			continue;
		least = beyond;
		*value = result->limits[k];
	}
	return least;
}

/* Reports the limit that no trial has kept, and the closest value. */
static void add_limit(struct buf *out, const struct tune_report *r)
{
	for (size_t k = 0; k < r->study->limit_count; k++) {
		const struct tune_bound *b = &r->study->limits[k];
		double value = NAN;
		bool is_below;

		if (nearest(r, k, &value) <= 0)
			continue;
		is_below = value < b->limit.min;
		buf_addf(out, "no trial met the limits: %s was %.6g at %s, and may be %.6g at %s", b->metric.name,
				value, is_below ? "most" : "least", is_below ? b->limit.min : b->limit.max,
				is_below ? "least" : "most");
		return;
	}
	buf_adds(out, "no trial met all limits");
}

/* Reduction of a cost or increase of a score, with its interval in the same direction. */
static void add_change(struct buf *out, const struct tune_report *r)
{
	const struct stats_interval *i = &r->outcome->ratio;

	if (r->o->options.is_maximized[0])
		buf_addf(out, "%.1f %% [%.1f, %.1f] more %s", 100 * (i->estimate - 1), 100 * (i->lo - 1),
				100 * (i->hi - 1), noun_of(r));
	else
		buf_addf(out, "%.1f %% [%.1f, %.1f] less %s", 100 * (1 - i->estimate), 100 * (1 - i->hi),
				100 * (1 - i->lo), noun_of(r));
}

/* The result of the confirmation runs in pairs with the default. */
static void add_comparison(struct buf *out, const struct tune_report *r)
{
	const struct tune_outcome *o = r->outcome;
	bool is_proven = o->gain == TUNE_GAIN_PROVEN;

	buf_adds(out, is_proven ? "better than the default: " : "no significant improvement: ");
	if (o->is_difference)
		add_difference(out, r);
	else if (is_proven)
		add_change(out, r);
	else
		buf_addf(out, "the best configuration found changes %s by %+.1f %% [%+.1f, %+.1f]", noun_of(r),
				100 * (o->ratio.estimate - 1), 100 * (o->ratio.lo - 1), 100 * (o->ratio.hi - 1));
	buf_addf(out, " (%zu pairs, %s)", o->pairs, o->is_difference ? o->difference.method : o->ratio.method);
	if (!is_proven)
		buf_adds(out, "; keep the default");
}

void tune_report_verdict(struct buf *out, const struct tune_report *r)
{
	const struct tune_outcome *o = r->outcome;

	if (!o->best.trial && o->done) {
		add_limit(out, r);
	} else if (!o->best.trial) {
		buf_adds(out, o->failed ? "all trials failed" : "no trial has ended yet");
	} else if (r->study->objective_count > 1) {
		buf_adds(out, "several objectives: see the front");
	} else if (o->start && tune_point_equal(r->o->space, o->start->point, o->best.trial->point)) {
		buf_adds(out, "no improvement: the default is the best configuration found");
	} else if (o->gain == TUNE_GAIN_PROVEN || o->gain == TUNE_GAIN_NONE) {
		add_comparison(out, r);
	} else if (!o->start) {
		buf_adds(out, "the constraints exclude the default: no comparison");
	} else if (o->start->result.state == TUNE_FAILED) {
		buf_adds(out, "the default failed: no comparison");
	} else if (*o->proof_why) {
		buf_addf(out, "not compared with the default: confirmation runs failed: %s", o->proof_why);
	} else {
		buf_adds(out, "not compared with the default");
	}
}

size_t tune_report_losses(struct buf *out, const struct tune_report *r, const char *before, const char *after)
{
	const struct tune_space *space = r->o->space;
	const double *point = r->outcome->best.trial ? r->outcome->best.trial->point : NULL;
	size_t n = 0;

	for (size_t i = 0; point && i < space->count; i++) {
		const struct tune_param *p = &space->params[i];
		char text[TUNE_WHY];

		if (!p->choices || isnan(point[i]) || !p->choices[(size_t)point[i]].gives_up)
			continue;
		tune_param_format(p, point[i], text, sizeof(text));
		buf_addf(out, "%s%s = %s gives up: %s%s", before, p->name, text, p->choices[(size_t)point[i]].gives_up,
				after);
		n++;
	}
	return n;
}

static void write_trial(struct json *j, const struct tune_report *r, const struct tune_trial *t)
{
	json_object(j);
	json_kuint(j, "id", t->id);
	json_kstr(j, "state", tune_state_word(t->result.state));
	json_key(j, "params");
	tune_write_params(j, r->o->space, t->point);
	if (t->result.state == TUNE_DONE || t->result.state == TUNE_CUT) {
		json_kobject(j, "values");
		for (size_t k = 0; k < r->study->objective_count; k++)
			json_kreal(j, r->study->objectives[k].metric.name, t->result.values[k]);
		for (size_t k = 0; k < r->study->limit_count; k++)
			json_kreal(j, r->study->limits[k].metric.name, t->result.limits[k]);
		json_end(j);
	}
	json_kuint(j, "repeats", t->result.repeats ? t->result.repeats : 1);
	if (t->result.rung_count) {
		json_karray(j, "rungs");
		for (size_t k = 0; k < t->result.rung_count; k++)
			json_real(j, t->result.rungs[k]);
		json_end(j);
	}
	json_end(j);
}

static void write_best(struct json *j, const struct tune_report *r)
{
	const struct tune_best *best = &r->outcome->best;

	json_key(j, "best");
	if (!best->trial) {
		json_null(j);
		return;
	}
	json_object(j);
	json_kuint(j, "id", best->trial->id);
	json_key(j, "params");
	tune_write_params(j, r->o->space, best->trial->point);
	json_kreal(j, "value", best->value);
	json_kreal(j, "lo", best->lo);
	json_kreal(j, "hi", best->hi);
	json_end(j);
}

bool report_is_on_front(const struct tune_report *r, const struct tune_trial *t)
{
	if (!tune_trial_is_good(r->o, t))
		return false;
	for (size_t i = 0; i < r->o->count; i++)
		if (tune_trial_is_good(r->o, &r->o->trials[i]) && tune_dominates(r->o, &r->o->trials[i], t))
			return false;
	return true;
}

static void write_interval(struct json *j, const char *key, const struct stats_interval *i, size_t pairs)
{
	json_key(j, key);
	if (!isfinite(i->estimate)) {
		json_null(j);
		return;
	}
	json_object(j);
	json_kreal(j, "estimate", i->estimate);
	json_kreal(j, "lo", i->lo);
	json_kreal(j, "hi", i->hi);
	json_kreal(j, "level", i->level);
	json_kuint(j, "n", pairs);
	json_kstr(j, "method", i->method);
	json_end(j);
}

static void write_gain(struct json *j, const struct tune_report *r)
{
	static const char *const words[] = { "unknown", "proven", "none" };
	const struct tune_outcome *o = r->outcome;
	struct buf text = BUF_INIT;

	json_kstr(j, "gain", words[o->gain]);
	write_interval(j, "ratio", &o->ratio, o->pairs);
	if (o->is_difference)
		write_interval(j, "difference", &o->difference, o->pairs);
	tune_report_verdict(&text, r);
	json_kstr(j, "verdict", text.data);
	buf_reset(&text);
	json_key(j, "gives_up");
	if (tune_report_losses(&text, r, "", "\n"))
		json_strn(j, text.data, text.len - 1);
	else
		json_null(j);
	buf_release(&text);
}

/* Partial dependence of the first objective on each parameter: [at, value, lo, hi] each. */
static void write_dependence(struct json *j, const struct tune_report *r)
{
	json_key(j, "dependence");
	if (!r->insight->is_there) {
		json_null(j);
		return;
	}
	json_object(j);
	for (size_t k = 0; k < r->o->space->count; k++) {
		const struct tune_curve *c = &r->insight->curves[k];

		json_karray(j, r->o->space->params[k].name);
		for (size_t i = 0; i < c->count; i++) {
			json_array(j);
			tune_write_value(j, &r->o->space->params[k], c->at[i]);
			json_real(j, c->value[i]);
			json_real(j, c->lo[i]);
			json_real(j, c->hi[i]);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
}

void tune_report_json(struct buf *out, const struct tune_report *r)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "study", r->study->name);
	json_kint(&j, "seed", (int64_t)r->o->options.seed);
	json_kstr(&j, "method", r->o->options.method->name);
	json_kbool(&j, "is_paired", r->is_paired);
	json_kbool(&j, "is_interrupted", r->outcome->is_interrupted);
	json_kbool(&j, "is_running", r->is_running);
	json_kint(&j, "trials_wanted", r->study->trials);
	json_kuint(&j, "done", r->outcome->done);
	json_kuint(&j, "cut", r->outcome->cut);
	json_kuint(&j, "failed", r->outcome->failed);
	if (r->outcome->knob)
		json_kstr(&j, "unused_knob", r->outcome->knob);
	write_best(&j, r);
	json_key(&j, "default");
	if (r->outcome->start)
		write_trial(&j, r, r->outcome->start);
	else
		json_null(&j);
	write_gain(&j, r);
	json_karray(&j, "objectives");
	for (size_t k = 0; k < r->study->objective_count; k++) {
		json_object(&j);
		json_kstr(&j, "name", r->study->objectives[k].metric.name);
		json_kstr(&j, "goal", r->study->objectives[k].is_maximized ? "maximize" : "minimize");
		json_end(&j);
	}
	json_end(&j);
	json_key(&j, "importance");
	if (r->insight->is_there) {
		json_object(&j);
		for (size_t k = 0; k < r->o->space->count; k++)
			json_kreal(&j, r->o->space->params[k].name, r->insight->importance[k]);
		json_end(&j);
	} else {
		json_null(&j);
	}
	write_dependence(&j, r);
	if (r->study->objective_count > 1) {
		json_karray(&j, "front");
		for (size_t i = 0; i < r->o->count; i++)
			if (report_is_on_front(r, &r->o->trials[i]))
				json_uint(&j, r->o->trials[i].id);
		json_end(&j);
	}
	json_karray(&j, "trials");
	for (size_t i = 0; i < r->o->count; i++)
		write_trial(&j, r, &r->o->trials[i]);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
}

static void add_csv(struct buf *out, const char *text)
{
	bool is_quoted = text[strcspn(text, ",\"\r\n")] != '\0';

	if (is_quoted)
		buf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_addc(out, '"');
		buf_addc(out, *text);
	}
	if (is_quoted)
		buf_addc(out, '"');
}

static void csv_real(struct buf *out, double value)
{
	buf_addc(out, ',');
	if (isfinite(value))
		buf_addf(out, "%.17g", value);
}

void tune_report_csv(struct buf *out, const struct tune_report *r)
{
	buf_adds(out, "id,state,repeats");
	for (size_t k = 0; k < r->study->objective_count; k++) {
		buf_addc(out, ',');
		add_csv(out, r->study->objectives[k].metric.name);
	}
	for (size_t k = 0; k < r->study->limit_count; k++) {
		buf_addc(out, ',');
		add_csv(out, r->study->limits[k].metric.name);
	}
	for (size_t i = 0; i < r->o->space->count; i++) {
		buf_addc(out, ',');
		add_csv(out, r->o->space->params[i].name);
	}
	buf_addc(out, '\n');
	for (size_t t = 0; t < r->o->count; t++) {
		const struct tune_trial *trial = &r->o->trials[t];
		bool has_values = trial->result.state == TUNE_DONE || trial->result.state == TUNE_CUT;

		buf_addf(out, "%llu,%s,%u", (unsigned long long)trial->id, tune_state_word(trial->result.state),
				trial->result.repeats ? trial->result.repeats : 1);
		for (size_t k = 0; k < r->study->objective_count; k++)
			csv_real(out, has_values ? trial->result.values[k] : NAN);
		for (size_t k = 0; k < r->study->limit_count; k++)
			csv_real(out, has_values ? trial->result.limits[k] : NAN);
		for (size_t i = 0; i < r->o->space->count; i++) {
			char text[TUNE_WHY];

			buf_addc(out, ',');
			tune_param_format(&r->o->space->params[i], trial->point[i], text, sizeof(text));
			add_csv(out, isnan(trial->point[i]) ? "" : text);
		}
		buf_addc(out, '\n');
	}
}
