/*
 * How often A/A intervals of bench/duet exclude 1, more precisely than by counting those that did.
 *
 * If A is compared with itself, only the order of the schedule determines which of two executions was B's. The times
 * are as measured, under noise that needs no model, and every other order of the same schedule was equally likely: so
 * each experiment of a log (bench/duet/run --log) is evaluated again, interim analysis by interim analysis, with many
 * random orders. The resulting share includes all effects of the machine, the procedure and the schedule. It does not
 * include a side that the runner itself favours: that shows in how often the experiments really excluded 1. For
 * comparison, independent orders (coin flips) show the cost of a balanced schedule.
 *
 *   duet-deal LOG [deals of an experiment [seed]]
 */
#include "base/cleanup.h"
#include "duet/duet.h"
#include "stats/dist.h"
#include "stats/effect.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 400, LOOKS_MAX = 16 };

static const size_t look_at[] = { 5, 8, 12, 20, 32, 50, 80, 128, 200, 320 };

struct measured {
	double x[RUNS_MAX]; /* ln(second / first), run by run */
	bool is_first_b[RUNS_MAX];
	size_t n, runs_max;
	bool has_signs, has_excluded;
	struct stats_sequential looks[LOOKS_MAX];
	size_t look_count;
};

static double read_real(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* The only iteration of a side; NaN if there is not exactly one. */
static double time_of(const json_t *run, const char *side)
{
	const json_t *iterations = json_object_get(run, side);

	return json_array_size(iterations) == 1 ? json_number_value(json_array_get(json_array_get(iterations, 0), 2))
						: NAN;
}

static void plan_looks(struct measured *m)
{
	struct stats_sequential s;

	stats_effect_plan(&s, 0.95, m->runs_max);
	for (size_t i = 0; i < sizeof(look_at) / sizeof(*look_at) && look_at[i] < m->n; i++) {
		stats_sequential_look(&s, look_at[i]);
		m->looks[m->look_count++] = s;
	}
	stats_sequential_last(&s, m->n);
	m->looks[m->look_count++] = s;
}

/* False unless it is an experiment without a change, in runs of one sequential pair. */
static bool read_experiment(const json_t *line, struct measured *m)
{
	const json_t *samples = json_object_get(line, "samples"), *run;
	const char *method = json_string_value(json_object_get(line, "method"));
	const char *design = json_string_value(json_object_get(line, "design"));
	size_t i;

	*m = (struct measured){ .n = json_array_size(samples), .runs_max = (size_t)read_real(line, "runs_max") };
	if (read_real(line, "change") != 0 || !method || !design || strcmp(design, "rmit") || m->n < 2 ||
			m->n > RUNS_MAX)
		return false;
	m->has_signs = strstr(method, "sign test");
	m->has_excluded = read_real(line, "lo") > 1 || read_real(line, "hi") < 1;
	json_array_foreach(samples, i, run) {
		const char *order = json_string_value(json_object_get(run, "order"));
		double x = log(time_of(run, "B") / time_of(run, "A"));

		if (!order || !isfinite(x))
			return false;
		m->is_first_b[i] = !strcmp(order, "BA");
		m->x[i] = m->is_first_b[i] ? -x : x;
	}
	plan_looks(m);
	return true;
}

static bool excludes(const struct measured *m, double *x)
{
	static size_t first[RUNS_MAX + 1];
	struct stats_runs runs = { .x = x, .first = first };
	bool is_excluded = false;

	for (size_t i = 0; i <= RUNS_MAX; i++)
		first[i] = i;
	for (size_t k = 0; k < m->look_count && !is_excluded; k++) {
		struct stats_effect_options how = { .look = &m->looks[k],
			.method = m->has_signs ? STATS_SIGNS : STATS_AUTO };
		struct arena arena = ARENA_INIT;
		struct stats_effect e;

		runs.count = m->looks[k].n;
		if (stats_effect(&runs, &how, &arena, &e, NULL) < 0)
			abort();
		is_excluded = !stats_interval_holds(&e.log_ratio, 0);
		arena_release(&arena);
	}
	return is_excluded;
}

static void deal_plan(const struct measured *m, struct stats_rng *r, double *x)
{
	struct duet_plan plan;
	struct duet_turn turn;

	duet_plan_init(&plan, DUET_RMIT, 1, false, stats_rng_next(r));
	if (m->runs_max >= 2 * DUET_GROUP_FIRST)
		plan.group = DUET_GROUP_FIRST;
	for (size_t i = 0; i < m->n; i++) {
		duet_plan_next(&plan, &turn);
		x[i] = turn.is_first_b ? -m->x[i] : m->x[i];
	}
}

static void deal_as_it_was(const struct measured *m, struct stats_rng *r, double *x)
{
	for (size_t i = 0; i < m->n; i++)
		x[i] = m->is_first_b[i] ? -m->x[i] : m->x[i];
}

static void deal_coins(const struct measured *m, struct stats_rng *r, double *x)
{
	for (size_t i = 0; i < m->n; i++)
		x[i] = stats_rng_below(r, 2) ? -m->x[i] : m->x[i];
}

typedef void deal_fn(const struct measured *m, struct stats_rng *r, double *x);

static double share_of(const struct measured *m, deal_fn *deal, size_t deals, struct stats_rng *r)
{
	double x[RUNS_MAX];
	size_t hits = 0;

	for (size_t i = 0; i < deals; i++) {
		deal(m, r, x);
		hits += excludes(m, x);
	}
	return (double)hits / (double)deals;
}

/* Of the experiments evaluated by signs, or by ranks. */
struct found {
	struct stats_moments plan, coins;
	size_t excluded, otherwise; /* by sonde; evaluated differently here with the original order */
};

static void print_found(const char *name, const struct found *f)
{
	struct stats_interval share = stats_moments_interval(&f->plan, 0.95);

	if (f->plan.n)
		printf("%-6s %5zu experiments: %zu excluded 1 (%.1f %%); other deals of the plan %.2f %% "
		       "[%.2f, %.2f], coins %.2f %%\n",
				name, f->plan.n, f->excluded, 100 * (double)f->excluded / (double)f->plan.n,
				100 * share.estimate, 100 * share.lo, 100 * share.hi, 100 * f->coins.mean);
	if (f->otherwise)
		printf("%-6s %zu of them are judged otherwise here than by sonde\n", name, f->otherwise);
}

static void add(struct found *f, const struct measured *m, double plan, double coins)
{
	stats_moments_add(&f->plan, plan);
	stats_moments_add(&f->coins, coins);
	f->excluded += m->has_excluded;
	f->otherwise += m->has_excluded != (share_of(m, deal_as_it_was, 1, NULL) > 0);
}

static int deal_again(FILE *log, size_t deals, uint64_t seed)
{
	static struct measured m;
	struct found all, kinds[2];
	CLEANUP(cleanup_free) char *text = NULL;
	size_t size = 0;
	struct stats_rng r;

	stats_rng_init(&r, seed, 0);
	memset(&all, 0, sizeof(all));
	stats_moments_init(&all.plan);
	stats_moments_init(&all.coins);
	kinds[0] = kinds[1] = all;
	while (getline(&text, &size, log) > 0) {
		json_t *line = json_loads(text, 0, NULL);

		if (read_experiment(line, &m)) {
			double plan = share_of(&m, deal_plan, deals, &r), coins = share_of(&m, deal_coins, deals, &r);

			add(&kinds[m.has_signs], &m, plan, coins);
			add(&all, &m, plan, coins);
		}
		json_decref(line);
	}
	print_found("ranks", &kinds[0]);
	print_found("signs", &kinds[1]);
	print_found("all", &all);
	return all.plan.n ? 0 : 1;
}

int main(int argc, char **argv)
{
	size_t deals = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	FILE *log = argc > 1 && argc < 5 && deals ? fopen(argv[1], "re") : NULL;
	int rc;

	if (!log) {
		fprintf(stderr, "usage: duet-deal LOG [deals of an experiment [seed]]\n");
		return 2;
	}
	rc = deal_again(log, deals, seed);
	fclose(log);
	if (rc)
		fprintf(stderr, "duet-deal: there is no experiment with its samples in '%s'\n", argv[1]);
	return rc;
}
