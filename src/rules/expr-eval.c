/*
 * What functions and operators compute; see expr.h.
 *
 * Of several series in a window, rate and its kin add up what each has; avg, min, max,
 * quantile and count look at the samples of all. A counter that falls was started again.
 */
#include "rules/expr-private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expr_value expr_known(double number)
{
	if (!isfinite(number))
		return expr_unknown("the result is no finite number");
	return (struct expr_value){ .is_known = true, .number = number };
}

struct expr_value expr_unknown(const char *fmt, ...)
{
	struct expr_value v = { .is_known = false };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v.why, sizeof(v.why), fmt, ap);
	va_end(ap);
	return v;
}

bool expr_selects(const struct expr *e, const struct memory_series *s)
{
	if (strcmp(e->name, s->name) != 0)
		return false;
	for (size_t i = 0; i < e->match_count; i++)
		if ((strcmp(memory_label(s, e->matches[i].key), e->matches[i].value) == 0) == e->matches[i].is_not)
			return false;
	return true;
}

static bool is_fresh(const struct memory_series *s, const struct expr_now *now)
{
	return s->count && memory_sample(s, s->count - 1)->ns >= now->mono_ns - now->stale_ns;
}

/* The only series that is selected and fresh. */
static struct expr_value eval_selector(const struct expr *e, const struct expr_eval *x)
{
	const struct memory_series *found = NULL;
	size_t count = 0, old = 0;

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (!expr_selects(e, s))
			continue;
		if (!is_fresh(s, x->now)) {
			old++;
			continue;
		}
		found = s;
		count++;
	}
	if (count > 1)
		return expr_unknown("%zu series are %.80s: say which, or sum() or max() them", count, e->text);
	if (!count)
		return old ? expr_unknown("%.80s is stale", e->text) : expr_unknown("there is no %.80s", e->text);
	return expr_known(memory_sample(found, found->count - 1)->value);
}

/* What an accumulator is told: the samples of a series in the window, and the one before. */
struct span {
	const struct memory_series *series;
	size_t first, count;
	bool has_before;
};

struct total {
	double sum, low, high, last;
	int64_t last_ns;
	size_t count, series;
};

typedef void span_taker(struct total *t, const struct span *s, const struct expr *e, const struct expr_eval *x);

static void each_span(const struct expr *window, const struct expr_eval *x, span_taker *take, struct total *t)
{
	int64_t from = x->now->mono_ns - window->window_ns;

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];
		struct span span = { .series = s };

		if (!expr_selects(window, s))
			continue;
		while (span.first < s->count && memory_sample(s, span.first)->ns <= from)
			span.first++;
		while (span.first + span.count < s->count &&
				memory_sample(s, span.first + span.count)->ns <= x->now->mono_ns)
			span.count++;
		span.has_before = span.first > 0;
		if (span.count) {
			t->series++;
			take(t, &span, window, x);
		}
	}
}

static void take_samples(struct total *t, const struct span *s, const struct expr *e, const struct expr_eval *x)
{
	(void)e;
	(void)x;
	for (size_t i = 0; i < s->count; i++) {
		double v = memory_sample(s->series, s->first + i)->value;

		t->low = t->count && t->low < v ? t->low : v;
		t->high = t->count && t->high > v ? t->high : v;
		t->sum += v;
		t->count++;
	}
}

static struct total samples_of(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	each_span(e->args[0], x, take_samples, &t);
	return t;
}

static struct expr_value none(const struct expr *e)
{
	return expr_unknown("%.100s has no samples", e->args[e->arg_count - 1]->text);
}

static struct expr_value eval_window_avg(const struct expr *e, const struct expr_eval *x)
{
	struct total t = samples_of(e, x);

	return t.count ? expr_known(t.sum / (double)t.count) : none(e);
}

static struct expr_value eval_window_min(const struct expr *e, const struct expr_eval *x)
{
	struct total t = samples_of(e, x);

	return t.count ? expr_known(t.low) : none(e);
}

static struct expr_value eval_window_max(const struct expr *e, const struct expr_eval *x)
{
	struct total t = samples_of(e, x);

	return t.count ? expr_known(t.high) : none(e);
}

static struct expr_value eval_window_count(const struct expr *e, const struct expr_eval *x)
{
	return expr_known((double)samples_of(e, x).count);
}

static size_t begin_of(const struct span *s)
{
	return s->has_before ? s->first - 1 : s->first;
}

/* By how much a counter rose, and in which time; one that fell began again at zero. */
static void take_increase(struct total *t, const struct span *s, const struct expr *e, const struct expr_eval *x)
{
	size_t first = begin_of(s), last = s->first + s->count - 1;
	double rise = 0, seconds;

	(void)e;
	(void)x;
	if (last == first)
		return;
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

static struct expr_value eval_rate(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	each_span(e->args[0], x, take_increase, &t);
	return t.count ? expr_known(t.sum) : expr_unknown("%.100s has no two samples", e->args[0]->text);
}

static struct expr_value eval_increase(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	each_span(e->args[0], x, take_increase, &t);
	return t.count ? expr_known(t.high) : expr_unknown("%.100s has no two samples", e->args[0]->text);
}

static void take_delta(struct total *t, const struct span *s, const struct expr *e, const struct expr_eval *x)
{
	size_t first = begin_of(s), last = s->first + s->count - 1;

	(void)e;
	(void)x;
	if (last == first)
		return;
	t->sum += memory_sample(s->series, last)->value - memory_sample(s->series, first)->value;
	t->count++;
}

static struct expr_value eval_delta(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	each_span(e->args[0], x, take_delta, &t);
	return t.count ? expr_known(t.sum) : expr_unknown("%.100s has no two samples", e->args[0]->text);
}

/* Exponentially weighted by age; a third of the window is the time constant. */
static void take_ewma(struct total *t, const struct span *s, const struct expr *e, const struct expr_eval *x)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct memory_sample *one = memory_sample(s->series, s->first + i);
		double weight = exp(-3.0 * (double)(x->now->mono_ns - one->ns) / (double)e->window_ns);

		t->sum += weight * one->value;
		t->high += weight;
		t->count++;
	}
}

static struct expr_value eval_ewma(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	each_span(e->args[0], x, take_ewma, &t);
	return t.count ? expr_known(t.sum / t.high) : none(e);
}

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Linear between the two nearest order statistics (type 7 of Hyndman and Fan). */
static struct expr_value eval_quantile(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value q = expr_part(e->args[0], x);
	const struct expr *window = e->args[1];
	struct total t = { 0 };
	double *all, at, low;
	size_t n = 0;

	if (!q.is_known)
		return q;
	if (!(q.number >= 0 && q.number <= 1))
		return expr_unknown("a quantile is from 0 to 1, not %g", q.number);
	each_span(window, x, take_samples, &t);
	all = t.count ? malloc(t.count * sizeof(*all)) : NULL;
	if (!all)
		return none(e);
	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		for (size_t k = 0; expr_selects(window, s) && k < s->count && n < t.count; k++) {
			const struct memory_sample *one = memory_sample(s, k);

			if (one->ns > x->now->mono_ns - window->window_ns && one->ns <= x->now->mono_ns)
				all[n++] = one->value;
		}
	}
	qsort(all, n, sizeof(*all), by_value);
	at = q.number * (double)(n - 1);
	low = all[(size_t)at];
	low += (at - floor(at)) * (all[(size_t)ceil(at)] - low);
	free(all);
	return expr_known(low);
}

/* Over the newest samples of all series that are fresh. */
static struct total newest_of(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];
		struct span span = { .series = s, .first = s->count ? s->count - 1 : 0, .count = 1 };

		if (expr_selects(e->args[0], s) && is_fresh(s, x->now))
			take_samples(&t, &span, e, x);
	}
	return t;
}

static struct expr_value eval_sum(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.sum) : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

static struct expr_value eval_avg(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.sum / (double)t.count)
		       : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

static struct expr_value eval_min(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.low) : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

static struct expr_value eval_max(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.high) : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

static struct expr_value eval_count(const struct expr *e, const struct expr_eval *x)
{
	return expr_known((double)newest_of(e, x).count);
}

/* Never unknown: what was never there is stale too. */
static struct expr_value eval_stale(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value limit = expr_part(e->args[1], x);
	int64_t newest = INT64_MIN;

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (expr_selects(e->args[0], s) && s->count && memory_sample(s, s->count - 1)->ns > newest)
			newest = memory_sample(s, s->count - 1)->ns;
	}
	return expr_known(newest == INT64_MIN || (double)(x->now->mono_ns - newest) / 1e9 > limit.number);
}

/* Has it been there that long? */
static struct expr_value eval_after(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value limit = expr_part(e->args[1], x);

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (expr_selects(e->args[0], s) && is_fresh(s, x->now))
			return expr_known((double)(x->now->mono_ns - s->first_ns) / 1e9 >= limit.number);
	}
	return expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

static struct expr_value eval_present(const struct expr *e, const struct expr_eval *x)
{
	return expr_known(newest_of(e, x).count > 0);
}

static struct expr_value eval_cron(const struct expr *e, const struct expr_eval *x)
{
	time_t seconds = (time_t)(x->now->real_ns / 1000000000);
	struct tm at;

	if (!(x->now->is_utc ? gmtime_r(&seconds, &at) : localtime_r(&seconds, &at)))
		return expr_unknown("the time is not known");
	return expr_known(cron_matches(&e->cron, &at));
}

static struct expr_value eval_time(const struct expr *e, const struct expr_eval *x)
{
	(void)e;
	return expr_known((double)x->now->real_ns / 1e9);
}

static struct expr_value eval_abs(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value v = expr_part(e->args[0], x);

	return v.is_known ? expr_known(fabs(v.number)) : v;
}

/* The stronger of two truths decides alone, whatever the other is. */
static struct expr_value decide(const struct expr *e, const struct expr_eval *x, double strong)
{
	struct expr_value a = expr_part(e->args[0], x), b = expr_part(e->args[1], x);

	if ((a.is_known && a.number == strong) || (b.is_known && b.number == strong))
		return expr_known(strong);
	return !a.is_known ? a : b;
}

static struct expr_value eval_and(const struct expr *e, const struct expr_eval *x)
{
	return decide(e, x, 0);
}

static struct expr_value eval_or(const struct expr *e, const struct expr_eval *x)
{
	return decide(e, x, 1);
}

static struct expr_value eval_not(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value v = expr_part(e->args[0], x);

	return v.is_known ? expr_known(v.number == 0) : v;
}

static struct expr_value eval_minus(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value v = expr_part(e->args[0], x);

	return v.is_known ? expr_known(-v.number) : v;
}

#define BINARY(name, result) \
	static struct expr_value eval_##name(const struct expr *e, const struct expr_eval *x) \
	{ \
		struct expr_value u = expr_part(e->args[0], x), v = expr_part(e->args[1], x); \
		double a = u.number, b = v.number; \
\
		return !u.is_known ? u : !v.is_known ? v : expr_known(result); \
	}

BINARY(add, a + b)
BINARY(subtract, a - b)
BINARY(multiply, a *b)
BINARY(divide, a / b)
BINARY(remainder, fmod(a, b))
BINARY(less, a < b)
BINARY(at_most, a <= b)
BINARY(more, a > b)
BINARY(at_least, a >= b)
BINARY(equal, a == b)
BINARY(unequal, a != b)

#define N EXPR_NUMBER
#define T EXPR_TRUTH
#define S EXPR_SERIES
#define W EXPR_WINDOW

const struct expr_function expr_functions[] = {
	{ "or", T, 2, { T, T }, eval_or, 1, NULL },
	{ "and", T, 2, { T, T }, eval_and, 2, NULL },
	{ "not", T, 1, { T }, eval_not, 3, NULL },
	{ "<", T, 2, { N, N }, eval_less, 4, NULL },
	{ "<=", T, 2, { N, N }, eval_at_most, 4, NULL },
	{ ">", T, 2, { N, N }, eval_more, 4, NULL },
	{ ">=", T, 2, { N, N }, eval_at_least, 4, NULL },
	{ "==", T, 2, { N, N }, eval_equal, 4, NULL },
	{ "!=", T, 2, { N, N }, eval_unequal, 4, NULL },
	{ "+", N, 2, { N, N }, eval_add, 5, NULL },
	{ "-", N, 2, { N, N }, eval_subtract, 5, NULL },
	{ "*", N, 2, { N, N }, eval_multiply, 6, NULL },
	{ "/", N, 2, { N, N }, eval_divide, 6, NULL },
	{ "%", N, 2, { N, N }, eval_remainder, 6, NULL },
	{ "-", N, 1, { N }, eval_minus, 7, NULL },
	{ "rate", N, 1, { W }, eval_rate, 0, "rate(counter[10s]) is its rise a second" },
	{ "increase", N, 1, { W }, eval_increase, 0, "increase(counter[10s]) is its rise" },
	{ "delta", N, 1, { W }, eval_delta, 0, "delta(gauge[10s]) is its last value less its first" },
	{ "avg", N, 1, { W }, eval_window_avg, 0, "avg(gauge[10s]), or avg(gauge) over several series" },
	{ "min", N, 1, { W }, eval_window_min, 0, "min(gauge[10s]), or min(gauge) over several series" },
	{ "max", N, 1, { W }, eval_window_max, 0, "max(gauge[10s]), or max(gauge) over several series" },
	{ "count", N, 1, { W }, eval_window_count, 0, "count(gauge[10s]) of samples, or count(gauge) of series" },
	{ "ewma", N, 1, { W }, eval_ewma, 0, "ewma(gauge[10s]): newer samples weigh more" },
	{ "quantile", N, 2, { N, W }, eval_quantile, 0, "quantile(0.95, gauge[10s])" },
	{ "sum", N, 1, { S }, eval_sum, 0, "sum(gauge) over several series" },
	{ "avg", N, 1, { S }, eval_avg, 0, NULL },
	{ "min", N, 1, { S }, eval_min, 0, NULL },
	{ "max", N, 1, { S }, eval_max, 0, NULL },
	{ "count", N, 1, { S }, eval_count, 0, NULL },
	{ "stale", T, 2, { S, N }, eval_stale, 0, "stale(series, 10s): nothing was heard of it for that long" },
	{ "after", T, 2, { S, N }, eval_after, 0, "after(series, 10m): it has been there for that long" },
	{ "present", T, 1, { S }, eval_present, 0, "present(series): it is there and fresh" },
	{ "cron", T, 1, { EXPR_TEXT }, eval_cron, 0, "cron(\"0-30 8 * * 1-5\"): minute, hour, day, month, weekday" },
	{ "time", N, 0, { N }, eval_time, 0, "time() in seconds since 1970" },
	{ "abs", N, 1, { N }, eval_abs, 0, "abs(number)" },
	{ NULL },
};

struct expr_value expr_part(const struct expr *e, const struct expr_eval *x)
{
	switch (e->kind) {
	case EXPR_CONSTANT:
		return expr_known(e->number);
	case EXPR_STRING:
		return expr_unknown("a text is no number");
	case EXPR_SELECTOR:
		return eval_selector(e, x);
	case EXPR_CALL:
	case EXPR_OPERATOR:
		return e->function->eval(e, x);
	}
	return expr_unknown("a fault of sonde");
}

struct expr_value expr_eval(const struct expr *e, const struct memory *m, const struct expr_now *now)
{
	const struct expr_eval x = { m, now };

	return expr_part(e, &x);
}
