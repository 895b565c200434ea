/*
 * Student (Biometrika 6(1), 1908); Welch's unequal variances (Biometrika 34, 1947) with Satterthwaite's degrees of
 * freedom (Biometrics Bulletin 2(6), 1946).
 */
#include "stats/interval.h"

#include "stats/dist.h"

#include <math.h>

static bool is_level(double level)
{
	return level > 0 && level < 1;
}

struct stats_interval stats_interval_open(double estimate, size_t n, double level, const char *method)
{
	return (struct stats_interval){
		.estimate = is_level(level) ? estimate : NAN,
		.lo = -INFINITY,
		.hi = INFINITY,
		.level = level,
		.df = NAN,
		.se = NAN,
		.n = n,
		.method = method,
	};
}

bool stats_interval_holds(const struct stats_interval *i, double value)
{
	return value >= i->lo && value <= i->hi;
}

struct stats_interval stats_interval_exp(const struct stats_interval *i)
{
	struct stats_interval out = *i;

	out.estimate = exp(i->estimate);
	out.lo = exp(i->lo);
	out.hi = exp(i->hi);
	out.se = NAN;
	return out;
}

struct stats_interval stats_interval_t(double estimate, double se, double df, size_t n, double level)
{
	struct stats_interval out = stats_interval_open(estimate, n, level, "Student's t");
	double half;

	if (isnan(estimate) || isnan(se) || !(df > 0) || !is_level(level))
		return out;
	half = se == 0 ? 0 : -stats_t_quantile((1 - level) / 2, df) * se;
	out.lo = estimate - half;
	out.hi = estimate + half;
	out.df = df;
	out.se = se;
	return out;
}

struct stats_interval stats_moments_interval(const struct stats_moments *m, double level)
{
	if (m->n < 2)
		return stats_interval_open(m->mean, m->n, level, "Student's t");
	return stats_interval_t(m->mean, stats_standard_error(m), (double)m->n - 1, m->n, level);
}

struct stats_interval stats_mean_interval(const double *x, size_t n, double level)
{
	struct stats_moments m = stats_moments_of(x, n);

	return stats_moments_interval(&m, level);
}

/* If only one side has spread, the degrees of freedom are that side's; if neither has, they do not matter. */
static double welch_df(double va, double vb, size_t na, size_t nb)
{
	double share = va / (va + vb), rest = 1 - share;

	if (va + vb == 0)
		return (double)(na + nb - 2);
	return 1 / (share * share / (double)(na - 1) + rest * rest / (double)(nb - 1));
}

struct stats_interval stats_welch_interval(const struct stats_moments *a, const struct stats_moments *b, double level)
{
	struct stats_interval out = stats_interval_open(b->mean - a->mean, a->n + b->n, level, "Welch's t");
	double va, vb;

	if (a->n < 2 || b->n < 2)
		return out;
	va = stats_variance(a) / (double)a->n;
	vb = stats_variance(b) / (double)b->n;
	out = stats_interval_t(b->mean - a->mean, sqrt(va + vb), welch_df(va, vb, a->n, b->n), a->n + b->n, level);
	out.method = "Welch's t";
	return out;
}

double stats_log_ratio(double a, double b)
{
	if (!(a > 0 && b > 0) || isinf(a) || isinf(b))
		return NAN;
	return log(b) - log(a);
}

double stats_interval_p(const struct stats_interval *i, double value)
{
	double distance = fabs(i->estimate - value);

	if (isnan(distance) || isnan(i->se) || isnan(i->df))
		return NAN;
	if (i->se == 0)
		return distance == 0;
	return 2 * stats_t_cdf(-distance / i->se, i->df);
}
