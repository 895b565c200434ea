/*
 * Equivalence by two one-sided tests: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987. Power
 * is the mean of the normal power over the distribution of the sample's standard deviation, by Simpson's rule.
 * Several comparisons: Holm, "A simple sequentially rejective multiple test procedure" (Scandinavian Journal of
 * Statistics 6(2), 1979).
 */
#include "stats/verdict.h"

#include "stats/dist.h"

#include <math.h>

enum stats_verdict stats_verdict(const struct stats_interval *log_ratio, double margin)
{
	double m = log(margin);

	if (!(m >= 0) || isnan(log_ratio->estimate))
		return STATS_INCONCLUSIVE;
	if (log_ratio->lo > m)
		return STATS_SLOWER;
	if (log_ratio->hi < -m)
		return STATS_FASTER;
	return log_ratio->lo > -m && log_ratio->hi < m ? STATS_EQUIVALENT : STATS_INCONCLUSIVE;
}

const char *stats_verdict_name(enum stats_verdict v)
{
	static const char *const names[] = {
		[STATS_INCONCLUSIVE] = "inconclusive",
		[STATS_FASTER] = "faster",
		[STATS_SLOWER] = "slower",
		[STATS_EQUIVALENT] = "equivalent",
	};

	return (unsigned)v < sizeof(names) / sizeof(*names) ? names[v] : "inconclusive";
}

int stats_direction(const struct stats_interval *log_ratio)
{
	return (log_ratio->lo > 0) - (log_ratio->hi < 0);
}

/* The integrand over s = sample sd / sd: `edge` and `t` in standard errors. */
struct question {
	double edge, t;
	double (*chance)(const struct question *q, double s);
};

static double chance_of_exclusion(const struct question *q, double s)
{
	return stats_normal_cdf(q->edge - q->t * s) + stats_normal_cdf(-q->edge - q->t * s);
}

static double chance_inside(const struct question *q, double s)
{
	double room = q->edge - q->t * s;

	return room > 0 ? erf(room * M_SQRT1_2) : 0;
}

/* Logarithm of the density of s = sqrt(chi2 / df) at s > 0. */
static double log_density(double s, double df)
{
	int sign;

	return log(2) + df / 2 * log(df / 2) - lgamma_r(df / 2, &sign) + (df - 1) * log(s) - df * s * s / 2;
}

static double average(const struct question *q, double df)
{
	enum { STEPS = 2000 };
	double lo = sqrt(stats_chi2_quantile(1e-12, df) / df), hi = sqrt(stats_chi2_quantile(1 - 1e-12, df) / df),
	       sum = 0;
	double step = (hi - lo) / STEPS;

	for (int i = 0; i <= STEPS; i++) {
		double s = lo + i * step, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;

		sum += weight * exp(log_density(s, df)) * q->chance(q, s);
	}
	return fmin(fmax(sum * step / 3, 0), 1);
}

static double power_of(size_t n, double sd, double edge, double level,
		double (*chance)(const struct question *, double))
{
	double df = (double)n - 1, se = sd / sqrt((double)n);
	struct question q = { .edge = fabs(edge) / se, .chance = chance };

	if (n < 2 || !(sd >= 0) || isnan(edge) || !(level > 0 && level < 1))
		return NAN;
	if (sd == 0)
		return edge != 0;
	q.t = -stats_t_quantile((1 - level) / 2, df);
	return average(&q, df);
}

double stats_power(size_t n, double sd, double effect, double level)
{
	return power_of(n, sd, effect, level, chance_of_exclusion);
}

double stats_equivalence_power(size_t n, double sd, double margin, double level)
{
	return power_of(n, sd, margin, level, chance_inside);
}

double stats_detectable_effect(size_t n, double sd, double level, double power)
{
	double lo = 0, hi = sd;

	if (isnan(stats_power(n, sd, sd, level)) || !(power > 1 - level && power < 1))
		return NAN;
	if (sd == 0)
		return 0;
	while (stats_power(n, sd, hi, level) < power)
		hi *= 2;
	while (hi - lo > 1e-10 * hi) {
		double middle = (lo + hi) / 2;

		if (stats_power(n, sd, middle, level) < power)
			lo = middle;
		else
			hi = middle;
	}
	return hi;
}

typedef double power_of_n(size_t n, double sd, double edge, double level);

/* Power increases with n: double, then bisect. */
static size_t first_n(power_of_n *power_at, double sd, double edge, double level, double power, size_t n_max)
{
	size_t lo = 1, hi = 2;

	while (hi < n_max && !(power_at(hi, sd, edge, level) >= power)) {
		lo = hi;
		hi = hi > n_max / 2 ? n_max : hi * 2;
	}
	if (hi > n_max || !(power_at(hi, sd, edge, level) >= power))
		return 0;
	while (hi - lo > 1) {
		size_t middle = lo + (hi - lo) / 2;

		if (power_at(middle, sd, edge, level) >= power)
			hi = middle;
		else
			lo = middle;
	}
	return hi;
}

size_t stats_required_n(double sd, double effect, double level, double power, size_t n_max)
{
	return first_n(stats_power, sd, effect, level, power, n_max);
}

size_t stats_required_n_equivalent(double sd, double margin, double level, double power, size_t n_max)
{
	return first_n(stats_equivalence_power, sd, margin, level, power, n_max);
}

void stats_holm(const double *p, size_t n, double *adjusted, double *scratch)
{
	size_t tests = 0;
	double last = 0;

	for (size_t i = 0; i < n; i++) {
		adjusted[i] = p[i];
		scratch[i] = (double)i;
		tests += !isnan(p[i]);
	}
	stats_sort_with(adjusted, scratch, n);
	for (size_t i = 0; i < tests; i++)
		adjusted[i] = last = fmin(1, fmax(last, adjusted[i] * (double)(tests - i)));
	stats_sort_with(scratch, adjusted, n); /* restore the order */
}
