/*
 * carry-over: the order of the executions against their times (compare.h). The model is that of cross-over trials:
 * Jones and Kenward, "Design and analysis of cross-over trials" (2014), chapter 1; the tests are Wilcoxon's, on
 * residuals, since times have outliers.
 *
 * The first test uses all executions. Of a side, those after the other side are the majority; their median is the
 * level of the side. If B leaves something behind, A after A is below A's level and B after B is above B's: with the
 * sign of A's residuals reversed, executions after their own side are all above the others. A difference between the
 * first and the second execution of a pair, such as the pause between two runs, moves A and B in opposite directions
 * and cancels, since A after A and B after B alternate. The second test, own side against other side whatever the
 * direction, has no such protection and uses first executions only.
 */
#include "duet/compare-private.h"
#include "stats/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct execution {
	int64_t start_ns;
	enum duet_side side, after;
	bool is_first; /* of its pair */
	double value;  /* ln of the metric */
};

static int by_start(const void *pa, const void *pb)
{
	const struct execution *a = pa, *b = pb;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* All executions in order of time, without the first, whose predecessor is unknown, and without unknown values. */
static size_t list_executions(const struct comparison *c, struct execution *out)
{
	enum duet_metric metric = c->setup->pairing.metric;
	size_t n = 0, kept = 0;

	for (size_t r = 0; r < c->out->run_count; r++) {
		size_t from = n;

		for (int side = 0; side < DUET_SIDES; side++)
			for (size_t i = 0; i < c->out->runs[r].sides[side].count; i++) {
				const struct duet_iteration *it = &c->out->runs[r].sides[side].items[i];

				out[n++] = (struct execution){ .start_ns = it->start_ns,
					.side = (enum duet_side)side,
					.value = log(it->metrics[metric]) };
			}
		qsort(out + from, n - from, sizeof(*out), by_start);
		for (size_t i = from; i < n; i++)
			out[i].is_first = (i - from) % 2 == 0;
	}
	for (size_t i = n; i-- > 1;)
		out[i].after = out[i - 1].side;
	for (size_t i = 1; i < n; i++)
		if (isfinite(out[i].value))
			out[kept++] = out[i];
	return kept;
}

/* The values of a side after a side; only those that are first in their pair, if wanted. */
static size_t select_values(const struct execution *e, size_t n, enum duet_side side, enum duet_side after,
		bool is_first, double *out)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (e[i].side == side && e[i].after == after && (e[i].is_first || !is_first))
			out[count++] = e[i].value;
	return count;
}

/*
 * p of "executions after their own side are like the others"; is_signed: with A's residuals reversed. x has space for
 * all values. least: the smallest p that so many can have.
 */
static double test_own(struct execution *e, size_t n, bool is_signed, double *x, double *least)
{
	double levels[DUET_SIDES];
	size_t own = 0, other = 0;

	for (int side = 0; side < DUET_SIDES; side++) {
		size_t count = select_values(e, n, (enum duet_side)side, DUET_B - side, !is_signed, x);

		levels[side] = count ? stats_median(x, count) : NAN;
	}
	for (size_t i = 0; i < n; i++) {
		double residual = e[i].value - levels[e[i].side];

		if ((!e[i].is_first && !is_signed) || isnan(residual))
			continue;
		if (is_signed && e[i].side == DUET_A)
			residual = -residual;
		/* The own ones are gathered from the start of x, the others from its end. */
		x[e[i].after == e[i].side ? own++ : n - ++other] = residual;
	}
	*least = stats_rank_sum_p_least(own, other);
	return stats_rank_sum_p(x, own, x + n - other, other);
}

bool compare_has_carry_over(const struct comparison *c)
{
	return c->out->schedule.design == DUET_RMIT && !c->setup->has_steps;
}

int compare_carry_over(struct comparison *c)
{
	struct duet_carry_over *out = &c->out->carry;
	struct stats_moments own[DUET_SIDES];
	struct stats_interval alone;
	double p[2], least, size = 0, level = DUET_CARRY_LEVEL, *x;
	struct execution *e;
	size_t n = 0;

	for (size_t r = 0; r < c->out->run_count; r++)
		n += c->out->runs[r].sides[DUET_A].count + c->out->runs[r].sides[DUET_B].count;
	e = arena_alloc(&c->out->arena, (n + 1) * sizeof(*e));
	x = arena_alloc(&c->out->arena, (n + 1) * sizeof(*x));
	if (!e || !x)
		return err_sys(c->err, ENOMEM, "cannot estimate the carry-over");
	n = list_executions(c, e);
	*out = (struct duet_carry_over){ .p = NAN };
	p[1] = test_own(e, n, false, x, &least);
	p[0] = test_own(e, n, true, x, &least);
	for (int side = 0; side < DUET_SIDES; side++) {
		double medians[DUET_SIDES];

		for (int after = 0; after < DUET_SIDES; after++) {
			size_t count = select_values(e, n, (enum duet_side)side, (enum duet_side)after, false, x);

			if (after == side)
				own[side] = stats_moments_of(x, count);
			medians[after] = count ? stats_median(x, count) : NAN;
			out->medians[side][after] = exp(medians[after]);
		}
		size = fmax(size, fabs(medians[DUET_B] - medians[DUET_A]));
	}
	if (c->is_last && least > level / 2)
		level = DUET_CARRY_LEVEL_FEW;
	out->is_checked = least <= level / 2;
	if (!out->is_checked)
		return 0;
	out->p = fmin(1, 2 * fmin(p[0], p[1])); /* fmin ignores a test that had no values */
	out->is_found = out->p <= level && size > log(c->setup->margin);
	/* What remains of the answer if each program runs after itself, as it would alone? */
	alone = c->setup->pairing.is_more_better ? stats_welch_interval(&own[DUET_B], &own[DUET_A], c->setup->level)
						 : stats_welch_interval(&own[DUET_A], &own[DUET_B], c->setup->level);
	out->is_blocking = out->is_found &&
			(c->out->verdict == STATS_INCONCLUSIVE ||
					stats_verdict(&alone, c->setup->margin) != c->out->verdict);
	return 0;
}
