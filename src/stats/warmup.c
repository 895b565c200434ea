/*
 * After Barrett, Bolz-Tereick, Killick, Mount and Tratt, "Virtual machine warmup blows hot and cold" (OOPSLA 2017).
 * MSER-5 (White, Simulation 69(6), 1997), the usual choice in simulation, was tried: it discards 30 and more of 100
 * steady values on average, this method discards some in one series of a hundred.
 */
#include "stats/warmup.h"

#include "stats/changepoint.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

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
