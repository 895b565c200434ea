/*
 * The evaluation of rule expressions, and the table of functions.
 *
 * For several series in a window, rate and similar functions sum the results of all series; avg, min, max, quantile
 * and count use the samples of all. A counter that decreases was reset.
 */
#include "live/rules/rule-expr.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct expr_value unknown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static struct expr_value eval(const struct expr *e, const struct rule_context *x);

static struct expr_value unknown(const char *fmt, ...)
{
	struct expr_value v = { .is_known = false };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v.why, sizeof(v.why), fmt, ap);
	va_end(ap);
	return v;
}

static struct expr_value known(double number)
{
	if (!isfinite(number))
		return unknown("the result is not finite");
	return (struct expr_value){ .is_known = true, .number = number };
}

static const struct rule_selector *selector_of(const struct expr *e)
{
	return e->detail;
}

/* Does the series match the selector's name and labels? */
static bool selects(const struct expr *e, const struct memory_series *s)
{
	const struct rule_selector *l = e->detail;

	if (strcmp(e->name, s->name) != 0)
		return false;
	for (size_t i = 0; i < l->label_count; i++)
		if ((strcmp(memory_label(s, l->labels[i].key), l->labels[i].value) == 0) == l->labels[i].is_not)
			return false;
	return true;
}

static bool is_fresh(const struct memory_series *s, const struct expr_now *now)
{
	return s->count && memory_sample(s, s->count - 1)->ns >= now->mono_ns - now->stale_ns;
}

/* The value of the only series that matches and is not stale. */
static struct expr_value eval_selector(const struct expr *e, const struct rule_context *x)
{
	const struct memory_series *found = NULL;
	size_t count = 0, old = 0;

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (!selects(e, s))
			continue;
		if (!is_fresh(s, x->now)) {
			old++;
			continue;
		}
		found = s;
		count++;
	}
	if (count > 1)
		return unknown("%.80s matches %zu series: select one, or use sum() or max()", e->text, count);
	if (!count)
		return old ? unknown("%.80s is stale", e->text) : unknown("%.80s not found", e->text);
	return known(memory_sample(found, found->count - 1)->value);
}

/* The samples of a series in the window, and whether there is one before. */
struct span {
	const struct memory_series *series;
	size_t first, count;
	bool has_before;
};

struct total {
	double sum, low, high;
	size_t count;
};

typedef void add_span(struct total *t, const struct span *s, int64_t window_ns, int64_t now_ns);

static struct total each_span(const struct expr *window, const struct rule_context *x, add_span *add)
{
	int64_t window_ns = selector_of(window)->window_ns, now_ns = x->now->mono_ns;
	struct total t = { 0 };

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];
		struct span span = { .series = s };

		if (!selects(window, s))
			continue;
		while (span.first < s->count && memory_sample(s, span.first)->ns <= now_ns - window_ns)
			span.first++;
		while (span.first + span.count < s->count && memory_sample(s, span.first + span.count)->ns <= now_ns)
			span.count++;
		span.has_before = span.first > 0;
		if (span.count)
			add(&t, &span, window_ns, now_ns);
	}
	return t;
}

static void add_samples(struct total *t, const struct span *s, int64_t window_ns, int64_t now_ns)
{
	for (size_t i = 0; i < s->count; i++) {
		double v = memory_sample(s->series, s->first + i)->value;

		t->low = t->count && t->low < v ? t->low : v;
		t->high = t->count && t->high > v ? t->high : v;
		t->sum += v;
		t->count++;
	}
}

static struct expr_value no_samples(const struct expr *window)
{
	return unknown("%.100s has no samples", window->text);
}

static double measure(const struct expr *e, const struct total *t)
{
	switch (((const struct rule_call *)e->detail)->function->measure) {
	case MEASURE_SUM:
		return t->sum;
	case MEASURE_AVG:
		return t->sum / (double)t->count;
	case MEASURE_MIN:
		return t->low;
	case MEASURE_MAX:
		return t->high;
	default:
		return (double)t->count;
	}
}

static bool is_count(const struct expr *e)
{
	return ((const struct rule_call *)e->detail)->function->measure == MEASURE_COUNT;
}

/* avg, min, max, count of the samples in a window. */
static struct expr_value eval_window(const struct expr *e, const struct rule_context *x)
{
	struct total t = each_span(e->args[0], x, add_samples);

	return t.count || is_count(e) ? known(measure(e, &t)) : no_samples(e->args[0]);
}

/* The sample before the window counts too: otherwise the rise between windows would be lost. */
static size_t start_of(const struct span *s)
{
	return s->has_before ? s->first - 1 : s->first;
}

/* The increase of a counter (high) and its rate (sum); a decrease is a reset to zero. */
static void add_increase(struct total *t, const struct span *s, int64_t window_ns, int64_t now_ns)
{
	size_t first = start_of(s), last = s->first + s->count - 1;
	double rise = 0, seconds;

	for (size_t i = first + 1; i <= last; i++) {
		double before = memory_sample(s->series, i - 1)->value, after = memory_sample(s->series, i)->value;

		rise += after >= before ? after - before : after;
	}
	seconds = (double)(memory_sample(s->series, last)->ns - memory_sample(s->series, first)->ns) / 1e9;
	if (!(seconds > 0))
		return;
	t->sum += rise / seconds;
	t->high += rise;
	t->count++;
}

static void add_delta(struct total *t, const struct span *s, int64_t window_ns, int64_t now_ns)
{
	size_t first = start_of(s), last = s->first + s->count - 1;

	if (last == first)
		return;
	t->sum += memory_sample(s->series, last)->value - memory_sample(s->series, first)->value;
	t->count++;
}

static struct expr_value eval_change(const struct expr *e, const struct rule_context *x, add_span *add)
{
	struct total t = each_span(e->args[0], x, add);

	return t.count ? known(measure(e, &t)) : unknown("%.100s has fewer than two samples", e->args[0]->text);
}

static struct expr_value eval_increase(const struct expr *e, const struct rule_context *x)
{
	return eval_change(e, x, add_increase);
}

static struct expr_value eval_delta(const struct expr *e, const struct rule_context *x)
{
	return eval_change(e, x, add_delta);
}

/* Exponentially weighted by age; a third of the window is the time constant. */
static void add_weighted(struct total *t, const struct span *s, int64_t window_ns, int64_t now_ns)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct memory_sample *one = memory_sample(s->series, s->first + i);
		double weight = exp(-3.0 * (double)(now_ns - one->ns) / (double)window_ns);

		t->sum += weight * one->value;
		t->high += weight;
		t->count++;
	}
}

static struct expr_value eval_ewma(const struct expr *e, const struct rule_context *x)
{
	struct total t = each_span(e->args[0], x, add_weighted);

	return t.count ? known(t.sum / t.high) : no_samples(e->args[0]);
}

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Linear between the two nearest order statistics (type 7 of Hyndman and Fan). */
static struct expr_value eval_quantile(const struct expr *e, const struct rule_context *x)
{
	struct expr_value q = eval(e->args[0], x);
	const struct expr *window = e->args[1];
	int64_t from_ns = x->now->mono_ns - selector_of(window)->window_ns;
	struct total t;
	double *all, at, low;
	size_t n = 0;

	if (!q.is_known)
		return q;
	if (!(q.number >= 0 && q.number <= 1))
		return unknown("invalid quantile %g (expected 0 to 1)", q.number);
	t = each_span(window, x, add_samples);
	all = t.count ? malloc(t.count * sizeof(*all)) : NULL;
	if (!all)
		return no_samples(window);
	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		for (size_t k = 0; selects(window, s) && k < s->count && n < t.count; k++) {
			const struct memory_sample *one = memory_sample(s, k);

			if (one->ns > from_ns && one->ns <= x->now->mono_ns)
				all[n++] = one->value;
		}
	}
	qsort(all, n, sizeof(*all), by_value);
	at = q.number * (double)(n - 1);
	low = all[(size_t)at];
	low += (at - floor(at)) * (all[(size_t)ceil(at)] - low);
	free(all);
	return known(low);
}

/* Over the newest samples of all series that are not stale. */
static struct total newest_of(const struct expr *e, const struct rule_context *x)
{
	struct total t = { 0 };

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];
		struct span span = { .series = s, .first = s->count ? s->count - 1 : 0, .count = 1 };

		if (selects(e->args[0], s) && is_fresh(s, x->now))
			add_samples(&t, &span, 0, 0);
	}
	return t;
}

static struct expr_value eval_newest(const struct expr *e, const struct rule_context *x)
{
	struct total t = newest_of(e, x);

	return t.count || is_count(e) ? known(measure(e, &t)) : unknown("%.80s has no fresh sample", e->args[0]->text);
}

/* Never unknown: a series that never existed is stale too. */
static struct expr_value eval_stale(const struct expr *e, const struct rule_context *x)
{
	struct expr_value limit = eval(e->args[1], x);
	int64_t newest = INT64_MIN;

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (selects(e->args[0], s) && s->count && memory_sample(s, s->count - 1)->ns > newest)
			newest = memory_sample(s, s->count - 1)->ns;
	}
	return known(newest == INT64_MIN || (double)(x->now->mono_ns - newest) / 1e9 > limit.number);
}

/* Has the series existed for that long? */
static struct expr_value eval_after(const struct expr *e, const struct rule_context *x)
{
	struct expr_value limit = eval(e->args[1], x);

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (selects(e->args[0], s) && is_fresh(s, x->now))
			return known((double)(x->now->mono_ns - s->first_ns) / 1e9 >= limit.number);
	}
	return unknown("%.80s has no fresh sample", e->args[0]->text);
}

static struct expr_value eval_present(const struct expr *e, const struct rule_context *x)
{
	return known(newest_of(e, x).count > 0);
}

static struct expr_value eval_cron(const struct expr *e, const struct rule_context *x)
{
	time_t seconds = (time_t)(x->now->real_ns / 1000000000);
	struct tm at;

	if (!(x->now->is_utc ? gmtime_r(&seconds, &at) : localtime_r(&seconds, &at)))
		return unknown("the time is out of range");
	return known(cron_matches(&((const struct rule_call *)e->detail)->cron, &at));
}

static struct expr_value eval_time(const struct expr *e, const struct rule_context *x)
{
	return known((double)x->now->real_ns / 1e9);
}

static struct expr_value eval_abs(const struct expr *e, const struct rule_context *x)
{
	struct expr_value v = eval(e->args[0], x);

	return v.is_known ? known(fabs(v.number)) : v;
}

#define N EXPR_NUMBER
#define T EXPR_TRUTH
#define S EXPR_SERIES
#define W EXPR_WINDOW

const struct rule_function rule_functions[] = {
	{ "rate", N, 1, { W }, eval_increase, MEASURE_SUM, "rate(counter[10s]) is its increase per second" },
	{ "increase", N, 1, { W }, eval_increase, MEASURE_MAX, "increase(counter[10s])" },
	{ "delta", N, 1, { W }, eval_delta, MEASURE_SUM, "delta(gauge[10s]) is its last value minus its first" },
	{ "avg", N, 1, { W }, eval_window, MEASURE_AVG, "avg(gauge[10s]), or avg(gauge) over several series" },
	{ "min", N, 1, { W }, eval_window, MEASURE_MIN, "min(gauge[10s]), or min(gauge) over several series" },
	{ "max", N, 1, { W }, eval_window, MEASURE_MAX, "max(gauge[10s]), or max(gauge) over several series" },
	{ "count", N, 1, { W }, eval_window, MEASURE_COUNT, "count(gauge[10s]) of samples, or count(gauge) of series" },
	{ "ewma", N, 1, { W }, eval_ewma, 0, "ewma(gauge[10s]): exponentially weighted moving average" },
	{ "quantile", N, 2, { N, W }, eval_quantile, 0, "quantile(0.95, gauge[10s])" },
	{ "sum", N, 1, { S }, eval_newest, MEASURE_SUM, "sum(gauge) over several series" },
	{ "avg", N, 1, { S }, eval_newest, MEASURE_AVG, NULL },
	{ "min", N, 1, { S }, eval_newest, MEASURE_MIN, NULL },
	{ "max", N, 1, { S }, eval_newest, MEASURE_MAX, NULL },
	{ "count", N, 1, { S }, eval_newest, MEASURE_COUNT, NULL },
	{ "stale", T, 2, { S, N }, eval_stale, 0, "stale(series, 10s): no sample for that long" },
	{ "after", T, 2, { S, N }, eval_after, 0, "after(series, 10m): it has existed for that long" },
	{ "present", T, 1, { S }, eval_present, 0, "present(series): it has a fresh sample" },
	{ "cron", T, 1, { EXPR_TEXT }, eval_cron, 0, "cron(\"0-30 8 * * 1-5\"): minute, hour, day, month, weekday" },
	{ "time", N, 0, { N }, eval_time, 0, "time() in seconds since 1970" },
	{ "abs", N, 1, { N }, eval_abs, 0, "abs(number)" },
	{ NULL },
};

static struct expr_value eval_operator(const struct expr *e, const struct rule_context *x)
{
	struct expr_value a = eval(e->args[0], x), b = a;

	if (e->arg_count > 1)
		b = eval(e->args[1], x);
	/* false and unknown is false, true or unknown is true: one operand decides. */
	if (e->op == EXPR_AND || e->op == EXPR_OR) {
		double strong = e->op == EXPR_OR;

		if ((a.is_known && a.number == strong) || (b.is_known && b.number == strong))
			return known(strong);
		return !a.is_known ? a : b;
	}
	return !a.is_known ? a : !b.is_known ? b : known(expr_compute(e->op, a.number, b.number));
}

static struct expr_value eval(const struct expr *e, const struct rule_context *x)
{
	switch (e->kind) {
	case EXPR_CONSTANT:
		return known(e->number);
	case EXPR_NAME:
		return eval_selector(e, x);
	case EXPR_CALL:
		return ((const struct rule_call *)e->detail)->function->eval(e, x);
	case EXPR_OPERATOR:
		return eval_operator(e, x);
	default:
		return unknown("a string has no value");
	}
}

struct expr_value rule_expr_eval(const struct expr *e, const struct memory *m, const struct expr_now *now)
{
	return eval(e, &(struct rule_context){ m, now });
}

static void add_value(struct buf *out, const struct expr *e, const struct rule_context *x)
{
	struct expr_value v = eval(e, x);

	if (!v.is_known)
		buf_addf(out, "unknown (%s)", v.why);
	else if (e->type == EXPR_TRUTH)
		buf_adds(out, v.number != 0 ? "true" : "false");
	else
		buf_addf(out, "%.6g", v.number);
}

static void explain(struct buf *out, const struct expr *e, const struct rule_context *x, int depth)
{
	if (e->kind == EXPR_CONSTANT || e->kind == EXPR_STRING || e->type == EXPR_WINDOW)
		return;
	buf_addf(out, "%*s%s = ", 2 * depth, "", e->text);
	add_value(out, e, x);
	buf_addc(out, '\n');
	for (size_t i = 0; i < e->arg_count; i++)
		if (e->kind == EXPR_OPERATOR || e->args[i]->kind == EXPR_CALL)
			explain(out, e->args[i], x, depth + 1);
}

void rule_expr_explain(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now)
{
	explain(out, e, &(struct rule_context){ m, now }, 0);
}

/* Prints measured values: calls and selectors, not the results of operators. */
static void why(struct buf *out, const struct expr *e, const struct rule_context *x)
{
	if (e->kind == EXPR_CALL || (e->kind == EXPR_NAME && e->type == EXPR_SERIES)) {
		buf_addf(out, "%s%s = ", out->len ? ", " : "", e->text);
		add_value(out, e, x);
		return;
	}
	for (size_t i = 0; i < e->arg_count; i++)
		why(out, e->args[i], x);
}

void rule_expr_why(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now)
{
	why(out, e, &(struct rule_context){ m, now });
	if (!out->len)
		buf_adds(out, e->text);
}
