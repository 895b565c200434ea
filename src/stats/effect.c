/*
 * Why runs: Kalibera and Jones, "Rigorous benchmarking in reasonable time" (ISMM 2013). Why a bootstrap only on
 * request: with few runs it covers 74 to 89 % instead of 95 (BCa of 3 to 10); with 20 and more it covers 95 % if runs
 * are well-behaved, and 91 to 93 % if some are outliers (doc/adr/0006-duet-intervals.md, bench/duet-sim). Student's t
 * covers with outliers, but is six times as wide as ranks.
 *
 * The bootstrap is studentised: Hall, "Theoretical comparison of bootstrap confidence intervals" (Annals of Statistics
 * 16(3), 1988); for runs Davison and Hinkley, "Bootstrap methods and their application" (1997), section 3.8.
 */
#include "stats/effect.h"

#include "stats/dist.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/series.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Blocks of a single run: enough for Student's t, few enough to be long. */
enum { BLOCKS_MIN = 4, BLOCKS_MAX = 20 };

/* Of a bootstrap: draws, and resampled locations of each run, which all draws share. */
enum { DRAWS_MIN = 1999, DRAWS_MAX = 20000, POOL = 25 };

/* The interval whose width gives the standard error, and the width in standard errors. */
#define SE_LEVEL 0.8
#define SE_WIDTHS (2 * 1.2815515655446004)

struct comparison {
	const struct stats_runs *runs;
	const struct stats_effect_options *how;
	double level;       /* nominal */
	double guarded;     /* targeted */
	double *x, *weight; /* the pairs in use, by run */
	double *location;   /* one per run */
	size_t *first;      /* first pair of each; one more entry */
	size_t pairs, count;
};

static double guarded_level(double level)
{
	return 1 - (1 - level) * STATS_EFFECT_GUARD;
}

void stats_effect_plan(struct stats_sequential *plan, double level, size_t n_max)
{
	stats_sequential_init(plan, STATS_POWER, 1 - (1 - level) * STATS_LOOKS_GUARD, n_max, 2);
}

double stats_run_location(double *x, double *weight, size_t n)
{
	return weight ? stats_hl_weighted(x, weight, n) : stats_hl(x, n);
}

static bool is_usable(const struct stats_runs *runs, size_t i)
{
	return isfinite(runs->x[i]) && (!runs->weight || (runs->weight[i] > 0 && isfinite(runs->weight[i])));
}

/* Appends the usable pairs of a run; returns their number. */
static size_t take_pairs(struct comparison *c, size_t run)
{
	const struct stats_runs *runs = c->runs;
	size_t at = c->pairs;

	for (size_t i = runs->first[run]; i < runs->first[run + 1]; i++) {
		if (!is_usable(runs, i))
			continue;
		c->x[at] = runs->x[i];
		c->weight[at++] = runs->weight ? runs->weight[i] : 1;
	}
	return at - c->pairs;
}

static double location_of(const struct comparison *c, size_t first, size_t n)
{
	return stats_run_location(c->x + first, c->runs->weight ? c->weight + first : NULL, n);
}

static void locate_runs(struct comparison *c)
{
	for (size_t run = 0; run < c->runs->count; run++) {
		size_t n = take_pairs(c, run);

		if (n) {
			c->first[c->count] = c->pairs;
			c->location[c->count++] = location_of(c, c->pairs, n);
		}
		c->pairs += n;
		c->first[c->count] = c->pairs;
	}
}

static int comparison_init(struct comparison *c, const struct stats_runs *runs, const struct stats_effect_options *how,
		struct arena *arena, struct sonde_err *err)
{
	size_t n = runs->count ? runs->first[runs->count] - runs->first[0] : 0;

	*c = (struct comparison){ .runs = runs, .how = how, .level = how->level > 0 ? how->level : 0.95 };
	c->guarded = guarded_level(c->level);
	c->x = arena_alloc(arena, n * sizeof(double));
	c->weight = arena_alloc(arena, n * sizeof(double));
	c->location = arena_alloc(arena, runs->count * sizeof(double));
	c->first = arena_alloc(arena, (runs->count + 1) * sizeof(*c->first));
	return c->x && c->weight && c->location && c->first
			? 0
			: err_sys(err, ENOMEM, "cannot compare %zu runs", runs->count);
}

static void by_student(const struct comparison *c, struct stats_effect *out)
{
	if (c->how->look) {
		out->log_ratio = stats_sequential_interval(c->how->look, &out->locations);
		return;
	}
	out->log_ratio = stats_moments_interval(&out->locations, c->guarded);
	out->p = stats_interval_p(&out->log_ratio, 0);
}

/* The targeted level; 1: none, this is not an interim analysis. */
static double level_of(const struct comparison *c)
{
	const struct stats_sequential *look = c->how->look;

	return !look ? c->guarded : look->n == c->count ? 1 - look->nominal : 1;
}

/* Returns false if ranks cannot reach the level. */
static bool by_ranks(const struct comparison *c, struct stats_effect *out)
{
	const struct stats_sequential *look = c->how->look;
	struct stats_interval i = stats_hl_interval(c->location, c->count, level_of(c));

	if (!isfinite(i.lo))
		return false;
	out->log_ratio = i;
	if (look)
		out->log_ratio.method = "Hodges-Lehmann, signed rank, repeated looks";
	else
		out->p = stats_hl_p(c->location, c->count, 0);
	return true;
}

/* Returns false if signs cannot reach the level. */
static bool by_signs(const struct comparison *c, struct stats_effect *out)
{
	const struct stats_sequential *look = c->how->look;
	struct stats_interval i = stats_median_interval(c->location, c->count, level_of(c));

	if (!isfinite(i.lo))
		return false;
	out->log_ratio = i;
	if (look)
		out->log_ratio.method = "median, sign test, repeated looks";
	else
		out->p = stats_sign_p(c->location, c->count, 0);
	return true;
}

/* A sorted draw of the locations, and the number of averages that its interval of SE_LEVEL excludes at each side. */
struct draw {
	double *locations;
	double cut;
};

/* Its standard error, from the width of an interval (Lehmann, "Nonparametric confidence intervals", 1963). */
static double draw_se(const struct draw *d, size_t n)
{
	return stats_hl_width(d->locations, n, d->cut) / SE_WIDTHS;
}

/*
 * Returns POOL locations of each run, whose pairs are resampled with replacement: a resample is as good for one draw
 * as for another, so all draws share them.
 */
static double *create_pool(struct comparison *c, struct arena *arena)
{
	size_t longest = 1;
	double *pool = arena_alloc(arena, c->count * POOL * sizeof(*pool)), *x, *weight;
	struct stats_rng rng;

	for (size_t run = 0; run < c->count; run++)
		if (c->first[run + 1] - c->first[run] > longest)
			longest = c->first[run + 1] - c->first[run];
	x = arena_alloc(arena, longest * sizeof(*x));
	weight = arena_alloc(arena, longest * sizeof(*weight));
	if (!pool || !x || !weight)
		return NULL;
	/* Finding the locations has sorted the pairs: copy them again. */
	c->pairs = 0;
	for (size_t run = 0; run < c->runs->count; run++)
		c->pairs += take_pairs(c, run);
	stats_rng_init(&rng, c->how->seed, 1);
	for (size_t i = 0; i < c->count * POOL; i++) {
		size_t run = i / POOL, first = c->first[run], n = c->first[run + 1] - first;

		pool[i] = c->location[run];
		if (n < 2)
			continue;
		for (size_t k = 0; k < n; k++) {
			size_t at = first + (size_t)stats_rng_below(&rng, n);

			x[k] = c->x[at];
			weight[k] = c->weight[at];
		}
		pool[i] = stats_run_location(x, c->runs->weight ? weight : NULL, n);
	}
	return pool;
}

/* p of "the value is 0" for an estimate of t standard errors; by Student's t if no draw is that far off. */
static double bootstrap_p(const double *draws, size_t count, double t, double df)
{
	double n = (double)count, above = 0, below = 0;

	for (size_t i = 0; i < count; i++) {
		above += draws[i] >= t;
		below += draws[i] <= t;
	}
	above = fmin(above, below);
	return above > 0 ? fmin(1, 2 * (above + 1) / (n + 1)) : fmin(2 / (n + 1), 2 * stats_t_cdf(-fabs(t), df));
}

/* Sets the interval from the sorted draws; an end for which there are too few draws stays open. */
static void set_ends(struct stats_interval *out, const double *draws, size_t count, double tail)
{
	double low = floor((double)(count + 1) * tail + 1e-9), high = ceil((double)(count + 1) * (1 - tail) - 1e-9);

	if (high <= (double)count)
		out->lo = out->estimate - draws[(size_t)high - 1] * out->se;
	if (low >= 1)
		out->hi = out->estimate - draws[(size_t)low - 1] * out->se;
}

static int by_hierarchy(struct comparison *c, struct arena *arena, struct stats_effect *out, struct sonde_err *err)
{
	double level = level_of(c), n = (double)c->count, *pool = create_pool(c, arena), *draws;
	/* The tails have to be resolved. */
	size_t wanted = c->how->draws ? c->how->draws : (size_t)fmin(fmax(DRAWS_MIN, 20 / (1 - level)), DRAWS_MAX);
	struct draw d = { arena_alloc(arena, c->count * sizeof(double)),
		stats_signed_rank_cut(c->count, (1 - SE_LEVEL) / 2) };
	struct stats_interval *i = &out->log_ratio;
	size_t count = 0;
	struct stats_rng rng;

	draws = arena_alloc(arena, wanted * sizeof(*draws));
	if (!pool || !d.locations || !draws)
		return err_sys(err, ENOMEM, "cannot resample %zu runs", c->count);
	memcpy(d.locations, c->location, c->count * sizeof(double));
	*i = stats_interval_open(stats_hl(d.locations, c->count), c->count, level,
			c->how->look ? "Hodges-Lehmann, hierarchical bootstrap, repeated looks"
				     : "Hodges-Lehmann, hierarchical bootstrap");
	i->se = draw_se(&d, c->count) * sqrt(n / (n - 1)); /* otherwise 20 runs have 0.4 % more error */
	stats_rng_init(&rng, c->how->seed, 0);
	for (size_t k = 0; k < wanted; k++) {
		double value, se;

		for (size_t run = 0; run < c->count; run++)
			d.locations[run] = pool[stats_rng_below(&rng, c->count * POOL)];
		value = stats_hl(d.locations, c->count);
		se = draw_se(&d, c->count);
		if (se > 0) /* a draw without spread says nothing about it */
			draws[count++] = (value - i->estimate) / se;
	}
	stats_sort(draws, count);
	if (i->se == 0 && count)
		i->lo = i->hi = i->estimate;
	else if (count)
		set_ends(i, draws, count, (1 - level) / 2);
	if (!c->how->look)
		out->p = i->se == 0     ? i->estimate == 0
				: count ? bootstrap_p(draws, count, i->estimate / i->se, n - 1)
					: NAN;
	return 0;
}

static size_t block_count(const double *x, size_t n)
{
	size_t blocks = n / stats_block_length(x, n);

	return blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks < BLOCKS_MIN ? BLOCKS_MIN : blocks;
}

/* Copies the pairs of the only run again, in their order: finding its location has sorted them. */
static void by_blocks(struct comparison *c, struct stats_effect *out)
{
	size_t n = 0, blocks;
	struct stats_moments m;

	c->pairs = 0;
	for (size_t run = 0; run < c->runs->count && !n; run++)
		n = take_pairs(c, run);
	stats_moments_init(&m);
	blocks = block_count(c->x, n);
	for (size_t b = 0; n >= 2 * BLOCKS_MIN && b < blocks; b++) {
		size_t first = b * n / blocks, end = (b + 1) * n / blocks;

		stats_moments_add(&m, location_of(c, first, end - first));
	}
	out->log_ratio = stats_interval_open(c->location[0], 1, c->guarded, NULL);
	if (m.n)
		out->log_ratio = stats_interval_t(c->location[0], stats_standard_error(&m), (double)m.n - 1, 1,
				c->guarded);
	out->log_ratio.method = "Student's t of blocks, single run";
	out->p = stats_interval_p(&out->log_ratio, 0);
	out->is_indicative = true;
}

/* Not if the error is too small to be resolved by the draws. */
static bool wants_hierarchy(const struct comparison *c)
{
	return c->how->method == STATS_HIERARCHICAL && c->count >= STATS_EFFECT_MANY &&
			(1 - level_of(c)) * DRAWS_MAX >= 2;
}

static bool wants_ranks(const struct comparison *c)
{
	bool is_free = c->how->method == STATS_AUTO || c->how->method == STATS_SIGNS;

	return c->how->method == STATS_RANKS || (is_free && c->count >= STATS_EFFECT_RANKS);
}

static int set_interval(struct comparison *c, struct arena *arena, struct stats_effect *out, struct sonde_err *err)
{
	if (c->count == 1 && !c->how->look)
		by_blocks(c, out);
	else if (wants_hierarchy(c))
		return by_hierarchy(c, arena, out, err);
	else if (c->how->method == STATS_SIGNS && by_signs(c, out))
		return 0;
	else if (!wants_ranks(c) || !by_ranks(c, out))
		by_student(c, out);
	return 0;
}

int stats_effect(const struct stats_runs *runs, const struct stats_effect_options *how, struct arena *arena,
		struct stats_effect *out, struct sonde_err *err)
{
	struct stats_effect e = { .p = NAN };
	struct comparison c;
	int rc = comparison_init(&c, runs, how, arena, err);

	if (rc < 0)
		return rc;
	locate_runs(&c);
	if (!c.count)
		return err_set(err, EINVAL, "no pairs to compare");
	e.pairs = c.pairs;
	e.dropped = runs->first[runs->count] - runs->first[0] - c.pairs;
	e.locations = stats_moments_of(c.location, c.count);
	e.run_correlation = stats_autocorrelation(c.location, c.count, 1); /* before ranks sort them */
	rc = set_interval(&c, arena, &e, err);
	if (rc < 0)
		return rc;
	e.p = isnan(e.p) ? NAN : fmin(1, e.p / STATS_EFFECT_GUARD);
	e.log_ratio.level = c.level;
	e.ratio = stats_interval_exp(&e.log_ratio);
	*out = e;
	return 0;
}

double stats_effect_spread(const struct stats_effect *e)
{
	double n = (double)e->locations.n, half = (e->log_ratio.hi - e->log_ratio.lo) / 2;

	if (isfinite(e->log_ratio.se)) /* Student's, of the runs */
		return stats_sd(&e->locations);
	if (n < 2 || !isfinite(half))
		return NAN;
	return half * sqrt(n) / -stats_t_quantile((1 - guarded_level(e->log_ratio.level)) / 2, n - 1);
}

struct stats_interval stats_effects_mean(const struct stats_effect *effects, size_t n, double level)
{
	const char *method = "Student's t, mean of benchmarks";
	double mean = 0, variance = 0, squares = 0, m = (double)n;
	struct stats_interval out;

	for (size_t i = 0; i < n; i++) {
		const struct stats_moments *l = &effects[i].locations;
		double v = stats_variance(l) / (double)l->n / (m * m);

		mean += l->mean / m;
		variance += v;
		squares += v * v / ((double)l->n - 1);
	}
	if (!n || isnan(variance))
		return stats_interval_open(n ? mean : NAN, n, level, method);
	out = stats_interval_t(mean, sqrt(variance), variance > 0 ? variance * variance / squares : INFINITY, n,
			guarded_level(level));
	out.level = level;
	out.method = method;
	return out;
}
