#include "stats/robust-scale.h"

#include "stats/sorting.h"

#include <math.h>

#define CONSISTENT 2.21914

/* Corrects the bias for few values: the factors of Croux and Rousseeuw (1992). */
static double correction(size_t n)
{
	static const double few[] = { 0, 0, 0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872 };
	double m = (double)n;

	if (n < sizeof(few) / sizeof(*few))
		return few[n];
	return n % 2 ? m / (m + 1.4) : m / (m + 3.8);
}

double stats_qn(const double *x, size_t n)
{
	double distances[STATS_QN_MAX * (STATS_QN_MAX - 1) / 2];
	size_t count = 0, h = n / 2 + 1;

	if (n < 2 || n > STATS_QN_MAX)
		return NAN;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			distances[count++] = fabs(x[i] - x[k]);
			if (!isfinite(distances[count - 1]))
				return NAN;
		}
	stats_sort(distances, count);
	return CONSISTENT * correction(n) * distances[h * (h - 1) / 2 - 1];
}
