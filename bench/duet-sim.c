/*
 * Coverage of the intervals of a duet, on simulated machines with a known true effect.
 *
 * Every cell simulates many experiments: runs of pairs of iterations, with noise of the iteration, noise of the run,
 * and noise of the machine on both sides. Half of them compare A with itself, half with a B that is 1.5 % slower.
 * Printed for each cell: how often the interval contains the true value (of both halves), how often an A/A interval
 * excludes 1, with the 95 % binomial bounds of that share, how often the change is detected, the width of the
 * interval and the average number of runs.
 *
 * The requirement: 94 to 96 % for normal data and a fixed number of runs, at least 93.5 % elsewhere; at most 5 % of
 * A/A intervals that exclude 1. Every cell has the same number of simulations, fixed beforehand, and is evaluated by
 * them: a row that misses its requirement shows by how much, and whether that is within chance (99 % bounds). Among
 * so many cells some miss it by chance. Those are measured again with CLOSER times as many simulations, all new, and
 * only these count. A cell that misses beyond chance, or again, fails the program.
 *
 *   duet-sim [simulations a cell, of either half [seed [words of a group's name]]]
 */
#include "duet-groups.h"
#include "stats/dist.h"
#include "stats/rng.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 2, CLOSER = 10, MISSED_MAX = 64 };

#define SLOWER 0.015

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

enum miss { MET, BY_CHANCE, BEYOND };

/* Check that the share of `hits` in n is within least .. most; prints by how much it misses. */
static enum miss judge(const char *name, size_t hits, size_t n, double least, double most, bool is_told)
{
	double share = (double)hits / (double)n, lo, hi;
	enum miss miss;

	if (share >= least && share <= most)
		return MET;
	stats_binomial_interval(hits, n, 0.99, &lo, &hi);
	miss = hi < least || lo > most ? BEYOND : BY_CHANCE;
	if (is_told)
		printf("  %s %.2f %% +- %.2f, bar %g: missed %s chance", name, 100 * share, 50 * (hi - lo),
				100 * (share < least ? least : most), miss == BEYOND ? "beyond" : "within");
	return miss;
}

static enum miss judge_cell(enum bar bar, const struct tally *t, bool is_told)
{
	enum miss coverage, alarms;

	if (bar == NONE)
		return MET;
	coverage = judge("coverage", t->held, t->n, bar == EXACT ? 0.94 : 0.935, bar == EXACT ? 0.96 : 1, is_told);
	alarms = judge("A/A", t->alarms, t->n / 2, 0, 0.05, is_told);
	return coverage > alarms ? coverage : alarms;
}

static void print_cell(const struct world *w, size_t pairs, size_t runs, const struct tally *t, enum bar bar)
{
	double half = (double)t->n / 2, lo, hi;

	stats_binomial_interval(t->alarms, t->n / 2, 0.95, &lo, &hi);
	printf("%-16s %5zu %5zu  %6.2f %%  %5.2f %% [%5.2f, %5.2f]  %6.1f %%  %7.3f %%  %5.1f", w->name, pairs, runs,
			100 * (double)t->held / (double)t->n, 100 * (double)t->alarms / half, 100 * lo, 100 * hi,
			100 * (double)t->found / half, 100 * t->width / (double)(t->n - t->open),
			t->runs / (double)t->n);
	judge_cell(bar, t, true);
	printf("\n");
	fflush(stdout);
}

/*
 * A thread's share of a cell: every SHARES-th experiment. Results do not depend on the thread: each experiment has a
 * separate random stream.
 */
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

struct cell {
	const struct group *g;
	const struct world *w;
	size_t pairs, runs;
	uint64_t seed;
};

struct total {
	size_t cells, judged, beyond, alarms, n;
	struct cell missed[MISSED_MAX]; /* within chance */
	size_t missed_count;
};

static void add_cell(struct total *all, const struct cell *c, const struct tally *t)
{
	enum miss miss = judge_cell(c->g->bar, t, false);

	all->judged++;
	all->beyond += miss == BEYOND;
	all->alarms += t->alarms;
	all->n += t->n / 2;
	if (miss == BY_CHANCE && all->missed_count < MISSED_MAX)
		all->missed[all->missed_count++] = *c;
}

static struct tally run_cell(const struct cell *c, size_t n, uint64_t seed)
{
	struct tally t = simulate(c->g, c->w, c->pairs, c->runs, n, seed);

	print_cell(c->w, c->pairs, c->runs, &t, c->g->bar);
	return t;
}

static void print_head(const char *name)
{
	printf("\n%s\n", name);
	printf("%-16s %5s %5s  %8s  %-23s  %8s  %9s  %5s\n", "noise", "pairs", "runs", "coverage",
			"A/A excludes 1 [95 %]", "finds", "width", "used");
}

/* Every combination of the group. */
static void run_group(const struct group *g, size_t n, uint64_t seed, struct total *all)
{
	print_head(g->name);
	for (const struct world *const *w = g->worlds; *w; w++)
		for (const size_t *pairs = g->pairs; *pairs; pairs++)
			for (const size_t *runs = g->runs; *runs; runs++) {
				struct cell c = { g, *w, *pairs, *runs, seed + ++all->cells };
				struct tally t = run_cell(&c, n, c.seed);

				if (g->bar != NONE)
					add_cell(all, &c, &t);
			}
}

/* Run the groups with a requirement, or those without. */
static void run_groups(const char *words, bool has_bar, size_t n, uint64_t seed, struct total *all)
{
	for (size_t i = 0; i < group_count; i++)
		if (strstr(groups[i].name, words) && (groups[i].bar != NONE) == has_bar)
			run_group(&groups[i], n, seed, all);
}

/* Returns how many miss their requirement again. */
static size_t run_missed(const struct total *all, size_t n)
{
	size_t again = 0;

	for (size_t i = 0; i < all->missed_count; i++) {
		const struct cell *c = &all->missed[i];
		char name[200];
		struct tally t;

		snprintf(name, sizeof(name), "missed within chance, again with %zu fresh: %s", n, c->g->name);
		print_head(name);
		t = run_cell(c, n, ~c->seed);
		again += judge_cell(c->g->bar, &t, false) != MET;
	}
	return again;
}

static void print_total(const struct total *all, size_t again)
{
	double lo, hi;

	if (!all->judged)
		return;
	stats_binomial_interval(all->alarms, all->n, 0.95, &lo, &hi);
	printf("\nA/A intervals that exclude 1, of all cells with a bar: %.2f %% [%.2f, %.2f] of %zu\n",
			100 * (double)all->alarms / (double)all->n, 100 * lo, 100 * hi, all->n);
	printf("%zu cells with a bar: %zu met it, %zu missed it within chance, %zu beyond\n", all->judged,
			all->judged - all->missed_count - all->beyond, all->missed_count, all->beyond);
	if (all->missed_count)
		printf("of those within chance, measured again: %zu met it, %zu missed it\n", all->missed_count - again,
				again);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 500, again;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	const char *words = argc > 3 ? argv[3] : "";
	struct total all = { 0 };

	if (n == 0 || argc > 4) {
		fprintf(stderr, "usage: duet-sim [simulations a cell, of either half [seed [words of a name]]]\n");
		return 2;
	}
	printf("%zu A/A and %zu +1.5 %% experiments a cell, seed %llu\n", n, n, (unsigned long long)seed);
	run_groups(words, true, n, seed, &all);
	again = run_missed(&all, CLOSER * n);
	print_total(&all, again);
	run_groups(words, false, n, seed, &all);
	return all.beyond || again;
}
