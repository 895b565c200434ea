/*
 * Hodges and Lehmann, "Estimates of location based on rank tests" (Annals of Mathematical Statistics 34(2), 1963).
 * The k-th of the n(n+1)/2 averages is found without computing all of them: in the sorted sample one sweep counts
 * those up to a given value (as in Johnson and Mizoguchi, SIAM J. Computing 7(2), 1978), and bisection finds the
 * first value that reaches the count. Halves are added, so sums do not overflow.
 *
 * Wilcoxon, "Individual comparisons by ranking methods" (Biometrics Bulletin 1(6), 1945). Interpolated cuts as in
 * Hettmansperger and Sheather, "Confidence intervals based on interpolated order statistics" (Statistics and
 * Probability Letters 4(2), 1986). Counts are integers below 2^53: exact. Signs: Thompson, "On confidence ranges for
 * the median" (Annals of Mathematical Statistics 7(3), 1936).
 */
#include "stats/ranks.h"

#include "stats/dist.h"

#include <math.h>

enum { SIGNED_RANK_WAYS = STATS_SIGNED_RANK_EXACT * (STATS_SIGNED_RANK_EXACT + 1) / 2 + 1 };

/* The largest W, which is the number of averages; the mean is half of it. */
static double signed_rank_top(size_t n)
{
	return (double)n * ((double)n + 1) / 2;
}

static double signed_rank_variance(size_t n)
{
	return signed_rank_top(n) * (2 * (double)n + 1) / 12;
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

double stats_signed_rank_cut(size_t n, double tail)
{
	double ways[SIGNED_RANK_WAYS], top = signed_rank_top(n), all = 0, sum = 0;

	if (n > STATS_SIGNED_RANK_EXACT)
		return fmax(0, top / 2 + 0.5 + stats_normal_quantile(tail) * sqrt(signed_rank_variance(n)));
	signed_rank_ways(ways, n);
	for (size_t i = 0; i <= (size_t)top; i++)
		all += ways[i];
	for (size_t i = 0; i <= (size_t)top; i++) {
		if (sum + ways[i] > all * tail)
			return (double)i + (all * tail - sum) / ways[i];
		sum += ways[i];
	}
	return 0;
}

double stats_signed_rank_tail(size_t n, double cut)
{
	double ways[SIGNED_RANK_WAYS], top = signed_rank_top(n), all = 0, sum = 0;
	size_t whole = (size_t)fmax(cut, 1);

	if (n > STATS_SIGNED_RANK_EXACT)
		return stats_normal_cdf((fmax(cut, 1) - top / 2 - 0.5) / sqrt(signed_rank_variance(n)));
	signed_rank_ways(ways, n);
	for (size_t i = 0; i <= (size_t)top; i++) {
		all += ways[i];
		if (i < whole)
			sum += ways[i];
	}
	if (whole <= (size_t)top)
		sum += ways[whole] * fmax(0, cut - (double)whole);
	return sum / all;
}

/* Input of a sweep: a sorted sample and the number of averages, or their weight, to reach. */
struct sweep {
	const double *x;
	const double *through; /* weights, of mean 1, summed; NULL: all 1 */
	size_t n;
	double wanted;
	bool is_beyond; /* more than wanted, not equal */
};

/*
 * Do the averages up to v reach the number? Paired with itself a value of weight w counts w(w+1)/2, as w values would.
 */
static bool reaches(const void *context, double v)
{
	const struct sweep *s = context;
	const double *x = s->x, *through = s->through;
	double count = 0, before = 0;
	size_t end = s->n;

	for (size_t i = 0; i < s->n; i++) {
		while (end > i && x[i] / 2 + x[end - 1] / 2 > v)
			end--;
		if (end <= i)
			break;
		if (through) {
			double w = through[i] - before;

			count += w * (through[end - 1] - through[i]) + w * (w + 1) / 2;
			before = through[i];
		} else {
			count += (double)(end - i);
		}
	}
	return s->is_beyond ? count > s->wanted : count >= s->wanted;
}

/* Returns the smallest average above v; v must not be the largest. */
static double next_average(const struct sweep *s, double v)
{
	const double *x = s->x;
	double least = x[s->n - 1];
	size_t end = s->n;

	for (size_t i = 0; i < s->n; i++) {
		while (end > i && x[i] / 2 + x[end - 1] / 2 > v)
			end--;
		if (end < s->n)
			least = fmin(least, x[i] / 2 + x[end > i ? end : i] / 2);
	}
	return least;
}

/*
 * Returns the first average that reaches the number: bisects the range a few times, then steps from average to average;
 * if that takes long (ties, huge ranges), bisects the doubles.
 */
static double first_average(const struct sweep *s)
{
	enum { STEPS = 8 };
	double lo = s->x[0], hi = s->x[s->n - 1];

	if (reaches(s, lo))
		return lo;
	for (int left = 2 * ilogb((double)s->n) + 1; left > 0; left--) {
		double v = lo / 2 + hi / 2;

		if (reaches(s, v))
			hi = v;
		else
			lo = v;
	}
	for (int i = 0; i < STEPS; i++) {
		double v = next_average(s, lo);

		if (reaches(s, v))
			return v;
		lo = v;
	}
	return stats_first_value(lo, hi, reaches, s);
}

/* The middle of `low` and, unless the sweep already reaches its number there, the next average. */
static double middle(const struct sweep *s, double low)
{
	double high = reaches(s, low) ? low : next_average(s, low);

	return low == high ? low : low / 2 + high / 2;
}

double stats_hl(double *x, size_t n)
{
	double count = signed_rank_top(n), low;
	struct sweep s = { .x = x, .n = n, .wanted = ceil(count / 2) };

	stats_sort(x, n);
	if (!n || isnan(x[n - 1]))
		return NAN;
	low = first_average(&s);
	s.wanted = floor(count / 2) + 1;
	return middle(&s, low);
}

#define ROUNDING 1e-12

double stats_hl_weighted(double *x, double *weight, size_t n)
{
	struct sweep s = { .x = x, .n = n, .through = weight };
	double low, half, mean, sum = 0;

	stats_sort_with(x, weight, n);
	if (!n || isnan(x[n - 1]))
		return NAN;
	for (size_t i = 0; i < n; i++)
		if (!(weight[i] > 0) || isinf(weight[i]))
			return NAN;
	mean = stats_weighted_mean(weight, NULL, n);
	for (size_t i = 0; i < n; i++)
		weight[i] = sum += weight[i] / mean;
	half = sum * (sum + 1) / 4;
	/* Rounded halves are equal: otherwise the mirror image of x would have another median. */
	s.wanted = half * (1 - ROUNDING);
	low = first_average(&s);
	s.wanted = half * (1 + ROUNDING);
	s.is_beyond = true;
	return middle(&s, low);
}

/* Interpolates between the average of rank k and the next. */
static double between_ranks(struct sweep *s, double k, double part)
{
	double value, next;

	s->wanted = k;
	value = first_average(s);
	s->wanted = k + 1;
	next = reaches(s, value) ? value : next_average(s, value);
	return next == value ? value : value * (1 - part) + next * part;
}

/* Sets the ends of an interval that excludes `cut` averages at each side; leaves it open if there are too few. */
static void set_ends(struct stats_interval *out, const double *x, size_t n, double cut)
{
	struct sweep s = { .x = x, .n = n };
	double whole = floor(cut), part = cut - whole, count = signed_rank_top(n);

	if (cut < 1 || whole >= count)
		return;
	out->lo = between_ranks(&s, whole, part);
	out->hi = between_ranks(&s, count - whole, 1 - part);
}

struct stats_interval stats_hl_interval(double *x, size_t n, double level)
{
	struct stats_interval out = stats_interval_open(stats_hl(x, n), n, level, "Hodges-Lehmann, signed rank");

	if (!isnan(out.estimate))
		set_ends(&out, x, n, stats_signed_rank_cut(n, (1 - level) / 2));
	return out;
}

double stats_hl_width(const double *x, size_t n, double cut)
{
	struct stats_interval out = stats_interval_open(NAN, n, 0, NULL);

	if (n && !isnan(x[n - 1]))
		set_ends(&out, x, n, cut);
	return out.hi - out.lo;
}

/* Returns the number of averages up to v, plus the fraction of the way to the next one. */
static double cut_at(const double *x, size_t n, double v)
{
	double count = 0, below = -INFINITY, above = INFINITY;
	size_t end = n;

	for (size_t i = 0; i < n; i++) {
		while (end > i && x[i] / 2 + x[end - 1] / 2 > v)
			end--;
		if (end < n)
			above = fmin(above, x[i] / 2 + x[end > i ? end : i] / 2);
		if (end <= i)
			break;
		below = fmax(below, x[i] / 2 + x[end - 1] / 2);
		count += (double)(end - i);
	}
	return isfinite(below) && isfinite(above) ? count + (v - below) / (above - below) : count;
}

static void turn_signs(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = -x[i];
	stats_sort(x, n);
}

double stats_hl_p(double *x, size_t n, double value)
{
	double estimate = stats_hl(x, n), cut;

	if (isnan(estimate) || !isfinite(value))
		return NAN;
	if (estimate == value)
		return 1;
	/* The tail below the value; of one above the estimate that of the mirror image. */
	if (estimate < value)
		turn_signs(x, n);
	cut = cut_at(x, n, estimate < value ? -value : value);
	if (estimate < value)
		turn_signs(x, n);
	return fmin(1, 2 * stats_signed_rank_tail(n, cut));
}

/* The probability of k heads in n tosses. */
static double heads(size_t k, size_t n)
{
	double m = (double)n, i = (double)k;

	return exp(lgamma(m + 1) - lgamma(i + 1) - lgamma(m - i + 1) - m * M_LN2);
}

struct stats_interval stats_median_interval(double *x, size_t n, double level)
{
	struct stats_interval out;
	double tail = 0;
	size_t cut = 0; /* values that may be excluded at either end */

	stats_sort(x, n);
	out = stats_interval_open(n ? (x[(n - 1) / 2] + x[n / 2]) / 2 : NAN, n, level, "median, sign test");
	while (2 * cut + 1 < n && (tail += heads(cut, n)) <= (1 - level) / 2)
		cut++;
	if (cut) {
		out.lo = x[cut - 1];
		out.hi = x[n - cut];
	}
	return out;
}

double stats_sign_p(const double *x, size_t n, double m)
{
	size_t above = 0, below = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		above += x[i] > m;
		below += x[i] < m;
	}
	if (!(above + below))
		return NAN;
	for (size_t i = 0; i <= (above < below ? above : below); i++)
		sum += heads(i, above + below);
	return fmin(1, 2 * sum);
}

/*
 * U counts the pairs of a value of a and a larger one of b. Its n + m over n equally likely values have the generating
 * function of Gauss' binomial coefficients (Mann and Whitney, Annals of Mathematical Statistics 18(1), 1947): the
 * product of (1 - q^(m + i)) / (1 - q^i) over i = 1 .. n.
 */
static double rank_sum_tail(size_t n, size_t m, size_t u)
{
	double ways[STATS_RANK_SUM_EXACT * STATS_RANK_SUM_EXACT / 4 + 1] = { 1 }, all = 0, sum = 0;
	size_t top = n * m;

	for (size_t i = 1; i <= n; i++) {
		for (size_t k = top; k >= m + i; k--)
			ways[k] -= ways[k - m - i];
		for (size_t k = i; k <= top; k++)
			ways[k] += ways[k - i];
	}
	for (size_t k = 0; k <= top; k++) {
		all += ways[k];
		sum += k <= u ? ways[k] : 0;
	}
	return sum / all;
}

double stats_rank_sum_p_least(size_t n, size_t m)
{
	int sign;

	if (!n || !m)
		return 1;
	return fmin(1,
			2 *
					exp(lgamma_r((double)n + 1, &sign) + lgamma_r((double)m + 1, &sign) -
							lgamma_r((double)(n + m) + 1, &sign)));
}

double stats_rank_sum_p(double *a, size_t n, double *b, size_t m)
{
	double u = 0, ties = 0, all = (double)(n + m), nm = (double)n * (double)m, sd;

	if (!n || !m || stats_has_nan(a, n) || stats_has_nan(b, m))
		return NAN;
	stats_sort(a, n);
	stats_sort(b, m);
	for (size_t i = 0, k = 0, equal; i < n; i++) {
		while (k < m && b[k] < a[i])
			k++;
		for (equal = 0; k + equal < m && b[k + equal] == a[i];)
			equal++;
		u += (double)(m - k - equal) + (double)equal / 2;
	}
	u = fmin(u, nm - u); /* the smaller tail; half a pair from a tie counts towards the middle */
	if (n + m <= STATS_RANK_SUM_EXACT)
		return fmin(1, 2 * rank_sum_tail(n, m, (size_t)ceil(u)));
	/* Groups of equal values, in both samples together, reduce the variance. */
	for (size_t i = 0, k = 0; i < n || k < m;) {
		double value = i < n && (k == m || a[i] <= b[k]) ? a[i] : b[k], t = 0;

		for (; i < n && a[i] == value; i++)
			t++;
		for (; k < m && b[k] == value; k++)
			t++;
		ties += t * t * t - t;
	}
	sd = sqrt(nm / 12 * (all + 1 - ties / (all * (all - 1))));
	return sd > 0 ? fmin(1, 2 * stats_normal_cdf((u + 0.5 - nm / 2) / sd)) : 1;
}
