/*
 * Block length by Politis and White, "Automatic block-length selection for the dependent bootstrap" (Econometric
 * Reviews 23(1), 2004), corrected by Patton, Politis and White (28(4), 2009).
 *
 * Change points by PELT (Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear computational
 * cost", JASA 107(500), 2012) with the sum of absolute distances from the median as cost. It runs forward: from each
 * start, segments grow to the right with their values kept sorted, so that the cost of the next end follows from the
 * previous one. A segment stops growing when its start cannot be on the best path any more.
 *
 * Warm-up after Barrett, Bolz-Tereick, Killick, Mount and Tratt, "Virtual machine warmup blows hot and cold" (OOPSLA
 * 2017). MSER-5 (White, Simulation 69(6), 1997), the usual choice in simulation, was tried: it discards 30 and more of
 * 100 steady values on average, this method discards some in one series of a hundred.
 */
#include "stats/series.h"

#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { N_MIN = 4 };

static double covariance(const double *x, size_t n, double mean, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < n; i++)
		sum += (x[i] - mean) * (x[i + lag] - mean);
	return sum / (double)n;
}

/* Do the values differ at all? */
static int has_spread(const double *x, size_t n, struct stats_moments *m)
{
	*m = stats_moments_of(x, n);
	return n >= N_MIN && stats_variance(m) > 0 && isfinite(m->mean);
}

double stats_autocorrelation(const double *x, size_t n, size_t lag)
{
	struct stats_moments m;

	if (stats_has_nan(x, n))
		return NAN;
	if (lag == 0)
		return 1;
	if (!has_spread(x, n, &m) || lag >= n)
		return 0;
	return covariance(x, n, m.mean, lag) / covariance(x, n, m.mean, 0);
}

/* Returns the lag after which a sequence of correlations is indistinguishable from zero. */
static size_t last_lag(const double *x, size_t n, double mean, size_t row, size_t max)
{
	double limit = 2 * sqrt(log10((double)n) / (double)n) * covariance(x, n, mean, 0);
	size_t quiet = 0;

	for (size_t lag = 1; lag <= max; lag++) {
		quiet = fabs(covariance(x, n, mean, lag)) < limit ? quiet + 1 : 0;
		if (quiet >= row)
			return lag - quiet;
	}
	return max;
}

/* Flat up to 0.5, then falling to 0 at 1. */
static double taper(double share)
{
	return share <= 0.5 ? 1 : 2 * (1 - share);
}

static double optimal_length(const double *x, size_t n, double mean, size_t width)
{
	double g = 0, spectrum = covariance(x, n, mean, 0);

	for (size_t lag = 1; lag <= width; lag++) {
		double c = 2 * taper((double)lag / (double)width) * covariance(x, n, mean, lag);

		g += c * (double)lag;
		spectrum += c;
	}
	if (!(spectrum > 0))
		return 1;
	return cbrt(2 * g * g / (4.0 / 3 * spectrum * spectrum) * (double)n);
}

size_t stats_block_length(const double *x, size_t n)
{
	struct stats_moments m;
	size_t row, max, width;
	double length;

	if (stats_has_nan(x, n) || !has_spread(x, n, &m))
		return 1;
	row = (size_t)fmax(5, sqrt(log10((double)n)));
	max = (size_t)ceil(sqrt((double)n)) + row;
	width = 2 * last_lag(x, n, m.mean, row, max < n ? max : n - 1);
	if (width > n - 1)
		width = n - 1;
	length = optimal_length(x, n, m.mean, width);
	return (size_t)fmax(1, fmin(round(length), floor((double)n / 3)));
}

enum { SHORTEST_DEFAULT = 3 };

/* The values so far in sorted order, and the sum of the lower half. */
struct growing {
	double *sorted;
	size_t n;
	double low, total;
};

struct search {
	const double *x;
	size_t n, shortest;
	double penalty;
	double *best; /* best[i]: cost of the first i values */
	size_t *from; /* start of the last segment of that */
	struct growing seg;
};

static size_t place_of(const struct growing *g, double v)
{
	size_t lo = 0, hi = g->n;

	while (lo < hi) {
		size_t middle = (lo + hi) / 2;

		if (g->sorted[middle] < v)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

static void grow(struct growing *g, double v)
{
	size_t at = place_of(g, v), half = g->n / 2;

	memmove(g->sorted + at + 1, g->sorted + at, (g->n - at) * sizeof(double));
	g->sorted[at] = v;
	g->total += v;
	if (g->n % 2)
		g->low += at <= half ? v : g->sorted[half];
	else if (at < half)
		g->low += v - g->sorted[half];
	g->n++;
}

/* Sum of the distances from the median: the upper half minus the lower. */
static double cost_of(const struct growing *g)
{
	double middle = g->n % 2 ? g->sorted[g->n / 2] : 0;

	return fmax(0, g->total - middle - 2 * g->low);
}

/*
 * Tries all segments that start at `start`. Once a cut at `end` is not more expensive, it is the better start for
 * everything beyond a shortest segment from there.
 */
static void extend(struct search *s, size_t start)
{
	size_t stop = s->n;

	s->seg.n = 0;
	s->seg.low = s->seg.total = 0;
	for (size_t end = start + 1; end <= stop; end++) {
		double cost;

		grow(&s->seg, s->x[end - 1]);
		if (s->seg.n < s->shortest)
			continue;
		cost = s->best[start] + cost_of(&s->seg) + (start ? s->penalty : 0);
		if (cost < s->best[end]) {
			s->best[end] = cost;
			s->from[end] = start;
		} else if (cost >= s->best[end] + s->penalty && stop - end >= s->shortest) {
			stop = end + s->shortest - 1;
		}
	}
}

/* From the median distance of neighbours, or the mean one if most are equal. */
double stats_series_noise(const double *x, size_t n, double *scratch)
{
	double noise;

	if (n < 2)
		return 0;
	for (size_t i = 0; i + 1 < n; i++)
		scratch[i] = fabs(x[i + 1] - x[i]);
	noise = stats_median(scratch, n - 1) * 1.482602218505602 / M_SQRT2;
	return noise > 0 ? noise : stats_weighted_mean(scratch, NULL, n - 1) * sqrt(M_PI) / 2;
}

static double median_of(const double *x, size_t n, double *scratch)
{
	if (!n)
		return NAN;
	memcpy(scratch, x, n * sizeof(*x));
	return stats_median(scratch, n);
}

/* Distances from the overall median, in units of noise. */
static void standardise(const double *x, size_t n, double *out, double *scratch)
{
	double noise = stats_series_noise(x, n, scratch), median = median_of(x, n, scratch);

	for (size_t i = 0; i < n; i++)
		out[i] = noise > 0 ? (x[i] - median) / noise : 0;
}

static bool all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

/* The 99 % quantile for series of 10 to 1000 normal or t3 values without a change, by simulation. */
static double default_penalty(size_t n)
{
	return 8 + 0.2 * log((double)n + 1);
}

static int search_init(struct search *s, const double *x, size_t n, struct arena *arena)
{
	double *scaled = arena_alloc(arena, n * sizeof(double));

	s->best = arena_alloc(arena, (n + 1) * sizeof(double));
	s->from = arena_alloc(arena, (n + 1) * sizeof(size_t));
	s->seg.sorted = arena_alloc(arena, (n + 1) * sizeof(double));
	if (!scaled || !s->best || !s->from || !s->seg.sorted)
		return -ENOMEM;
	standardise(x, n, scaled, s->seg.sorted);
	s->x = scaled;
	for (size_t i = 1; i <= n; i++)
		s->best[i] = INFINITY;
	return 0;
}

/* Follows the best path backwards. */
static int collect(const struct search *s, const double *x, struct arena *arena, struct stats_segment **segments,
		size_t *count, struct sonde_err *err)
{
	size_t cuts = 0, at = 0;
	struct stats_segment *out;

	for (size_t end = s->n; end > 0; end = s->from[end])
		cuts++;
	out = arena_alloc(arena, cuts * sizeof(*out));
	if (!out)
		return err_sys(err, ENOMEM, "cannot list %zu segments", cuts);
	for (size_t end = s->n; end > 0; end = s->from[end]) {
		size_t first = s->from[end];

		out[cuts - ++at] = (struct stats_segment){ .first = first,
			.count = end - first,
			.median = median_of(x + first, end - first, s->seg.sorted) };
	}
	*segments = out;
	*count = cuts;
	return 0;
}

int stats_changepoints(const double *x, size_t n, const struct stats_changes *how, struct arena *arena,
		struct stats_segment **segments, size_t *count, struct sonde_err *err)
{
	struct search s = { .n = n, .shortest = how->shortest ? how->shortest : SHORTEST_DEFAULT };

	if (!all_finite(x, n))
		return err_set(err, EINVAL, "changes are looked for among finite values only");
	if (search_init(&s, x, n, arena) < 0)
		return err_sys(err, ENOMEM, "cannot look for changes among %zu values", n);
	s.penalty = how->penalty > 0 ? how->penalty : default_penalty(n);
	if (n / 2 < s.shortest)
		s.shortest = n; /* too short to cut */
	for (size_t start = 0; start < n; start++)
		if (start == 0 || isfinite(s.best[start]))
			extend(&s, start);
	return collect(&s, x, arena, segments, count, err);
}

enum { POINTS_MAX = 500, STEADY_SHARE = 3 };

/* Medians of batches that end with the series; the remainder comes first and is excluded. */
static int batch(const double *x, size_t n, size_t size, struct arena *arena, double **out)
{
	size_t batches = n / size;
	double *medians = arena_alloc(arena, batches * sizeof(*medians));
	double *values = arena_alloc(arena, size * sizeof(*values));

	if (!medians || !values)
		return -ENOMEM;
	for (size_t i = 0; i < batches; i++) {
		memcpy(values, x + n % size + i * size, size * sizeof(*values));
		medians[i] = stats_median(values, size);
	}
	*out = medians;
	return 0;
}

/* Returns the first value of the segments that are level with the last one. */
static size_t steady_from(const struct stats_segment *segments, size_t count, double noise)
{
	size_t first = count - 1;

	while (first > 0 && fabs(segments[first - 1].median - segments[count - 1].median) <= noise)
		first--;
	return segments[first].first;
}

static int settle(const double *points, size_t n, size_t size, struct arena *arena, struct stats_warmup *out,
		struct sonde_err *err)
{
	struct stats_changes how = { 0 };
	struct stats_segment *segments;
	double *scratch = arena_alloc(arena, n / size * sizeof(*scratch));
	size_t count, first;
	int rc = scratch ? stats_changepoints(points, n / size, &how, arena, &segments, &count, err) : -ENOMEM;

	if (rc < 0)
		return scratch ? rc : err_sys(err, ENOMEM, "cannot look for warm-up among %zu values", n);
	first = steady_from(segments, count, stats_series_noise(points, n / size, scratch));
	out->is_settled = n / size - first >= n / size / STEADY_SHARE;
	out->first = !out->is_settled ? n : first ? n % size + first * size : 0;
	return 0;
}

int stats_warmup(const double *x, size_t n, struct arena *arena, struct stats_warmup *out, struct sonde_err *err)
{
	size_t size = (n + POINTS_MAX - 1) / POINTS_MAX;
	double *medians;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return err_set(err, EINVAL, "warm-up is looked for among finite values only");
	*out = (struct stats_warmup){ 0 };
	if (n < STATS_WARMUP_MIN)
		return 0;
	if (size == 1)
		return settle(x, n, 1, arena, out, err);
	if (batch(x, n, size, arena, &medians) < 0)
		return err_sys(err, ENOMEM, "cannot look for warm-up among %zu values", n);
	return settle(medians, n, size, arena, out, err);
}
