/*
 * pilot: A against itself, to choose a design and to find a bias before anything is compared.
 *
 * The cost of a design is the variance of its runs' log-ratios times the seconds per run: half the cost halves the
 * time to the same width. The variance is a robust estimate (stats/robust-scale.h), since the ranks used for the
 * answer tolerate outliers too. rmit is chosen unless another design is better by more than chance explains, since
 * the variance of a few runs is imprecise and rmit needs no assumption about how two programs share a machine. The
 * cost of a wrong choice: under a quota async has four times the error of rmit (bench/duet --design), and with five
 * runs one pilot in 25 estimated it at a fourth of rmit's cost.
 */
#include "duet/compare-private.h"
#include "stats/dist.h"
#include "stats/summary.h"

#include <math.h>

/* Runs of one turn are cheap: do more of them. */
enum { PILOT_RUNS = 5, PILOT_SHORT_RUNS = 20, SIGNS_RUNS = 8 };

#define PILOT_SHARE 0.2     /* of the budget, all designs together */
#define CHECK_SHARE 0.1     /* of the budget */
#define CLEARLY_BETTER 0.25 /* times the cost of rmit, and */
#define CHANCE 0.02         /* probability of such a difference for a design that is not better */
#define QN_EFFICIENCY 0.82
#define CHECK_LEVEL 0.99
#define FAR_OFF 8 /* width of the middle four fifths by the middle two; 2.4 for normal runs, 4 by chance */

/* The runs of A against itself in one design. */
struct trial {
	struct duet_plan plan;
	struct duet_run runs[PILOT_SHORT_RUNS];
	size_t count, wanted;
};

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

static size_t count_candidates(const struct duet_setup *s)
{
	size_t n = 0;

	for (int d = 0; d < DUET_DESIGNS; d++)
		n += is_candidate(s, (enum duet_design)d);
	return n;
}

static double seconds_of(const struct trial *t)
{
	double ns = 0;

	for (size_t i = 0; i < t->count; i++)
		ns += (double)(t->runs[i].end_ns - t->runs[i].start_ns);
	return t->count ? ns / 1e9 / (double)t->count : NAN;
}

/* Returns the turn time of the quickest run. */
static double quickest_ns(const struct trial *t)
{
	double least = INFINITY;

	for (size_t i = 0; i < t->count; i++)
		least = fmin(least, (double)(t->runs[i].end_ns - t->runs[i].start_ns) / (double)t->plan.turns);
	return least;
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

static double variance_of(struct duet_pairs *pairs)
{
	double locations[PILOT_SHORT_RUNS], scale;

	locate(pairs, locations);
	scale = stats_qn(locations, pairs->runs);
	return scale * scale;
}

/* Returns the distance spanned by the middle `share` of sorted values. */
static double middle_width(const double *x, size_t n, double share)
{
	size_t out = (size_t)((double)n * (1 - share) / 2);

	return x[n - 1 - out] - x[out];
}

/*
 * Are the runs either near each other or far off, so that signs are much more precise than ranks? Averages of a near
 * and a far value are meaningless, and if a third of the values are far off, ranks use such averages as the middle:
 * errors of 25 % (bench/duet under a quota). If signs are not needed, they cost a quarter of width.
 */
static bool wants_signs(struct duet_pairs *pairs)
{
	double locations[PILOT_SHORT_RUNS];
	size_t n = pairs->runs;

	locate(pairs, locations);
	if (n < SIGNS_RUNS || stats_has_nan(locations, n))
		return false;
	stats_sort(locations, n);
	return middle_width(locations, n, 0.8) > FAR_OFF * middle_width(locations, n, 0.4);
}

static int weigh(struct comparison *c, enum duet_design design, const struct trial *t)
{
	struct duet_choice *choice = &c->out->choices[design];
	struct stats_effect effect;
	struct duet_pairs pairs;
	int rc = effect_of(c, t, &pairs, &effect);

	if (rc)
		return rc;
	*choice = (struct duet_choice){ .is_tried = true,
		.runs = t->count,
		.variance = variance_of(&pairs),
		.run_seconds = seconds_of(t) };
	choice->cost = choice->variance * choice->run_seconds;
	return 0;
}

/* The ratio of two variances with that probability by chance, for runs with equal true variances: Fisher's F. */
static double chance_ratio(const struct duet_choice *one, const struct duet_choice *other)
{
	double df = QN_EFFICIENCY * ((double)one->runs - 1), df_other = QN_EFFICIENCY * ((double)other->runs - 1);
	double x = stats_beta_quantile(CHANCE, df / 2, df_other / 2);

	return x / (1 - x) * df_other / df;
}

static enum duet_design cheapest(const struct duet_choice *choices)
{
	const struct duet_choice *rmit = &choices[DUET_RMIT];
	enum duet_design best = DUET_RMIT;
	double least = INFINITY;

	for (int d = 0; d < DUET_DESIGNS; d++)
		if (choices[d].is_tried && d != DUET_RMIT && choices[d].cost < least &&
				choices[d].cost < fmin(CLEARLY_BETTER, chance_ratio(&choices[d], rmit)) * rmit->cost) {
			least = choices[d].cost;
			best = (enum duet_design)d;
		}
	return best;
}

static int note_self(struct comparison *c, const struct trial *t)
{
	struct stats_effect effect;
	struct duet_pairs pairs;
	int rc = effect_of(c, t, &pairs, &effect);

	if (rc)
		return rc;
	c->out->self = (struct duet_self_check){ .runs = effect.locations.n,
		.ratio = effect.ratio,
		.is_biased = !effect.is_indicative && stats_direction(&effect.log_ratio) != 0 };
	c->out->schedule.has_signs = wants_signs(&pairs);
	c->quick_ns = quickest_ns(t);
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
	int rc;

	if (c->setup->on_start)
		c->setup->on_start(c->setup->arg, what, t->count, t->wanted);
	rc = compare_run(c, &t->plan, true, &t->runs[t->count]);
	if (!rc)
		t->count++;
	return rc;
}

/* Alternates the designs in rounds, so that a noisy period affects all of them. */
static int try_designs(struct comparison *c, struct trial trials[DUET_DESIGNS])
{
	int rc = 0;

	for (size_t round = 1; round <= PILOT_SHORT_RUNS; round++)
		for (int d = 0; d < DUET_DESIGNS && rc == 0; d++)
			if (trials[d].count * PILOT_SHORT_RUNS < trials[d].wanted * round)
				rc = add_run(c, &trials[d], "trying designs");
	for (int d = 0; d < DUET_DESIGNS && rc == 0; d++)
		if (trials[d].count)
			rc = weigh(c, (enum duet_design)d, &trials[d]);
	return rc;
}

/* Plans runs of the kind that will count, as many as fit into `ns`; returns the time they take, which may be more. */
static double plan_trial(struct comparison *c, struct trial *t, enum duet_design design, double ns)
{
	bool is_short = !c->setup->has_own_iterations && design != DUET_ASYNC;
	double fit = c->turn_ns > 0 ? ns / c->turn_ns : PILOT_SHORT_RUNS;
	size_t turns = compare_turns_for(c->setup, design, ns, PILOT_RUNS, c->turn_ns);

	t->wanted = PILOT_RUNS;
	if (is_short && fit > PILOT_RUNS)
		t->wanted = fit < PILOT_SHORT_RUNS ? (size_t)fit : PILOT_SHORT_RUNS;
	if (is_short)
		turns = compare_turns_for(c->setup, design, ns, PILOT_SHORT_RUNS, c->turn_ns);
	compare_plan(c, &t->plan, design, turns, 0xaa);
	return (double)(t->wanted * turns) * c->turn_ns;
}

/* Plans trials within the pilot's share of the budget; false if they do not fit. */
static bool plan_pilot(struct comparison *c, struct trial trials[DUET_DESIGNS])
{
	double all = PILOT_SHARE * (double)c->setup->budget_ns, needed = 0;

	for (int d = 0; d < DUET_DESIGNS; d++)
		if (is_candidate(c->setup, (enum duet_design)d))
			needed += plan_trial(c, &trials[d], (enum duet_design)d,
					all / (double)count_candidates(c->setup));
	return needed <= 1.2 * all;
}

int compare_pilot(struct comparison *c)
{
	struct trial trials[DUET_DESIGNS] = { 0 };
	enum duet_design design = DUET_RMIT;
	int rc = 0;

	if (count_candidates(c->setup) < 2 || !plan_pilot(c, trials))
		return 0;
	rc = try_designs(c, trials);
	if (!rc) {
		design = cheapest(c->out->choices);
		rc = note_self(c, &trials[design]);
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

int compare_self_check(struct comparison *c)
{
	struct trial t = { 0 };
	double share = CHECK_SHARE * (double)c->setup->budget_ns;
	int rc = 0;

	if (plan_trial(c, &t, c->out->schedule.design, share) > 1.2 * share)
		return 0;
	while (t.count < t.wanted && rc == 0)
		rc = add_run(c, &t, "comparing A with itself");
	if (!rc)
		rc = note_self(c, &t);
	release(&t);
	return rc;
}
