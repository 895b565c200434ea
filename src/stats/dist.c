/*
 * All functions use two continued fractions, the incomplete beta function (DLMF 8.17.22) and the upper incomplete
 * gamma function (DLMF 8.9.2), evaluated by Lentz's method, and the series of the lower one (DLMF 8.7.1). Their
 * leading factors are binomial and Poisson probabilities in Loader's saddle-point form ("Fast and accurate
 * computation of binomial probabilities", 2000), which do not cancel for large parameters. Quantiles use Newton's
 * method on the logarithms of argument and tail, within a bracket.
 */
#include "stats/dist.h"

#include <math.h>
#include <stdbool.h>

#define TINY 1e-300
#define STEP_MAX 2000000

double stats_normal_density(double z)
{
	return exp(-z * z / 2) / sqrt(2 * M_PI);
}

double stats_normal_cdf(double z)
{
	return erfc(-z * M_SQRT1_2) / 2;
}

/* Abramowitz and Stegun 26.2.23 for p <= 1/2, accurate to 4.5e-4. */
static double normal_quantile_rough(double p)
{
	double t = sqrt(-2 * log(p));

	return (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
}

/* Halley's method triples the correct digits in each step. */
double stats_normal_quantile(double p)
{
	double z;

	if (!(p > 0 && p < 1))
		return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
	if (p > 0.5)
		return -stats_normal_quantile(1 - p);
	z = normal_quantile_rough(p);
	for (int i = 0; i < 3; i++) {
		double miss = (stats_normal_cdf(z) - p) / stats_normal_density(z);

		z -= miss / (1 + z * miss / 2);
	}
	return z;
}

/* ln n! minus Stirling's approximation. */
static double stirling_error(double n)
{
	double q = n * n;
	int sign;

	if (n < 16)
		return lgamma_r(n + 1, &sign) - (n + 0.5) * log(n) + n - 0.5 * log(2 * M_PI);
	return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / q) / q) / q) / q) / n;
}

/* x ln(x / m) + m - x, without cancellation for x near m. */
static double deviance(double x, double m)
{
	double d = x - m, v = d / (x + m), sum = d * v, term = 2 * x * v, ratio = x / m;

	if (fabs(d) >= 0.1 * (x + m))
		return x * (ratio > 0 && ratio < INFINITY ? log(ratio) : log(x) - log(m)) + m - x;
	for (int j = 3; j < 1000; j += 2) {
		double before = sum;

		term *= v * v;
		sum += term / j;
		if (sum == before)
			break;
	}
	return sum;
}

/* x^a y^b / B(a, b), where y = 1 - x */
static double beta_factor(double a, double b, double x, double y)
{
	double n = a + b;
	double e = stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) - deviance(b, n * y);

	return exp(e) * sqrt(a * b / (2 * M_PI * n));
}

/* Clamps rounding errors beyond 0 or 1. */
static double probability(double v)
{
	return v < 0 ? 0 : v > 1 ? 1 : v;
}

static double not_zero(double v)
{
	return fabs(v) < TINY ? TINY : v;
}

static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int step = 1; step < STEP_MAX; step++) {
		double m = step;
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), change;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		h *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		change = d * c;
		h *= change;
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return h;
}

/* I_x(a, b) with y = 1 - x given separately, so that either may be tiny. */
static double beta_lower(double a, double b, double x, double y)
{
	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	if (x <= (a + 1) / (a + b + 2))
		return probability(beta_factor(a, b, x, y) * beta_fraction(a, b, x) / a);
	return probability(1 - beta_factor(b, a, y, x) * beta_fraction(b, a, y) / b);
}

double stats_beta_cdf(double x, double a, double b)
{
	if (!(a > 0 && b > 0) || isinf(a) || isinf(b) || isnan(x))
		return NAN;
	return beta_lower(a, b, x, 1 - x);
}

/* x^a e^-x / Gamma(a + 1) */
static double gamma_factor(double a, double x)
{
	return exp(-stirling_error(a) - deviance(a, x)) / sqrt(2 * M_PI * a);
}

static double gamma_series(double a, double x)
{
	double sum = 1, term = 1;

	for (int k = 1; k < STEP_MAX && term > sum * 1e-17; k++) {
		term *= x / (a + k);
		sum += term;
	}
	return sum;
}

static double gamma_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1 / TINY, d = 1 / not_zero(b), h = d;

	for (int k = 1; k < STEP_MAX; k++) {
		double factor = -k * (k - a), change;

		b += 2;
		d = 1 / not_zero(factor * d + b);
		c = not_zero(b + factor / c);
		change = d * c;
		h *= change;
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return h;
}

static double gamma_tail(double a, double x, bool is_upper)
{
	double tail;

	if (x <= 0 || isinf(x))
		return (x <= 0) == is_upper;
	if (x < a + 1) {
		tail = probability(gamma_factor(a, x) * gamma_series(a, x));
		return is_upper ? 1 - tail : tail;
	}
	tail = probability(gamma_factor(a, x) * a * gamma_fraction(a, x));
	return is_upper ? tail : 1 - tail;
}

static bool is_df(double df)
{
	return df > 0 && !isinf(df);
}

/* A tail of a distribution on (0, 1) or (0, inf); `slope` is its density times the argument. */
struct tail {
	double a, b;
	bool is_upper;
	double (*value)(const struct tail *t, double x);
	double (*slope)(const struct tail *t, double x);
};

/* Returns the x with tail p, between exp(lo) and exp(hi). */
static double invert(const struct tail *t, double p, double guess, double lo, double hi)
{
	double u = fmin(fmax(log(guess), lo), hi);

	for (int i = 0; i < 200; i++) {
		double x = exp(u), value = t->value(t, x), step;

		if ((value < p) != t->is_upper)
			lo = u;
		else
			hi = u;
		step = log(value / p) * value / t->slope(t, x);
		u = t->is_upper ? u + step : u - step;
		if (!(u >= lo && u <= hi)) {
			step = hi - lo;
			u = (lo + hi) / 2;
		}
		if (fabs(step) <= 4e-16 * fmax(1, fabs(u)) || hi - lo <= 1e-16 * fabs(u))
			break;
	}
	return exp(u);
}

static double gamma_value(const struct tail *t, double x)
{
	return gamma_tail(t->a, x, t->is_upper);
}

static double gamma_slope(const struct tail *t, double x)
{
	return gamma_factor(t->a, x) * t->a;
}

/* Wilson and Hilferty (PNAS 17, 1931), or the leading power if that is not positive. */
static double gamma_guess(double a, double p)
{
	double v = 1 / (9 * a), root = 1 - v + stats_normal_quantile(p) * sqrt(v);
	int sign;

	return root > 0.1 ? a * root * root * root : exp((log(p) + lgamma_r(a + 1, &sign)) / a);
}

double stats_chi2_quantile(double p, double df)
{
	struct tail t = { .a = df / 2, .is_upper = p > 0.5, .value = gamma_value, .slope = gamma_slope };

	if (!is_df(df) || !(p >= 0 && p <= 1))
		return NAN;
	if (p == 0 || p == 1)
		return p == 0 ? 0 : INFINITY;
	return 2 * invert(&t, t.is_upper ? 1 - p : p, gamma_guess(t.a, p), -745, 709);
}

static double beta_value(const struct tail *t, double x)
{
	return t->is_upper ? beta_lower(t->b, t->a, 1 - x, x) : beta_lower(t->a, t->b, x, 1 - x);
}

static double beta_slope(const struct tail *t, double x)
{
	return x < 1 ? beta_factor(t->a, t->b, x, 1 - x) / (1 - x) : 0;
}

/* x with I_x(a, b) = lower and 1 - I_x(a, b) = upper; x must not be near 1. */
static double beta_invert(double a, double b, double lower, double upper)
{
	struct tail t = { .a = a, .b = b, .is_upper = upper < lower, .value = beta_value, .slope = beta_slope };

	return invert(&t, fmin(lower, upper), a / (a + b), -745, 0);
}

double stats_beta_quantile(double p, double a, double b)
{
	double middle = stats_beta_cdf(a / (a + b), a, b);

	if (isnan(middle) || !(p >= 0 && p <= 1))
		return NAN;
	if (p == 0 || p == 1)
		return p;
	return p <= middle ? beta_invert(a, b, p, 1 - p) : 1 - beta_invert(b, a, 1 - p, p);
}

/* From here on t is converted to a normal value, more accurately than by the continued fraction. */
static bool is_near_normal(double df)
{
	return df > 1e5;
}

/* The normal value with the same cdf as t: Hill, "Student's t-distribution" (CACM 13(10), 1970), two terms. */
static double normal_of_t(double t, double df)
{
	double a = df - 0.5, w = sqrt(a * log1p(t / df * t));

	return copysign(w + w * (w * w + 3) / (48 * a * a), t);
}

static double t_of_normal(double z, double df)
{
	double a = df - 0.5, w = fabs(z);

	for (int i = 0; i < 3; i++)
		w = fabs(z) - w * (w * w + 3) / (48 * a * a);
	return copysign(sqrt(df * expm1(w * w / a)), z);
}

double stats_t_cdf(double t, double df)
{
	double r = df / t / t, tail;

	if (!(df > 0) || isnan(t))
		return NAN;
	if (isinf(t) || t == 0)
		return stats_normal_cdf(t);
	if (is_near_normal(df))
		return stats_normal_cdf(isinf(df) ? t : normal_of_t(t, df));
	tail = isinf(r) ? 0.5 : beta_lower(df / 2, 0.5, r / (1 + r), 1 / (1 + r)) / 2;
	return t > 0 ? 1 - tail : tail;
}

/* Both tails of t sum to I_x(df/2, 1/2) with x = df / (df + t^2); for x above 1/2 we solve for 1 - x. */
double stats_t_quantile(double p, double df)
{
	double q = fmin(p, 1 - p), x, t;

	if (!(df > 0) || !(p >= 0 && p <= 1))
		return NAN;
	if (isinf(df) || q == 0)
		return stats_normal_quantile(p);
	if (is_near_normal(df))
		return t_of_normal(stats_normal_quantile(p), df);
	if (q == 0.5)
		return 0;
	if (2 * q < stats_beta_cdf(0.5, df / 2, 0.5)) {
		x = beta_invert(df / 2, 0.5, 2 * q, 1 - 2 * q);
		t = sqrt(df * ((1 - x) / x));
	} else {
		x = beta_invert(0.5, df / 2, 1 - 2 * q, 2 * q);
		t = sqrt(df * (x / (1 - x)));
	}
	return p < 0.5 ? -t : t;
}

void stats_binomial_interval(size_t hits, size_t n, double level, double *lo, double *hi)
{
	double k = (double)hits, rest = (double)(n - hits), tail = (1 - level) / 2;

	*lo = hits ? stats_beta_quantile(tail, k, rest + 1) : 0;
	*hi = hits < n ? stats_beta_quantile(1 - tail, k + 1, rest) : 1;
}
