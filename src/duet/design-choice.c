/* design-choice: decisions before the first run that counts: the design, the turns per run and the number of runs. */
#include "duet/compare-private.h"

#include <math.h>

#define QUICKER 3
#define SLACK 0.75 /* of one turn's CPU time: the next may need less */

enum { RUNS_WANTED = 40, RUNS_MOST = 400, ASYNC_TURNS = 4, ROBUST_TURNS = 8 };

size_t compare_turns_least(const struct duet_setup *s, enum duet_design design)
{
	if (s->has_own_iterations)
		return DUET_OWN_ITERATIONS;
	return design == DUET_ASYNC ? ASYNC_TURNS : 1;
}

/* Returns the turns per run so that n runs take `ns`; even if more than one. */
size_t compare_turns_for(const struct duet_setup *s, enum duet_design design, double ns, size_t n, double turn_ns)
{
	size_t least = compare_turns_least(s, design);
	double fit = turn_ns > 0 ? ns / ((double)n * turn_ns) : DUET_TURNS_MAX;
	size_t turns = fit >= DUET_TURNS_MAX ? DUET_TURNS_MAX : (size_t)fit;

	if (turns > 1)
		turns -= turns % 2;
	return turns < least ? least : turns;
}

/* CPU time of a turn: of both sides in sequence, or of the longer one. */
static double cpu_ns(const struct duet_run *run, size_t turns)
{
	bool is_together = run->design == DUET_SYNC || run->design == DUET_ASYNC;
	double sums[DUET_SIDES] = { 0 };

	for (int side = 0; side < DUET_SIDES; side++)
		for (size_t i = 0; i < run->sides[side].count; i++)
			sums[side] += run->sides[side].items[i].metrics[DUET_CPU];
	return (is_together ? fmax(sums[DUET_A], sums[DUET_B]) : sums[DUET_A] + sums[DUET_B]) / (double)turns;
}

/*
 * A turn takes at least its CPU time, if known. A program that waits for other things still waits when the machine is
 * idle, so a turn is assumed to get at most QUICKER times as quick.
 */
static double least_ns(const struct duet_run *run, size_t turns, double turn_ns)
{
	double cpu = cpu_ns(run, turns);

	return isfinite(cpu) ? fmin(turn_ns, fmax(SLACK * cpu, turn_ns / QUICKER)) : turn_ns;
}

/* Executes one turn that does not count. */
static int warm_up(struct comparison *c)
{
	enum duet_design design = c->out->schedule.design;
	struct duet_plan plan;
	struct duet_run run;
	int rc;

	compare_tell_start(c, "warming up", 0, 1);
	compare_plan(c, &plan, design, compare_turns_least(c->setup, design), 0x3a3a);
	rc = compare_run(c, &plan, false, &run);
	if (rc)
		return rc;
	c->turn_ns = (double)(run.end_ns - run.start_ns) / (double)plan.turns;
	c->quick_ns = least_ns(&run, plan.turns, c->turn_ns);
	duet_run_release(&run);
	return 0;
}

static size_t clamp(double n, size_t least, size_t most)
{
	return n < (double)least ? least : n > (double)most ? most : (size_t)n;
}

/*
 * If a run has costs besides its turns (a process that warms up, an interval with two ends), the budget holds
 * RUNS_WANTED of them. Whole commands in sequence have no such cost, and a run is a single pair: if executions are
 * sometimes far off, due to a quota or a burst of other load, two of them spoil a run nearly twice as often as one,
 * and ranks tolerate only a share of spoilt runs (bench/duet: the error is a third). If that would be too many runs,
 * each run gets enough pairs that its location tolerates some outliers.
 */
static size_t settle_turns(const struct comparison *c, enum duet_design design, double left)
{
	const struct duet_setup *s = c->setup;
	size_t turns;

	if (s->turns)
		return s->turns;
	if (s->has_own_iterations || design == DUET_ASYNC)
		return compare_turns_for(s, design, left, RUNS_WANTED, c->turn_ns);
	turns = compare_turns_for(s, design, left, RUNS_MOST, c->turn_ns);
	return turns > 1 && turns < ROBUST_TURNS ? ROBUST_TURNS : turns;
}

/*
 * Sets turns and runs: as many as fit the rest of the budget if they are quick. If the machine was busier before than
 * it will be, a plan by past durations would end before the budget; otherwise the budget ends first, which only
 * widens the intervals of early interim analyses slightly.
 */
static void settle_runs(struct comparison *c, struct duet_schedule *s)
{
	double left = (double)compare_left_ns(c), run_ns;

	s->turns = settle_turns(c, s->design, left);
	run_ns = (double)s->turns * fmin(c->turn_ns, c->quick_ns);
	s->runs_max = c->setup->runs_max ? c->setup->runs_max
					 : clamp(run_ns > 0 ? left / run_ns : RUNS_MOST, 2, RUNS_MOST);
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
		rc = compare_pilot(c);
	if (!rc && c->setup->has_aa && !c->out->self.runs)
		rc = compare_self_check(c);
	if (rc)
		return rc;
	settle_runs(c, s);
	return c->setup->on_schedule ? c->setup->on_schedule(c->setup->arg, c->out, c->err) : 0;
}
