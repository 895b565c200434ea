/*
 * Groups named "others" show what the procedure avoids.
 */
#include "duet-groups.h"

#include "duet-others.h"
#include "stats/effect.h"
#include "stats/sequential.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS_MAX = 16 };

/* The effect in the first runs. */
static struct stats_interval effect_of(const struct experiment *e, size_t runs, const struct stats_effect_options *how)
{
	struct stats_runs first = e->runs;
	struct arena arena = ARENA_INIT;
	struct stats_effect out;

	first.count = runs;
	if (stats_effect(&first, how, &arena, &out, NULL) < 0)
		abort();
	arena_release(&arena);
	return out.log_ratio;
}

static struct stats_interval fixed(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ 0 });
}

/* The locations or weighted means of the runs. */
static void locate(const struct experiment *e, bool is_mean, double *out)
{
	double x[OVERLAPS_MAX], weight[OVERLAPS_MAX];

	for (size_t run = 0; run < e->runs.count; run++) {
		size_t at = e->first[run], n = e->first[run + 1] - at;
		double *w = e->runs.weight ? weight : NULL;

		memcpy(x, e->x + at, n * sizeof(*x));
		memcpy(weight, e->weight + at, n * sizeof(*weight));
		out[run] = is_mean ? stats_weighted_mean(x, w, n) : stats_run_location(x, w, n);
	}
}

static struct stats_interval by_mean(struct experiment *e, uint64_t seed)
{
	double means[RUNS_MAX];
	size_t first[RUNS_MAX + 1];
	struct experiment single = { .runs = { .x = means, .first = first, .count = e->runs.count } };

	locate(e, true, means);
	for (size_t run = 0; run <= e->runs.count; run++)
		first[run] = run;
	return effect_of(&single, single.runs.count, &(struct stats_effect_options){ 0 });
}

static struct stats_interval by_student(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ .method = STATS_STUDENT });
}

enum { DRAWS = 999 };

/* The mean of whole runs, studentized bootstrap. */
static struct stats_interval by_bootstrap(struct experiment *e, uint64_t seed)
{
	double locations[RUNS_MAX];

	locate(e, false, locations);
	return studentised_mean(locations, e->runs.count, 1 - 0.05 * STATS_EFFECT_GUARD, seed);
}

static struct stats_interval by_ranks(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ .method = STATS_RANKS });
}

static struct stats_interval by_hierarchy(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count,
			&(struct stats_effect_options){ .method = STATS_HIERARCHICAL, .draws = DRAWS, .seed = seed });
}

/* The published method: BCa bootstrap of the mean of run means. */
static struct stats_interval bca_of_means(struct experiment *e, uint64_t seed)
{
	double means[RUNS_MAX];

	locate(e, true, means);
	return bca_mean(means, e->runs.count, 0.95, seed);
}

/* All pairs as if they were independent. */
static struct stats_interval pooled(struct experiment *e, uint64_t seed)
{
	struct stats_interval out = stats_mean_interval(e->x, e->first[e->runs.count], 0.95);

	out.n = e->runs.count;
	return out;
}

bool excludes_none(const struct stats_interval *i)
{
	return !stats_interval_holds(i, 0);
}

static const size_t five_looks[] = { 5, 8, 12, 20, 32, 0 };
static const size_t eight_looks[] = { 5, 8, 12, 20, 32, 50, 80, 128, 0 };
static const size_t many_looks[] = { 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 0 };

/* Bounds depend only on the plan: computed once, used for every experiment. */
struct plan {
	const size_t *looks; /* terminated by 0 */
	enum stats_spending spending;
	double power;
	enum stats_effect_method method;
	bool is_ready;
	struct stats_sequential at[LOOKS_MAX];
};

static void prepare(struct plan *p)
{
	size_t n_max = 0;
	struct stats_sequential s;

	for (const size_t *look = p->looks; *look; look++)
		n_max = *look;
	stats_effect_plan(&s, 0.95, n_max);
	s.spending = p->spending;
	s.power = p->power;
	for (size_t i = 0; p->looks[i]; i++) {
		stats_sequential_look(&s, p->looks[i]);
		p->at[i] = s;
	}
	p->is_ready = true;
}

/* Stop at the first interim analysis that excludes "no change": the worst case. */
static struct stats_interval follow(struct plan *p, const struct experiment *e)
{
	struct stats_interval i = { 0 };

	if (!p->is_ready)
		prepare(p);
	for (size_t k = 0; p->looks[k]; k++) {
		i = effect_of(e, p->looks[k], &(struct stats_effect_options){ .look = &p->at[k], .method = p->method });
		if (excludes_none(&i))
			break;
	}
	return i;
}

static struct stats_interval square(struct experiment *e, uint64_t seed)
{
	static _Thread_local struct plan p = { .looks = five_looks, .spending = STATS_POWER, .power = 2 };

	return follow(&p, e);
}

static struct stats_interval square_long(struct experiment *e, uint64_t seed)
{
	static _Thread_local struct plan p = { .looks = eight_looks, .spending = STATS_POWER, .power = 2 };

	return follow(&p, e);
}

static struct stats_interval obrien_fleming(struct experiment *e, uint64_t seed)
{
	static _Thread_local struct plan p = { .looks = five_looks, .spending = STATS_OBRIEN_FLEMING };

	return follow(&p, e);
}

static struct stats_interval pocock(struct experiment *e, uint64_t seed)
{
	static _Thread_local struct plan p = { .looks = five_looks, .spending = STATS_POCOCK };

	return follow(&p, e);
}

static struct stats_interval square_many(struct experiment *e, uint64_t seed)
{
	static _Thread_local struct plan p = { .looks = many_looks, .spending = STATS_POWER, .power = 2 };

	return follow(&p, e);
}

static struct stats_interval sequence(struct experiment *e, uint64_t seed)
{
	double locations[RUNS_MAX];
	struct stats_interval i = { 0 };
	struct stats_moments m;

	locate(e, false, locations);
	stats_moments_init(&m);
	for (size_t run = 0; run < e->runs.count; run++) {
		stats_moments_add(&m, locations[run]);
		i = sequence_interval(&m, 0.95, 0);
		if (excludes_none(&i))
			break;
	}
	return i;
}

static struct stats_interval signs(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ .method = STATS_SIGNS });
}

static struct stats_interval signs_long(struct experiment *e, uint64_t seed)
{
	static _Thread_local struct plan p = { .looks = eight_looks,
		.spending = STATS_POWER,
		.power = 2,
		.method = STATS_SIGNS };

	return follow(&p, e);
}

/* Ordinary intervals at the same five interim analyses. */
static struct stats_interval peeking(struct experiment *e, uint64_t seed)
{
	struct stats_interval i = { 0 };

	for (const size_t *look = five_looks; *look; look++) {
		i = effect_of(e, *look, &(struct stats_effect_options){ 0 });
		if (excludes_none(&i))
			break;
	}
	return i;
}

#define FEW_TO_MANY { 3, 5, 10, 20, 40 }
#define SEVERAL_PAIRS \
	{ &world_normal, &world_heavy, &world_contaminated, &world_async }, { 20, 8 }, \
	{ \
		20, 40 \
	}
#define SINGLE_PAIRS \
	{ &world_normal, &world_heavy, &world_contaminated, &world_throttled }, { 1 }, \
	{ \
		20, 40 \
	}

const struct group groups[] = {
	{ "normal data, fixed number of runs", fixed, EXACT, { &world_normal }, { 20, 1 },
			{ 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40 } },
	{ "fixed number of runs", fixed, AT_LEAST,
			{ &world_drift, &world_heavy, &world_lognormal, &world_contaminated, &world_correlated,
					&world_async },
			{ 20 }, FEW_TO_MANY },
	{ "fixed number of runs of eight pairs each (short commands)", fixed, AT_LEAST,
			{ &world_normal, &world_contaminated, &world_throttled }, { 8 }, FEW_TO_MANY },
	{ "fixed number of runs of one pair each (whole commands)", fixed, AT_LEAST,
			{ &world_drift, &world_heavy, &world_lognormal, &world_contaminated, &world_throttled }, { 1 },
			FEW_TO_MANY },
	{ "sequential, the default: square spending, looks at 5 8 12 20 32", square, AT_LEAST,
			{ &world_normal, &world_drift, &world_heavy, &world_lognormal, &world_contaminated,
					&world_correlated, &world_async },
			{ 20 }, { 32 } },
	{ "the same with runs of one pair", square, AT_LEAST,
			{ &world_normal, &world_drift, &world_heavy, &world_lognormal, &world_contaminated }, { 1 },
			{ 32 } },
	{ "the same with looks at 50 80 128 too", square_long, AT_LEAST,
			{ &world_normal, &world_drift, &world_heavy, &world_lognormal, &world_contaminated,
					&world_throttled },
			{ 1 }, { 128 } },
	{ "signs, where the pilot chose them: fixed number of runs of one pair", signs, AT_LEAST,
			{ &world_normal, &world_heavy, &world_contaminated, &world_throttled }, { 1 },
			{ 5, 10, 20, 40, 128 } },
	{ "signs, sequential, looks at 5 8 12 20 32 50 80 128", signs_long, AT_LEAST,
			{ &world_normal, &world_heavy, &world_contaminated, &world_throttled }, { 1 }, { 128 } },
	{ "in step with a quota: fixed number of runs of one pair, in the order of a plan", fixed, AT_LEAST,
			{ &world_third, &world_fourth }, { 1 }, FEW_TO_MANY },
	{ "in step with a quota, looks at 5 8 12 20 32 50 80 128", square_long, AT_LEAST,
			{ &world_third, &world_fourth }, { 1 }, { 128 } },
	{ "in step with a quota, judged by signs", signs_long, AT_LEAST, { &world_third, &world_fourth }, { 1 },
			{ 128 } },
	{ "sequential, square spending, 11 looks from 3 to 36", square_many, AT_LEAST,
			{ &world_normal, &world_heavy, &world_contaminated }, { 20, 1 }, { 36 } },
	{ "sequential, O'Brien-Fleming, looks at 5 8 12 20 32", obrien_fleming, AT_LEAST,
			{ &world_normal, &world_drift, &world_heavy, &world_contaminated }, { 20, 1 }, { 32 } },
	{ "sequential, Pocock, looks at 5 8 12 20 32", pocock, AT_LEAST,
			{ &world_normal, &world_drift, &world_heavy, &world_contaminated }, { 20, 1 }, { 32 } },
	{ "confidence sequence, a look at every run", sequence, AT_LEAST,
			{ &world_normal, &world_drift, &world_heavy, &world_contaminated }, { 20, 1 }, { 32 } },
	{ "others: BCa bootstrap of run means, the original's", bca_of_means, NONE, { &world_normal }, { 20 },
			FEW_TO_MANY },
	{ "others: studentised bootstrap of the mean of runs", by_bootstrap, NONE,
			{ &world_normal, &world_heavy, &world_contaminated }, { 20, 1 }, { 20, 40 } },
	{ "side by side, several pairs: ranks, the default", by_ranks, NONE, SEVERAL_PAIRS },
	{ "side by side, several pairs: hierarchical bootstrap", by_hierarchy, NONE, SEVERAL_PAIRS },
	{ "side by side, single pairs: ranks, the default", by_ranks, NONE, SINGLE_PAIRS },
	{ "side by side, single pairs: hierarchical bootstrap", by_hierarchy, NONE, SINGLE_PAIRS },
	{ "others: Student's t, however many runs", by_student, NONE,
			{ &world_normal, &world_heavy, &world_contaminated }, { 20, 1 }, { 20, 40 } },
	{ "others: means of runs instead of Hodges-Lehmann", by_mean, NONE,
			{ &world_heavy, &world_lognormal, &world_contaminated }, { 20 }, { 10 } },
	{ "others: all pairs pooled", pooled, NONE, { &world_normal, &world_correlated }, { 20 }, { 5, 20 } },
	{ "others: ordinary intervals at 5 8 12 20 32", peeking, NONE, { &world_normal }, { 20 }, { 32 } },
	{ "beyond the claim: a single run", fixed, NONE, { &world_normal, &world_correlated }, { 20 }, { 1 } },
	{ "beyond the claim: runs whose levels depend on the run before (0.5)", fixed, NONE, { &world_remembering },
			{ 20 }, { 5, 10, 40 } },
	{ "beyond the claim: hits on B alone, the truth taken without them", fixed, NONE, { &world_skewed }, { 20, 1 },
			{ 5, 10, 40 } },
};
const size_t group_count = sizeof(groups) / sizeof(*groups);
