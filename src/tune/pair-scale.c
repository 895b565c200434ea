#include "tune/pair-scale.h"

#include "stats/matrix.h"

#include <errno.h>
#include <math.h>

#define FIRM 1000.0 /* weight of the reference trial: its value is exact by definition */

/* The normal equations, the lower triangle. */
struct levels {
	size_t n;
	double *normal, *right;
	double sign; /* sign of the cost: -1 for a maximized value */
};

/* Row i is relative to row j, or absolute (n). */
static void add(struct levels *l, size_t i, size_t j, double weight, double value)
{
	l->normal[i * l->n + i] += weight;
	l->right[i] += weight * value;
	if (j == l->n)
		return;
	l->normal[j * l->n + j] += weight;
	l->right[j] -= weight * value;
	l->normal[(i > j ? i : j) * l->n + (i > j ? j : i)] -= weight;
}

static void add_trial(struct levels *l, const struct tune_model *m, const struct tune_optimizer *o,
		const struct tune_trial *t, double cost)
{
	const struct tune_trial *other = t->result.beside ? tune_find(o, t->result.beside) : NULL;
	size_t i = tune_model_row(m, o, t->point), j = other ? tune_model_row(m, o, other->point) : l->n;
	double repeats = t->result.repeats ? t->result.repeats : 1;

	if (i == l->n)
		return;
	if (j == l->n || other == t)
		add(l, i, l->n, other == t ? FIRM : repeats, l->sign * log(l->sign * cost));
	else if (i != j) /* a pair of equal configurations has no information */
		add(l, i, j, repeats / 2, l->sign * log(t->result.ratio));
}

static bool has_pairs(const struct tune_optimizer *o)
{
	for (size_t t = 0; t < o->count; t++)
		if (o->trials[t].result.beside)
			return true;
	return false;
}

int tune_level_rows(struct tune_model *m, const struct tune_optimizer *o, const double *cost, struct arena *arena)
{
	struct levels l = { .n = m->n, .sign = o->options.is_maximized[0] ? -1 : 1 };
	double *scratch, *inverse;

	if (!has_pairs(o))
		return 0;
	l.normal = arena_alloc(arena, (3 * m->n + 1) * m->n * sizeof(double));
	if (!l.normal)
		return -ENOMEM;
	scratch = l.normal + m->n * m->n;
	inverse = scratch + m->n * m->n;
	l.right = inverse + m->n * m->n;
	for (size_t t = 0; t < o->count; t++)
		if (!isnan(cost[t]))
			add_trial(&l, m, o, &o->trials[t], cost[t]);
	if (!stats_cholesky(l.normal, m->n)) /* an edited journal: some row has no reference */
		return 0;
	stats_forward(l.normal, m->n, l.right, l.right);
	stats_backward(l.normal, m->n, l.right, l.right);
	stats_cholesky_inverse(l.normal, m->n, scratch, inverse);
	for (size_t i = 0; i < m->n; i++) {
		m->y[i] = l.sign * exp(l.sign * l.right[i]);
		m->noise[i] = inverse[i * m->n + i];
	}
	m->shared = inverse;
	return 0;
}
