/*
 * Hodges and Lehmann, "Estimates of location based on rank tests" (Annals of Mathematical Statistics 34(2), 1963).
 * The k-th of the n(n+1)/2 averages is found without computing all of them: in the sorted sample one sweep counts
 * those up to a given value (as in Johnson and Mizoguchi, SIAM J. Computing 7(2), 1978), and bisection finds the
 * first value that reaches the count. Halves are added, so sums do not overflow.
 */
#include "stats/hodges-lehmann.h"

#include "stats/ranks.h"
#include "stats/sorting.h"

#include <math.h>

/* Input of a sweep: one sorted sample, with or without weights, or two; and the count to reach. */
struct ranks {
	const double *a, *b;
	const double *through; /* weights of a, summed */
	size_t na, nb;
	double wanted;
	bool is_beyond; /* more than wanted, not equal */
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

/* through[i] sums the weights, of mean 1, up to value i; paired with itself a value weighs w(w+1)/2, as w values
 * would. */
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

/* Returns the smallest average above v; v must not be the largest. */
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

/* Returns the smallest half difference above v; v must not be the largest. */
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
 * Returns the first value in [lo, hi] that reaches the count: bisects the range a few times, then steps from value to
 * value; if that takes long (ties, huge ranges), bisects the doubles.
 */
static double first_value(const struct ranks *r, double lo, double hi)
{
	enum { STEPS = 8 };

	if (r->reach(r, lo))
		return lo;
	for (int left = 2 * ilogb((double)r->na) + 1; left > 0; left--) {
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

/* Sorts; false if there is nothing to rank. */
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

#define ROUNDING 1e-12

/* Normalizes weights to mean 1 and replaces them by prefix sums. */
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
	/* treats rounded halves as equal: otherwise the mirror image of x would have another median */
	r.wanted = total * (total + 1) / 4 * (1 - ROUNDING);
	low = first_value(&r, x[0], x[n - 1]);
	r.wanted = total * (total + 1) / 4 * (1 + ROUNDING);
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

/* Interpolates between the value of rank k and the next. */
static double between_ranks(struct ranks *r, double lo, double hi, double k, double part)
{
	double value, next;

	r->wanted = k;
	value = first_value(r, lo, hi);
	r->wanted = k + 1;
	next = r->reach(r, value) ? value : r->after(r, value);
	return next == value ? value : value * (1 - part) + next * part;
}

/* Sets the ends of an interval that excludes `cut` of `count` values at each side. */
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
		set_ends(&out, &r, x[0], x[n - 1], walsh_count(n), stats_signed_rank_cut(n, (1 - level) / 2));
	return out;
}

double stats_hl_width(const double *x, size_t n, double cut)
{
	struct stats_interval out = stats_interval_open(NAN, n, 0, NULL);
	struct ranks r = { .a = x, .na = n, .reach = walsh_reach, .after = walsh_after };

	if (n && !isnan(x[n - 1]))
		set_ends(&out, &r, x[0], x[n - 1], walsh_count(n), cut);
	return out.hi - out.lo;
}

struct stats_interval stats_hl_shift_interval(double *a, size_t na, double *b, size_t nb, double level)
{
	double estimate = stats_hl_shift(a, na, b, nb);
	struct stats_interval out = stats_interval_open(estimate, na + nb, level, "Hodges-Lehmann, Mann-Whitney");
	struct ranks r = { .a = a, .na = na, .b = b, .nb = nb, .reach = shift_reach, .after = shift_after };

	if (isnan(out.estimate))
		return out;
	set_ends(&out, &r, b[0] / 2 - a[na - 1] / 2, b[nb - 1] / 2 - a[0] / 2, (double)na * (double)nb,
			stats_mann_whitney_cut(na, nb, (1 - level) / 2));
	out.lo *= 2; /* the sweep uses half differences */
	out.hi *= 2;
	return out;
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
	if (estimate < value)
		turn_signs(x, n);
	cut = cut_at(x, n, estimate < value ? -value : value);
	if (estimate < value)
		turn_signs(x, n);
	return fmin(1, 2 * stats_signed_rank_tail(n, cut));
}
