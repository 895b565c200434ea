/*
 * How often the intervals of a duet hold the truth, on made-up machines whose truth is known.
 *
 * Every cell makes many experiments: runs of pairs of iterations, whose times have
 * noise of their own, noise of their run, and noise that the machine puts on both
 * sides. Half of them compare A with itself, half with a B that is 1.5 % slower.
 * Printed for each cell: how often the interval holds the truth (of both halves),
 * how often an A/A interval excludes 1, with the 95 % binomial bounds of that
 * share, how often the change is found, how wide the interval is and how many runs
 * were used on average.
 *
 * The bar: 94 to 96 % for normal data and a fixed number of runs, at least 93.5 %
 * elsewhere; at most 5 % of A/A intervals that exclude 1. Of so many cells chance lets
 * some miss it: these are simulated on, AGAIN times as often, and all their simulations
 * count ("of" says how many A/A). `!` marks a cell whose figures miss it then, `!!` one
 * that misses it by more than chance (99 % bounds), which fails the program. Groups
 * named "others" show what the procedure avoids, and have no bar.
 *
 *   duet-sim [simulations a cell, of either half [seed [words of a group's name]]]
 */
#include "duet-quota.h"
#include "duet/plan.h"
#include "stats/bootstrap.h"
#include "stats/dist.h"
#include "stats/effect.h"
#include "stats/overlap.h"
#include "stats/rng.h"
#include "stats/sequential.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 128, PAIRS_MAX = 20, OVERLAPS_MAX = 2 * PAIRS_MAX, LOOKS_MAX = 16, SHARES = 2, AGAIN = 4 };

#define SLOWER 0.015

/* One experiment's pairs, and the way they are told to stats/. */
struct experiment {
	double x[RUNS_MAX * OVERLAPS_MAX], weight[RUNS_MAX * OVERLAPS_MAX];
	size_t first[RUNS_MAX + 1];
	struct stats_runs runs;
};

/* Noise of one iteration, as a logarithm of its time. */
typedef double noise_fn(struct stats_rng *r);

static double normal_noise(struct stats_rng *r)
{
	return 0.03 * stats_rng_normal(r);
}

static double t3_noise(struct stats_rng *r)
{
	double chi2 = 2 * stats_rng_exponential(r), z = stats_rng_normal(r);

	return 0.02 * stats_rng_normal(r) / sqrt((chi2 + z * z) / 3);
}

/* A delay that is lognormal itself, with a mean of 8 % and now and then of 100 %. */
static double lognormal_noise(struct stats_rng *r)
{
	return log1p(0.05 * exp(stats_rng_normal(r)));
}

/* One iteration in ten is hit by something that makes it 1.2 to 3 times as long. */
static double contaminated_noise(struct stats_rng *r)
{
	double hit = stats_rng_uniform(r) < 0.1 ? log(1.2 + 1.8 * stats_rng_uniform(r)) : 0;

	return 0.01 * stats_rng_normal(r) + hit;
}

/* A quota: one in three waits for the next period. */
static double throttled_noise(struct stats_rng *r)
{
	double wait = stats_rng_uniform(r) < 1.0 / 3 ? log(6 + 4 * stats_rng_uniform(r)) : 0;

	return 0.02 * stats_rng_normal(r) + wait;
}

struct world {
	const char *name;
	noise_fn *noise;
	double run_sd;      /* of each side's own level in a run: layout, cores */
	double correlation; /* of an iteration's noise with the one before on its side */
	double drift;       /* of the machine in a run of 20 pairs, and as much at random */
	bool is_async;      /* both sides loop freely and are paired by overlap */
	bool is_skewed;     /* noise falls on B alone */
	double run_memory;  /* correlation of a run's level with the run before */
	double quota_ms;    /* commands of that length, one after the other under a quota (duet-quota.h); 0: no quota */
};

static const struct world normal = { .name = "normal", .noise = normal_noise, .run_sd = 0.01 };
static const struct world drift = { .name = "drift", .noise = normal_noise, .run_sd = 0.01, .drift = 0.3 };
static const struct world heavy = { .name = "t3", .noise = t3_noise, .run_sd = 0.01 };
static const struct world lognormal = { .name = "lognormal", .noise = lognormal_noise, .run_sd = 0.01 };
static const struct world contaminated = { .name = "contaminated", .noise = contaminated_noise, .run_sd = 0.01 };
static const struct world throttled = { .name = "throttled", .noise = throttled_noise, .run_sd = 0.01 };
static const struct world correlated = { .name = "autocorrelated",
	.noise = normal_noise,
	.run_sd = 0.01,
	.correlation = 0.8,
	.drift = 0.1 };
static const struct world async = { .name = "async, overlap",
	.noise = normal_noise,
	.run_sd = 0.01,
	.correlation = 0.5,
	.drift = 0.3,
	.is_async = true };
static const struct world skewed = { .name = "hits on B alone",
	.noise = contaminated_noise,
	.run_sd = 0.01,
	.is_skewed = true };
static const struct world remembering = { .name = "runs alike",
	.noise = normal_noise,
	.run_sd = 0.01,
	.run_memory = 0.5 };

/* 3 and 4 executions, with what is between them, fit into the share of a period. */
static const struct world third = { .name = "quota, each 3rd",
	.noise = normal_noise,
	.run_sd = 0.003,
	.quota_ms = 10.3 };
static const struct world fourth = { .name = "quota, each 4th",
	.noise = normal_noise,
	.run_sd = 0.003,
	.quota_ms = 7.5 };

/* The next value of a side's noise. */
static double next_noise(const struct world *w, struct stats_rng *r, double *last)
{
	double fresh = w->noise(r);

	*last = w->correlation > 0 ? w->correlation * *last + sqrt(1 - w->correlation * w->correlation) * fresh : fresh;
	return *last;
}

/* The machine's own speed at the next moment, as a logarithm: a slope, a random walk and a sudden throttling. */
struct machine {
	double slope, walk, level;
};

static void machine_start(struct machine *m, const struct world *w, struct stats_rng *r)
{
	*m = (struct machine){ .slope = w->drift * stats_rng_normal(r) / 40, .walk = w->drift / sqrt(40) };
}

static double machine_next(struct machine *m, const struct world *w, struct stats_rng *r)
{
	if (w->drift > 0) {
		m->level += m->slope + m->walk * stats_rng_normal(r) / 4;
		if (stats_rng_uniform(r) < 0.02)
			m->level += w->drift * stats_rng_normal(r);
	}
	return m->level;
}

/* The levels of both sides in the next run. */
struct levels {
	double a, b;
};

static double next_level(const struct world *w, struct stats_rng *r, double last)
{
	return w->run_memory * last + sqrt(1 - w->run_memory * w->run_memory) * w->run_sd * stats_rng_normal(r);
}

/* One after the other, in the order AB BA BA AB, turned around at random run by run. */
static size_t make_pairs(const struct world *w, struct stats_rng *r, struct levels run, size_t pairs, double *x)
{
	double last_a = 0, last_b = 0;
	size_t turn = (size_t)stats_rng_below(r, 2);
	struct machine m;

	machine_start(&m, w, r);
	for (size_t k = 0; k < pairs; k++) {
		bool is_ba = (turn + (k + 1) / 2) % 2;
		double one = machine_next(&m, w, r), two = machine_next(&m, w, r);
		double a = (is_ba ? two : one) + run.a + (w->is_skewed ? normal_noise(r) : next_noise(w, r, &last_a));
		double b = (is_ba ? one : two) + run.b + next_noise(w, r, &last_b);

		x[k] = b - a;
	}
	return pairs;
}

enum { TICKS = 400, TICK_NS = 250000 }; /* a fourth of an iteration */

/* A side loops through a machine whose speed changes while iterations run. */
static void make_spans(const struct world *w, struct stats_rng *r, const double *speed, double level, size_t n,
		struct stats_span *spans)
{
	double last = 0, now = stats_rng_uniform(r) * 4;

	for (size_t k = 0; k < n; k++) {
		double work = 4 * exp(level + next_noise(w, r, &last)), start = now;

		while (work > 0 && now < TICKS - 1) {
			double rate = exp(-speed[(size_t)now]), room = floor(now) + 1 - now;
			bool is_last = work <= room * rate;

			now = is_last ? now + work / rate : floor(now) + 1;
			work = is_last ? 0 : work - room * rate;
		}
		spans[k] = (struct stats_span){ (int64_t)(start * TICK_NS), (int64_t)(now * TICK_NS) };
	}
}

static size_t make_overlaps(const struct world *w, struct stats_rng *r, struct levels run, size_t pairs, double *x,
		double *weight)
{
	static _Thread_local double speed[TICKS];
	struct stats_span a[PAIRS_MAX], b[PAIRS_MAX];
	struct stats_overlap *found;
	struct arena arena = ARENA_INIT;
	size_t count = 0;
	struct machine m;

	machine_start(&m, w, r);
	m.slope /= 4;
	m.walk /= 2;
	for (size_t i = 0; i < TICKS; i++)
		speed[i] = fmax(-1, fmin(1, machine_next(&m, w, r)));
	make_spans(w, r, speed, run.a, pairs, a);
	make_spans(w, r, speed, run.b, pairs, b);
	if (stats_overlaps(a, pairs, b, pairs, STATS_OVERLAP_RATE, &arena, &found, &count, NULL) < 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		x[i] = found[i].log_ratio;
		weight[i] = (double)found[i].overlap_ns;
	}
	arena_release(&arena);
	return count;
}

#define BETWEEN_MS 0.7 /* to end a command and to start the next */

static double execute(struct quota *q, const struct world *w, struct stats_rng *r, double level)
{
	double took = quota_run(q, w->quota_ms * exp(level + w->run_sd * stats_rng_normal(r)));

	quota_run(q, BETWEEN_MS);
	return log(took);
}

/* Runs of one pair, in the order of a real plan: what comes in step may not meet an order that does. */
static void make_commands(const struct world *w, struct stats_rng *r, size_t runs, double theta, struct experiment *e)
{
	struct duet_plan plan;
	struct duet_turn turn;
	struct quota q;

	duet_plan_init(&plan, DUET_RMIT, 1, false, stats_rng_next(r));
	if (runs >= 2 * DUET_GROUP_FIRST)
		plan.group = DUET_GROUP_FIRST;
	quota_start(&q, r);
	for (size_t i = 0; i < runs; i++) {
		double first, second;

		duet_plan_next(&plan, &turn);
		first = execute(&q, w, r, turn.is_first_b ? theta : 0);
		second = execute(&q, w, r, turn.is_first_b ? 0 : theta);
		e->x[i] = turn.is_first_b ? first - second : second - first;
		e->first[i + 1] = i + 1;
	}
}

static void make_experiment(const struct world *w, struct stats_rng *r, size_t runs, size_t pairs, double theta,
		struct experiment *e)
{
	struct levels level = { w->run_sd * stats_rng_normal(r), w->run_sd * stats_rng_normal(r) };

	e->runs = (struct stats_runs){ .x = e->x, .first = e->first, .count = runs };
	if (w->is_async)
		e->runs.weight = e->weight;
	if (w->quota_ms > 0) {
		make_commands(w, r, runs, theta, e);
		return;
	}
	for (size_t i = 0; i < runs; i++) {
		struct levels run = { level.a, level.b + theta };
		size_t at = e->first[i], n;

		n = w->is_async ? make_overlaps(w, r, run, pairs, e->x + at, e->weight + at)
				: make_pairs(w, r, run, pairs, e->x + at);
		e->first[i + 1] = at + n;
		level = (struct levels){ next_level(w, r, level.a), next_level(w, r, level.b) };
	}
}

/* A procedure makes the interval of an experiment and says in .n how many runs it used. */
typedef struct stats_interval procedure_fn(struct experiment *e, uint64_t seed);

/* The effect of the first runs. */
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

static struct stats_interval by_mean(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ .location = STATS_MEAN });
}

static struct stats_interval by_student(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ .method = STATS_STUDENT });
}

static struct stats_interval by_bootstrap(struct experiment *e, uint64_t seed)
{
	return effect_of(e, e->runs.count, &(struct stats_effect_options){ .method = STATS_BOOTSTRAP, .seed = seed });
}

/* The original's: BCa bootstrap of the mean of run means. */
static struct stats_interval bca_of_means(struct experiment *e, uint64_t seed)
{
	struct stats_bootstrap how = { .kind = STATS_BCA, .level = 0.95, .seed = seed };
	struct arena arena = ARENA_INIT;
	struct stats_interval out;

	if (stats_bootstrap_runs(&e->runs, &how, &arena, &out, NULL) < 0)
		abort();
	arena_release(&arena);
	return out;
}

/* All pairs as if they were independent. */
static struct stats_interval pooled(struct experiment *e, uint64_t seed)
{
	struct stats_interval out = stats_mean_interval(e->x, e->first[e->runs.count], 0.95);

	out.n = e->runs.count;
	return out;
}

static bool excludes_none(const struct stats_interval *i)
{
	return !stats_interval_holds(i, 0);
}

static const size_t five_looks[] = { 5, 8, 12, 20, 32, 0 };
static const size_t eight_looks[] = { 5, 8, 12, 20, 32, 50, 80, 128, 0 };
static const size_t many_looks[] = { 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 0 };

/* Bounds depend on the plan alone: found once, used for every experiment. */
struct plan {
	const size_t *looks; /* ended by 0 */
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

/* Stop at the first look that excludes "no change": the worst a user can do. */
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
	double x[OVERLAPS_MAX], weight[OVERLAPS_MAX];
	struct stats_interval i = { 0 };
	struct stats_moments m;

	stats_moments_init(&m);
	for (size_t run = 0; run < e->runs.count; run++) {
		size_t at = e->first[run], n = e->first[run + 1] - at;

		memcpy(x, e->x + at, n * sizeof(*x));
		memcpy(weight, e->weight + at, n * sizeof(*weight));
		stats_moments_add(&m, stats_run_location(x, e->runs.weight ? weight : NULL, n, STATS_HODGES_LEHMANN));
		i = stats_sequence_interval(&m, 0.95, 0);
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

/* Ordinary intervals at the same five looks. */
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

enum bar { EXACT, AT_LEAST, NONE };

struct group {
	const char *name;
	procedure_fn *procedure;
	enum bar bar;
	const struct world *worlds[8];
	size_t pairs[3], runs[16]; /* every combination; ended by 0 */
};

#define FEW_TO_MANY { 3, 5, 10, 20, 40 }

static const struct group groups[] = {
	{ "fixed number of runs", fixed, EXACT, { &normal }, { 20, 1 },
			{ 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40 } },
	{ "fixed number of runs", fixed, AT_LEAST, { &drift, &heavy, &lognormal, &contaminated, &correlated, &async },
			{ 20 }, FEW_TO_MANY },
	{ "fixed number of runs of one pair each (whole commands)", fixed, AT_LEAST,
			{ &drift, &heavy, &lognormal, &contaminated, &throttled }, { 1 }, FEW_TO_MANY },
	{ "sequential, the default: square spending, looks at 5 8 12 20 32", square, AT_LEAST,
			{ &normal, &drift, &heavy, &lognormal, &contaminated, &correlated, &async }, { 20 }, { 32 } },
	{ "the same with runs of one pair", square, AT_LEAST, { &normal, &drift, &heavy, &lognormal, &contaminated },
			{ 1 }, { 32 } },
	{ "the same with looks at 50 80 128 too", square_long, AT_LEAST,
			{ &normal, &drift, &heavy, &lognormal, &contaminated, &throttled }, { 1 }, { 128 } },
	{ "signs, where the pilot chose them: fixed number of runs of one pair", signs, AT_LEAST,
			{ &normal, &heavy, &contaminated, &throttled }, { 1 }, { 5, 10, 20, 40, 128 } },
	{ "signs, sequential, looks at 5 8 12 20 32 50 80 128", signs_long, AT_LEAST,
			{ &normal, &heavy, &contaminated, &throttled }, { 1 }, { 128 } },
	{ "in step with a quota: fixed number of runs of one pair, in the order of a plan", fixed, AT_LEAST,
			{ &third, &fourth }, { 1 }, FEW_TO_MANY },
	{ "in step with a quota, looks at 5 8 12 20 32 50 80 128", square_long, AT_LEAST, { &third, &fourth }, { 1 },
			{ 128 } },
	{ "in step with a quota, judged by signs", signs_long, AT_LEAST, { &third, &fourth }, { 1 }, { 128 } },
	{ "sequential, square spending, 11 looks from 3 to 36", square_many, AT_LEAST,
			{ &normal, &heavy, &contaminated }, { 20, 1 }, { 36 } },
	{ "sequential, O'Brien-Fleming, looks at 5 8 12 20 32", obrien_fleming, AT_LEAST,
			{ &normal, &drift, &heavy, &contaminated }, { 20, 1 }, { 32 } },
	{ "sequential, Pocock, looks at 5 8 12 20 32", pocock, AT_LEAST, { &normal, &drift, &heavy, &contaminated },
			{ 20, 1 }, { 32 } },
	{ "confidence sequence, a look at every run", sequence, AT_LEAST, { &normal, &drift, &heavy, &contaminated },
			{ 20, 1 }, { 32 } },
	{ "others: BCa bootstrap of run means, the original's", bca_of_means, NONE, { &normal }, { 20 }, FEW_TO_MANY },
	{ "others: studentised bootstrap of runs", by_bootstrap, NONE, { &normal, &heavy, &contaminated }, { 20, 1 },
			{ 20, 40 } },
	{ "others: Student's t, however many runs", by_student, NONE, { &normal, &heavy, &contaminated }, { 20, 1 },
			{ 20, 40 } },
	{ "others: means of runs instead of Hodges-Lehmann", by_mean, NONE, { &heavy, &lognormal, &contaminated },
			{ 20 }, { 10 } },
	{ "others: all pairs pooled", pooled, NONE, { &normal, &correlated }, { 20 }, { 5, 20 } },
	{ "others: ordinary intervals at 5 8 12 20 32", peeking, NONE, { &normal }, { 20 }, { 32 } },
	{ "beyond the claim: a single run", fixed, NONE, { &normal, &correlated }, { 20 }, { 1 } },
	{ "beyond the claim: runs whose levels depend on the run before (0.5)", fixed, NONE, { &remembering }, { 20 },
			{ 5, 10, 40 } },
	{ "beyond the claim: hits on B alone, the truth taken without them", fixed, NONE, { &skewed }, { 20, 1 },
			{ 5, 10, 40 } },
};

struct tally {
	size_t n, held, alarms, found, open;
	double width, runs;
};

static void count(struct tally *t, const struct stats_interval *i, double theta)
{
	t->n++;
	t->held += stats_interval_holds(i, theta);
	if (theta == 0)
		t->alarms += excludes_none(i);
	else
		t->found += i->lo > 0;
	if (isfinite(i->hi - i->lo))
		t->width += i->hi - i->lo;
	else
		t->open++;
	t->runs += (double)i->n;
}

/* 0: meets the bar; 1: its figures do not; 2: nor do figures that chance may have made worse. */
static int miss_of(enum bar bar, const struct tally *t)
{
	double least = bar == EXACT ? 0.94 : 0.935, most = bar == EXACT ? 0.96 : 1, lo, hi, alarm_lo, alarm_hi;
	double coverage = (double)t->held / (double)t->n, alarms = 2 * (double)t->alarms / (double)t->n;

	stats_binomial_interval(t->held, t->n, 0.99, &lo, &hi);
	stats_binomial_interval(t->alarms, t->n / 2, 0.99, &alarm_lo, &alarm_hi);
	if (bar == NONE || (coverage >= least && coverage <= most && alarms <= 0.05))
		return 0;
	return hi < least || lo > most || alarm_lo > 0.05 ? 2 : 1;
}

static void print_cell(const struct world *w, size_t pairs, size_t runs, const struct tally *t, int miss)
{
	double half = (double)t->n / 2, lo, hi;

	stats_binomial_interval(t->alarms, t->n / 2, 0.95, &lo, &hi);
	printf("%-16s %5zu %5zu  %6.2f %%  %5.2f %% [%5.2f, %5.2f]  %6.1f %%  %7.3f %%  %5.1f  %6zu %s\n", w->name,
			pairs, runs, 100 * (double)t->held / (double)t->n, 100 * (double)t->alarms / half, 100 * lo,
			100 * hi, 100 * (double)t->found / half, 100 * t->width / (double)(t->n - t->open),
			t->runs / (double)t->n, t->n / 2,
			miss == 2                   ? "!!"
					: miss == 1 ? "!"
						    : "");
	fflush(stdout);
}

/* Every other experiment of a cell, which are as they are whoever makes them: each has random numbers of its own. */
struct share {
	const struct group *g;
	const struct world *w;
	size_t pairs, runs, n, first;
	uint64_t seed;
	struct tally tally;
};

static void *simulate_share(void *arg)
{
	static _Thread_local struct experiment e;
	struct share *s = arg;

	for (size_t i = s->first; i < 2 * s->n; i += SHARES) {
		double theta = i < s->n ? 0 : log1p(SLOWER);
		struct stats_interval interval;
		struct stats_rng r;

		stats_rng_init(&r, s->seed, i);
		make_experiment(s->w, &r, s->runs, s->pairs, theta, &e);
		interval = s->g->procedure(&e, stats_rng_next(&r));
		count(&s->tally, &interval, theta);
	}
	return NULL;
}

static void add_tally(struct tally *to, const struct tally *from)
{
	to->n += from->n;
	to->held += from->held;
	to->alarms += from->alarms;
	to->found += from->found;
	to->open += from->open;
	to->width += from->width;
	to->runs += from->runs;
}

static struct tally simulate(const struct group *g, const struct world *w, size_t pairs, size_t runs, size_t n,
		uint64_t seed)
{
	struct share shares[SHARES];
	pthread_t threads[SHARES];
	struct tally t = { 0 };

	for (size_t i = 0; i < SHARES; i++) {
		shares[i] = (struct share){ .g = g,
			.w = w,
			.pairs = pairs,
			.runs = runs,
			.n = n,
			.first = i,
			.seed = seed };
		if (pthread_create(&threads[i], NULL, simulate_share, &shares[i]))
			abort();
	}
	for (size_t i = 0; i < SHARES; i++) {
		pthread_join(threads[i], NULL);
		add_tally(&t, &shares[i].tally);
	}
	return t;
}

struct total {
	size_t cells, near_misses, misses, alarms, n;
};

static void add_cell(struct total *all, const struct tally *t, int miss)
{
	all->near_misses += miss == 1;
	all->misses += miss == 2;
	all->alarms += t->alarms;
	all->n += t->n / 2;
}

/* A cell that misses its bar by no more than chance may is looked at more closely. */
static struct tally simulate_on(const struct group *g, const struct world *w, size_t pairs, size_t runs, size_t n,
		uint64_t seed)
{
	struct tally t = simulate(g, w, pairs, runs, n, seed);

	if (miss_of(g->bar, &t) == 1) {
		struct tally more = simulate(g, w, pairs, runs, AGAIN * n, ~seed);

		add_tally(&t, &more);
	}
	return t;
}

/* Every combination of the group. */
static void run_group(const struct group *g, size_t n, uint64_t seed, struct total *all)
{
	printf("\n%s\n", g->name);
	printf("%-16s %5s %5s  %8s  %-23s  %8s  %9s  %5s  %6s\n", "noise", "pairs", "runs", "coverage",
			"A/A excludes 1 [95 %]", "finds", "width", "used", "of");
	for (const struct world *const *w = g->worlds; *w; w++)
		for (const size_t *pairs = g->pairs; *pairs; pairs++)
			for (const size_t *runs = g->runs; *runs; runs++) {
				struct tally t = simulate_on(g, *w, *pairs, *runs, n, seed + ++all->cells);
				int miss = miss_of(g->bar, &t);

				print_cell(*w, *pairs, *runs, &t, miss);
				if (g->bar != NONE)
					add_cell(all, &t, miss);
			}
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	const char *words = argc > 3 ? argv[3] : "";
	struct total all = { 0 };
	double lo, hi;

	if (n == 0 || argc > 4) {
		fprintf(stderr, "usage: duet-sim [simulations a cell, of either half [seed [words of a name]]]\n");
		return 2;
	}
	printf("%zu A/A and %zu +1.5 %% experiments a cell, seed %llu\n", n, n, (unsigned long long)seed);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (strstr(groups[i].name, words))
			run_group(&groups[i], n, seed, &all);
	stats_binomial_interval(all.alarms, all.n, 0.95, &lo, &hi);
	printf("\nA/A intervals that exclude 1, of all cells with a bar: %.2f %% [%.2f, %.2f] of %zu\n",
			100 * (double)all.alarms / (double)all.n, 100 * lo, 100 * hi, all.n);
	printf("cells whose figures miss the bar within chance: %zu, beyond chance: %zu\n", all.near_misses,
			all.misses);
	return all.misses > 0;
}
