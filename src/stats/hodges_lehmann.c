/*
 * hodges_lehmann: see hodges_lehmann.h.
 *
 * Hodges and Lehmann, "Estimates of location based on rank tests" (Annals of
 * Mathematical Statistics 34(2), 1963). The k-th of the n(n+1)/2 averages is
 * found without making them: in the sorted sample one sweep counts those up to a
 * given value (as in Johnson and Mizoguchi, SIAM J. Computing 7(2), 1978), and
 * halving finds the first value that enough of them reach. Halves are added, so
 * nothing overflows.
 */
#include "stats/hodges_lehmann.h"

#include "stats/dist.h"
#include "stats/order.h"

#include <math.h>

/* What a sweep looks at: one sorted sample, with weights or without, or two; and how many must be reached. */
struct ranks {
	const double *a, *b;
	const double *through; /* weights of a, summed */
	size_t na, nb;
	double wanted;
	bool is_beyond; /* more than wanted, not just as many */
	bool (*reach)(const void *ranks, double v);
	double (*after)(const struct ranks *r, double v);
};

static bool is_enough(const struct ranks *r, double count)
{
	return r->is_beyond ? count > r->wanted : count >= r->wanted;
}

static bool walsh_reach(const void *context, double v)
{
	const struct ranks *r = context;
	double count = 0;
	size_t end = r->na;

	for (size_t i = 0; i < r->na; i++) {
		while (end > i && r->a[i] / 2 + r->a[end - 1] / 2 > v)
			end--;
		if (end <= i)
			break;
		count += (double)(end - i);
	}
	return is_enough(r, count);
}

/* through[i] sums the weights, of mean 1, up to value i; with itself a value weighs w(w+1)/2, as w values would. */
static bool weighted_reach(const void *context, double v)
{
	const struct ranks *r = context;
	double count = 0, before = 0;
	size_t end = r->na;

	for (size_t i = 0; i < r->na; i++) {
		double w = r->through[i] - before;

		while (end > i && r->a[i] / 2 + r->a[end - 1] / 2 > v)
			end--;
		if (end <= i)
			break;
		count += w * (r->through[end - 1] - r->through[i]) + w * (w + 1) / 2;
		before = r->through[i];
	}
	return is_enough(r, count);
}

/* v is half the difference. */
static bool shift_reach(const void *context, double v)
{
	const struct ranks *r = context;
	double count = 0;
	size_t end = 0;

	for (size_t i = 0; i < r->na; i++) {
		while (end < r->nb && r->b[end] / 2 - r->a[i] / 2 <= v)
			end++;
		count += (double)end;
	}
	return is_enough(r, count);
}

/* The smallest average above v, which must not be the largest. */
static double walsh_after(const struct ranks *r, double v)
{
	const double *x = r->a;
	double least = x[r->na - 1];
	size_t end = r->na;

	for (size_t i = 0; i < r->na; i++) {
		while (end > i && x[i] / 2 + x[end - 1] / 2 > v)
			end--;
		if (end < r->na)
			least = fmin(least, x[i] / 2 + x[end > i ? end : i] / 2);
	}
	return least;
}

/* The smallest half difference above v, which must not be the largest. */
static double shift_after(const struct ranks *r, double v)
{
	double least = r->b[r->nb - 1] / 2 - r->a[0] / 2;
	size_t end = 0;

	for (size_t i = 0; i < r->na; i++) {
		while (end < r->nb && r->b[end] / 2 - r->a[i] / 2 <= v)
			end++;
		if (end < r->nb)
			least = fmin(least, r->b[end] / 2 - r->a[i] / 2);
	}
	return least;
}

/*
 * The first value in [lo, hi] that enough reach: halve the range a few times, then
 * step from value to value; if that takes long (ties, huge ranges), halve the doubles.
 */
static double first_value(const struct ranks *r, double lo, double hi)
{
	enum { STEPS = 8 };

	if (r->reach(r, lo))
		return lo;
	for (double left = (double)r->na * (double)r->na; left >= 1; left /= 2) {
		double v = lo / 2 + hi / 2;

		if (r->reach(r, v))
			hi = v;
		else
			lo = v;
	}
	for (int i = 0; i < STEPS; i++) {
		double v = r->after(r, lo);

		if (r->reach(r, v))
			return v;
		lo = v;
	}
	return stats_first_value(lo, hi, r->reach, r);
}

static double walsh_rank(const double *x, size_t n, double k)
{
	struct ranks r = { .a = x, .na = n, .wanted = k, .reach = walsh_reach, .after = walsh_after };

	return first_value(&r, x[0], x[n - 1]);
}

static double shift_rank(const double *a, size_t na, const double *b, size_t nb, double k)
{
	struct ranks r = { .a = a,
		.na = na,
		.b = b,
		.nb = nb,
		.wanted = k,
		.reach = shift_reach,
		.after = shift_after };

	return 2 * first_value(&r, b[0] / 2 - a[na - 1] / 2, b[nb - 1] / 2 - a[0] / 2);
}

static double middle(double low, double high)
{
	return low == high ? low : low / 2 + high / 2;
}

static double walsh_count(size_t n)
{
	return (double)n * ((double)n + 1) / 2;
}

/* Sorted; false when there is nothing to rank. */
static bool sort_ranks(double *x, size_t n)
{
	stats_sort(x, n);
	return n && !isnan(x[n - 1]);
}

static double walsh_median(const double *x, size_t n)
{
	double count = walsh_count(n), low = walsh_rank(x, n, ceil(count / 2));
	struct ranks r = { .a = x, .na = n, .wanted = floor(count / 2) + 1 };

	return walsh_reach(&r, low) ? low : middle(low, walsh_after(&r, low));
}

double stats_hl(double *x, size_t n)
{
	return sort_ranks(x, n) ? walsh_median(x, n) : NAN;
}

static bool are_weights(const double *weight, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(weight[i] > 0) || isinf(weight[i]))
			return false;
	return true;
}

/* Weights of mean 1, each with the sum of those before it. */
static void sum_weights(double *weight, size_t n)
{
	double mean = stats_weighted_mean(weight, NULL, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		weight[i] = sum += weight[i] / mean;
}

double stats_hl_weighted(double *x, double *weight, size_t n)
{
	struct ranks r = { .a = x, .na = n, .through = weight, .reach = weighted_reach, .after = walsh_after };
	double low, total;

	stats_sort_with(x, weight, n);
	if (!n || isnan(x[n - 1]) || !are_weights(weight, n))
		return NAN;
	sum_weights(weight, n);
	total = weight[n - 1];
	r.wanted = total * (total + 1) / 4;
	low = first_value(&r, x[0], x[n - 1]);
	r.is_beyond = true;
	return weighted_reach(&r, low) ? low : middle(low, walsh_after(&r, low));
}

static double shift_median(const double *a, size_t na, const double *b, size_t nb)
{
	double count = (double)na * (double)nb, low = shift_rank(a, na, b, nb, ceil(count / 2));
	struct ranks r = { .a = a, .na = na, .b = b, .nb = nb, .wanted = floor(count / 2) + 1 };

	return shift_reach(&r, low / 2) ? low : middle(low, 2 * shift_after(&r, low / 2));
}

double stats_hl_shift(double *a, size_t na, double *b, size_t nb)
{
	bool has_a = sort_ranks(a, na), has_b = sort_ranks(b, nb);

	return has_a && has_b ? shift_median(a, na, b, nb) : NAN;
}

/* ways[w]: in how many of the 2^n choices of signs the positive ranks sum to w. */
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

/* With the half that makes a step function's normal approximation better. */
static double normal_share(double value, double mean, double variance)
{
	return stats_normal_cdf((floor(value) + 0.5 - mean) / sqrt(variance));
}

double stats_signed_rank_cdf(double w, size_t n)
{
	double ways[STATS_SIGNED_RANK_EXACT * (STATS_SIGNED_RANK_EXACT + 1) / 2 + 1], top = walsh_count(n);

	if (isnan(w) || w < 0 || w >= top)
		return isnan(w) ? NAN : w >= 0;
	if (n > STATS_SIGNED_RANK_EXACT)
		return normal_share(w, top / 2, top * (2 * (double)n + 1) / 12);
	signed_rank_ways(ways, n);
	return share_up_to(ways, (size_t)top, w);
}

double stats_mann_whitney_cdf(double u, size_t na, size_t nb)
{
	double ways[STATS_MANN_WHITNEY_EXACT * STATS_MANN_WHITNEY_EXACT / 4 + 1], top = (double)na * (double)nb;

	if (isnan(u) || u < 0 || u >= top)
		return isnan(u) ? NAN : u >= 0;
	if (na + nb > STATS_MANN_WHITNEY_EXACT)
		return normal_share(u, top / 2, top * ((double)na + (double)nb + 1) / 12);
	mann_whitney_ways(ways, na, nb);
	return share_up_to(ways, (size_t)top, u);
}

/*
 * How many ranks to leave out at each end for the tail (1 - level) / 2: a whole
 * number, and the part of the next one that the rest of the tail pays for. Below
 * 1 the sample is too small for the level.
 */
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

/* The tail that a cut stands for: the inverse of exact_cut; what a cut below 1 would need is not to be had. */
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

static double walsh_variance(size_t n)
{
	return walsh_count(n) * (2 * (double)n + 1) / 12;
}

static double shift_variance(size_t na, size_t nb)
{
	return (double)na * (double)nb * ((double)na + (double)nb + 1) / 12;
}

static double normal_cut(double top, double variance, double tail)
{
	return fmax(0, top / 2 + 0.5 + stats_normal_quantile(tail) * sqrt(variance));
}

static double walsh_cut(size_t n, double tail)
{
	double ways[STATS_SIGNED_RANK_EXACT * (STATS_SIGNED_RANK_EXACT + 1) / 2 + 1];

	if (n > STATS_SIGNED_RANK_EXACT)
		return normal_cut(walsh_count(n), walsh_variance(n), tail);
	signed_rank_ways(ways, n);
	return exact_cut(ways, n * (n + 1) / 2, tail);
}

static double shift_cut(size_t na, size_t nb, double tail)
{
	double ways[STATS_MANN_WHITNEY_EXACT * STATS_MANN_WHITNEY_EXACT / 4 + 1];

	if (na + nb > STATS_MANN_WHITNEY_EXACT)
		return normal_cut((double)na * (double)nb, shift_variance(na, nb), tail);
	mann_whitney_ways(ways, na, nb);
	return exact_cut(ways, na * nb, tail);
}

/* Between the value of rank k and the next, `part` of the way. */
static double between_ranks(struct ranks *r, double lo, double hi, double k, double part)
{
	double value, next;

	r->wanted = k;
	value = first_value(r, lo, hi);
	r->wanted = k + 1;
	next = r->reach(r, value) ? value : r->after(r, value);
	return next == value ? value : value * (1 - part) + next * part;
}

/* The ends of an interval that leaves out `cut` of `count` values at each side. */
static void set_ends(struct stats_interval *out, struct ranks *r, double lo, double hi, double count, double cut)
{
	double whole = floor(cut), part = cut - whole;

	if (cut < 1 || whole >= count)
		return;
	out->lo = between_ranks(r, lo, hi, whole, part);
	out->hi = between_ranks(r, lo, hi, count - whole, 1 - part);
}

struct stats_interval stats_hl_interval(double *x, size_t n, double level)
{
	struct stats_interval out = stats_interval_open(stats_hl(x, n), n, level, "Hodges-Lehmann, signed rank");
	struct ranks r = { .a = x, .na = n, .reach = walsh_reach, .after = walsh_after };

	if (!isnan(out.estimate))
		set_ends(&out, &r, x[0], x[n - 1], walsh_count(n), walsh_cut(n, (1 - level) / 2));
	return out;
}

struct stats_interval stats_hl_shift_interval(double *a, size_t na, double *b, size_t nb, double level)
{
	double estimate = stats_hl_shift(a, na, b, nb);
	struct stats_interval out = stats_interval_open(estimate, na + nb, level, "Hodges-Lehmann, Mann-Whitney");
	struct ranks r = { .a = a, .na = na, .b = b, .nb = nb, .reach = shift_reach, .after = shift_after };

	if (isnan(out.estimate))
		return out;
	set_ends(&out, &r, b[0] / 2 - a[na - 1] / 2, b[nb - 1] / 2 - a[0] / 2, (double)na * (double)nb,
			shift_cut(na, nb, (1 - level) / 2));
	out.lo *= 2; /* the sweep looks at half differences */
	out.hi *= 2;
	return out;
}

/* Averages up to v, and the part of the way from the last of them to the next that v is at. */
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

static double walsh_tail(size_t n, double cut)
{
	double ways[STATS_SIGNED_RANK_EXACT * (STATS_SIGNED_RANK_EXACT + 1) / 2 + 1];

	if (n > STATS_SIGNED_RANK_EXACT)
		return stats_normal_cdf((fmax(cut, 1) - walsh_count(n) / 2 - 0.5) / sqrt(walsh_variance(n)));
	signed_rank_ways(ways, n);
	return exact_tail(ways, n * (n + 1) / 2, cut);
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
	if (estimate < value)
		turn_signs(x, n);
	cut = cut_at(x, n, estimate < value ? -value : value);
	if (estimate < value)
		turn_signs(x, n);
	return fmin(1, 2 * walsh_tail(n, cut));
}
