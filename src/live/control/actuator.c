/* actuator: the places that were changed, with their original and requested values; then the actions. */
#include "live/control/actuator.h"

#include "live/control/cgroup-write.h"
#include "live/control/change.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/*
 * Finds or adds the place; a new one gets the current value as its original. NULL: it is unreadable, or there are
 * too many.
 */
static struct actuator_place *place_of(struct actuator *a, const struct change_place *place, struct sonde_err *err)
{
	struct actuator_place *p = a->places;
	int rc;

	for (; p < a->places + a->place_count; p++)
		if (change_is_same(&p->place, place))
			return p;
	if (a->place_count == ACTUATOR_PLACES_MAX) {
		err_set(err, ENOSPC, "too many settings are changed");
		return NULL;
	}
	*p = (struct actuator_place){ .place = *place };
	rc = change_read(place, p->first);
	if (rc < 0) {
		err_sys(err, -rc, "cannot read '%s'", place->path);
		return NULL;
	}
	a->place_count++;
	return p;
}

static void drop_place(struct actuator *a, struct actuator_place *p)
{
	watchdog_forget(a->watchdog, &p->place);
	*p = a->places[--a->place_count];
}

/* The latest requested value, or the original one if nothing is requested. */
static const char *in_force(const struct actuator_place *p)
{
	return p->target_count ? p->targets[p->target_count - 1].text : p->first;
}

static void add_target(struct actuator_place *p, const char *who, const char *text)
{
	size_t i = 0;

	while (i < p->target_count && strcmp(p->targets[i].who, who) != 0)
		i++;
	if (i == p->target_count) {
		if (p->target_count == ACTUATOR_TARGETS_MAX)
			memmove(p->targets, p->targets + 1, --i * sizeof(p->targets[0]));
		else
			p->target_count++;
	} else {
		memmove(p->targets + i, p->targets + i + 1, (p->target_count - i - 1) * sizeof(p->targets[0]));
		i = p->target_count - 1;
	}
	snprintf(p->targets[i].who, sizeof(p->targets[i].who), "%s", who);
	snprintf(p->targets[i].text, sizeof(p->targets[i].text), "%s", text);
}

/* Returns true if there was a request of `who`. */
static bool drop_target(struct actuator_place *p, const char *who)
{
	for (size_t i = 0; i < p->target_count; i++)
		if (strcmp(p->targets[i].who, who) == 0) {
			memmove(p->targets + i, p->targets + i + 1, (--p->target_count - i) * sizeof(p->targets[0]));
			return true;
		}
	return false;
}

/* After `who` withdrew its request: restores the previous request, or the original value. */
static void restore(struct actuator *a, struct actuator_place *p, const char *who, const char *why)
{
	char now[CHANGE_TEXT_BYTES] = "";
	struct action_log_line line = { .who = who,
		.action = "revert",
		.why = why,
		.place = p->place.path,
		.before = now };
	int rc;

	change_read(&p->place, now);
	line.after = in_force(p);
	rc = change_write(&p->place, line.after);
	line.result = rc == 0 ? "reverted" : rc == -ENOENT ? "gone" : "failed";
	line.message = rc < 0 ? strerror(-rc) : NULL;
	action_log_add(a->journal, &line);
}

void actuator_revert(void *arg, const char *who, const char *why)
{
	struct actuator *a = arg;

	for (size_t i = a->place_count; i-- > 0;) {
		struct actuator_place *p = &a->places[i];

		if (!drop_target(p, who))
			continue;
		restore(a, p, who, why);
		if (!p->target_count)
			drop_place(a, p);
	}
}

void actuator_revert_all(struct actuator *a, const char *why)
{
	while (a->place_count) {
		struct actuator_place *p = &a->places[a->place_count - 1];

		p->target_count = 0;
		restore(a, p, NULL, why);
		drop_place(a, p);
	}
}

#define PROCESSES_MAX 4096
#define INTERRUPT_NS 2000000000
#define TERMINATE_NS 3000000000

void actuator_init(struct actuator *a, const struct rules_file *f, struct live_exporter *e, struct action_log *log,
		struct watchdog *w)
{
	memset(a, 0, sizeof(*a));
	a->file = f;
	a->exporter = e;
	a->journal = log;
	a->watchdog = w;
	action_runs_init(&a->action_runs, log, f->spool);
}

void actuator_release(struct actuator *a)
{
	action_runs_release(&a->action_runs);
}

const char *actuator_result_word(enum actuator_result r)
{
	static const char *const words[] = { "done", "dry run", "refused", "failed" };

	return words[r];
}

/* The cgroup, first process and knob of an application. */

struct seat {
	struct cgroup_map map;
	pid_t first;
	struct knob_search knob;
};

static void on_first(void *arg, const struct live_ring *ring, const struct live_entry *entry)
{
	struct seat *s = arg;

	if (!s->first)
		s->first = entry->pid;
}

static int find_group(struct actuator *a, const char *app, struct seat *s, struct sonde_err *err)
{
	const struct rules_app *settings = rules_app(a->file, app);

	*s = (struct seat){ .first = 0 };
	if (settings && settings->cgroup)
		return group_of_path(&s->map, settings->cgroup, err);
	live_each_process(a->exporter, app, on_first, s);
	if (!s->first)
		return err_set(err, ESRCH, "application '%s' is not running", app);
	return group_of_process(&s->map, s->first, err);
}

/* Limits on actions. */

static bool takes_away(enum action_kind kind)
{
	return kind == ACTION_CAP || kind == ACTION_HIGH || kind == ACTION_MEMORY || kind == ACTION_PIDS ||
			kind == ACTION_FREEZE || kind == ACTION_SIGNAL || kind == ACTION_END;
}

static int check_protected(const struct actuator *a, const struct action *action, double before, double value,
		struct sonde_err *err)
{
	const struct rules_app *app = rules_app(a->file, action->app);

	if (!app || !app->is_protected)
		return 0;
	if (takes_away(action->kind) ||
			((action->kind == ACTION_WEIGHT || action->kind == ACTION_IO) && value < before))
		return err_set(err, EPERM, "'%s' is protected", app->name);
	return 0;
}

/* Raises the value to the application's floor. */
static double at_floor(const struct actuator *a, const struct action *action, double value)
{
	const struct rules_app *app = rules_app(a->file, action->app);
	double low = !app                               ? 0
			: action->kind == ACTION_WEIGHT ? app->floor_weight
			: action->kind == ACTION_CAP    ? app->floor_cpus
			: action->kind == ACTION_HIGH   ? app->floor_memory
			: action->kind == ACTION_MEMORY ? app->floor_memory
							: 0;

	return value < low ? low : value;
}

/* Execution. */

struct deed {
	struct actuator *actuator;
	const struct rules_request *request;
	struct action_log_line *line;
	char place[CHANGE_PATH_BYTES], before[CHANGE_TEXT_BYTES], after[CHANGE_TEXT_BYTES];
};

/* The watchdog first: a change that it has not recorded is not made. */
static int change(struct deed *d, struct actuator_place *p, const char *text, struct sonde_err *err)
{
	struct actuator *a = d->actuator;
	int rc = watchdog_remember(a->watchdog, &p->place, p->first);

	if (rc < 0)
		return err_set(err, EPIPE, "the watchdog exited: no changes are made without it");
	rc = change_write(&p->place, text);
	if (rc < 0)
		return err_sys(err, -rc, "cannot write '%s'", p->place.path);
	add_target(p, d->request->who, text);
	return 0;
}

static int set_place(struct deed *d, const struct change_place *place, const char *text, struct sonde_err *err)
{
	struct actuator *a = d->actuator;
	struct actuator_place *p = place_of(a, place, err);
	int rc;

	if (!p)
		return -EIO;
	snprintf(d->place, sizeof(d->place), "%s", place->path);
	snprintf(d->before, sizeof(d->before), "%s", in_force(p));
	snprintf(d->after, sizeof(d->after), "%s", text);
	d->line->place = d->place;
	d->line->before = d->before;
	d->line->after = d->after;
	rc = a->file->is_dry_run ? 0 : change(d, p, text, err);
	if (!p->target_count)
		drop_place(a, p);
	return rc;
}

static int set_group(struct deed *d, struct sonde_err *err)
{
	const struct action *action = d->request->action;
	struct actuator *a = d->actuator;
	struct change_place place;
	struct seat seat;
	char text[CHANGE_TEXT_BYTES], now[CHANGE_TEXT_BYTES] = "";
	int rc = find_group(a, action->app, &seat, err);

	if (rc == 0)
		rc = group_place(&seat.map, action->kind, &place, err);
	if (rc < 0)
		return rc;
	change_read(&place, now);
	rc = check_protected(a, action, group_value(&place, action->kind, now), d->request->value, err);
	if (rc < 0)
		return rc;
	group_text(&place, action->kind, at_floor(a, action, d->request->value), text);
	return set_place(d, &place, text, err);
}

static void on_knob(void *arg, const struct live_ring *ring, const struct live_entry *entry)
{
	knob_find(arg, ring->path, entry->file);
}

static int set_knob(struct deed *d, struct sonde_err *err)
{
	const struct action *action = d->request->action;
	struct knob_search search = { .name = action->name };
	char text[CHANGE_TEXT_BYTES];
	int rc = 0;

	live_each_process(d->actuator->exporter, action->app, on_knob, &search);
	if (!search.count)
		return err_set(err, ESRCH, "no running '%s' has a knob '%s'", action->app, action->name);
	for (size_t i = 0; i < search.count && rc == 0; i++) {
		rc = knob_text(&search.found[i], d->request->value, action->choice, text, err);
		if (rc == 0)
			rc = set_place(d, &search.found[i].place, text, err);
	}
	return rc;
}

struct crowd {
	pid_t pids[PROCESSES_MAX];
	size_t count;
};

static void on_pid(void *arg, const struct live_ring *ring, const struct live_entry *entry)
{
	struct crowd *c = arg;

	if (c->count < PROCESSES_MAX)
		c->pids[c->count++] = entry->pid;
}

/* Signals all processes of its separate cgroup, otherwise those with a board. */
static size_t send_signal(struct actuator *a, const char *app, int signal)
{
	static struct crowd c; /* used by the controller's thread only */
	struct seat seat;
	size_t sent = 0;

	c.count = 0;
	if (find_group(a, app, &seat, NULL) == 0)
		c.count = group_processes(&seat.map, c.pids, PROCESSES_MAX);
	if (!c.count)
		live_each_process(a->exporter, app, on_pid, &c);
	for (size_t i = 0; i < c.count; i++)
		sent += kill(c.pids[i], signal) == 0;
	return sent;
}

static int do_signal(struct deed *d, struct sonde_err *err)
{
	const struct action *action = d->request->action;
	int rc = check_protected(d->actuator, action, 0, 0, err);

	if (rc < 0 || d->actuator->file->is_dry_run)
		return rc;
	return send_signal(d->actuator, action->app, action->signal)
			? 0
			: err_set(err, ESRCH, "no process of '%s' is running", action->app);
}

static int do_end(struct deed *d, struct sonde_err *err)
{
	struct actuator *a = d->actuator;
	const struct action *action = d->request->action;
	int rc = check_protected(a, action, 0, 0, err);

	if (rc < 0 || a->file->is_dry_run)
		return rc;
	if (a->end_count == ACTUATOR_ENDS_MAX)
		return err_set(err, EBUSY, "too many applications are being stopped");
	if (!send_signal(a, action->app, SIGINT))
		return err_set(err, ESRCH, "no process of '%s' is running", action->app);
	a->ends[a->end_count] = (struct actuator_end){ .next_ns = INTERRUPT_NS };
	snprintf(a->ends[a->end_count].app, sizeof(a->ends[0].app), "%s", action->app);
	snprintf(a->ends[a->end_count].who, sizeof(a->ends[0].who), "%s", d->request->who);
	a->end_count++;
	return 0;
}

static int run_action(struct deed *d, struct sonde_err *err)
{
	struct action_runs *e = &d->actuator->action_runs;

	if (d->actuator->file->is_dry_run)
		return 0;
	switch (d->request->action->kind) {
	case ACTION_EXEC:
		return action_run_exec(e, d->request, err);
	case ACTION_WEBHOOK:
		return action_run_webhook(e, d->request, err);
	default:
		return action_run_mqtt(e, d->request, err);
	}
}

static int do_report(struct deed *d, struct sonde_err *err)
{
	(void)d;
	(void)err;
	return 0;
}

static int (*const doers[ACTION_KINDS])(struct deed *, struct sonde_err *) = {
	[ACTION_WEIGHT] = set_group,
	[ACTION_IO] = set_group,
	[ACTION_HIGH] = set_group,
	[ACTION_CAP] = set_group,
	[ACTION_MEMORY] = set_group,
	[ACTION_PIDS] = set_group,
	[ACTION_KNOB] = set_knob,
	[ACTION_FREEZE] = set_group,
	[ACTION_THAW] = set_group,
	[ACTION_SIGNAL] = do_signal,
	[ACTION_END] = do_end,
	[ACTION_EXEC] = run_action,
	[ACTION_WEBHOOK] = run_action,
	[ACTION_MQTT] = run_action,
	[ACTION_REPORT] = do_report,
};

bool actuator_act(void *arg, const struct rules_request *request)
{
	struct actuator *a = arg;
	struct sonde_err err = SONDE_ERR_INIT;
	struct action_log_line line = { .who = request->who,
		.action = request->action->text,
		.why = request->why,
		.real_ns = request->real_ns,
		.message = err.text };
	struct deed d = { .actuator = a, .request = request, .line = &line };
	int rc = doers[request->action->kind](&d, &err);
	enum actuator_result result = rc == -EPERM ? ACTUATOR_REFUSED
			: rc < 0                   ? ACTUATOR_FAILED
			: a->file->is_dry_run      ? ACTUATOR_DRY
						   : ACTUATOR_DONE;

	line.result = actuator_result_word(result);
	a->counts[request->action->kind][result]++;
	action_log_add(a->journal, &line);
	return rc == 0;
}

void actuator_report(void *arg, const char *who, const char *what, const char *why)
{
	struct actuator *a = arg;
	struct action_log_line line = { .who = who, .action = what, .why = why, .result = "reported" };

	action_log_add(a->journal, &line);
}

/* Sends SIGTERM, then SIGKILL, as long as the application lives. */
static bool climb(struct actuator *a, struct actuator_end *e, int64_t now_ns)
{
	struct action_log_line line = { .who = e->who, .result = "done" };

	if (e->next_ns <= TERMINATE_NS) {
		e->next_ns += now_ns; /* first tick: convert the delay to a time */
		return true;
	}
	if (now_ns < e->next_ns)
		return true;
	line.action = e->stage ? "signal KILL" : "signal TERM";
	if (!send_signal(a, e->app, e->stage ? SIGKILL : SIGTERM))
		return false;
	line.message = e->app;
	action_log_add(a->journal, &line);
	e->next_ns = now_ns + TERMINATE_NS;
	return e->stage++ == 0;
}

void actuator_tick(struct actuator *a, int64_t now_ns)
{
	action_runs_tick(&a->action_runs, now_ns);
	for (size_t i = a->end_count; i-- > 0;)
		if (!climb(a, &a->ends[i], now_ns))
			a->ends[i] = a->ends[--a->end_count];
}
