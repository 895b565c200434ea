/*
 * effect: see effect.h. Why runs: Kalibera and Jones, "Rigorous benchmarking in
 * reasonable time" (ISMM 2013). Why Student's t for few of them: BCa and
 * percentile intervals of 3 to 10 values cover 74 to 89 % instead of 95 (bench/duet-sim).
 */
#include "stats/effect.h"

#include "stats/autocorrelation.h"
#include "stats/bootstrap.h"
#include "stats/hodges_lehmann.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Blocks of a single run: enough for Student's t, few enough to be long. */
enum { BLOCKS_MIN = 4, BLOCKS_MAX = 20 };

struct scratch {
	double *x, *weight; /* the pairs in use, run after run */
	double *location;   /* one a run */
	size_t pairs, runs;
};

double stats_run_location(double *x, double *weight, size_t n, enum stats_location location)
{
	if (location == STATS_MEAN)
		return stats_weighted_mean(x, weight, n);
	return weight ? stats_hl_weighted(x, weight, n) : stats_hl(x, n);
}

static bool is_usable(const struct stats_runs *runs, size_t i)
{
	return isfinite(runs->x[i]) && (!runs->weight || (runs->weight[i] > 0 && isfinite(runs->weight[i])));
}

/* Copy the usable pairs of a run behind those in s; returns how many. */
static size_t take_pairs(const struct stats_runs *runs, size_t run, struct scratch *s)
{
	size_t taken = 0;

	for (size_t i = runs->first[run]; i < runs->first[run + 1]; i++) {
		if (!is_usable(runs, i))
			continue;
		s->x[s->pairs + taken] = runs->x[i];
		s->weight[s->pairs + taken++] = runs->weight ? runs->weight[i] : 1;
	}
	return taken;
}

static void locate_runs(const struct stats_runs *runs, enum stats_location location, struct scratch *s)
{
	for (size_t run = 0; run < runs->count; run++) {
		size_t n = take_pairs(runs, run, s);
		double *weight = runs->weight ? s->weight + s->pairs : NULL;

		if (n)
			s->location[s->runs++] = stats_run_location(s->x + s->pairs, weight, n, location);
		s->pairs += n;
	}
}

static int scratch_init(struct scratch *s, const struct stats_runs *runs, struct arena *arena, struct sonde_err *err)
{
	size_t n = runs->count ? runs->first[runs->count] : 0;

	*s = (struct scratch){ .x = arena_alloc(arena, n * sizeof(double)) };
	s->weight = arena_alloc(arena, n * sizeof(double));
	s->location = arena_alloc(arena, (runs->count + 1) * sizeof(double));
	return s->x && s->weight && s->location ? 0 : err_sys(err, ENOMEM, "cannot compare %zu runs", runs->count);
}

static int by_bootstrap(const struct scratch *s, const struct stats_effect_options *how, double level,
	struct arena *arena, struct stats_effect *out, struct sonde_err *err)
{
	struct stats_bootstrap boot = { .kind = STATS_STUDENTISED, .level = level, .seed = how->seed };
	double df = (double)s->runs - 1;
	int rc = stats_bootstrap_values(s->location, s->runs, &boot, arena, &out->log_ratio, err);

	out->log_ratio.df = df;
	return rc;
}

/* The pairs of the only run again, in their order: its location was found by sorting them. */
static void by_blocks(const struct stats_runs *runs, enum stats_location location, double level, struct scratch *s,
	struct stats_effect *out)
{
	size_t n = 0, longest, blocks;
	struct stats_moments m;

	s->pairs = 0;
	for (size_t run = 0; run < runs->count && !n; run++)
		n = take_pairs(runs, run, s);
	longest = stats_block_length(s->x, n);
	blocks = n / (longest ? longest : 1);
	blocks = blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks < BLOCKS_MIN ? BLOCKS_MIN : blocks;
	stats_moments_init(&m);
	for (size_t b = 0; n >= 2 * BLOCKS_MIN && b < blocks; b++) {
		size_t first = b * n / blocks, end = (b + 1) * n / blocks;
		double *weight = runs->weight ? s->weight + first : NULL;

		stats_moments_add(&m, stats_run_location(s->x + first, weight, end - first, location));
	}
	out->is_indicative = true;
	out->log_ratio = stats_interval_open(s->location[0], 1, level, "Student's t of blocks, single run");
	if (m.n < 2)
		return;
	out->log_ratio = stats_interval_t(s->location[0], stats_standard_error(&m), (double)m.n - 1, 1, level);
	out->log_ratio.method = "Student's t of blocks, single run";
}

static int set_interval(const struct stats_runs *runs, const struct stats_effect_options *how, struct scratch *s,
	struct arena *arena, struct stats_effect *out, struct sonde_err *err)
{
	double level = how->level > 0 ? how->level : 0.95;

	if (how->look)
		out->log_ratio = stats_sequential_interval(how->look, &out->locations);
	else if (s->runs == 1)
		by_blocks(runs, how->location, level, s, out);
	else if (s->runs >= STATS_EFFECT_MANY)
		return by_bootstrap(s, how, level, arena, out, err);
	else
		out->log_ratio = stats_moments_interval(&out->locations, level);
	return 0;
}

int stats_effect(const struct stats_runs *runs, const struct stats_effect_options *how, struct arena *arena,
	struct stats_effect *out, struct sonde_err *err)
{
	struct stats_effect e = { 0 };
	struct scratch s;
	int rc = scratch_init(&s, runs, arena, err);

	if (rc < 0)
		return rc;
	locate_runs(runs, how->location, &s);
	if (!s.runs)
		return err_set(err, EINVAL, "there is no pair to compare");
	e.pairs = s.pairs;
	e.dropped = runs->first[runs->count] - runs->first[0] - s.pairs;
	e.locations = stats_moments_of(s.location, s.runs);
	rc = set_interval(runs, how, &s, arena, &e, err);
	if (rc < 0)
		return rc;
	e.ratio = stats_interval_exp(&e.log_ratio);
	e.p = stats_interval_p(&e.log_ratio, 0);
	*out = e;
	return 0;
}
