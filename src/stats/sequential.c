/*
 * sequential: see sequential.h.
 *
 * Lan and DeMets, "Discrete sequential boundaries for clinical trials"
 * (Biometrika 70(3), 1983) for spending; Kim and DeMets (Biometrika 74(1), 1987)
 * for powers; Armitage, McPherson and Rowe (JRSS A 132(2), 1969) for the recursive
 * integration on the grid of Jennison and Turnbull, "Group sequential methods"
 * (2000), section 19.2; their section 9.3 for repeated intervals and 3.8 for
 * carrying nominal errors over to Student's t.
 *
 * The walk: B(f) = z sqrt(f) at the fraction f of n_max is a Brownian motion. Its
 * density among the paths that went on at every look so far is kept as mass on
 * the points of Simpson's rule; a look finds the bound beyond which exactly the
 * error to spend lies, and moves the density there.
 */
#include "stats/sequential.h"

#include "stats/dist.h"

#include <math.h>

enum { FINE = 33, GRID = 6 * FINE - 1 }; /* main points of the grid; with those between them 2 * GRID - 1 */

_Static_assert(2 * GRID - 1 <= STATS_SEQUENTIAL_NODES, "the grid fits");

void stats_sequential_init(struct stats_sequential *s, enum stats_spending spending, double level, size_t n_max,
	double power)
{
	*s = (struct stats_sequential){ .spending = spending, .level = level, .n_max = n_max, .power = power };
	s->bound = INFINITY;
	s->nodes = 1; /* all mass at 0 */
	s->mass[0] = 1;
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

/* The mass that steps beyond +-b when the walk goes on for `step`. */
static double mass_beyond(const struct stats_sequential *s, double b, double step)
{
	double sum = 0, scale = 1 / sqrt(step);

	for (size_t i = 0; i < s->nodes; i++)
		sum += s->mass[i] * (stats_normal_cdf((s->at[i] - b) * scale) + stats_normal_cdf((-b - s->at[i]) * scale));
	return sum;
}

/* The z beyond which, at fraction f, exactly `spend` lies; infinite when that is further than matters. */
static double find_bound(const struct stats_sequential *s, double f, double spend)
{
	double root = sqrt(f), step = f - s->fraction, lo = 0, hi = 10;

	if (!(spend > 0) || mass_beyond(s, hi * root, step) > spend)
		return INFINITY;
	for (int i = 0; i < 60 && hi - lo > 1e-13; i++) {
		double z = (lo + hi) / 2;

		if (mass_beyond(s, z * root, step) > spend)
			lo = z;
		else
			hi = z;
	}
	return hi;
}

/* Main point i of the grid in units of z: even in the middle, logarithmic outside. */
static double grid_point(int i)
{
	if (i < FINE)
		return -3 - 4 * log((double)FINE / i);
	if (i > 5 * FINE)
		return 3 + 4 * log((double)FINE / (6 * FINE - i));
	return 3 * (i - 3.0 * FINE) / (2 * FINE);
}

/* The main points inside +-bound, with those at its ends. */
static size_t grid_inside(double bound, double *z)
{
	double limit = fmin(bound, grid_point(GRID));
	size_t n = 0;

	z[n++] = -limit;
	for (int i = 1; i <= GRID; i++)
		if (fabs(grid_point(i)) < limit)
			z[n++] = grid_point(i);
	if (limit > 0)
		z[n++] = limit;
	return n;
}

/* Density at v after a step. */
static double density_after(const struct stats_sequential *s, double v, double step)
{
	double sum = 0, scale = 1 / sqrt(step);

	for (size_t i = 0; i < s->nodes; i++) {
		double d = (v - s->at[i]) * scale;

		sum += s->mass[i] * exp(-d * d / 2);
	}
	return sum * scale / sqrt(2 * M_PI);
}

static void add_node(struct stats_sequential *next, const struct stats_sequential *s, double at, double weight, double step)
{
	next->at[next->nodes] = at;
	next->mass[next->nodes++] = weight * density_after(s, at, step);
}

/* Simpson's rule over neighbours: weights (1, 4, 1) * distance / 6, ends shared. */
static void move_density(struct stats_sequential *s, double f)
{
	struct stats_sequential next = { 0 };
	double z[GRID + 2], root = sqrt(f), step = f - s->fraction;
	size_t n = grid_inside(s->bound, z);

	for (size_t i = 0; i < n; i++) {
		double before = i ? z[i] - z[i - 1] : 0, after = i + 1 < n ? z[i + 1] - z[i] : 0;

		add_node(&next, s, z[i] * root, (before + after) * root / 6, step);
		if (i + 1 < n)
			add_node(&next, s, (z[i] + z[i + 1]) / 2 * root, 4 * after * root / 6, step);
	}
	s->nodes = next.nodes;
	for (size_t i = 0; i < next.nodes; i++) {
		s->at[i] = next.at[i];
		s->mass[i] = next.mass[i];
	}
}

static void look(struct stats_sequential *s, double fraction, double allowed)
{
	double spend = allowed - s->spent;

	s->bound = INFINITY;
	s->nominal = 0;
	if (!(fraction > s->fraction) || s->looks >= STATS_SEQUENTIAL_LOOKS)
		return;
	s->looks++;
	s->bound = find_bound(s, fraction, spend);
	s->nominal = 2 * stats_normal_cdf(-s->bound);
	move_density(s, fraction);
	s->fraction = fraction;
	if (isfinite(s->bound))
		s->spent = allowed;
}

static double fraction_of(const struct stats_sequential *s, size_t n)
{
	return s->n_max ? fmin((double)n / (double)s->n_max, 1) : 1;
}

void stats_sequential_look(struct stats_sequential *s, size_t n)
{
	double fraction = fraction_of(s, n);

	look(s, fraction, stats_spending_at(s->spending, s->level, s->power, fraction));
}

void stats_sequential_last(struct stats_sequential *s, size_t n)
{
	look(s, fraction_of(s, n), 1 - s->level);
}

struct stats_interval stats_sequential_interval(const struct stats_sequential *s, const struct stats_moments *m)
{
	const char *method = "Student's t, repeated looks";
	struct stats_interval out;

	if (m->n < 2 || !(s->nominal > 0))
		return stats_interval_open(m->mean, m->n, s->level, method);
	out = stats_interval_t(m->mean, stats_standard_error(m), (double)m->n - 1, m->n, 1 - s->nominal);
	out.level = s->level;
	out.method = method;
	return out;
}
