/* selftf: the Latin hypercube of its first trials, and the point with the greatest improvement by its own model. */
#include "../support.h"

#include "studies.h"

#include <stdlib.h>

enum { FIRST = 10, GRID = 400, MOST = 14 };

/* The model as documented: exponential kernel on standardized points, noise as large as the signal. */
struct model {
	size_t n;
	double x[MOST], y[MOST], mean, sd, inverse[MOST][MOST], alpha[MOST];
};

static void standardize(double *v, size_t n, double *mean, double *sd)
{
	double squares = 0;

	*mean = 0;
	for (size_t i = 0; i < n; i++)
		*mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - *mean) * (v[i] - *mean);
	*sd = sqrt(squares / (double)(n - 1));
	for (size_t i = 0; i < n; i++)
		v[i] = (v[i] - *mean) / *sd;
}

/* The inverse by elimination with a full matrix. */
static void invert(struct model *m)
{
	double a[MOST][2 * MOST] = { { 0 } };

	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < m->n; j++)
			a[i][j] = exp(-fabs(m->x[i] - m->x[j])) + (i == j);
		a[i][m->n + i] = 1;
	}
	for (size_t i = 0; i < m->n; i++) {
		double pivot = a[i][i];

		for (size_t j = 0; j < 2 * m->n; j++)
			a[i][j] /= pivot;
		for (size_t k = 0; k < m->n; k++) {
			double factor = a[k][i];

			for (size_t j = 0; k != i && j < 2 * m->n; j++)
				a[k][j] -= factor * a[i][j];
		}
	}
	for (size_t i = 0; i < m->n; i++) {
		m->alpha[i] = 0;
		for (size_t j = 0; j < m->n; j++) {
			m->inverse[i][j] = a[i][m->n + j];
			m->alpha[i] += m->inverse[i][j] * m->y[j];
		}
	}
}

/* Expected improvement over the last trial at a point of 0..1. */
static double improvement(const struct model *m, double unit)
{
	double x = (unit - m->mean) / m->sd, k[MOST], mean = 0, variance = 1, sd, z;

	for (size_t i = 0; i < m->n; i++) {
		k[i] = exp(-fabs(x - m->x[i]));
		mean += m->alpha[i] * k[i];
	}
	for (size_t i = 0; i < m->n; i++)
		for (size_t j = 0; j < m->n; j++)
			variance -= k[i] * m->inverse[i][j] * k[j];
	sd = sqrt(variance);
	z = (m->y[m->n - 1] - mean) / sd;
	return sd * (z * 0.5 * erfc(-z / sqrt(2)) + exp(-z * z / 2) / sqrt(2 * M_PI));
}

static double cost_of(double x)
{
	return (x - 0.7) * (x - 0.7) + 0.3 * sin(9 * x);
}

static void the_model_is_followed(void **state)
{
	struct arena arena = ARENA_INIT;
	struct tune_study study;
	struct tune_optimizer o;
	bool has_bin[FIRST] = { false };
	struct model m;

	assert_int_equal(parse(&study,
					 "params: [{name: x, type: float, low: 2, high: 4}]\nobjective: {name: value, "
					 "goal: minimize}\n"
					 "method: selftf\n",
					 &arena, NULL),
			0);
	assert_int_equal(make(&o, &study, 3), 0);
	for (int i = 0; i < MOST; i++) {
		const struct tune_trial *t;
		double unit, best = 0, mean, sd;

		assert_int_equal(tune_ask(&o, &t, NULL), 0);
		unit = (t->point[0] - 2) / 2;
		if (i < FIRST) { /* each tenth once, at its middle */
			int bin = (int)(unit * FIRST);

			assert_false(has_bin[bin]);
			has_bin[bin] = true;
			assert_true(fabs(unit - (bin + 0.5) / FIRST) < 1e-9);
		} else {
			m.n = o.count - 1;
			for (size_t k = 0; k < m.n; k++) {
				m.x[k] = (o.trials[k].point[0] - 2) / 2;
				m.y[k] = o.trials[k].result.values[0];
			}
			standardize(m.y, m.n, &mean, &sd);
			standardize(m.x, m.n, &m.mean, &m.sd);
			invert(&m);
			for (int k = 0; k <= GRID; k++)
				best = fmax(best, improvement(&m, (double)k / GRID));
			assert_true(improvement(&m, unit) > 0.98 * best);
		}
		assert_int_equal(tune_tell(&o, t->id,
						 &(struct tune_result){ .state = TUNE_DONE,
								 .values = { cost_of(unit) } },
						 NULL),
				0);
	}
	tune_optimizer_release(&o);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_model_is_followed),
	};

	return RUN_TESTS(tests);
}
