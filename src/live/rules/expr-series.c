/*
 * Functions of series.
 *
 * For several series in a window, rate and similar functions sum the results of all series; avg, min, max, quantile
 * and count use the samples of all. A counter that decreases was reset.
 */
#include "live/rules/expr-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does the series match the selector's name and labels? */
static bool selects(const struct expr *e, const struct memory_series *s)
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

/* The value of the only series that matches and is not stale. */
struct expr_value expr_eval_selector(const struct expr *e, const struct expr_eval *x)
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
		return expr_unknown("%zu series are %.80s: say which, or sum() or max() them", count, e->text);
	if (!count)
		return old ? expr_unknown("%.80s is stale", e->text) : expr_unknown("there is no %.80s", e->text);
	return expr_known(memory_sample(found, found->count - 1)->value);
}

/* Input of an accumulator: the samples of a series in the window, and the one before. */
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

		if (!selects(window, s))
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

struct expr_value expr_eval_window_avg(const struct expr *e, const struct expr_eval *x)
{
	struct total t = samples_of(e, x);

	return t.count ? expr_known(t.sum / (double)t.count) : none(e);
}

struct expr_value expr_eval_window_min(const struct expr *e, const struct expr_eval *x)
{
	struct total t = samples_of(e, x);

	return t.count ? expr_known(t.low) : none(e);
}

struct expr_value expr_eval_window_max(const struct expr *e, const struct expr_eval *x)
{
	struct total t = samples_of(e, x);

	return t.count ? expr_known(t.high) : none(e);
}

struct expr_value expr_eval_window_count(const struct expr *e, const struct expr_eval *x)
{
	return expr_known((double)samples_of(e, x).count);
}

static size_t begin_of(const struct span *s)
{
	return s->has_before ? s->first - 1 : s->first;
}

/* Increase of a counter and the elapsed time; a decrease is a reset to zero. */
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

struct expr_value expr_eval_rate(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	each_span(e->args[0], x, take_increase, &t);
	return t.count ? expr_known(t.sum) : expr_unknown("%.100s has no two samples", e->args[0]->text);
}

struct expr_value expr_eval_increase(const struct expr *e, const struct expr_eval *x)
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

struct expr_value expr_eval_delta(const struct expr *e, const struct expr_eval *x)
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

struct expr_value expr_eval_ewma(const struct expr *e, const struct expr_eval *x)
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
struct expr_value expr_eval_quantile(const struct expr *e, const struct expr_eval *x)
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

		for (size_t k = 0; selects(window, s) && k < s->count && n < t.count; k++) {
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

/* Over the newest samples of all series that are not stale. */
static struct total newest_of(const struct expr *e, const struct expr_eval *x)
{
	struct total t = { 0 };

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];
		struct span span = { .series = s, .first = s->count ? s->count - 1 : 0, .count = 1 };

		if (selects(e->args[0], s) && is_fresh(s, x->now))
			take_samples(&t, &span, e, x);
	}
	return t;
}

struct expr_value expr_eval_sum(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.sum) : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

struct expr_value expr_eval_avg(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.sum / (double)t.count)
		       : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

struct expr_value expr_eval_min(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.low) : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

struct expr_value expr_eval_max(const struct expr *e, const struct expr_eval *x)
{
	struct total t = newest_of(e, x);

	return t.count ? expr_known(t.high) : expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

struct expr_value expr_eval_count(const struct expr *e, const struct expr_eval *x)
{
	return expr_known((double)newest_of(e, x).count);
}

/* Never unknown: a series that never existed is stale too. */
struct expr_value expr_eval_stale(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value limit = expr_part(e->args[1], x);
	int64_t newest = INT64_MIN;

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (selects(e->args[0], s) && s->count && memory_sample(s, s->count - 1)->ns > newest)
			newest = memory_sample(s, s->count - 1)->ns;
	}
	return expr_known(newest == INT64_MIN || (double)(x->now->mono_ns - newest) / 1e9 > limit.number);
}

/* Has the series existed for that long? */
struct expr_value expr_eval_after(const struct expr *e, const struct expr_eval *x)
{
	struct expr_value limit = expr_part(e->args[1], x);

	for (size_t i = 0; i < x->memory->series_count; i++) {
		const struct memory_series *s = &x->memory->series[i];

		if (selects(e->args[0], s) && is_fresh(s, x->now))
			return expr_known((double)(x->now->mono_ns - s->first_ns) / 1e9 >= limit.number);
	}
	return expr_unknown("there is no fresh %.80s", e->args[0]->text);
}

struct expr_value expr_eval_present(const struct expr *e, const struct expr_eval *x)
{
	return expr_known(newest_of(e, x).count > 0);
}
