/*
 * Lan and DeMets, "Discrete sequential boundaries for clinical trials" (Biometrika 70(3), 1983) for spending; Kim and
 * DeMets (Biometrika 74(1), 1987) for powers; Jennison and Turnbull, "Group sequential methods" (2000), chapter 9 for
 * repeated intervals, and "Exact calculations for sequential t, chi-squared and F tests" (Biometrika 78(1), 1991) for
 * the error of normal theory with few observations: 5 % become 5.1 to 5.7 %.
 *
 * The walk is y = sum / root of the sum of squares, with y^2 = n t^2 / (t^2 + n - 1): y is to t as a sine is to a
 * tangent. For n normal values with mean 0 the direction is independent of the length, so the next value turns the
 * direction by an angle that does not depend on the past,
 *
 *	y' = y cos(phi) + sin(phi),   density of phi proportional to cos(phi)^(n-1),
 *
 * and y alone is a Markov chain. Its density among the paths that continued at every analysis is propagated value by
 * value by Gauss-Legendre quadrature over the angle (as in Armitage, McPherson and Rowe, JRSS A 132(2), 1969, for the
 * mean), and from 128 values on as a Brownian motion, from analysis to analysis. The density is even: half of it is
 * stored.
 */
#include "stats/sequential.h"

#include "stats/dist.h"

#include <math.h>

enum { GRID = STATS_SEQUENTIAL_GRID, NODES = 40, N_EXACT = 128 };

#define FAR 8.5 /* standard deviations beyond which the density is negligible */

void stats_sequential_init(struct stats_sequential *s, enum stats_spending spending, double level, size_t n_max,
		double power)
{
	*s = (struct stats_sequential){ .spending = spending, .level = level, .n_max = n_max, .power = power };
	s->bound = INFINITY;
}

double stats_spending_at(enum stats_spending spending, double level, double power, double fraction)
{
	double alpha = 1 - level, f = fmin(fmax(fraction, 0), 1);

	if (f == 0 || f == 1)
		return f == 0 ? 0 : alpha;
	switch (spending) {
	case STATS_POCOCK:
		return alpha * log1p((M_E - 1) * f);
	case STATS_POWER:
		return alpha * pow(f, power);
	default:
		return 4 * stats_normal_cdf(stats_normal_quantile(alpha / 4) / sqrt(f));
	}
}

static double y_of_t(double t, size_t n)
{
	return isinf(t) ? sqrt((double)n) : t * sqrt((double)n / (t * t + (double)n - 1));
}

static double t_of_y(double y, size_t n)
{
	double rest = (double)n - y * y;

	return rest > 0 ? y * sqrt(((double)n - 1) / rest) : INFINITY;
}

/* Gamma((n + 1) / 2) / (sqrt(pi) Gamma(n / 2)): normalizes the integral of cos(phi)^(n-1) to one. */
static double angle_factor(double n)
{
	int sign;

	if (n > 1000) /* the difference would cancel there */
		return sqrt(n / (2 * M_PI)) * (1 - 1 / (4 * n) + 1 / (32 * n * n));
	return exp(lgamma_r((n + 1) / 2, &sign) - lgamma_r(n / 2, &sign)) / sqrt(M_PI);
}

/* Density of y before any analysis. */
static double whole_density(double y, size_t n)
{
	double m = (double)n, rest = 1 - y * y / m;

	return rest > 0 ? angle_factor(m - 1) / sqrt(m) * exp((m - 3) / 2 * log(rest)) : 0;
}

/* The stored density, by a cubic through the nearest four points; 0 beyond the edge. */
static double density_at(const struct stats_sequential *s, double y)
{
	double place = fabs(y) / s->edge * (GRID - 1), t;
	const double *p;
	size_t i;

	if (!(place <= GRID - 1))
		return 0;
	i = (size_t)place;
	i = i < 1 ? 1 : i > GRID - 3 ? GRID - 3 : i;
	t = place - (double)i;
	p = &s->density[i];
	return p[0] * (t * t - 1) * (t - 2) / 2 - p[1] * t * (t + 1) * (t - 2) / 2 + p[2] * t * (t * t - 1) / 6 -
			p[-1] * t * (t - 1) * (t - 2) / 6;
}

/* Points and weights of Gauss and Legendre on -1 .. 1, by Newton's method on the polynomial. */
struct rule {
	double at[NODES], weight[NODES];
};

static void rule_init(struct rule *r)
{
	for (int i = 0; i < NODES; i++) {
		double x = cos(M_PI * (i + 0.75) / (NODES + 0.5)), slope = 1;

		for (int step = 0; step < 6; step++) {
			double last = 1, value = x;

			for (int k = 2; k <= NODES; k++) {
				double next = ((2 * k - 1) * x * value - (k - 1) * last) / k;

				last = value;
				value = next;
			}
			slope = NODES * (x * value - last) / (x * x - 1);
			x -= value / slope;
		}
		r->at[i] = x;
		r->weight[i] = 2 / ((1 - x * x) * slope * slope);
	}
}

/* The angles that lead to `to` from within the edge. */
static void angles_to(const struct stats_sequential *s, double to, double n, double *lo, double *hi)
{
	double length = sqrt(1 + s->edge * s->edge), tilt = atan(1 / s->edge), limit = fmin(M_PI / 2, FAR / sqrt(n));
	double reach = acos(fmin(to / length, 1)), other = acos(fmax(-to / length, -1));

	*lo = fmax(-limit, fmax(tilt - reach, -tilt - other));
	*hi = fmin(limit, fmin(tilt + reach, -tilt + other));
}

/* Density at `to` after one more value than n. */
static double after_one(const struct stats_sequential *s, const struct rule *r, double to, double n)
{
	double lo, hi, sum = 0;

	angles_to(s, to, n, &lo, &hi);
	for (int i = 0; hi > lo && i < NODES; i++) {
		double phi = (lo + hi) / 2 + (hi - lo) / 2 * r->at[i], c = cos(phi);

		sum += r->weight[i] * density_at(s, (to - sin(phi)) / c) * pow(c, n - 2);
	}
	return hi > lo ? sum * angle_factor(n) * (hi - lo) / 2 : 0;
}

/* The same after many more: keep * y plus a normal remainder. */
static double after_many(const struct stats_sequential *s, const struct rule *r, double to, double keep)
{
	double add = sqrt(1 - keep * keep), lo, hi, sum = 0;

	lo = fmax(-FAR, (to - keep * s->edge) / add);
	hi = fmin(FAR, (to + keep * s->edge) / add);
	for (int i = 0; hi > lo && i < NODES; i++) {
		double z = (lo + hi) / 2 + (hi - lo) / 2 * r->at[i];

		sum += r->weight[i] * density_at(s, (to - add * z) / keep) * stats_normal_density(z);
	}
	return hi > lo ? sum / keep * (hi - lo) / 2 : 0;
}

static void step_one(struct stats_sequential *s, const struct rule *r, size_t n)
{
	double edge = fmin(sqrt(s->edge * s->edge + 1), FAR), next[GRID];

	for (int i = 0; i < GRID; i++)
		next[i] = after_one(s, r, edge * i / (GRID - 1), (double)n);
	for (int i = 0; i < GRID; i++)
		s->density[i] = next[i];
	s->edge = edge;
}

static void step_many(struct stats_sequential *s, const struct rule *r, size_t n, size_t to)
{
	double keep = sqrt((double)n / (double)to), edge = fmin(keep * s->edge + sqrt(1 - keep * keep) * FAR, FAR);
	double next[GRID];

	for (int i = 0; i < GRID; i++)
		next[i] = after_many(s, r, edge * i / (GRID - 1), keep);
	for (int i = 0; i < GRID; i++)
		s->density[i] = next[i];
	s->edge = edge;
}

static void advance(struct stats_sequential *s, const struct rule *r, size_t to)
{
	size_t n = s->n;

	for (; s->is_cut && n < to && n < N_EXACT; n++)
		step_one(s, r, n);
	if (s->is_cut && n < to)
		step_many(s, r, n, to);
	s->n = to;
}

/* Mass between +-y and the edge. */
static double mass_beyond(const struct stats_sequential *s, const struct rule *r, double y)
{
	double half = (s->edge - y) / 2, sum = 0;

	for (int i = 0; i < NODES; i++)
		sum += r->weight[i] * density_at(s, y + half * (1 + r->at[i]));
	return 2 * sum * half;
}

/* Returns the y beyond which the mass is what may be spent; the edge if that is less than the grid resolves. */
static double find_cut(const struct stats_sequential *s, const struct rule *r, double spend)
{
	double lo = 0, hi = s->edge;

	for (int i = 0; i < 50; i++) {
		double y = (lo + hi) / 2;

		if (mass_beyond(s, r, y) > spend)
			lo = y;
		else
			hi = y;
	}
	return hi;
}

/* Truncates the density to +-y. */
static void cut(struct stats_sequential *s, double y)
{
	double next[GRID];

	for (int i = 0; i < GRID; i++) {
		double at = y * i / (GRID - 1);

		next[i] = s->is_cut ? density_at(s, fmin(at, s->edge)) : whole_density(at, s->n);
	}
	for (int i = 0; i < GRID; i++)
		s->density[i] = next[i];
	s->edge = y;
	s->is_cut = true;
}

static void look(struct stats_sequential *s, size_t n, double allowed)
{
	double spend = allowed - s->spent, y;
	struct rule r;

	s->bound = INFINITY;
	s->nominal = 0;
	if (n <= s->n || n < 2)
		return;
	rule_init(&r);
	advance(s, &r, n);
	if (!(spend > 1e-12))
		return;
	if (s->is_cut)
		y = find_cut(s, &r, spend);
	else
		y = y_of_t(-stats_t_quantile(spend / 2, (double)n - 1), n);
	s->bound = t_of_y(y, n);
	s->nominal = 2 * stats_t_cdf(-s->bound, (double)n - 1);
	s->spent = allowed;
	cut(s, y);
}

void stats_sequential_look(struct stats_sequential *s, size_t n)
{
	double fraction = s->n_max ? (double)n / (double)s->n_max : 1;

	look(s, n, stats_spending_at(s->spending, s->level, s->power, fraction));
}

void stats_sequential_last(struct stats_sequential *s, size_t n)
{
	look(s, n, 1 - s->level);
}

struct stats_interval stats_sequential_interval(const struct stats_sequential *s, const struct stats_moments *m)
{
	struct stats_interval out = stats_interval_open(m->mean, m->n, s->level, "Student's t, repeated looks");
	double se = stats_standard_error(m);

	if (m->n < 2 || m->n != s->n || isnan(se))
		return out;
	out.se = se;
	out.df = (double)m->n - 1;
	if (isfinite(s->bound)) {
		out.lo = m->mean - s->bound * se;
		out.hi = m->mean + s->bound * se;
	}
	return out;
}
