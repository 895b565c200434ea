/*
 * design-choice: decisions before the first run that counts: the design, the turns per run and the number of runs. The
 * pilot runs A against itself, to choose a design and to find a bias before anything is compared.
 *
 * The cost of a design is the variance of its runs' log-ratios times the seconds per run: half the cost halves the
 * time to the same width. The variance is a robust estimate (stats/summary.h), since the ranks used for the
 * answer tolerate outliers too. rmit is chosen unless another design is better by more than chance explains, since
 * the variance of a few runs is imprecise and rmit needs no assumption about how two programs share a machine. The
 * cost of a wrong choice: under a quota async has four times the error of rmit (bench/duet --design), and with five
 * runs one pilot in 25 estimated it at a fourth of rmit's cost.
 */
#include "duet/compare-private.h"
#include "stats/dist.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>

/* Runs of one turn are cheap: do more of them. */
enum { PILOT_RUNS = 5, PILOT_SHORT_RUNS = 20, SIGNS_RUNS = 8 };
enum { RUNS_WANTED = 40, RUNS_MOST = 400, ASYNC_TURNS = 4, ROBUST_TURNS = 8 };

#define PILOT_SHARE 0.2     /* of the budget, all designs together */
#define CHECK_SHARE 0.1     /* of the budget */
#define CLEARLY_BETTER 0.25 /* times the cost of rmit, and */
#define CHANCE 0.02         /* probability of such a difference for a design that is not better */
#define QN_EFFICIENCY 0.82
#define CHECK_LEVEL 0.99
#define FAR_OFF 8 /* width of the middle four fifths by the middle two; 2.4 for normal runs, 4 by chance */
#define QUICKER 3
#define SLACK 0.75 /* of one turn's CPU time: the next may need less */

/* The runs of A against itself in one design. */
struct trial {
	struct duet_plan plan;
	struct duet_run runs[PILOT_SHORT_RUNS];
	size_t count, wanted;
};

static size_t turns_least(const struct duet_setup *s, enum duet_design design)
{
	if (s->has_own_iterations)
		return DUET_OWN_ITERATIONS;
	return design == DUET_ASYNC ? ASYNC_TURNS : 1;
}

/* Returns the turns per run so that n runs take `ns`; even if more than one. */
static size_t turns_for(const struct duet_setup *s, enum duet_design design, double ns, size_t n, double turn_ns)
{
	size_t least = turns_least(s, design);
	double fit = turn_ns > 0 ? ns / ((double)n * turn_ns) : DUET_TURNS_MAX;
	size_t turns = fit >= DUET_TURNS_MAX ? DUET_TURNS_MAX : (size_t)fit;

	if (turns > 1)
		turns -= turns % 2;
	return turns < least ? least : turns;
}

/*
 * Whole commands that start together do not end together: the slower one ends alone, faster than under contention,
 * and the wall time's ratio shrinks towards 1. A against itself cannot show that.
 */
static bool is_candidate(const struct duet_setup *s, enum duet_design design)
{
	if (design == DUET_SYNC)
		return s->is_pinned && (s->has_own_iterations || s->pairing.metric != DUET_WALL);
	return design == DUET_RMIT || (design == DUET_ASYNC && s->is_pinned);
}

/* pairs is as duet_pairs_make leaves it. */
static int effect_of(struct comparison *c, const struct trial *t, struct duet_pairs *pairs, struct stats_effect *effect)
{
	struct stats_effect_options how = { .level = CHECK_LEVEL, .seed = c->setup->seed };
	struct stats_runs runs;
	struct sonde_err ignored;
	int rc = duet_pairs_make(pairs, t->runs, t->count, &c->setup->pairing, &c->out->arena, c->err);

	if (rc)
		return rc;
	runs = duet_pairs_runs(pairs);
	/* No pair at all (a side was too quick to overlap): this design has no estimate. */
	if (stats_effect(&runs, &how, &c->out->arena, effect, &ignored)) {
		effect->log_ratio = stats_interval_open(NAN, 0, CHECK_LEVEL, "none");
		effect->ratio = effect->log_ratio;
		stats_moments_init(&effect->locations);
	}
	return 0;
}

/* Needs space for one location per run; NaN if a run has no pair. Reorders the pairs. */
static void locate(struct duet_pairs *pairs, double *locations)
{
	for (size_t run = 0; run < pairs->runs; run++) {
		size_t first = pairs->first[run], n = pairs->first[run + 1] - first;

		locations[run] = n ? stats_run_location(pairs->x + first, pairs->weight + first, n) : NAN;
	}
}

/* Returns the distance spanned by the middle `share` of sorted values. */
static double middle_width(const double *x, size_t n, double share)
{
	size_t out = (size_t)((double)n * (1 - share) / 2);

	return x[n - 1 - out] - x[out];
}

static int weigh(struct comparison *c, enum duet_design design, const struct trial *t)
{
	struct duet_choice *choice = &c->out->choices[design];
	double locations[PILOT_SHORT_RUNS], scale, ns = 0;
	struct stats_effect effect;
	struct duet_pairs pairs;
	int rc = effect_of(c, t, &pairs, &effect);

	if (rc)
		return rc;
	locate(&pairs, locations);
	scale = stats_qn(locations, pairs.runs);
	for (size_t i = 0; i < t->count; i++)
		ns += (double)(t->runs[i].end_ns - t->runs[i].start_ns);
	*choice = (struct duet_choice){ .is_tried = true,
		.runs = t->count,
		.variance = scale * scale,
		.run_seconds = ns / 1e9 / (double)t->count };
	choice->cost = choice->variance * choice->run_seconds;
	return 0;
}

static enum duet_design cheapest(const struct duet_choice *choices)
{
	const struct duet_choice *rmit = &choices[DUET_RMIT];
	enum duet_design best = DUET_RMIT;
	double least = INFINITY;

	for (int d = 0; d < DUET_DESIGNS; d++) {
		const struct duet_choice *choice = &choices[d];
		double df = QN_EFFICIENCY * ((double)choice->runs - 1),
		       rmit_df = QN_EFFICIENCY * ((double)rmit->runs - 1);
		double x, chance;

		if (!choice->is_tried || d == DUET_RMIT)
			continue;
		/* The ratio of two variances with probability CHANCE, for equal true variances: Fisher's F. */
		x = stats_beta_quantile(CHANCE, df / 2, rmit_df / 2);
		chance = x / (1 - x) * rmit_df / df;
		if (choice->cost < least && choice->cost < fmin(CLEARLY_BETTER, chance) * rmit->cost) {
			least = choice->cost;
			best = (enum duet_design)d;
		}
	}
	return best;
}

/* Keeps the result of A against itself in the chosen design. */
static int keep_self(struct comparison *c, const struct trial *t)
{
	double locations[PILOT_SHORT_RUNS];
	struct stats_effect effect;
	struct duet_pairs pairs;
	size_t n;
	int rc = effect_of(c, t, &pairs, &effect);

	if (rc)
		return rc;
	c->out->self = (struct duet_self_check){ .runs = effect.locations.n,
		.ratio = effect.ratio,
		.is_biased = !effect.is_indicative && stats_direction(&effect.log_ratio) != 0 };
	/*
	 * Are the runs either near each other or far off, so that signs are much more precise than ranks? Averages of
	 * a near and a far value are meaningless, and if a third of the values are far off, ranks use such averages as
	 * the middle: errors of 25 % (bench/duet under a quota). If signs are not needed, they cost a quarter of width.
	 */
	n = pairs.runs;
	locate(&pairs, locations);
	if (n >= SIGNS_RUNS && !stats_has_nan(locations, n)) {
		stats_sort(locations, n);
		c->out->schedule.has_signs = middle_width(locations, n, 0.8) >
				FAR_OFF * middle_width(locations, n, 0.4);
	}
	c->quick_ns = INFINITY;
	for (size_t i = 0; i < t->count; i++)
		c->quick_ns = fmin(c->quick_ns,
				(double)(t->runs[i].end_ns - t->runs[i].start_ns) / (double)t->plan.turns);
	return 0;
}

static void release(struct trial *t)
{
	for (size_t i = 0; i < t->count; i++)
		duet_run_release(&t->runs[i]);
	t->count = 0;
}

static int add_run(struct comparison *c, struct trial *t, const char *what)
{
	int rc = compare_run(c, &t->plan, true, &t->runs[t->count], what, t->count, t->wanted);

	if (!rc)
		t->count++;
	return rc;
}

/* Plans runs of the kind that will count, as many as fit into `ns`; returns the time they take, which may be more. */
static double plan_trial(struct comparison *c, struct trial *t, enum duet_design design, double ns)
{
	bool is_short = !c->setup->has_own_iterations && design != DUET_ASYNC;
	double fit = c->turn_ns > 0 ? ns / c->turn_ns : PILOT_SHORT_RUNS;
	size_t turns = turns_for(c->setup, design, ns, is_short ? PILOT_SHORT_RUNS : PILOT_RUNS, c->turn_ns);

	t->wanted = PILOT_RUNS;
	if (is_short && fit > PILOT_RUNS)
		t->wanted = fit < PILOT_SHORT_RUNS ? (size_t)fit : PILOT_SHORT_RUNS;
	compare_plan(c, &t->plan, design, turns, 0xaa);
	return (double)(t->wanted * turns) * c->turn_ns;
}

/* Plans a trial of each candidate; false if there is no choice or the trials do not fit into their share. */
static bool plan_trials(struct comparison *c, struct trial trials[DUET_DESIGNS])
{
	double all = PILOT_SHARE * (double)c->setup->budget_ns, needed = 0;
	size_t candidates = 0;

	for (int d = 0; d < DUET_DESIGNS; d++)
		candidates += is_candidate(c->setup, (enum duet_design)d);
	for (int d = 0; d < DUET_DESIGNS; d++)
		if (is_candidate(c->setup, (enum duet_design)d))
			needed += plan_trial(c, &trials[d], (enum duet_design)d, all / (double)candidates);
	return candidates >= 2 && needed <= 1.2 * all;
}

/* Adds a run to a trial. Programs that fail only side by side are compared one after the other. */
static int try_design(struct comparison *c, struct trial *t, enum duet_design design)
{
	int rc = add_run(c, t, "trying designs");

	if (design == DUET_RMIT || (rc != -ECHILD && rc != -ETIMEDOUT))
		return rc;
	c->out->why_in_turn = arena_printf(&c->out->arena, "it failed when two copies ran at once: %s", c->err->text);
	release(t);
	t->wanted = 0;
	return 0;
}

/* The designs alternate in rounds, so that a noisy period affects all of them. */
static int run_trials(struct comparison *c, struct trial trials[DUET_DESIGNS])
{
	int rc = 0;

	for (size_t round = 1; round <= PILOT_SHORT_RUNS; round++)
		for (int d = 0; d < DUET_DESIGNS && rc == 0; d++)
			if (trials[d].count * PILOT_SHORT_RUNS < trials[d].wanted * round)
				rc = try_design(c, &trials[d], (enum duet_design)d);
	return rc;
}

/* Sets the schedule's design, and self, since the pilot covers that check. */
static int pilot(struct comparison *c)
{
	struct trial trials[DUET_DESIGNS] = { 0 };
	enum duet_design design = DUET_RMIT;
	int rc;

	if (!plan_trials(c, trials))
		return 0;
	c->out->why_in_turn = c->setup->why_not_at_once ? c->setup->why_not_at_once(c->setup->arg) : NULL;
	if (c->out->why_in_turn)
		return 0;
	rc = run_trials(c, trials);
	for (int d = 0; d < DUET_DESIGNS && rc == 0; d++)
		if (trials[d].count)
			rc = weigh(c, (enum duet_design)d, &trials[d]);
	if (!rc) {
		design = cheapest(c->out->choices);
		rc = keep_self(c, &trials[design]);
	}
	if (!rc) {
		c->out->is_design_piloted = true;
		c->out->schedule.design = design;
		c->turn_ns = c->out->choices[design].run_seconds * 1e9 / (double)trials[design].plan.turns;
	}
	for (int d = 0; d < DUET_DESIGNS; d++)
		release(&trials[d]);
	return rc;
}

/* Compares A with itself in the chosen design, if the budget has room for that. */
static int self_check(struct comparison *c)
{
	struct trial t = { 0 };
	double share = CHECK_SHARE * (double)c->setup->budget_ns;
	int rc = 0;

	if (plan_trial(c, &t, c->out->schedule.design, share) > 1.2 * share)
		return 0;
	while (t.count < t.wanted && rc == 0)
		rc = add_run(c, &t, "comparing A with itself");
	if (!rc)
		rc = keep_self(c, &t);
	release(&t);
	return rc;
}

/* Executes one turn that does not count. */
static int warm_up(struct comparison *c)
{
	enum duet_design design = c->out->schedule.design;
	bool is_together = design == DUET_SYNC || design == DUET_ASYNC;
	double sums[DUET_SIDES] = { 0 }, cpu;
	struct duet_plan plan;
	struct duet_run run;
	int rc;

	compare_plan(c, &plan, design, turns_least(c->setup, design), 0x3a3a);
	if (c->setup->warmup > plan.turns)
		plan.turns = c->setup->warmup < DUET_TURNS_MAX ? c->setup->warmup : DUET_TURNS_MAX;
	rc = compare_run(c, &plan, false, &run, "warming up", 0, 1);
	if (rc)
		return rc;
	c->turn_ns = (double)(run.end_ns - run.start_ns) / (double)plan.turns;
	/*
	 * A turn takes at least its CPU time, if known: of both sides in sequence, or of the longer one. A program that
	 * waits for other things still waits when the machine is idle, so a turn is assumed to get at most QUICKER
	 * times as quick.
	 */
	for (int side = 0; side < DUET_SIDES; side++)
		for (size_t i = 0; i < run.sides[side].count; i++)
			sums[side] += run.sides[side].items[i].metrics[DUET_CPU];
	cpu = (is_together ? fmax(sums[DUET_A], sums[DUET_B]) : sums[DUET_A] + sums[DUET_B]) / (double)plan.turns;
	c->quick_ns = c->turn_ns;
	if (isfinite(cpu))
		c->quick_ns = fmin(c->turn_ns, fmax(SLACK * cpu, c->turn_ns / QUICKER));
	duet_run_release(&run);
	return 0;
}

/*
 * Sets turns and runs: as many as fit the rest of the budget if they are quick. If the machine was busier before than
 * it will be, a plan by past durations would end before the budget; otherwise the budget ends first, which only
 * widens the intervals of early interim analyses slightly.
 *
 * If a run has costs besides its turns (a process that warms up, an interval with two ends), the budget holds
 * RUNS_WANTED of them. Whole commands in sequence have no such cost, and a run is a single pair: if executions are
 * sometimes far off, due to a quota or a burst of other load, two of them spoil a run nearly twice as often as one,
 * and ranks tolerate only a share of spoilt runs (bench/duet: the error is a third). If that would be too many runs,
 * each run gets enough pairs that its location tolerates some outliers.
 */
static void plan_runs(struct comparison *c, struct duet_schedule *s)
{
	const struct duet_setup *setup = c->setup;
	bool has_costs = setup->has_own_iterations || s->design == DUET_ASYNC;
	double left = (double)compare_left_ns(c), run_ns, fit;

	s->turns = setup->turns;
	if (!s->turns)
		s->turns = turns_for(setup, s->design, left, has_costs ? RUNS_WANTED : RUNS_MOST, c->turn_ns);
	if (!setup->turns && !has_costs && s->turns > 1 && s->turns < ROBUST_TURNS)
		s->turns = ROBUST_TURNS;
	run_ns = (double)s->turns * fmin(c->turn_ns, c->quick_ns);
	fit = run_ns > 0 ? left / run_ns : RUNS_MOST;
	s->runs_max = setup->runs_max;
	if (!s->runs_max)
		s->runs_max = fit < 2 ? 2 : fit > RUNS_MOST ? RUNS_MOST : (size_t)fit;
	s->is_settled = true;
}

int compare_choose_design(struct comparison *c)
{
	struct duet_schedule *s = &c->out->schedule;
	int rc;

	s->design = c->setup->is_auto ? DUET_RMIT : c->setup->design; /* also if interrupted before the first run */
	rc = warm_up(c);
	if (rc)
		return rc;
	if (c->setup->is_auto)
		rc = pilot(c);
	if (!rc && c->setup->has_aa && !c->out->self.runs)
		rc = self_check(c);
	if (rc)
		return rc;
	plan_runs(c, s);
	return c->setup->on_schedule ? c->setup->on_schedule(c->setup->arg, c->out, c->err) : 0;
}
