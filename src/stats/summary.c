/*
 * Streaming moments by Welford (Technometrics 4(3), 1962), merged by Chan, Golub and LeVeque (The American
 * Statistician 37(3), 1983); quantiles of type 7 of Hyndman and Fan (The American Statistician 50(4), 1996). Quicksort
 * with median of three that switches to heapsort if the recursion is too deep (Musser, Software: Practice and
 * Experience 27(8), 1997).
 */
#include "stats/summary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SMALL = 16 };

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

static void swap_both(double *key, double *with, size_t i, size_t j)
{
	swap(&key[i], &key[j]);
	if (with)
		swap(&with[i], &with[j]);
}

static void sift(double *key, double *with, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && key[child + 1] > key[child])
			child++;
		if (key[child] <= key[at])
			return;
		swap_both(key, with, at, child);
	}
}

static void heap_sort(double *key, double *with, size_t n)
{
	for (size_t i = n / 2; i > 0; i--)
		sift(key, with, i - 1, n);
	for (size_t left = n; left > 1; left--) {
		swap_both(key, with, 0, left - 1);
		sift(key, with, 0, left - 1);
	}
}

static void insertion_sort(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double v = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

static double median_of_three(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Hoare: both parts are shorter than the whole, every value of the first at most every value of the second. */
static size_t partition(double *x, size_t n)
{
	double pivot = median_of_three(x[0], x[n / 2], x[n - 1]);
	size_t i = 0, j = n - 1;

	for (;;) {
		while (x[i] < pivot)
			i++;
		while (x[j] > pivot)
			j--;
		if (i >= j)
			return i == j ? i + 1 : i;
		swap(&x[i++], &x[j--]);
	}
}

struct part {
	double *x;
	size_t n;
	unsigned depth; /* remaining partitions before heapsort */
};

/* Partitions: p keeps the shorter part, returns the longer one. */
static struct part cut(struct part *p)
{
	size_t at = partition(p->x, p->n);
	struct part low = { p->x, at, p->depth - 1 }, high = { p->x + at, p->n - at, p->depth - 1 };

	*p = low.n <= high.n ? low : high;
	return low.n <= high.n ? high : low;
}

/* The longer parts are stacked: at most log2(n) of them. */
static void quick_sort(double *x, size_t n)
{
	struct part waiting[64], p = { x, n, 4 };
	size_t count = 0;

	for (; n > 0; n /= 2)
		p.depth += 2;
	for (;;) {
		while (p.n > SMALL && p.depth > 0)
			waiting[count++] = cut(&p);
		if (p.n > SMALL)
			heap_sort(p.x, NULL, p.n);
		else
			insertion_sort(p.x, p.n);
		if (!count)
			return;
		p = waiting[--count];
	}
}

/* Moves NaN to the end; returns the number of other values. */
static size_t nan_last(double *key, double *with, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(key[i]))
			swap_both(key, with, i, kept++);
	return kept;
}

void stats_sort(double *x, size_t n)
{
	quick_sort(x, nan_last(x, NULL, n));
}

void stats_sort_with(double *key, double *with, size_t n)
{
	heap_sort(key, with, nan_last(key, with, n));
}

bool stats_has_nan(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(x[i]))
			return true;
	return false;
}

size_t stats_drop_nan(double *x, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			x[kept++] = x[i];
	return kept;
}

/* Maps doubles to integers in the same order: neighbours differ by 1. */
static int64_t number_of(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double value_of(int64_t number)
{
	int64_t bits = number < 0 ? INT64_MIN - number : number;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

double stats_first_value(double lo, double hi, bool (*reach)(const void *context, double v), const void *context)
{
	int64_t first = number_of(lo), last = number_of(hi);

	while (first < last) {
		int64_t middle = first + (int64_t)(((uint64_t)last - (uint64_t)first) / 2);

		if (reach(context, value_of(middle)))
			last = middle;
		else
			first = middle + 1;
	}
	return value_of(last);
}

void stats_moments_init(struct stats_moments *m)
{
	*m = (struct stats_moments){ .mean = NAN, .min = NAN, .max = NAN };
}

void stats_moments_add(struct stats_moments *m, double x)
{
	const struct stats_moments one = { .n = 1, .mean = x, .min = x, .max = x };

	stats_moments_merge(m, &one);
}

/* A NaN on either side is kept: absent is not the same as small. */
static double keep_nan(double a, double b, double chosen)
{
	return isnan(a) || isnan(b) ? NAN : chosen;
}

void stats_moments_merge(struct stats_moments *m, const struct stats_moments *other)
{
	double share, distance;

	if (!other->n)
		return;
	if (!m->n) {
		*m = *other;
		return;
	}
	share = (double)other->n / (double)(m->n + other->n);
	distance = other->mean - m->mean;
	m->m2 += other->m2 + distance * (distance * share * (double)m->n);
	m->mean += distance * share;
	m->n += other->n;
	m->min = keep_nan(m->min, other->min, fmin(m->min, other->min));
	m->max = keep_nan(m->max, other->max, fmax(m->max, other->max));
}

struct stats_moments stats_moments_of(const double *x, size_t n)
{
	struct stats_moments m;

	stats_moments_init(&m);
	for (size_t i = 0; i < n; i++)
		stats_moments_add(&m, x[i]);
	return m;
}

double stats_variance(const struct stats_moments *m)
{
	if (m->n < 2)
		return NAN;
	return m->min == m->max ? 0 : m->m2 / (double)(m->n - 1);
}

double stats_sd(const struct stats_moments *m)
{
	return sqrt(stats_variance(m));
}

double stats_standard_error(const struct stats_moments *m)
{
	return sqrt(stats_variance(m) / (double)m->n);
}

double stats_sorted_quantile(const double *sorted, size_t n, double p)
{
	double place, part;
	size_t below;

	if (!n || isnan(p) || isnan(sorted[n - 1]))
		return NAN;
	place = fmin(fmax(p, 0), 1) * (double)(n - 1);
	below = (size_t)place;
	if (below >= n - 1)
		return sorted[n - 1];
	part = place - (double)below;
	if (part == 0 || sorted[below] == sorted[below + 1])
		return sorted[below];
	return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

double stats_quantile(double *x, size_t n, double p)
{
	stats_sort(x, n);
	return stats_sorted_quantile(x, n, p);
}

double stats_median(double *x, size_t n)
{
	return stats_quantile(x, n, 0.5);
}

/* As a running mean, which does not overflow. */
double stats_weighted_mean(const double *x, const double *weight, size_t n)
{
	double mean = NAN, total = 0;

	for (size_t i = 0; i < n; i++) {
		double w = weight ? weight[i] : 1;

		if (isnan(w) || isnan(x[i]))
			return NAN;
		if (w <= 0)
			continue;
		mean = total == 0 ? x[i] : mean + (x[i] - mean) * (w / (total + w));
		total += w;
	}
	return mean;
}

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
