#include "duet/compare.h"

#include "base/vec.h"
#include "duet/compare-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define POWER 0.8
#define NEEDED_MOST 100000
#define MISSING_SHARE_MAX 0.1

static const size_t look_at[] = { 5, 8, 12, 20, 32, 50, 80, 128, 200, 320 };

static bool is_look(size_t n)
{
	for (size_t i = 0; i < sizeof(look_at) / sizeof(*look_at); i++)
		if (look_at[i] == n)
			return true;
	return false;
}

int compare_run(struct comparison *c, struct duet_plan *plan, bool is_aa, struct duet_run *run, const char *what,
		size_t done, size_t of)
{
	struct duet_turn turns[DUET_TURNS_MAX];
	struct duet_task task = { .design = plan->design, .turns = turns, .turn_count = plan->turns, .is_aa = is_aa };
	int64_t begin = c->runner->now_ns(c->runner->self);
	int rc;

	if (c->setup->on_start)
		c->setup->on_start(c->setup->arg, what, done, of);
	duet_plan_next(plan, turns);
	*run = (struct duet_run){ .design = plan->design,
		.is_first_b = turns[0].is_first_b,
		.is_swapped = turns[0].is_swapped };
	rc = c->runner->run(c->runner->self, &task, run, c->err);
	if (run->end_ns <= run->start_ns) {
		run->start_ns = begin;
		run->end_ns = c->runner->now_ns(c->runner->self);
	}
	if (rc)
		duet_run_release(run);
	return rc;
}

void compare_plan(const struct comparison *c, struct duet_plan *plan, enum duet_design design, size_t turns,
		uint64_t salt)
{
	bool is_together = design == DUET_SYNC || design == DUET_ASYNC;

	duet_plan_init(plan, design, turns, c->setup->is_pinned && is_together, c->setup->seed ^ salt);
}

int64_t compare_left_ns(const struct comparison *c)
{
	int64_t used = c->runner->now_ns(c->runner->self) - c->begin_ns + c->setup->spent_ns;

	return used < c->setup->budget_ns ? c->setup->budget_ns - used : 0;
}

static int keep_run(struct comparison *c, const struct duet_run *run)
{
	struct duet_result *out = c->out;

	if (!VEC_GROW(out->runs, out->capacity, out->run_count + 1, VEC_MAX))
		return err_sys(c->err, ENOMEM, "cannot keep a run");
	out->runs[out->run_count] = *run;
	out->runs[out->run_count].number = out->run_count;
	out->run_count++;
	return 0;
}

/* Copies a run that the caller owns. */
static int copy_run(struct comparison *c, const struct duet_run *from)
{
	struct duet_run run = *from;
	int rc = 0;

	for (size_t side = 0; side < DUET_SIDES; side++)
		run.sides[side] = (struct duet_samples){ 0 };
	for (size_t side = 0; side < DUET_SIDES && !rc; side++)
		for (size_t i = 0; i < from->sides[side].count && !rc; i++)
			rc = duet_samples_add(&run.sides[side], &from->sides[side].items[i]);
	if (rc)
		err_sys(c->err, -rc, "cannot keep a run");
	else
		rc = keep_run(c, &run);
	if (rc)
		duet_run_release(&run);
	return rc;
}

/* Computes CPU time from the same runs and interim analyses; it does not advance while other programs use the CPU. */
static int judge_cpu(struct comparison *c, const struct stats_effect_options *how)
{
	struct duet_result *out = c->out;
	struct duet_pairing pairing = c->setup->pairing;
	struct sonde_err ignored;
	struct stats_effect effect;
	struct duet_pairs pairs;
	struct stats_runs runs;
	int rc;

	if (pairing.metric != DUET_WALL)
		return 0;
	pairing.metric = DUET_CPU;
	rc = duet_pairs_make(&pairs, out->runs, out->run_count, &pairing, &out->arena, c->err);
	if (rc)
		return rc;
	runs = duet_pairs_runs(&pairs);
	if (!stats_effect(&runs, how, &out->arena, &effect, &ignored) && !effect.is_indicative)
		out->cpu = effect.ratio;
	return 0;
}

static int pair_runs(struct comparison *c)
{
	struct duet_result *out = c->out;

	return duet_pairs_make(&out->pairs, out->runs, out->run_count, &c->setup->pairing, &out->arena, c->err);
}

/* Effect and verdict of the current pairs; look NULL: the number of runs was fixed. */
static int judge(struct comparison *c, const struct stats_sequential *look)
{
	struct duet_result *out = c->out;
	struct stats_effect_options how = { .level = c->setup->level,
		.seed = c->setup->seed,
		.look = look,
		.method = c->setup->interval              ? duet_interval_methods[c->setup->interval]
				: out->schedule.has_signs ? STATS_SIGNS
							  : STATS_AUTO };
	const struct duet_pairs *p = &out->pairs;
	struct stats_runs runs = duet_pairs_runs(p);
	int rc;

	if (!p->count)
		return err_set(c->err, ENODATA,
				"the runs have no pair of iterations of which both have a '%s' other than 0",
				duet_metric_name(&c->setup->pairing));
	rc = stats_effect(&runs, &how, &out->arena, &out->effect, c->err);
	if (rc)
		return rc;
	/* Pairs rarely lack the metric by chance: if more than a few do, the others are not representative. */
	out->verdict = STATS_INCONCLUSIVE;
	if (!out->effect.is_indicative && (double)p->missing <= MISSING_SHARE_MAX * (double)(p->missing + p->count))
		out->verdict = stats_verdict(&out->effect.log_ratio, c->setup->margin);
	rc = compare_has_carry_over(c) ? compare_carry_over(c) : 0;
	if (out->carry.is_blocking)
		out->verdict = STATS_INCONCLUSIVE;
	return rc ? rc : judge_cpu(c, &how);
}

/* Does an interim analysis, or the final one. The verdict decides whether to continue. */
static int look(struct comparison *c, bool is_last)
{
	struct duet_result *out = c->out;
	const struct duet_pairs *p = &out->pairs;
	size_t n = 0;
	int rc = out->run_count ? pair_runs(c) : 0;

	if (rc || !out->run_count)
		return rc;
	/* Only runs with a pair are observations: in others the metric may be 0 or unknown. */
	for (size_t i = 0; i < p->runs; i++)
		n += p->first[i + 1] > p->first[i];
	if (n < 2)
		return judge(c, NULL);
	if (n <= c->sequence.n) {
		out->verdict = c->pending;
		if (c->pending != STATS_INCONCLUSIVE)
			out->stop = DUET_DECIDED;
		return 0;
	}
	if (is_last)
		stats_sequential_last(&c->sequence, n);
	else
		stats_sequential_look(&c->sequence, n);
	out->looks++;
	c->is_last = is_last;
	rc = judge(c, &c->sequence);
	/* A certain answer of few executions may be carry-over: more of them show it. */
	c->pending = STATS_INCONCLUSIVE;
	if (!rc && !is_last && compare_has_carry_over(c) && !out->carry.is_checked) {
		c->pending = out->verdict;
		out->verdict = STATS_INCONCLUSIVE;
	}
	return rc;
}

static double run_ns(const struct comparison *c)
{
	double sum = 0;

	if (!c->out->run_count)
		return (double)c->out->schedule.turns * c->turn_ns;
	for (size_t i = 0; i < c->out->run_count; i++)
		sum += (double)(c->out->runs[i].end_ns - c->out->runs[i].start_ns);
	return sum / (double)c->out->run_count;
}

/* Is there another run? */
static bool has_next(struct comparison *c)
{
	c->out->stop = DUET_RUNS_OVER;
	if (c->out->run_count >= c->out->schedule.runs_max)
		return false;
	c->out->stop = DUET_BUDGET_OVER;
	return c->out->run_count == 0 || run_ns(c) <= (double)compare_left_ns(c);
}

static int next_run(struct comparison *c, struct duet_plan *plan)
{
	struct duet_run run;
	int rc;

	rc = compare_run(c, plan, false, &run, "comparing", c->out->run_count, c->out->schedule.runs_max);
	if (rc)
		return rc;
	rc = keep_run(c, &run);
	if (rc) {
		duet_run_release(&run);
		return rc;
	}
	return c->setup->on_run ? c->setup->on_run(c->setup->arg, &c->out->runs[c->out->run_count - 1], c->err) : 0;
}

/* Repeats the interim analyses that were made when these runs were recorded. */
static int look_again(struct comparison *c, struct duet_plan *plan)
{
	struct duet_turn turns[DUET_TURNS_MAX];
	int rc = 0;

	for (size_t i = 0; i < c->setup->done_count && !rc; i++) {
		bool is_last = c->setup->is_over && !c->setup->is_decided &&
				i + 1 == c->setup->done_count; /* the final analysis is made later */

		duet_plan_next(plan, turns);
		rc = copy_run(c, &c->setup->done[i]);
		if (!rc && !is_last && is_look(c->out->run_count) && c->out->run_count < c->out->schedule.runs_max)
			rc = look(c, false);
	}
	return rc;
}

static int measure(struct comparison *c)
{
	struct duet_schedule *s = &c->out->schedule;
	struct duet_plan plan;
	int rc;

	compare_plan(c, &plan, s->design, s->turns, 0);
	if (s->runs_max >= 2 * DUET_GROUP_FIRST)
		plan.group = DUET_GROUP_FIRST;
	stats_effect_plan(&c->sequence, c->setup->level, s->runs_max);
	rc = look_again(c, &plan);
	while (rc == 0 && c->out->verdict == STATS_INCONCLUSIVE && !c->setup->is_over && has_next(c)) {
		rc = next_run(c, &plan);
		if (rc == 0 && is_look(c->out->run_count) && has_next(c))
			rc = look(c, false);
	}
	return rc;
}

/* Returns how many runs would decide, if the estimate is right. */
static size_t needed_runs(const struct comparison *c)
{
	const struct stats_effect *e = &c->out->effect;
	double sd = stats_effect_spread(e), m = log(c->setup->margin), far = fabs(e->log_ratio.estimate);

	if (!(sd > 0) || !isfinite(far))
		return 0;
	if (far < m)
		return stats_required_n_equivalent(sd, m - far, c->setup->level, POWER, NEEDED_MOST);
	return stats_required_n(sd, far - m, c->setup->level, POWER, NEEDED_MOST);
}

static void say_what_it_takes(struct comparison *c)
{
	struct duet_result *out = c->out;
	double sd = stats_effect_spread(&out->effect);

	out->detectable = out->run_count >= 2 ? exp(stats_detectable_effect(out->run_count, sd, c->setup->level, POWER))
					      : NAN;
	if (out->verdict != STATS_INCONCLUSIVE || out->run_count < 2)
		return;
	out->needed_runs = needed_runs(c);
	out->needed_seconds = (double)out->needed_runs * out->run_seconds;
}

/* Fills in the result at the end, in every case. */
static int conclude(struct comparison *c, int rc)
{
	struct duet_result *out = c->out;
	int judged = 0;

	if (rc == -EINTR)
		out->stop = DUET_INTERRUPTED;
	else if (rc)
		out->stop = DUET_FAILED;
	else if (out->verdict != STATS_INCONCLUSIVE)
		out->stop = DUET_DECIDED;
	if (out->verdict == STATS_INCONCLUSIVE) {
		struct comparison quiet = *c;
		struct sonde_err ignored;

		quiet.err = rc ? &ignored : c->err;
		judged = look(&quiet, true);
		c->sequence = quiet.sequence;
	}
	out->run_seconds = run_ns(c) / 1e9;
	out->seconds = (double)(c->runner->now_ns(c->runner->self) - c->begin_ns + c->setup->spent_ns) / 1e9;
	say_what_it_takes(c);
	if (rc == -EINTR)
		return 0;
	return rc ? rc : judged;
}

static void result_init(struct duet_result *out)
{
	*out = (struct duet_result){ .detectable = NAN,
		.carry = { .p = NAN, .medians = { { NAN, NAN }, { NAN, NAN } } },
		.arena = ARENA_INIT };
	out->effect.log_ratio = stats_interval_open(NAN, 0, 0, "none");
	out->effect.ratio = out->effect.log_ratio;
	out->self.ratio = out->cpu = out->effect.log_ratio;
	out->effect.p = NAN;
	stats_moments_init(&out->effect.locations);
}

int duet_compare(const struct duet_setup *setup, const struct duet_runner *runner, struct duet_result *out,
		struct sonde_err *err)
{
	struct comparison c = { .setup = setup, .runner = runner, .out = out, .err = err };
	int rc = 0;

	result_init(out);
	c.begin_ns = runner->now_ns(runner->self);
	out->schedule = setup->schedule;
	if (!setup->schedule.is_settled)
		rc = compare_choose_design(&c);
	if (rc == 0)
		rc = measure(&c);
	return conclude(&c, rc);
}

static int64_t no_time(void *self)
{
	return 0;
}

int duet_judge(const struct duet_setup *setup, struct duet_run *runs, size_t count, struct duet_result *out,
		struct sonde_err *err)
{
	struct duet_runner runner = { .now_ns = no_time };
	struct comparison c = { .setup = setup, .runner = &runner, .out = out, .err = err };
	int rc;

	result_init(out);
	out->runs = runs;
	out->run_count = out->capacity = count;
	out->schedule.design = count ? runs[0].design : setup->design;
	out->stop = DUET_RUNS_OVER;
	rc = pair_runs(&c);
	if (!rc)
		rc = judge(&c, NULL);
	out->run_seconds = run_ns(&c) / 1e9;
	out->seconds = out->run_seconds * (double)count;
	say_what_it_takes(&c);
	return rc;
}

void duet_result_release(struct duet_result *r)
{
	for (size_t i = 0; i < r->run_count; i++)
		duet_run_release(&r->runs[i]);
	free(r->runs);
	arena_release(&r->arena);
	r->runs = NULL;
	r->run_count = 0;
}
