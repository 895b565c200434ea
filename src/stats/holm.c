/* Holm, "A simple sequentially rejective multiple test procedure" (Scandinavian Journal of Statistics 6(2), 1979). */
#include "stats/holm.h"

#include "stats/sorting.h"

#include <math.h>

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
