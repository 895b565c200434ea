/*
 * The decisions of a coach: is what was seen enough, is the job where it should be, is something else worth a try?
 */
#include "train/coach-private.h"
#include "train/worth.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { REPORTS_MIN = TRAIN_SKIPPED + 12, TRY_REPORTS = 24, IN_VAIN_MAX = 4 };

static const double near_enough = 0.1;  /* half the interval of a pace by the pace: then it is known */
static const double moving_share = 0.1; /* of the whole time of the job: so much may go into moves at most */
static const double far_worse = 1.5;    /* by this factor: then more reports would not change what is thought of it */

/* What a move has cost so far; nothing is known: nothing. */
static double usual_cost(const struct train_coach *c, bool is_restart)
{
	const struct stats_moments *m = &c->cost[is_restart];

	return m->n ? m->mean : 0;
}

/* How long the first report after a move may take before the configuration is held to be slow. */
static double grace(const struct train_coach *c, const struct train_stint *s)
{
	const struct stats_moments *m = &c->cost[s->is_restart];

	return m->n ? fmax(5 * m->max, 2) : 60;
}

static double best_told(const struct train_coach *c)
{
	double best = INFINITY;

	for (size_t i = 0; i < c->stint_count; i++)
		if (c->stints[i]->is_told && !c->stints[i]->is_failed)
			best = fmin(best, c->stints[i]->value);
	return best;
}

enum knowledge { NOT_YET, KNOWN, TOO_SLOW };

/* Is what was seen of the configuration enough? */
static enum knowledge know(const struct train_coach *c, const struct train_stint *s, double now_s)
{
	struct stats_interval pace = train_stint_pace(s);
	double best = best_told(c), slowness = train_stint_slowness(s, now_s, grace(c, s));

	if (s->is_failed || s->count >= (size_t)c->plan->iterations + TRAIN_SKIPPED)
		return KNOWN;
	if (slowness > 2 * best && slowness > 0.05)
		return TOO_SLOW;
	if (s->count < REPORTS_MIN)
		return NOT_YET;
	if ((pace.hi - pace.lo) / 2 < near_enough * pace.estimate || pace.lo > far_worse * best)
		return KNOWN;
	return NOT_YET;
}

static void look_at_losses(struct train_coach *c)
{
	stats_curve_fit(&c->fit, c->losses, c->loss_count, c->plan->target_loss, c->plan->curve);
}

static int tell(struct train_coach *c, struct train_stint *s, enum knowledge how, double now_s, struct sonde_err *err)
{
	struct tune_result result = { .state = how == TOO_SLOW ? TUNE_CUT : TUNE_DONE };

	look_at_losses(c);
	s->value = how == TOO_SLOW ? train_stint_slowness(s, now_s, grace(c, s)) : train_worth_measured(c, s).mean;
	s->is_failed |= !isfinite(s->value);
	if (s->is_failed)
		result.state = TUNE_FAILED;
	result.values[0] = s->value;
	s->is_told = true;
	c->in_vain = 0;
	return tune_tell(&c->optimizer, s->trial, &result, err);
}

/* Whatever may come of it: is there time for one more try? */
static bool has_time(const struct train_coach *c, double price_s)
{
	const struct train_stint *s = train_coach_now(c);
	struct stats_interval left = train_coach_remaining(c);
	double total = s->last_s + (isfinite(left.estimate) ? left.estimate : s->last_s);

	return c->moving_s + price_s <= moving_share * total;
}

/* Going there, being there for a while and coming back, by what it may bring. Nothing known yet: yes. */
static int is_worth_trying(struct train_coach *c, struct train_decision *d, double here, bool *is_worth,
		struct sonde_err *err)
{
	struct train_worth there, go = train_worth_to_go(c);
	double stay = fmin((double)c->plan->iterations, TRY_REPORTS);
	int rc = train_worth_expected(c, c->candidate, &there, err);

	c->looks++;
	*is_worth = has_time(c, 2 * usual_cost(c, train_coach_is_restart(c, c->candidate)));
	if (!*is_worth)
		return 0;
	if (rc == -ENODATA || (c->phase == TRAIN_EXPLORING && c->stint_count < c->optimizer.space->count + 2))
		return 0;
	if (rc < 0)
		return rc;
	/* What is learnt pays for as long as the job lasts, and nobody knows how long: hope for the longer. */
	d->gain_s = train_worth_improvement(&there, here) * fmax(0, go.mean + go.sd - stay);
	d->cost_s = 2 * usual_cost(c, train_coach_is_restart(c, c->candidate)) + stay * fmax(0, there.mean - here);
	d->sd_s = there.sd * go.mean;
	*is_worth = d->gain_s > d->cost_s;
	return 0;
}

/* The candidate, if it is worth a try. If it is not, the next look has another, some times. */
static int consider_candidate(struct train_coach *c, struct train_decision *d, double here, enum train_reason reason,
		struct sonde_err *err)
{
	bool is_worth = false;
	int rc = coach_have_candidate(c, err);

	if (rc == -ENOENT) /* there is nothing else */
		return 0;
	if (rc == 0)
		rc = is_worth_trying(c, d, here, &is_worth, err);
	if (rc == 0 && !is_worth && ++c->in_vain < IN_VAIN_MAX)
		c->candidate_id = 0;
	if (rc < 0 || !is_worth)
		return rc;
	d->act = TRAIN_MOVE;
	d->reason = reason;
	d->trial = c->candidate_id;
	memcpy(d->point, c->candidate, sizeof(d->point));
	return 0;
}

/* To what is expected to be best, if that saves more than it costs, surely enough. */
static int consider_best(struct train_coach *c, struct train_decision *d, const double *best,
		const struct train_worth *worth, const struct train_worth *here, struct sonde_err *err)
{
	struct train_worth go = train_worth_to_go(c);
	double saved = here->mean - worth->mean, saved_sd = hypot(here->sd, worth->sd), z = c->plan->confidence;

	c->looks++;
	memcpy(d->point, best, c->optimizer.space->count * sizeof(double));
	coach_apply_pins(c, d->point);
	d->gain_s = go.mean * saved;
	d->cost_s = usual_cost(c, train_coach_is_restart(c, d->point));
	d->sd_s = hypot(go.mean * saved_sd, go.sd * saved);
	/* Both may be less than expected: what is saved an iteration, and how many there are to go. */
	if (isfinite(here->mean) && !(fmax(go.mean - z * go.sd, go.mean / 4) * (saved - z * saved_sd) > d->cost_s))
		return 0;
	if (!tune_point_is_allowed(c->optimizer.space, d->point))
		return 0;
	d->act = TRAIN_MOVE;
	d->reason = TRAIN_BEST;
	return coach_add_trial(c, d->point, &d->trial, err);
}

/* Was the try worth it? Those that were not make the next ones rarer. */
static void judge_try(struct train_coach *c, const struct train_stint *s, const double *best)
{
	if (s->reason != TRAIN_TRY)
		return;
	if (best && tune_point_equal(c->optimizer.space, best, s->point))
		c->no_better = 0;
	else
		c->no_better++;
}

/* Is the job where it should be? is_due: and is it time to try something else? */
static int look(struct train_coach *c, struct train_decision *d, bool is_due, struct sonde_err *err)
{
	const struct train_stint *s = train_coach_now(c);
	struct train_worth worth, here;
	const double *best;
	int rc = train_worth_best(c, &best, &worth, err);

	look_at_losses(c);
	here = train_worth_measured(c, s);
	if (s->is_failed || !isfinite(here.mean))
		here = (struct train_worth){ s->is_failed ? INFINITY : s->value, 0 };
	if (!is_due)
		judge_try(c, s, best);
	if (rc == 0 && best && !tune_point_equal(c->optimizer.space, best, s->point))
		rc = consider_best(c, d, best, &worth, &here, err);
	if (rc == 0 && is_due && d->act == TRAIN_WAIT && isfinite(here.mean))
		rc = consider_candidate(c, d, best ? fmin(here.mean, worth.mean) : here.mean, TRAIN_TRY, err);
	if (is_due || c->look_at < c->loss_count)
		c->look_at = c->loss_count + (size_t)c->plan->online_iterations * (1 + c->no_better);
	return rc;
}

static int explore(struct train_coach *c, struct train_decision *d, double now_s, struct sonde_err *err)
{
	double best = best_told(c);
	int rc = 0;

	if (c->stint_count < (size_t)c->plan->explore)
		rc = consider_candidate(c, d, best, TRAIN_EXPLORE, err);
	if (rc < 0 || d->act == TRAIN_MOVE)
		return rc;
	c->phase = TRAIN_ONLINE;
	c->explored_s = now_s;
	return look(c, d, false, err);
}

static int move_by_hand(struct train_coach *c, struct train_decision *d, struct sonde_err *err)
{
	c->is_pinned_anew = false;
	memcpy(d->point, train_coach_now(c)->point, sizeof(d->point));
	coach_apply_pins(c, d->point);
	if (tune_point_equal(c->optimizer.space, d->point, train_coach_now(c)->point))
		return 0;
	d->act = TRAIN_MOVE;
	d->reason = TRAIN_HAND;
	return coach_add_trial(c, d->point, &d->trial, err);
}

int train_coach_decide(struct train_coach *c, double now_s, struct train_decision *d, struct sonde_err *err)
{
	struct train_stint *s = train_coach_now(c);
	enum knowledge known;
	int rc;

	*d = (struct train_decision){ .act = TRAIN_WAIT, .gain_s = NAN, .cost_s = NAN, .sd_s = NAN };
	c->is_reached |= train_finish_is_reached(&c->finish);
	if (c->is_reached) {
		d->act = TRAIN_FINISH;
		return 0;
	}
	if (c->is_pinned_anew)
		return move_by_hand(c, d, err);
	if (c->plan->mode == TRAIN_FIXED)
		return 0;
	if (s->is_told)
		return c->loss_count >= c->look_at ? look(c, d, true, err) : 0;
	known = know(c, s, now_s);
	if (known == NOT_YET)
		return 0;
	rc = tell(c, s, known, now_s, err);
	if (rc < 0)
		return rc;
	return c->phase == TRAIN_EXPLORING ? explore(c, d, now_s, err) : look(c, d, false, err);
}
