/*
 * Wilcoxon, "Individual comparisons by ranking methods" (Biometrics Bulletin 1(6), 1945); Mann and Whitney, "On a
 * test of whether one of two random variables is stochastically larger than the other" (Annals of Mathematical
 * Statistics 18(1), 1947). Interpolated cuts as in Hettmansperger and Sheather, "Confidence intervals based on
 * interpolated order statistics" (Statistics and Probability Letters 4(2), 1986). Counts are integers below 2^53:
 * exact.
 */
#include "stats/ranks.h"

#include "stats/dist.h"

#include <math.h>

enum {
	SIGNED_RANK_WAYS = STATS_SIGNED_RANK_EXACT * (STATS_SIGNED_RANK_EXACT + 1) / 2 + 1,
	MANN_WHITNEY_WAYS = STATS_MANN_WHITNEY_EXACT * STATS_MANN_WHITNEY_EXACT / 4 + 1,
};

/* The largest W, and its variance; the mean of both statistics is half the largest. */
static double signed_rank_top(size_t n)
{
	return (double)n * ((double)n + 1) / 2;
}

static double signed_rank_variance(size_t n)
{
	return signed_rank_top(n) * (2 * (double)n + 1) / 12;
}

static double mann_whitney_top(size_t na, size_t nb)
{
	return (double)na * (double)nb;
}

static double mann_whitney_variance(size_t na, size_t nb)
{
	return mann_whitney_top(na, nb) * ((double)na + (double)nb + 1) / 12;
}

/* ways[w]: the number of the 2^n choices of signs for which the positive ranks sum to w. */
static void signed_rank_ways(double *ways, size_t n)
{
	size_t top = 0;

	ways[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		for (size_t w = top + 1; w <= top + rank; w++)
			ways[w] = 0;
		top += rank;
		for (size_t w = top; w >= rank; w--)
			ways[w] += ways[w - rank];
	}
}

/* The same for U: the Gaussian binomial coefficient, a factor (1 - q^(nb+i)) / (1 - q^i) at a time. */
static void mann_whitney_ways(double *ways, size_t na, size_t nb)
{
	size_t top = na * nb;

	for (size_t u = 0; u <= top; u++)
		ways[u] = u == 0;
	for (size_t i = 1; i <= na; i++) {
		for (size_t u = top; u >= nb + i; u--)
			ways[u] -= ways[u - nb - i];
		for (size_t u = i; u <= top; u++)
			ways[u] += ways[u - i];
	}
}

static double share_up_to(const double *ways, size_t top, double limit)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i <= top; i++) {
		sum += (double)i <= limit ? ways[i] : 0;
		all += ways[i];
	}
	return sum / all;
}

/* With continuity correction. */
static double normal_share(double value, double mean, double variance)
{
	return stats_normal_cdf((floor(value) + 0.5 - mean) / sqrt(variance));
}

double stats_signed_rank_cdf(double w, size_t n)
{
	double ways[SIGNED_RANK_WAYS], top = signed_rank_top(n);

	if (isnan(w) || w < 0 || w >= top)
		return isnan(w) ? NAN : w >= 0;
	if (n > STATS_SIGNED_RANK_EXACT)
		return normal_share(w, top / 2, signed_rank_variance(n));
	signed_rank_ways(ways, n);
	return share_up_to(ways, (size_t)top, w);
}

double stats_mann_whitney_cdf(double u, size_t na, size_t nb)
{
	double ways[MANN_WHITNEY_WAYS], top = mann_whitney_top(na, nb);

	if (isnan(u) || u < 0 || u >= top)
		return isnan(u) ? NAN : u >= 0;
	if (na + nb > STATS_MANN_WHITNEY_EXACT)
		return normal_share(u, top / 2, mann_whitney_variance(na, nb));
	mann_whitney_ways(ways, na, nb);
	return share_up_to(ways, (size_t)top, u);
}

static double exact_cut(const double *ways, size_t top, double tail)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i <= top; i++)
		all += ways[i];
	for (size_t i = 0; i <= top; i++) {
		if (sum + ways[i] > all * tail)
			return (double)i + (all * tail - sum) / ways[i];
		sum += ways[i];
	}
	return 0;
}

/* The inverse of exact_cut. */
static double exact_tail(const double *ways, size_t top, double cut)
{
	size_t whole = (size_t)fmax(cut, 1);
	double all = 0, sum = 0;

	for (size_t i = 0; i <= top; i++) {
		all += ways[i];
		if (i < whole)
			sum += ways[i];
	}
	if (whole <= top)
		sum += ways[whole] * fmax(0, cut - (double)whole);
	return sum / all;
}

static double normal_cut(double top, double variance, double tail)
{
	return fmax(0, top / 2 + 0.5 + stats_normal_quantile(tail) * sqrt(variance));
}

double stats_signed_rank_cut(size_t n, double tail)
{
	double ways[SIGNED_RANK_WAYS];

	if (n > STATS_SIGNED_RANK_EXACT)
		return normal_cut(signed_rank_top(n), signed_rank_variance(n), tail);
	signed_rank_ways(ways, n);
	return exact_cut(ways, n * (n + 1) / 2, tail);
}

double stats_mann_whitney_cut(size_t na, size_t nb, double tail)
{
	double ways[MANN_WHITNEY_WAYS];

	if (na + nb > STATS_MANN_WHITNEY_EXACT)
		return normal_cut(mann_whitney_top(na, nb), mann_whitney_variance(na, nb), tail);
	mann_whitney_ways(ways, na, nb);
	return exact_cut(ways, na * nb, tail);
}

double stats_signed_rank_tail(size_t n, double cut)
{
	double ways[SIGNED_RANK_WAYS];

	if (n > STATS_SIGNED_RANK_EXACT)
		return stats_normal_cdf((fmax(cut, 1) - signed_rank_top(n) / 2 - 0.5) / sqrt(signed_rank_variance(n)));
	signed_rank_ways(ways, n);
	return exact_tail(ways, n * (n + 1) / 2, cut);
}
