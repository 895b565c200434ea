/*
 * The decisions of the online controller: is the current configuration measured well enough, should the job switch to
 * the best one, should it try another?
 */
#include "tune/online-controller.h"

#include "base/cleanup.h"
#include "stats/dist.h"
#include "tune/model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { GAPS_MIN = 5, STAY = 16, IN_VAIN_MAX = 4 };

static const double near_enough = 0.1;   /* relative half width of the interval at which a rate is known */
static const double long_enough_s = 0.2; /* minimum measured time: less is scheduling noise */
static const double worse = 1.2;         /* factor above the best at which more reports cannot make it the best */
static const double far_worse = 1.5;     /* factor above the best at which it is left as soon as that is significant */
static const double sure_enough = 3.9;   /* log of 50: significance of one in fifty */
static const double hiccup_s = 0.1;      /* tolerated delay of any program while exploring, */
static const double way_back_s = 10;     /* and under the best configuration: slow workers have to finish first */
static const double left_after = 15;     /* iterations of the best: about how long a far slower one is kept */
static const double unknown_ratio = 0.5; /* relative spread of configurations before a model exists */

/* Mean measured cost of a reconfiguration; 0 if unknown. */
static double usual_cost(const struct online_controller *c, bool is_restart)
{
	const struct stats_moments *m = &c->cost[is_restart];

	return m->n ? m->mean : 0;
}

/* How long the first report after a reconfiguration may take before the configuration counts as slow. */
static double grace(const struct online_controller *c, const struct online_stage *s)
{
	const struct stats_moments *m = &c->cost[s->is_restart];
	double start_s = c->stages[0]->first_s - c->stages[0]->asked_s;

	if (m->n)
		return fmax(2 * m->max, 0.5);
	/* No measurement yet: a live change takes no longer than the start of the program. */
	return s->is_restart || !isfinite(start_s) ? 60 : fmax(2 * start_s, 1);
}

static struct train_wait wait_of(const struct online_controller *c, const struct online_stage *s)
{
	return online_stage_wait(s, c->now_s, grace(c, s), c->group_size);
}

enum knowledge { NOT_YET, KNOWN, TOO_SLOW };

/* Is the configuration measured well enough? */
static enum knowledge assess(const struct online_controller *c, const struct online_stage *s)
{
	struct stats_interval rate = online_stage_rate(s);
	struct train_wait wait = wait_of(c, s);
	double best = INFINITY;
	size_t gaps = 2 * train_finish_workers(&c->finish); /* two of each worker, in case they come in bursts */
	size_t most = c->plan->iterations > 2 ? (size_t)c->plan->iterations : 2;
	bool is_known;

	for (size_t i = 0; i < c->stage_count; i++)
		if (c->stages[i]->is_told && !c->stages[i]->is_failed)
			best = fmin(best, c->stages[i]->value);
	if (s->is_failed)
		return KNOWN;
	if (wait.seconds > (s->reason == TRAIN_EXPLORE || s->reason == TRAIN_TRY ? hiccup_s : way_back_s) &&
			train_wait_evidence(&wait, far_worse * best) > sure_enough)
		return TOO_SLOW;
	gaps = gaps > GAPS_MIN ? gaps : GAPS_MIN;
	if (s->gap_count < (gaps < most ? gaps : most))
		return NOT_YET;
	if (rate.lo > worse * best)
		return KNOWN;
	is_known = s->gap_count >= most || (rate.hi - rate.lo) / 2 < near_enough * rate.estimate;
	return is_known && s->measured_s >= long_enough_s ? KNOWN : NOT_YET;
}

static void check_losses(struct online_controller *c)
{
	stats_curve_fit(&c->fit, c->losses, c->loss_count, c->plan->target_loss, c->plan->curve);
}

static int tell(struct online_controller *c, struct online_stage *s, enum knowledge how, struct sonde_err *err)
{
	struct tune_result result = { .state = how == TOO_SLOW ? TUNE_CUT : TUNE_DONE };

	check_losses(c);
	s->value = progress_cost_measured(c, s).mean;
	if (how == TOO_SLOW) {
		struct train_wait wait = wait_of(c, s);

		s->value = wait.seconds / wait.reports;
		if (!s->count)
			c->moving_s += c->now_s - s->asked_s; /* all of it was reconfiguration time */
	}
	s->is_failed |= !isfinite(s->value);
	if (s->is_failed)
		result.state = TUNE_FAILED;
	result.values[0] = s->value;
	s->is_told = true;
	c->in_vain = 0;
	return tune_tell(&c->optimizer, s->trial, &result, err);
}

/* Number of configurations with a result. */
static size_t told(const struct online_controller *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->stage_count; i++)
		n += c->stages[i]->is_told && c->stages[i]->reason != TRAIN_BEST;
	return n;
}

/* Predicts the candidate's cost. With few results the prediction is uninformative. */
static int expect(const struct online_controller *c, double here, bool is_new, struct progress_cost *there,
		struct sonde_err *err)
{
	int rc = progress_cost_expected(c, c->candidate, there, err);

	if (rc == -ENODATA)
		*there = (struct progress_cost){ here, 0 };
	else if (rc < 0)
		return rc;
	if (is_new)
		*there = (struct progress_cost){ fmin(there->mean, here), fmax(there->sd, unknown_ratio * here) };
	return 0;
}

/*
 * The possible gain over the iterations that very likely remain, against the cost of changing, measuring and changing
 * back.
 */
static int is_worth_trying(struct online_controller *c, struct train_decision *d, double here, bool is_new,
		bool *is_worth, struct sonde_err *err)
{
	double stay = fmax(fmin((double)c->plan->iterations, STAY), (TRAIN_SETTLE_S + long_enough_s) / here), better;
	struct progress_cost there;
	int rc;

	c->looks++;
	*is_worth = isinf(here); /* any configuration is better than one that fails */
	rc = *is_worth ? 0 : expect(c, here, is_new, &there, err);
	if (rc < 0 || *is_worth)
		return rc;
	better = progress_cost_improvement(&there, here);
	d->gain_s = better * fmax(0, progress_cost_sure_to_go(c) - stay);
	d->cost_s = 2 * usual_cost(c, online_controller_is_restart(c, c->candidate));
	/* Is there time for one more try, whatever its result? */
	*is_worth = c->moving_s + d->cost_s <= c->plan->moving_share * (c->now_s + here * progress_cost_sure_to_go(c));
	d->cost_s += fmin(stay * (better + there.mean - here), fmax(left_after * here, hiccup_s));
	d->sd_s = there.sd * progress_cost_to_go(c).mean;
	*is_worth = *is_worth && d->gain_s > d->cost_s;
	return 0;
}

/* Tries the candidate if that pays off. If not, the next decision asks for another one, up to IN_VAIN_MAX times. */
static int consider_candidate(struct online_controller *c, struct train_decision *d, double here, struct sonde_err *err)
{
	bool is_worth = false, is_new = told(c) < c->optimizer.space->count + 2;
	int rc = controller_have_candidate(c, err);

	if (rc == -ENOENT) /* no other configuration is left */
		return 0;
	if (rc == 0)
		rc = is_worth_trying(c, d, here, is_new, &is_worth, err);
	if (rc == 0 && !is_worth &&
			online_controller_is_restart(c, c->candidate)) { /* retry with the live parameters only */
		rc = controller_have_live_candidate(c, err);
		if (rc == 0)
			rc = is_worth_trying(c, d, here, is_new, &is_worth, err);
	}
	if (rc == 0 && !is_worth && (!is_new || online_controller_is_restart(c, c->candidate)) &&
			++c->in_vain < IN_VAIN_MAX)
		c->candidate_id = 0;
	if (rc < 0 || !is_worth)
		return rc;
	d->act = TRAIN_MOVE;
	d->reason = c->phase == TRAIN_EXPLORING ? TRAIN_EXPLORE : TRAIN_TRY;
	d->trial = c->candidate_id;
	memcpy(d->point, c->candidate, sizeof(d->point));
	return 0;
}

/* Switches to the configuration with the best expected cost if the saving exceeds the cost with confidence. */
static int consider_best(struct online_controller *c, struct train_decision *d, const double *best,
		const struct progress_cost *cost, const struct progress_cost *here, struct sonde_err *err)
{
	struct progress_cost go = progress_cost_to_go(c);
	double saved = here->mean - cost->mean, saved_sd = hypot(here->sd, cost->sd), z = c->plan->confidence;

	c->looks++;
	memcpy(d->point, best, c->optimizer.space->count * sizeof(double));
	controller_apply_pins(c, d->point);
	if (tune_point_equal(c->optimizer.space, d->point, online_controller_now(c)->point))
		return 0; /* the better values are pinned otherwise by the user */
	d->gain_s = go.mean * saved;
	d->cost_s = usual_cost(c, online_controller_is_restart(c, d->point));
	d->sd_s = hypot(go.mean * saved_sd, go.sd * saved);
	/* Both the saving per iteration and the number of remaining iterations may be lower than expected. */
	if (isfinite(here->mean) && !(progress_cost_sure_to_go(c) * (saved - z * saved_sd) > d->cost_s))
		return 0;
	if (!tune_point_is_allowed(c->optimizer.space, d->point))
		return 0;
	d->act = TRAIN_MOVE;
	d->reason = TRAIN_BEST;
	return controller_add_trial(c, d->point, &d->trial, err);
}

/* May the next try follow immediately? True during the initial exploration. */
static bool is_beginning(const struct online_controller *c)
{
	return c->stage_count < (size_t)c->plan->explore;
}

/*
 * Is the job under the best configuration, and if a try is due, does one pay off? has_news: the current configuration
 * has a new result.
 */
static int look(struct online_controller *c, struct train_decision *d, bool has_news, struct sonde_err *err)
{
	const struct online_stage *s = online_controller_now(c);
	bool is_due = !has_news || is_beginning(c);
	struct progress_cost cost = { INFINITY, 0 }, here;
	const double *best;
	int rc = progress_cost_best(c, &best, &cost, err);

	check_losses(c);
	here = progress_cost_measured(c, s);
	if (s->is_failed || !isfinite(here.mean))
		here = (struct progress_cost){ s->is_failed ? INFINITY : s->value, 0 };
	/* Did the try find a better configuration? Each that did not delays the next one. */
	if (has_news && s->reason == TRAIN_TRY)
		c->no_better = best && tune_point_equal(c->optimizer.space, best, s->point) ? 0 : c->no_better + 1;
	if (rc == 0 && is_due)
		rc = consider_candidate(c, d, fmin(here.mean, cost.mean), err);
	if (rc == 0 && d->act == TRAIN_WAIT && best && !tune_point_equal(c->optimizer.space, best, s->point))
		rc = consider_best(c, d, best, &cost, &here, err);
	if (c->phase == TRAIN_EXPLORING && d->reason != TRAIN_EXPLORE) {
		c->phase = TRAIN_ONLINE;
		c->explored_s = c->now_s;
	}
	if (is_due || c->look_at < c->loss_count) {
		size_t pause = (size_t)c->plan->online_iterations * (1 + c->no_better);

		/* First whenever the number of losses has doubled; later at regular intervals. */
		c->look_at = c->loss_count + (is_beginning(c) && c->loss_count < pause ? c->loss_count : pause);
	}
	return rc;
}

int online_controller_decide(struct online_controller *c, double now_s, struct train_decision *d, struct sonde_err *err)
{
	struct online_stage *s = online_controller_now(c);
	enum knowledge known;
	int rc;

	*d = (struct train_decision){ .act = TRAIN_WAIT, .gain_s = NAN, .cost_s = NAN, .sd_s = NAN };
	c->now_s = now_s;
	c->is_reached |= train_finish_is_reached(&c->finish);
	if (c->is_reached) {
		d->act = TRAIN_FINISH;
		return 0;
	}
	if (c->is_pinned_anew) {
		c->is_pinned_anew = false;
		memcpy(d->point, online_controller_now(c)->point, sizeof(d->point));
		controller_apply_pins(c, d->point);
		if (tune_point_equal(c->optimizer.space, d->point, online_controller_now(c)->point))
			return 0;
		d->act = TRAIN_MOVE;
		d->reason = TRAIN_HAND;
		return controller_add_trial(c, d->point, &d->trial, err);
	}
	if (c->plan->mode == TRAIN_FIXED)
		return 0;
	if (s->is_told)
		return c->loss_count >= c->look_at ? look(c, d, false, err) : 0;
	known = assess(c, s);
	if (known == NOT_YET)
		return 0;
	rc = tell(c, s, known, err);
	return rc < 0 ? rc : look(c, d, true, err);
}

/*
 * Standard deviations of logarithms: of the progress per iteration before any data, and of the error of the curve's
 * slope. With fewer reports the losses are ignored.
 */
static const double prior_sd = 0.15, curve_sd = 0.3;
/*
 * Each additional worker increases the number of iterations a job takes by this fraction. The shipped CNN takes 1.04,
 * 1.10, 1.31 times as many with 2, 4, 8.
 */
static const double staleness = 0.04;
enum { REPORTS_MIN = 100 };

/* The slope of the logarithm of the stage's losses, and its standard error. */
static void slope_of(const struct online_controller *c, const struct online_stage *s, double *slope, double *error)
{
	const double *losses = c->losses + s->first_loss;
	size_t left = c->loss_count - s->first_loss, all = s->count < left ? s->count : left, n = 0;
	double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, det, rest;

	for (size_t i = 0; i < all; i++) {
		double x = (double)i, y = log(losses[i]);

		if (!isfinite(y))
			continue;
		n++;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
		syy += y * y;
	}
	det = (double)n * sxx - sx * sx;
	*slope = ((double)n * sxy - sx * sy) / det;
	rest = syy - sy * sy / (double)n - *slope * *slope * det / (double)n;
	*error = n > 2 ? sqrt(fmax(rest, 0) / (double)(n - 2) * (double)n / det) : INFINITY;
}

double progress_cost_of_workers(size_t workers)
{
	return 1 / (1 + staleness * (double)(workers > 1 ? workers - 1 : 0));
}

double progress_cost_usual(const struct online_controller *c)
{
	return c->loss_count ? c->brought / (double)c->loss_count : 1;
}

/*
 * Progress per iteration relative to the job's average: by the number of workers, and by the losses weighted by their
 * precision.
 */
static double efficiency(const struct online_controller *c, const struct online_stage *s)
{
	double middle = (double)s->first_loss + (double)s->count / 2, slope, error, usual, noise, ratio;
	double expected = progress_cost_of_workers(s->workers) / progress_cost_usual(c);

	if (s->count < REPORTS_MIN)
		return expected;
	usual = stats_curve_slope(&c->fit, fmax(middle, 1));
	slope_of(c, s, &slope, &error);
	ratio = fmin(fmax(slope / usual, 0.2), 3);
	if (!(usual < 0) || !isfinite(slope) || !isfinite(error))
		return expected;
	if (slope > 2 * error)
		return 0.2; /* the losses grow: it does not train at all */
	noise = sqrt(pow(error / usual, 2) + curve_sd * curve_sd);
	return expected + prior_sd * prior_sd / (prior_sd * prior_sd + noise * noise) * (ratio - expected);
}

struct progress_cost progress_cost_measured(const struct online_controller *c, const struct online_stage *s)
{
	struct stats_interval rate = online_stage_rate(s);
	double brings = efficiency(c, s) * progress_cost_usual(c);
	struct progress_cost w = { rate.estimate / brings, NAN };

	w.sd = isfinite(rate.se) ? rate.se / brings : w.mean;
	return w;
}

static int fit(const struct online_controller *c, struct tune_model *m, struct arena *scratch, struct sonde_err *err)
{
	const struct tune_optimizer *o = &c->optimizer;
	double *cost = arena_alloc(scratch, (o->count + 1) * sizeof(*cost));
	struct tune_model_options how = { .cost = cost, .is_warped = true };

	if (!cost)
		return err_sys(err, ENOMEM, "cannot predict the progress");
	for (size_t t = 0; t < o->count; t++)
		cost[t] = o->trials[t].result.state == TUNE_DONE || o->trials[t].result.state == TUNE_CUT
				? tune_cost(o, &o->trials[t], 0)
				: NAN;
	return tune_model_fit(m, o, &how, scratch, err);
}

int progress_cost_expected(const struct online_controller *c, const double *point, struct progress_cost *cost,
		struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena scratch = ARENA_INIT;
	struct tune_model *m = arena_alloc(&scratch, sizeof(*m));
	double at[TUNE_PARAMS_MAX], mean, variance;
	int rc = m ? fit(c, m, &scratch, err) : err_sys(err, ENOMEM, "cannot predict the progress");

	if (rc < 0)
		return rc;
	tune_point_coordinates(c->optimizer.space, point, at);
	stats_gp_predict(&m->gp, at, &mean, &variance, NULL, NULL);
	cost->mean = tune_unwarp(&m->warp, mean);
	cost->sd = (tune_unwarp(&m->warp, mean + sqrt(variance)) - tune_unwarp(&m->warp, mean - sqrt(variance))) / 2;
	if (!isfinite(cost->sd))
		cost->sd = fabs(cost->mean);
	return 0;
}

int progress_cost_best(struct online_controller *c, const double **point, struct progress_cost *cost,
		struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena scratch = ARENA_INIT;
	struct tune_best best;
	int rc = tune_recommend(&c->optimizer, &best, &scratch, err);

	*point = NULL;
	if (rc < 0 || !best.trial)
		return rc;
	*point = best.trial->point;
	cost->mean = best.value;
	cost->sd = best.is_modelled ? (best.hi - best.lo) / 4 : 0.1 * best.value;
	for (size_t i = 0; i < c->stage_count; i++) { /* the measurement, where it is more precise than the model */
		struct progress_cost seen = progress_cost_measured(c, c->stages[i]);

		if (seen.sd < cost->sd && tune_point_equal(c->optimizer.space, c->stages[i]->point, *point))
			*cost = seen;
	}
	return 0;
}

double progress_cost_improvement(const struct progress_cost *w, double than)
{
	double z = (than - w->mean) / w->sd;

	if (!(w->sd > 0))
		return fmax(0, than - w->mean);
	return w->sd * (z * stats_normal_cdf(z) + exp(-z * z / 2) / sqrt(2 * M_PI));
}

struct progress_cost progress_cost_to_go(const struct online_controller *c)
{
	double usual = progress_cost_usual(c);
	struct progress_cost go = { c->fit.remaining.estimate * usual, c->fit.remaining.se * usual };

	/* Without a target or a fit yet: assume that the job is half done. */
	if (!isfinite(go.mean))
		go.mean = go.sd = (double)c->loss_count;
	return go;
}

double progress_cost_sure_to_go(const struct online_controller *c)
{
	struct progress_cost go = progress_cost_to_go(c);

	if (!(go.mean > 0))
		return 0;
	/* However wrong the curve is: with even odds the job lasts as long again as it has so far. */
	return fmax(go.mean * exp(-c->plan->confidence * go.sd / go.mean), fmin(go.mean, (double)c->loss_count));
}
