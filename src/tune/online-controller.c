#include "tune/online-controller.h"

#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 8 };

static const char *const reason_words[] = {
	[TRAIN_START] = "start",
	[TRAIN_EXPLORE] = "explore",
	[TRAIN_TRY] = "try",
	[TRAIN_BEST] = "best",
	[TRAIN_HAND] = "hand",
};

const char *train_reason_word(enum train_reason reason)
{
	return reason_words[reason];
}

struct stats_interval online_stage_rate(const struct online_stage *s)
{
	double gaps[TRAIN_GAPS], means[BATCHES] = { 0 };
	size_t n = s->gap_count < TRAIN_GAPS ? s->gap_count : TRAIN_GAPS, size = n / BATCHES;
	struct stats_interval rate;

	for (size_t i = 0; i < n; i++) /* the latest gaps, oldest first */
		gaps[i] = s->gaps[(s->gap_count - n + i) % TRAIN_GAPS];
	if (n < 2)
		return stats_interval_open(NAN, n, 0.95, "means of batches");
	if (size < 2)
		return stats_mean_interval(gaps, n, 0.95);
	for (size_t i = 0; i < size * BATCHES; i++)
		means[i / size] += gaps[n - size * BATCHES + i] / (double)size;
	rate = stats_mean_interval(means, BATCHES, 0.95);
	rate.method = "means of batches";
	return rate;
}

struct train_wait online_stage_wait(const struct online_stage *s, double now_s, double grace_s, size_t workers)
{
	double since = s->count ? s->first_s : s->asked_s + grace_s;

	return (struct train_wait){ .seconds = fmax(0, now_s - since),
		.reports = (double)((s->count ? s->count - 1 : s->meanwhile) + (workers ? workers : 1)) };
}

double train_wait_evidence(const struct train_wait *w, double pace_s)
{
	double times = w->seconds / (w->reports * pace_s);

	return times > 1 ? w->reports * (times - 1 - log(times)) : 0;
}

int online_controller_init(struct online_controller *c, const struct train_plan *plan, struct sonde_err *err)
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

void online_controller_release(struct online_controller *c)
{
	tune_optimizer_release(&c->optimizer);
	arena_release(&c->arena);
	free(c->stages);
	free(c->losses);
	memset(c, 0, sizeof(*c));
}

struct online_stage *online_controller_now(const struct online_controller *c)
{
	return c->stages[c->stage_count - 1];
}

static int no_room(size_t count, size_t max, struct sonde_err *err)
{
	return count >= max ? err_set(err, E2BIG, "too many steps (maximum %zu)", max)
			    : err_sys(err, ENOMEM, "cannot record another step");
}

static int begin(struct online_controller *c, const struct train_decision *d, bool is_restart, double now_s,
		struct sonde_err *err)
{
	struct online_stage *s = arena_alloc(&c->arena, sizeof(*s));

	if (!VEC_GROW(c->stages, c->stage_cap, c->stage_count + 1, TRAIN_STAGES_MAX))
		return no_room(c->stage_count, TRAIN_STAGES_MAX, err);
	if (!s)
		return err_sys(err, ENOMEM, "cannot start a configuration");
	s->index = (unsigned)c->stage_count;
	memcpy(s->point, d->point, sizeof(s->point));
	s->reason = d->reason;
	s->trial = d->trial;
	s->is_restart = is_restart;
	s->asked_s = now_s;
	s->first_s = s->last_s = s->cost_s = s->value = NAN;
	s->first_loss = c->loss_count;
	c->stages[c->stage_count++] = s;
	train_finish_change(&c->finish);
	return 0;
}

int controller_add_trial(struct online_controller *c, const double *point, uint64_t *id, struct sonde_err *err)
{
	const struct tune_trial *trial;
	int rc = tune_add(&c->optimizer, 0, point, &trial, err);

	if (rc == 0)
		*id = trial->id;
	return rc;
}

void controller_apply_pins(const struct online_controller *c, double *point)
{
	for (size_t i = 0; i < c->optimizer.space->count; i++)
		if (!isnan(c->pins[i]))
			point[i] = c->pins[i];
	tune_point_canonical(c->optimizer.space, point);
}

int controller_have_candidate(struct online_controller *c, struct sonde_err *err)
{
	const struct tune_trial *trial;
	int rc;

	if (c->candidate_id)
		return 0;
	rc = tune_ask(&c->optimizer, &trial, err);
	if (rc < 0)
		return rc;
	memcpy(c->candidate, trial->point, c->optimizer.space->count * sizeof(double));
	c->candidate_id = trial->id;
	controller_apply_pins(c, c->candidate);
	if (tune_point_equal(c->optimizer.space, c->candidate, trial->point))
		return 0;
	c->candidate_id = 0;
	if (tune_is_tried(&c->optimizer, c->candidate)) /* it differed only in pinned parameters */
		return -ENOENT;
	return controller_add_trial(c, c->candidate, &c->candidate_id, err);
}

int controller_have_live_candidate(struct online_controller *c, struct sonde_err *err)
{
	const struct tune_space *space = c->optimizer.space;
	double point[TUNE_PARAMS_MAX];

	memcpy(point, c->candidate, sizeof(point));
	for (size_t i = 0; i < space->count; i++)
		if (space->params[i].class != TUNE_LIVE)
			point[i] = online_controller_now(c)->point[i];
	tune_point_canonical(space, point);
	if (!tune_point_is_allowed(space, point) || tune_is_tried(&c->optimizer, point))
		return 0;
	memcpy(c->candidate, point, sizeof(point));
	return controller_add_trial(c, point, &c->candidate_id, err);
}

void online_controller_fail(struct online_controller *c)
{
	online_controller_now(c)->is_failed = true;
}

int online_controller_recall(struct online_controller *c, const double *point, struct sonde_err *err)
{
	struct train_decision d = { .reason = c->stage_count ? TRAIN_EXPLORE : TRAIN_START };
	int rc;

	memcpy(d.point, point, c->optimizer.space->count * sizeof(double));
	rc = controller_add_trial(c, d.point, &d.trial, err);
	return rc < 0 ? rc : begin(c, &d, true, 0, err);
}

int online_controller_recall_value(struct online_controller *c, size_t index, bool is_failed, double value,
		struct sonde_err *err)
{
	struct online_stage *s = c->stages[index];
	struct tune_result result = { .state = is_failed ? TUNE_FAILED : TUNE_DONE, .values = { value } };

	if (s->is_told)
		return 0;
	s->is_told = true;
	s->is_failed = is_failed || !isfinite(value);
	s->value = value;
	return tune_tell(&c->optimizer, s->trial, &result, err);
}

/* Trials that were abandoned before they had a value will not get one. */
static int start_again(struct online_controller *c, double now_s, struct sonde_err *err)
{
	struct train_decision d = { .reason = TRAIN_BEST };
	struct progress_cost cost;
	const double *best;
	int rc = 0;

	for (size_t i = 0; i < c->stage_count && rc == 0; i++)
		rc = online_controller_recall_value(c, i, true, NAN, err);
	if (rc == 0)
		rc = progress_cost_best(c, &best, &cost, err);
	if (rc < 0)
		return rc;
	if (best)
		memcpy(d.point, best, c->optimizer.space->count * sizeof(double));
	else
		tune_point_default(c->optimizer.space, d.point);
	rc = controller_add_trial(c, d.point, &d.trial, err);
	return rc < 0 ? rc : begin(c, &d, true, now_s, err);
}

int online_controller_start(struct online_controller *c, double now_s, struct sonde_err *err)
{
	struct train_decision d = { .reason = TRAIN_START };
	int rc;

	if (c->stage_count)
		return start_again(c, now_s, err);
	rc = controller_have_candidate(c, err); /* the first proposal is the default */
	if (rc < 0)
		return rc;
	memcpy(d.point, c->candidate, sizeof(d.point));
	d.trial = c->candidate_id;
	c->candidate_id = 0;
	return begin(c, &d, true, now_s, err);
}

bool online_controller_is_restart(const struct online_controller *c, const double *point)
{
	const struct tune_space *space = c->optimizer.space;
	const struct online_stage *s = online_controller_now(c);

	for (size_t i = 0; i < space->count; i++)
		if (space->params[i].class != TUNE_LIVE && point[i] != s->point[i] &&
				!(isnan(point[i]) && isnan(s->point[i])))
			return true;
	return false;
}

int online_controller_moved(struct online_controller *c, const struct train_decision *d, double now_s,
		struct sonde_err *err)
{
	bool is_restart = online_controller_is_restart(c, d->point);

	if (d->trial == c->candidate_id)
		c->candidate_id = 0;
	c->moves++;
	return begin(c, d, is_restart, now_s, err);
}

/* The time the reconfiguration took, without the progress the job made meanwhile at its old rate. */
static void learn_cost(struct online_controller *c, struct online_stage *s, double time_s)
{
	double rate;

	if (s->reason == TRAIN_START || c->stage_count < 2)
		return;
	rate = online_stage_rate(c->stages[c->stage_count - 2]).estimate;
	s->cost_s = fmax(0, time_s - s->asked_s - (isfinite(rate) ? rate * (double)s->meanwhile : 0));
	c->moving_s += s->cost_s;
	stats_moments_add(&c->cost[s->is_restart], s->cost_s);
}

int online_controller_report(struct online_controller *c, unsigned index, unsigned worker, double loss, double time_s,
		struct sonde_err *err)
{
	struct online_stage *s = online_controller_now(c);
	size_t workers;

	if (!VEC_GROW(c->losses, c->loss_cap, c->loss_count + 1, TRAIN_LOSSES_MAX))
		return no_room(c->loss_count, TRAIN_LOSSES_MAX, err);
	c->losses[c->loss_count++] = loss;
	train_finish_add(&c->finish, worker, loss);
	workers = train_finish_workers(&c->finish);
	c->group_size = workers > c->group_size ? workers : c->group_size;
	c->brought += progress_cost_of_workers(workers);
	if (index != s->index) {
		s->meanwhile++;
		return 0;
	}
	if (!s->count) {
		learn_cost(c, s, time_s);
		s->first_loss = c->loss_count - 1;
		train_finish_change(&c->finish);
		train_finish_add(&c->finish, worker, loss);
	}
	s->is_failed |= !isfinite(loss);
	s->workers = train_finish_workers(&c->finish);
	/* The first reports after a reconfiguration are not measured: they were started before it. */
	if (!s->count)
		s->first_s = time_s;
	else if (s->count >= TRAIN_SKIPPED && (s->gap_count || s->last_s - s->first_s >= TRAIN_SETTLE_S)) {
		s->gaps[s->gap_count++ % TRAIN_GAPS] = time_s - s->last_s;
		s->measured_s += time_s - s->last_s;
	}
	s->last_s = time_s;
	s->count++;
	return 0;
}

int online_controller_pin(struct online_controller *c, const char *name, const char *text, struct sonde_err *err)
{
	const struct tune_param *p = tune_space_find(c->optimizer.space, name);
	double value;
	int rc;

	if (!p)
		return err_set(err, ENOENT, "unknown parameter '%s'", name);
	rc = tune_param_parse(p, text, &value, err);
	if (rc < 0)
		return rc;
	c->pins[p - c->optimizer.space->params] = value;
	c->is_pinned_anew = true;
	c->candidate_id = 0;
	return 0;
}

struct stats_interval online_controller_remaining(const struct online_controller *c)
{
	struct stats_interval r = c->fit.remaining;
	struct progress_cost here = progress_cost_measured(c, online_controller_now(c));
	double off = here.sd / here.mean, spread;

	if (!isfinite(here.mean) || !isfinite(r.estimate))
		return stats_interval_open(NAN, r.n, 0.95, r.method);
	spread = sqrt(pow(log(r.hi / r.estimate), 2) + pow(1.96 * off, 2));
	here.mean *= progress_cost_usual(c);
	r.estimate *= here.mean;
	r.lo = r.estimate * exp(-spread);
	r.hi = r.estimate * exp(spread);
	r.se *= here.mean;
	return r;
}
