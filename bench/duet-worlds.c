#include "duet-worlds.h"

#include "duet-quota.h"
#include "duet/duet.h"
#include "stats/overlap.h"

#include <math.h>
#include <stdlib.h>

static double normal_noise(struct stats_rng *r)
{
	return 0.03 * stats_rng_normal(r);
}

static double t3_noise(struct stats_rng *r)
{
	double chi2 = 2 * stats_rng_exponential(r), z = stats_rng_normal(r);

	return 0.02 * stats_rng_normal(r) / sqrt((chi2 + z * z) / 3);
}

/* A lognormal delay with a mean of 8 %, occasionally of 100 %. */
static double lognormal_noise(struct stats_rng *r)
{
	return log1p(0.05 * exp(stats_rng_normal(r)));
}

/* One iteration in ten is disturbed and takes 1.2 to 3 times as long. */
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

const struct world world_normal = { .name = "normal", .noise = normal_noise, .run_sd = 0.01 };
const struct world world_drift = { .name = "drift", .noise = normal_noise, .run_sd = 0.01, .drift = 0.3 };
const struct world world_heavy = { .name = "t3", .noise = t3_noise, .run_sd = 0.01 };
const struct world world_lognormal = { .name = "lognormal", .noise = lognormal_noise, .run_sd = 0.01 };
const struct world world_contaminated = { .name = "contaminated", .noise = contaminated_noise, .run_sd = 0.01 };
const struct world world_throttled = { .name = "throttled", .noise = throttled_noise, .run_sd = 0.01 };
const struct world world_correlated = { .name = "autocorrelated",
	.noise = normal_noise,
	.run_sd = 0.01,
	.correlation = 0.8,
	.drift = 0.1 };
const struct world world_async = { .name = "async, overlap",
	.noise = normal_noise,
	.run_sd = 0.01,
	.correlation = 0.5,
	.drift = 0.3,
	.is_async = true };
const struct world world_skewed = { .name = "hits on B alone",
	.noise = contaminated_noise,
	.run_sd = 0.01,
	.is_skewed = true };
const struct world world_remembering = { .name = "runs alike",
	.noise = normal_noise,
	.run_sd = 0.01,
	.run_memory = 0.5 };

/* 3 and 4 executions, with the time between them, fit into the quota of a period. */
const struct world world_third = { .name = "quota, each 3rd",
	.noise = normal_noise,
	.run_sd = 0.003,
	.quota_ms = 10.3 };
const struct world world_fourth = { .name = "quota, each 4th",
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

/* The machine's speed at the next moment, as a logarithm: a trend, a random walk and sudden throttling. */
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

/* Sequential pairs, in the order AB BA BA AB, reversed at random in each run. */
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

enum { TICKS = 400, TICK_NS = 250000 }; /* a quarter of an iteration */

/* A side loops on a machine with a speed that changes during iterations. */
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

#define BETWEEN_MS 0.7 /* to end a command and start the next */

static double execute(struct quota *q, const struct world *w, struct stats_rng *r, double level)
{
	double took = quota_run(q, w->quota_ms * exp(level + w->run_sd * stats_rng_normal(r)));

	quota_run(q, BETWEEN_MS);
	return log(took);
}

/* Runs of one pair, in the order of a real schedule: periodic noise must not coincide with a periodic order. */
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

void make_experiment(const struct world *w, struct stats_rng *r, size_t runs, size_t pairs, double theta,
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
