/* Evaluation of expressions, and the table of functions and operators. */
#include "live/rules/expr-private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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

/* One operand with the value `strong` decides the result, even if the other is unknown. */
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
	{ "rate", N, 1, { W }, expr_eval_rate, 0, "rate(counter[10s]) is its rise a second" },
	{ "increase", N, 1, { W }, expr_eval_increase, 0, "increase(counter[10s]) is its rise" },
	{ "delta", N, 1, { W }, expr_eval_delta, 0, "delta(gauge[10s]) is its last value less its first" },
	{ "avg", N, 1, { W }, expr_eval_window_avg, 0, "avg(gauge[10s]), or avg(gauge) over several series" },
	{ "min", N, 1, { W }, expr_eval_window_min, 0, "min(gauge[10s]), or min(gauge) over several series" },
	{ "max", N, 1, { W }, expr_eval_window_max, 0, "max(gauge[10s]), or max(gauge) over several series" },
	{ "count", N, 1, { W }, expr_eval_window_count, 0, "count(gauge[10s]) of samples, or count(gauge) of series" },
	{ "ewma", N, 1, { W }, expr_eval_ewma, 0, "ewma(gauge[10s]): newer samples weigh more" },
	{ "quantile", N, 2, { N, W }, expr_eval_quantile, 0, "quantile(0.95, gauge[10s])" },
	{ "sum", N, 1, { S }, expr_eval_sum, 0, "sum(gauge) over several series" },
	{ "avg", N, 1, { S }, expr_eval_avg, 0, NULL },
	{ "min", N, 1, { S }, expr_eval_min, 0, NULL },
	{ "max", N, 1, { S }, expr_eval_max, 0, NULL },
	{ "count", N, 1, { S }, expr_eval_count, 0, NULL },
	{ "stale", T, 2, { S, N }, expr_eval_stale, 0, "stale(series, 10s): nothing was heard of it for that long" },
	{ "after", T, 2, { S, N }, expr_eval_after, 0, "after(series, 10m): it has been there for that long" },
	{ "present", T, 1, { S }, expr_eval_present, 0, "present(series): it is there and fresh" },
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
		return expr_eval_selector(e, x);
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
