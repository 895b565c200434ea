#include "stats/sign.h"

#include "stats/sorting.h"

#include <math.h>

static const char method[] = "median, sign test";

/* The probability of k heads in n tosses. */
static double throws(size_t k, size_t n)
{
	double m = (double)n, i = (double)k;

	return exp(lgamma(m + 1) - lgamma(i + 1) - lgamma(m - i + 1) - m * M_LN2);
}

/* The probability of k heads or fewer. */
static double throws_below(size_t k, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i <= k; i++)
		sum += throws(i, n);
	return sum < 1 ? sum : 1;
}

/* Finds how many values may be excluded at either end; false if none. */
static bool find_cut(size_t n, double level, size_t *cut)
{
	double tail = 0, most = (1 - level) / 2;
	size_t k = 0;

	for (; 2 * k + 1 < n; k++) {
		tail += throws(k, n);
		if (tail > most)
			break;
	}
	*cut = k;
	return k > 0;
}

struct stats_interval stats_median_interval(double *x, size_t n, double level)
{
	struct stats_interval out;
	size_t cut;

	stats_sort(x, n);
	out = stats_interval_open(n ? (x[(n - 1) / 2] + x[n / 2]) / 2 : NAN, n, level, method);
	if (!n || !find_cut(n, level, &cut))
		return out;
	out.lo = x[cut - 1];
	out.hi = x[n - cut];
	return out;
}

double stats_sign_p(const double *x, size_t n, double m)
{
	size_t above = 0, below = 0, fewer;
	double p;

	for (size_t i = 0; i < n; i++) {
		above += x[i] > m;
		below += x[i] < m;
	}
	if (!(above + below))
		return NAN;
	fewer = above < below ? above : below;
	p = 2 * throws_below(fewer, above + below);
	return p < 1 ? p : 1;
}
