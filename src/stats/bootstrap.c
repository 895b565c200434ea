/*
 * Efron, "Better bootstrap confidence intervals" (JASA 82(397), 1987) for BCa; Hall, "Theoretical comparison of
 * bootstrap confidence intervals" (Annals of Statistics 16(3), 1988) for the studentised one; Davison and Hinkley,
 * "Bootstrap methods and their application" (1997), 3.8 for runs; Politis and Romano, "A circular block-resampling
 * procedure for stationary data" (1992) for blocks.
 */
#include "stats/bootstrap.h"

#include "stats/dist.h"
#include "stats/rng.h"
#include "stats/sorting.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { DRAWS_DEFAULT = 1999, DRAWS_MAX = 10000000, POOL = 25 };

struct boot {
	const struct stats_bootstrap *how;
	const double *x; /* the data to resample, */
	size_t n;
	stats_statistic *statistic, *se; /* and its statistics */
	const double *pool;              /* or POOL resampled values per run; x then has the runs' original values */
	struct stats_rng rng;
	size_t draw_count;
	double estimate, estimate_se;
	double *sample, *spare, *draws;
};

static double mean_of(double *x, size_t n, const void *context)
{
	return stats_weighted_mean(x, NULL, n);
}

static double mean_se(double *x, size_t n, const void *context)
{
	struct stats_moments m = stats_moments_of(x, n);

	return stats_standard_error(&m);
}

/* Returns the statistic of all values except one. */
static double without(struct boot *b, const double *x, size_t left_out)
{
	memcpy(b->spare, x, left_out * sizeof(*x));
	memcpy(b->spare + left_out, x + left_out + 1, (b->n - left_out - 1) * sizeof(*x));
	return b->statistic(b->spare, b->n - 1, b->how->context);
}

static double jackknife_se(struct boot *b, const double *x)
{
	struct stats_moments m;

	stats_moments_init(&m);
	for (size_t i = 0; i < b->n; i++)
		stats_moments_add(&m, without(b, x, i));
	return sqrt(stats_variance(&m) / (double)b->n) * ((double)b->n - 1);
}

static double se_of(struct boot *b, double *x)
{
	if (b->n < 2)
		return NAN;
	return b->se ? b->se(x, b->n, b->how->context) : jackknife_se(b, x);
}

/* Returns the next index when drawing n values in blocks of neighbours, wrapping around at the end. */
static size_t next_index(struct stats_rng *rng, size_t i, size_t n, size_t block, size_t at)
{
	return block < 2 || i % block == 0 ? (size_t)stats_rng_below(rng, n) : at + 1 < n ? at + 1 : 0;
}

static void draw_values(struct stats_rng *rng, const double *x, size_t n, size_t block, double *out)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		out[i] = x[at = next_index(rng, i, n, block, at)];
}

static void draw_runs(struct boot *b)
{
	for (size_t i = 0; i < b->n; i++)
		b->sample[i] = b->pool[stats_rng_below(&b->rng, b->n * POOL)];
}

/* Draws the statistic once, studentised for that kind; NaN if the sample has no spread. */
static double draw_once(struct boot *b)
{
	double value, se;

	if (b->pool)
		draw_runs(b);
	else
		draw_values(&b->rng, b->x, b->n, b->how->block, b->sample);
	value = b->statistic(b->sample, b->n, b->how->context);
	if (b->how->kind != STATS_STUDENTISED)
		return value;
	se = se_of(b, b->sample);
	return se > 0 ? (value - b->estimate) / se : NAN;
}

static void draw_all(struct boot *b)
{
	for (size_t i = 0; i < b->draw_count; i++)
		b->draws[i] = draw_once(b);
	b->draw_count = stats_drop_nan(b->draws, b->draw_count);
	stats_sort(b->draws, b->draw_count);
}

/* Returns the p quantile of the draws, or an open end if there are too few. */
static double lower_draw(const struct boot *b, double p)
{
	double k = floor((double)(b->draw_count + 1) * p + 1e-9);

	return k >= 1 ? b->draws[(size_t)k - 1] : -INFINITY;
}

static double upper_draw(const struct boot *b, double p)
{
	double k = ceil((double)(b->draw_count + 1) * p - 1e-9);

	return k <= (double)b->draw_count ? b->draws[(size_t)k - 1] : INFINITY;
}

static void set_studentised(const struct boot *b, struct stats_interval *out)
{
	double tail = (1 - b->how->level) / 2;

	out->se = b->estimate_se;
	if (b->estimate_se == 0) {
		out->lo = out->hi = b->estimate;
		return;
	}
	out->lo = b->estimate - upper_draw(b, 1 - tail) * b->estimate_se;
	out->hi = b->estimate - lower_draw(b, tail) * b->estimate_se;
}

/* p of "the value is 0"; by Student's t if no draw is that far off. */
static double p_of(const struct boot *b)
{
	double t = b->estimate / b->estimate_se, n = (double)b->draw_count, above = 0, below = 0;

	if (b->n < 2 || !b->draw_count || !isfinite(t))
		return b->estimate_se == 0 && b->estimate != 0 ? 0 : b->estimate_se == 0 ? 1 : NAN;
	for (size_t i = 0; i < b->draw_count; i++) {
		above += b->draws[i] >= t;
		below += b->draws[i] <= t;
	}
	above = fmin(above, below);
	return above > 0 ? fmin(1, 2 * (above + 1) / (n + 1))
			 : fmin(2 / (n + 1), 2 * stats_t_cdf(-fabs(t), (double)b->n - 1));
}

static void set_percentile(const struct boot *b, struct stats_interval *out)
{
	double tail = (1 - b->how->level) / 2;

	out->lo = lower_draw(b, tail);
	out->hi = upper_draw(b, 1 - tail);
}

/* Acceleration: how the spread of the statistic changes with its value, by the jackknife. */
static double acceleration(struct boot *b)
{
	struct stats_moments m;
	double cubes = 0, squares = 0;

	stats_moments_init(&m);
	for (size_t i = 0; i < b->n; i++)
		stats_moments_add(&m, without(b, b->x, i));
	for (size_t i = 0; i < b->n; i++) {
		double d = m.mean - without(b, b->x, i);

		squares += d * d;
		cubes += d * d * d;
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* Bias: the position of the estimate among the draws, as a normal quantile. */
static double bias(const struct boot *b)
{
	double below = 0, n = (double)b->draw_count;

	for (size_t i = 0; i < b->draw_count && b->draws[i] <= b->estimate; i++)
		below += b->draws[i] < b->estimate ? 1 : 0.5;
	return stats_normal_quantile(fmin(fmax(below, 0.5), n - 0.5) / n);
}

static double corrected(double z0, double a, double p)
{
	double z = z0 + stats_normal_quantile(p);

	return stats_normal_cdf(z0 + z / fmax(1 - a * z, 0));
}

static void set_bca(struct boot *b, struct stats_interval *out)
{
	double tail = (1 - b->how->level) / 2, z0 = bias(b), a = b->n > 1 ? acceleration(b) : 0;

	out->lo = lower_draw(b, corrected(z0, a, tail));
	out->hi = upper_draw(b, corrected(z0, a, 1 - tail));
}

static const char *const methods[] = {
	[STATS_STUDENTISED] = "studentised bootstrap",
	[STATS_PERCENTILE] = "percentile bootstrap",
	[STATS_BCA] = "BCa bootstrap",
};

static void set_interval(struct boot *b, struct stats_interval *out)
{
	*out = stats_interval_open(b->estimate, b->n, b->how->level, methods[b->how->kind]);
	if (b->n < 2 || !b->draw_count)
		return;
	if (b->how->kind == STATS_STUDENTISED)
		set_studentised(b, out);
	else if (b->how->kind == STATS_BCA)
		set_bca(b, out);
	else
		set_percentile(b, out);
}

static int check(const struct stats_bootstrap *how, size_t n, struct sonde_err *err)
{
	if (!n)
		return err_set(err, EINVAL, "a bootstrap needs at least one value");
	if (!(how->level > 0 && how->level < 1))
		return err_set(err, EINVAL, "a bootstrap's level lies between 0 and 1, not at %g", how->level);
	if (how->draws > DRAWS_MAX)
		return err_set(err, EINVAL, "%zu bootstrap draws are more than %d", how->draws, DRAWS_MAX);
	return 0;
}

static int start(struct boot *b, struct arena *arena, struct sonde_err *err)
{
	b->draw_count = b->how->draws ? b->how->draws : DRAWS_DEFAULT;
	b->sample = arena_alloc(arena, b->n * sizeof(double));
	b->spare = arena_alloc(arena, b->n * sizeof(double));
	b->draws = arena_alloc(arena, b->draw_count * sizeof(double));
	if (!b->sample || !b->spare || !b->draws)
		return err_sys(err, ENOMEM, "cannot resample %zu values", b->n);
	stats_rng_init(&b->rng, b->how->seed, 0);
	memcpy(b->sample, b->x, b->n * sizeof(double));
	b->estimate = b->statistic(b->sample, b->n, b->how->context);
	if (b->how->kind == STATS_STUDENTISED)
		b->estimate_se = se_of(b, b->sample) * (b->how->widen > 0 ? b->how->widen : 1);
	return 0;
}

static int resample(struct boot *b, struct arena *arena, struct stats_interval *out, struct sonde_err *err)
{
	int rc;

	if (stats_has_nan(b->x, b->n))
		return err_set(err, EINVAL, "a bootstrap cannot use values that are not numbers");
	rc = start(b, arena, err);
	if (rc < 0)
		return rc;
	if (b->n > 1 && !(b->estimate_se == 0 && b->how->kind == STATS_STUDENTISED))
		draw_all(b);
	set_interval(b, out);
	if (b->how->p)
		*b->how->p = b->how->kind == STATS_STUDENTISED ? p_of(b) : NAN;
	return 0;
}

/* The default statistic. */
static void use_mean(struct boot *b)
{
	if (b->statistic)
		return;
	b->statistic = mean_of;
	b->se = mean_se;
}

int stats_bootstrap_values(const double *x, size_t n, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err)
{
	struct boot b = { .how = how, .x = x, .n = n, .statistic = how->statistic, .se = how->se };
	int rc = check(how, n, err);

	if (rc < 0)
		return rc;
	use_mean(&b);
	return resample(&b, arena, out, err);
}

static size_t longest_run(const struct stats_runs *runs)
{
	size_t longest = 1;

	for (size_t i = 0; i < runs->count; i++)
		if (runs->first[i + 1] - runs->first[i] > longest)
			longest = runs->first[i + 1] - runs->first[i];
	return longest;
}

static double weighted_mean_of(double *x, double *weight, size_t n, const void *context)
{
	return stats_weighted_mean(x, weight, n);
}

/* Runs, with scratch space for the values and weights of one of them. */
struct drawer {
	const struct stats_runs *runs;
	stats_run_statistic *of_run;
	const struct stats_bootstrap *how;
	double *x, *weight;
};

/* Returns the statistic of a run, original or resampled with rng. */
static double run_statistic(const struct drawer *d, size_t run, struct stats_rng *rng)
{
	const struct stats_runs *runs = d->runs;
	size_t first = runs->first[run], n = runs->first[run + 1] - first, at = 0;

	for (size_t i = 0; i < n; i++) {
		at = rng ? next_index(rng, i, n, d->how->block, at) : i;
		d->x[i] = runs->x[first + at];
		d->weight[i] = runs->weight ? runs->weight[first + at] : 1;
	}
	return d->of_run(d->x, runs->weight ? d->weight : NULL, n, d->how->context);
}

/* Returns POOL resampled values per run; NULL if out of memory. */
static double *make_pool(const struct drawer *d, const double *each, struct arena *arena)
{
	size_t count = d->runs->count;
	double *pool = arena_alloc(arena, count * POOL * sizeof(*pool));
	struct stats_rng rng;

	stats_rng_init(&rng, d->how->seed, 1);
	for (size_t run = 0; pool && run < count; run++) {
		bool is_single = d->runs->first[run + 1] - d->runs->first[run] < 2;

		for (size_t k = 0; k < POOL; k++)
			pool[run * POOL + k] = is_single ? each[run] : run_statistic(d, run, &rng);
	}
	return pool;
}

/* Fills b with the statistics of the runs, original and resampled. */
static int take_runs(struct boot *b, const struct stats_runs *runs, struct arena *arena)
{
	size_t longest = longest_run(runs);
	struct drawer d = { .runs = runs,
		.how = b->how,
		.of_run = b->how->of_run ? b->how->of_run : weighted_mean_of,
		.x = arena_alloc(arena, longest * sizeof(double)),
		.weight = arena_alloc(arena, longest * sizeof(double)) };
	double *each = arena_alloc(arena, runs->count * sizeof(*each));

	if (!d.x || !d.weight || !each)
		return -ENOMEM;
	for (size_t run = 0; run < runs->count; run++)
		each[run] = run_statistic(&d, run, NULL);
	b->x = each;
	b->pool = b->how->block ? make_pool(&d, each, arena) : NULL;
	return b->how->block && !b->pool ? -ENOMEM : 0;
}

int stats_bootstrap_runs(const struct stats_runs *runs, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err)
{
	struct boot b = { .how = how, .n = runs->count, .statistic = how->statistic, .se = how->se };
	int rc = check(how, runs->count, err);

	if (rc < 0)
		return rc;
	if (how->block && how->kind == STATS_BCA)
		return err_set(err, EINVAL, "a BCa bootstrap draws whole runs only");
	use_mean(&b);
	rc = take_runs(&b, runs, arena);
	return rc ? err_sys(err, -rc, "cannot resample %zu runs", runs->count) : resample(&b, arena, out, err);
}
