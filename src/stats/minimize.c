/*
 * The two-loop recursion of Nocedal, "Updating quasi-Newton matrices with limited storage", Math. Comp. 35, 1980; the
 * box as in Bertsekas' projected Newton methods, SIAM J. Control Optim. 20(2), 1982.
 */
#include "stats/minimize.h"

#include "stats/matrix.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MEMORY = 8, HALVINGS = 12 };

struct search {
	const struct stats_minimize *m;
	size_t n;
	size_t evaluations;
	double value;
	double x[STATS_MINIMIZE_DIMS], gradient[STATS_MINIMIZE_DIMS];
	double direction[STATS_MINIMIZE_DIMS];
	double trial[STATS_MINIMIZE_DIMS], trial_gradient[STATS_MINIMIZE_DIMS];
	bool is_held[STATS_MINIMIZE_DIMS];
	/* The last steps and gradient changes, oldest first. */
	size_t count;
	double s[MEMORY][STATS_MINIMIZE_DIMS], y[MEMORY][STATS_MINIMIZE_DIMS], rho[MEMORY];
};

static double evaluate(struct search *q, const double *x, double *gradient)
{
	q->evaluations++;
	return q->m->function(x, gradient, q->m->context);
}

/* Fixes the variables at a bound towards which the function falls; the others are free. */
static void hold(struct search *q)
{
	for (size_t i = 0; i < q->n; i++)
		q->is_held[i] = (q->x[i] <= q->m->lo[i] && q->gradient[i] > 0) ||
				(q->x[i] >= q->m->hi[i] && q->gradient[i] < 0);
}

static void clear_held(const struct search *q, double *v)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->is_held[i])
			v[i] = 0;
}

static void choose_direction(struct search *q)
{
	double a[MEMORY], *d = q->direction, scale = q->m->first_step > 0 ? q->m->first_step : 1;

	for (size_t i = 0; i < q->n; i++)
		d[i] = -q->gradient[i];
	clear_held(q, d);
	for (size_t k = q->count; k-- > 0;) {
		a[k] = q->rho[k] * stats_dot(q->s[k], d, q->n);
		stats_axpy(d, -a[k], q->y[k], q->n);
	}
	if (q->count)
		scale = 1 / (q->rho[q->count - 1] * stats_dot(q->y[q->count - 1], q->y[q->count - 1], q->n));
	else
		scale /= fmax(sqrt(stats_dot(d, d, q->n)), 1e-12);
	for (size_t i = 0; i < q->n; i++)
		d[i] *= scale;
	for (size_t k = 0; k < q->count; k++)
		stats_axpy(d, a[k] - q->rho[k] * stats_dot(q->y[k], d, q->n), q->s[k], q->n);
	clear_held(q, d);
}

/* x + length * direction, projected to the box. */
static void step(struct search *q, double length)
{
	for (size_t i = 0; i < q->n; i++)
		q->trial[i] = fmin(fmax(q->x[i] + length * q->direction[i], q->m->lo[i]), q->m->hi[i]);
}

/* Armijo's rule along the projected path; returns false if there is no improvement. */
static bool line_search(struct search *q, double *gain)
{
	double length = 1;

	for (int k = 0; k < HALVINGS && q->evaluations < q->m->evaluations; k++, length *= k < 3 ? 0.5 : 0.2) {
		double slope = 0, value;

		step(q, length);
		for (size_t i = 0; i < q->n; i++)
			slope += q->gradient[i] * (q->trial[i] - q->x[i]);
		if (slope >= 0)
			return false;
		value = evaluate(q, q->trial, q->trial_gradient);
		if (value <= q->value + 1e-4 * slope) {
			*gain = q->value - value;
			q->value = value;
			return true;
		}
	}
	return false;
}

static void forget_oldest(struct search *q)
{
	memmove(q->s[0], q->s[1], sizeof(q->s[0]) * (MEMORY - 1));
	memmove(q->y[0], q->y[1], sizeof(q->y[0]) * (MEMORY - 1));
	memmove(q->rho, q->rho + 1, sizeof(q->rho[0]) * (MEMORY - 1));
	q->count--;
}

/* Accepts the trial point; stores the pair unless the curvature along it is negative. */
static void advance(struct search *q)
{
	double sy;

	if (q->count == MEMORY)
		forget_oldest(q);
	for (size_t i = 0; i < q->n; i++) {
		q->s[q->count][i] = q->trial[i] - q->x[i];
		q->y[q->count][i] = q->trial_gradient[i] - q->gradient[i];
	}
	sy = stats_dot(q->s[q->count], q->y[q->count], q->n);
	if (sy > 1e-12 * stats_dot(q->y[q->count], q->y[q->count], q->n)) {
		q->rho[q->count] = 1 / sy;
		q->count++;
	}
	memcpy(q->x, q->trial, q->n * sizeof(q->x[0]));
	memcpy(q->gradient, q->trial_gradient, q->n * sizeof(q->gradient[0]));
}

double stats_minimize(const struct stats_minimize *m, double *x)
{
	struct search q;
	double gain = 0;

	q.m = m;
	q.n = m->dims < STATS_MINIMIZE_DIMS ? m->dims : STATS_MINIMIZE_DIMS;
	q.evaluations = q.count = 0;
	memcpy(q.x, x, q.n * sizeof(*x));
	q.value = evaluate(&q, q.x, q.gradient);
	if (!isfinite(q.value))
		return q.value;
	while (q.evaluations < m->evaluations) {
		hold(&q);
		choose_direction(&q);
		if (!line_search(&q, &gain)) {
			if (!q.count)
				break;
			q.count = 0; /* the stored curvature misleads: retry along the gradient */
			continue;
		}
		advance(&q);
		if (gain <= m->tolerance)
			break;
	}
	memcpy(x, q.x, q.n * sizeof(*x));
	return q.value;
}
