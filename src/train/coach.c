#include "train/coach.h"

#include "train/worth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPORTS_MIN = TRAIN_SKIPPED + 12, TRY_REPORTS = 24, IN_VAIN_MAX = 4 };

static const double near_enough = 0.1; /* half the interval of a pace by the pace: then it is known */
static const double moving_share = 0.15; /* of the whole time of the job: so much may go into moves at most */
static const double far_worse = 1.5;   /* by this factor: then more reports would not change what is thought of it */

int train_coach_init(struct train_coach *c, const struct train_plan *plan, struct sonde_err *err)
{
	struct tune_options how = { .method = plan->study.method, .seed = (uint64_t)plan->seed };

	memset(c, 0, sizeof(*c));
	c->plan = plan;
	c->explored_s = NAN;
	arena_init(&c->arena);
	stats_moments_init(&c->cost[0]);
	stats_moments_init(&c->cost[1]);
	for (size_t i = 0; i < TUNE_PARAMS_MAX; i++)
		c->pins[i] = NAN;
	stats_curve_fit(&c->fit, NULL, 0, plan->target_loss, plan->curve);
	train_finish_init(&c->finish, plan->finish, plan->target_loss, (size_t)plan->window);
	return tune_optimizer_init(&c->optimizer, &plan->study.space, &how, err);
}

void train_coach_release(struct train_coach *c)
{
	tune_optimizer_release(&c->optimizer);
	arena_release(&c->arena);
	free(c->segments);
	free(c->losses);
	memset(c, 0, sizeof(*c));
}

struct train_segment *train_coach_now(const struct train_coach *c)
{
	return c->segments[c->segment_count - 1];
}

/* Room for one more of `size` bytes each. */
static int grow(void *array, size_t count, size_t *cap, size_t max, size_t size, struct sonde_err *err)
{
	size_t wanted = *cap ? 2 * *cap : 256;
	void *more;

	if (count < *cap)
		return 0;
	if (count >= max)
		return err_set(err, E2BIG, "the job has made more than %zu of its steps", max);
	more = reallocarray(*(void **)array, wanted, size);
	if (!more)
		return err_sys(err, ENOMEM, "cannot go on watching the job");
	*(void **)array = more;
	*cap = wanted;
	return 0;
}

static int begin(struct train_coach *c, const struct train_decision *d, bool is_restart, double now_s,
		struct sonde_err *err)
{
	struct train_segment *s = arena_alloc(&c->arena, sizeof(*s));
	int rc = grow(&c->segments, c->segment_count, &c->segment_cap, TRAIN_SEGMENTS_MAX, sizeof(struct train_segment *), err);

	if (rc < 0 || !s)
		return rc < 0 ? rc : err_sys(err, ENOMEM, "cannot begin a configuration");
	s->index = (unsigned)c->segment_count;
	memcpy(s->point, d->point, sizeof(s->point));
	s->reason = d->reason;
	s->trial = d->trial;
	s->is_restart = is_restart;
	s->asked_s = now_s;
	s->first_s = s->last_s = s->cost_s = s->value = NAN;
	s->first_loss = c->loss_count;
	c->segments[c->segment_count++] = s;
	train_finish_change(&c->finish);
	return 0;
}

/* The trial of a point that is not the optimiser's own proposal. */
static int add_trial(struct train_coach *c, const double *point, uint64_t *id, struct sonde_err *err)
{
	const struct tune_trial *trial;
	int rc = tune_add(&c->optimizer, 0, point, &trial, err);

	if (rc == 0)
		*id = trial->id;
	return rc;
}

static void apply_pins(const struct train_coach *c, double *point)
{
	for (size_t i = 0; i < c->optimizer.space->count; i++)
		if (!isnan(c->pins[i]))
			point[i] = c->pins[i];
	tune_point_canonical(c->optimizer.space, point);
}

/* The next proposal, kept until it is tried. */
static int have_candidate(struct train_coach *c, struct sonde_err *err)
{
	const struct tune_trial *trial;
	int rc = 0;

	if (c->candidate_id)
		return 0;
	rc = tune_ask(&c->optimizer, &trial, err);
	if (rc < 0)
		return rc;
	memcpy(c->candidate, trial->point, c->optimizer.space->count * sizeof(double));
	c->candidate_id = trial->id;
	apply_pins(c, c->candidate);
	if (!tune_point_equal(c->optimizer.space, c->candidate, trial->point))
		rc = add_trial(c, c->candidate, &c->candidate_id, err);
	return rc;
}

void train_coach_fail(struct train_coach *c)
{
	train_coach_now(c)->is_failed = true;
}

int train_coach_recall(struct train_coach *c, const double *point, struct sonde_err *err)
{
	struct train_decision d = { .reason = c->segment_count ? TRAIN_EXPLORE : TRAIN_START };
	int rc;

	memcpy(d.point, point, c->optimizer.space->count * sizeof(double));
	rc = add_trial(c, d.point, &d.trial, err);
	return rc < 0 ? rc : begin(c, &d, true, 0, err);
}

int train_coach_recall_value(struct train_coach *c, size_t index, bool is_failed, double value, struct sonde_err *err)
{
	struct train_segment *s = c->segments[index];
	struct tune_result result = { .state = is_failed ? TUNE_FAILED : TUNE_DONE, .values = { value } };

	if (s->is_told)
		return 0;
	s->is_told = true;
	s->is_failed = is_failed || !isfinite(value);
	s->value = value;
	return tune_tell(&c->optimizer, s->trial, &result, err);
}

/* Those that were left before anything was known of them will not be known. */
static int start_again(struct train_coach *c, double now_s, struct sonde_err *err)
{
	struct train_decision d = { .reason = TRAIN_BEST };
	struct train_worth worth;
	const double *best;
	int rc = 0;

	for (size_t i = 0; i < c->segment_count && rc == 0; i++)
		rc = train_coach_recall_value(c, i, true, NAN, err);
	if (rc == 0)
		rc = train_worth_best(c, &best, &worth, err);
	if (rc < 0)
		return rc;
	if (best)
		memcpy(d.point, best, c->optimizer.space->count * sizeof(double));
	else
		tune_point_default(c->optimizer.space, d.point);
	rc = add_trial(c, d.point, &d.trial, err);
	return rc < 0 ? rc : begin(c, &d, true, now_s, err);
}

int train_coach_start(struct train_coach *c, double now_s, struct sonde_err *err)
{
	struct train_decision d = { .reason = TRAIN_START };
	int rc;

	if (c->segment_count)
		return start_again(c, now_s, err);
	rc = have_candidate(c, err); /* the default is asked for first */
	if (rc < 0)
		return rc;
	memcpy(d.point, c->candidate, sizeof(d.point));
	d.trial = c->candidate_id;
	c->candidate_id = 0;
	return begin(c, &d, true, now_s, err);
}

bool train_coach_is_restart(const struct train_coach *c, const double *point)
{
	const struct tune_space *space = c->optimizer.space;
	const struct train_segment *s = train_coach_now(c);

	for (size_t i = 0; i < space->count; i++)
		if (space->params[i].class != TUNE_LIVE && point[i] != s->point[i] && !(isnan(point[i]) && isnan(s->point[i])))
			return true;
	return false;
}

int train_coach_moved(struct train_coach *c, const struct train_decision *d, double now_s, struct sonde_err *err)
{
	bool is_restart = train_coach_is_restart(c, d->point);

	if (d->trial == c->candidate_id)
		c->candidate_id = 0;
	c->moves++;
	return begin(c, d, is_restart, now_s, err);
}

/* The time that the move took, without what the job did meanwhile at its old pace. */
static void learn_cost(struct train_coach *c, struct train_segment *s, double time_s)
{
	double pace;

	if (s->reason == TRAIN_START || c->segment_count < 2)
		return;
	pace = train_segment_pace(c->segments[c->segment_count - 2]).estimate;
	s->cost_s = fmax(0, time_s - s->asked_s - (isfinite(pace) ? pace * (double)s->meanwhile : 0));
	c->moving_s += s->cost_s;
	stats_moments_add(&c->cost[s->is_restart], s->cost_s);
}

int train_coach_report(struct train_coach *c, unsigned index, unsigned worker, double loss, double time_s,
		struct sonde_err *err)
{
	struct train_segment *s = train_coach_now(c);
	int rc = grow(&c->losses, c->loss_count, &c->loss_cap, TRAIN_LOSSES_MAX, sizeof(*c->losses), err);

	if (rc < 0)
		return rc;
	c->losses[c->loss_count++] = loss;
	train_finish_take(&c->finish, worker, loss);
	if (index != s->index) {
		s->meanwhile++;
		return 0;
	}
	if (!s->count) {
		learn_cost(c, s, time_s);
		s->first_loss = c->loss_count - 1;
		train_finish_change(&c->finish);
		train_finish_take(&c->finish, worker, loss);
	}
	s->is_failed |= !isfinite(loss);
	train_segment_report(s, time_s);
	return 0;
}

/* What a move has cost so far; nothing is known: nothing. */
static double usual_cost(const struct train_coach *c, bool is_restart)
{
	const struct stats_moments *m = &c->cost[is_restart];

	return m->n ? m->mean : 0;
}

/* How long the first report after a move may take before the configuration is held to be slow. */
static double grace(const struct train_coach *c, const struct train_segment *s)
{
	const struct stats_moments *m = &c->cost[s->is_restart];

	return m->n ? fmax(5 * m->max, 2) : 60;
}

static double best_told(const struct train_coach *c)
{
	double best = INFINITY;

	for (size_t i = 0; i < c->segment_count; i++)
		if (c->segments[i]->is_told && !c->segments[i]->is_failed)
			best = fmin(best, c->segments[i]->value);
	return best;
}

enum knowledge { NOT_YET, KNOWN, TOO_SLOW };

/* Is what was seen of the configuration enough? */
static enum knowledge know(const struct train_coach *c, const struct train_segment *s, double now_s)
{
	struct stats_interval pace = train_segment_pace(s);
	double best = best_told(c), slowness = train_segment_slowness(s, now_s, grace(c, s));

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

static int tell(struct train_coach *c, struct train_segment *s, enum knowledge how, double now_s, struct sonde_err *err)
{
	struct tune_result result = { .state = how == TOO_SLOW ? TUNE_CUT : TUNE_DONE };

	look_at_losses(c);
	s->value = how == TOO_SLOW ? train_segment_slowness(s, now_s, grace(c, s))
				   : train_worth_measured(c, s).mean;
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
	const struct train_segment *s = train_coach_now(c);
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
	if (rc == -ENODATA || (c->phase == TRAIN_EXPLORING && c->segment_count < c->optimizer.space->count + 2))
		return 0;
	if (rc < 0)
		return rc;
	/* What is learnt pays for as long as the job lasts, and nobody knows yet how long that is: hope for the longer. */
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
	int rc = have_candidate(c, err);

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
	apply_pins(c, d->point);
	d->gain_s = go.mean * saved;
	d->cost_s = usual_cost(c, train_coach_is_restart(c, d->point));
	d->sd_s = hypot(go.mean * saved_sd, go.sd * saved);
	/* Both may be less than expected: what is saved an iteration, and how many there are. Anything beats no numbers. */
	if (isfinite(here->mean) && !(fmax(go.mean - z * go.sd, go.mean / 4) * (saved - z * saved_sd) > d->cost_s))
		return 0;
	if (!tune_point_is_allowed(c->optimizer.space, d->point))
		return 0;
	d->act = TRAIN_MOVE;
	d->reason = TRAIN_BEST;
	return add_trial(c, d->point, &d->trial, err);
}

static int look(struct train_coach *c, struct train_decision *d, struct sonde_err *err)
{
	const struct train_segment *s = train_coach_now(c);
	struct train_worth worth, here;
	const double *best;
	int rc = train_worth_best(c, &best, &worth, err);

	look_at_losses(c);
	here = train_worth_measured(c, s);
	if (s->is_failed || !isfinite(here.mean))
		here = (struct train_worth){ s->is_failed ? INFINITY : s->value, 0 };
	if (rc == 0 && best && !tune_point_equal(c->optimizer.space, best, s->point))
		rc = consider_best(c, d, best, &worth, &here, err);
	if (rc == 0 && d->act == TRAIN_WAIT && isfinite(here.mean))
		rc = consider_candidate(c, d, best ? fmin(here.mean, worth.mean) : here.mean, TRAIN_TRY, err);
	c->look_at = c->loss_count + (size_t)c->plan->online_iterations;
	return rc;
}

static int explore(struct train_coach *c, struct train_decision *d, double now_s, struct sonde_err *err)
{
	double best = best_told(c);
	int rc = 0;

	if (c->segment_count < (size_t)c->plan->explore)
		rc = consider_candidate(c, d, best, TRAIN_EXPLORE, err);
	if (rc < 0 || d->act == TRAIN_MOVE)
		return rc;
	c->phase = TRAIN_ONLINE;
	c->explored_s = now_s;
	return look(c, d, err);
}

static int move_by_hand(struct train_coach *c, struct train_decision *d, struct sonde_err *err)
{
	c->is_pinned_anew = false;
	memcpy(d->point, train_coach_now(c)->point, sizeof(d->point));
	apply_pins(c, d->point);
	if (tune_point_equal(c->optimizer.space, d->point, train_coach_now(c)->point))
		return 0;
	d->act = TRAIN_MOVE;
	d->reason = TRAIN_HAND;
	return add_trial(c, d->point, &d->trial, err);
}

int train_coach_decide(struct train_coach *c, double now_s, struct train_decision *d, struct sonde_err *err)
{
	struct train_segment *s = train_coach_now(c);
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
		return c->loss_count >= c->look_at ? look(c, d, err) : 0;
	known = know(c, s, now_s);
	if (known == NOT_YET)
		return 0;
	rc = tell(c, s, known, now_s, err);
	if (rc < 0)
		return rc;
	return c->phase == TRAIN_EXPLORING ? explore(c, d, now_s, err) : look(c, d, err);
}

int train_coach_pin(struct train_coach *c, const char *name, const char *text, struct sonde_err *err)
{
	const struct tune_param *p = tune_space_find(c->optimizer.space, name);
	double value;
	int rc;

	if (!p)
		return err_set(err, ENOENT, "the job has no parameter '%s'", name);
	rc = tune_param_parse(p, text, &value, err);
	if (rc < 0)
		return rc;
	c->pins[p - c->optimizer.space->params] = value;
	c->is_pinned_anew = true;
	c->candidate_id = 0;
	return 0;
}

struct stats_interval train_coach_remaining(const struct train_coach *c)
{
	struct stats_interval r = c->fit.remaining;
	struct train_worth here = train_worth_measured(c, train_coach_now(c));
	double off = here.sd / here.mean, spread;

	if (!isfinite(here.mean) || !isfinite(r.estimate))
		return stats_interval_open(NAN, r.n, 0.95, r.method);
	spread = sqrt(pow(log(r.hi / r.estimate), 2) + pow(1.96 * off, 2));
	r.estimate *= here.mean;
	r.lo = r.estimate * exp(-spread);
	r.hi = r.estimate * exp(spread);
	r.se *= here.mean;
	return r;
}
