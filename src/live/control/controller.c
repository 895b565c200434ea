#include "live/control/controller.h"

#include "base/clock.h"
#include "live/control/actuator.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct controller {
	const struct rules_file *file;
	struct live_exporter *exporter;
	struct rules_engine engine;
	struct actuator actuator;
	struct action_log journal;
	struct watchdog watchdog;
	pthread_t thread;
	pthread_mutex_t lock; /* protects engine, actuator, journal */
	pthread_cond_t wake;
	bool has_thread, is_ending, is_off, was_off;
	uint64_t ticks, late, failed;
	unsigned parts;    /* of the metrics that rules use */
	int64_t beaten_ns; /* last heartbeat to the watchdog; 0: never */
};

/* Parts that no rule uses are not read at every tick. */
static unsigned parts_of(const struct memory *m)
{
	static const struct {
		const char *prefix;
		unsigned part;
	} all[] = { { "sonde_group_", LIVE_GROUPS }, { "sonde_node_", LIVE_NODE }, { "process_", LIVE_OURSELVES },
		{ "sonde_gpu_", LIVE_DEVICES }, { "sonde_energy_", LIVE_DEVICES }, { "sonde_step", LIVE_STEPS },
		{ "sonde_app_", LIVE_METRICS } };
	unsigned parts = 0;

	for (size_t i = 0; i < m->watched.count; i++) {
		size_t n;
		const char *name = map_key(&m->watched, i, &n);

		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
			if (strncmp(name, all[k].prefix, strlen(all[k].prefix)) == 0)
				parts |= all[k].part;
		if (strstr(name, "_sum") || strstr(name, "_count") || strstr(name, "_per_second"))
			parts |= LIVE_DISTRIBUTIONS;
	}
	return parts;
}

int controller_open(struct controller **out, const struct rules_file *f, struct live_exporter *e, struct sonde_err *err)
{
	struct controller *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;
	int rc;

	if (!c)
		return err_sys(err, ENOMEM, "cannot start the controller");
	c->file = f;
	c->exporter = e;
	c->watchdog.sock = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = action_log_open(&c->journal, f->journal, err);
	if (rc == 0)
		rc = rules_engine_init(&c->engine, f, err);
	if (rc == 0)
		rc = watchdog_start(&c->watchdog, f->lease_ns, &c->journal.file, err);
	actuator_init(&c->actuator, f, e, &c->journal, &c->watchdog);
	c->parts = parts_of(&c->engine.memory);
	if (rc < 0) {
		controller_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

static bool wants_sample(void *arg, const char *name)
{
	const struct controller *c = arg;

	return memory_wants(&c->engine.memory, name);
}

static void take_sample(void *arg, const char *name, const struct exposition_label *labels, size_t count, double value)
{
	struct controller *c = arg;
	struct memory_label copy[MEMORY_LABELS_MAX];

	if (!wants_sample(c, name))
		return;
	for (size_t i = 0; i < count && i < MEMORY_LABELS_MAX; i++)
		copy[i] = (struct memory_label){ labels[i].key, labels[i].value };
	memory_add(&c->engine.memory, name, copy, count, clock_mono_ns(), value);
}

/* A watchdog that was killed has reverted nothing: pass all recorded changes to the new one. */
static void replace_watchdog(struct controller *c)
{
	struct action_log_line line = { .action = "watchdog",
		.result = "reported",
		.message = "the watchdog exited and was restarted" };

	close(c->watchdog.sock);
	waitpid(c->watchdog.pid, NULL, 0);
	if (watchdog_start(&c->watchdog, c->file->lease_ns, &c->journal.file, NULL) < 0)
		return;
	for (size_t i = 0; i < c->actuator.place_count; i++)
		watchdog_remember(&c->watchdog, &c->actuator.places[i].place, c->actuator.places[i].first);
	action_log_add(&c->journal, &line);
}

static bool is_switched_off(const struct controller *c)
{
	return c->is_off || (c->file->off_file && access(c->file->off_file, F_OK) == 0);
}

/* Reverts all changes and resets every rule. */
static void start_over(struct controller *c, const char *why)
{
	actuator_revert_all(&c->actuator, why);
	memset(c->engine.rules, 0, sizeof(c->engine.rules));
	for (size_t i = 0; i < RULES_MAX; i++) {
		c->engine.regulators[i] = (struct regulator_status){ .last = REGULATOR_SAME };
		for (size_t k = 0; k < REGULATOR_RUNGS_MAX; k++)
			c->engine.regulators[i].told[k] = NAN;
	}
}

static void switch_over(struct controller *c, bool is_off)
{
	struct action_log_line line = { .action = is_off ? "off" : "on", .result = "reported" };

	action_log_add(&c->journal, &line);
	if (is_off)
		start_over(c, "switched off");
	c->was_off = is_off;
}

/* If we were stopped for longer than the lease, the watchdog has reverted all changes. */
static void beat(struct controller *c)
{
	int64_t now_ns = clock_mono_ns();

	if (c->beaten_ns && now_ns - c->beaten_ns > c->file->lease_ns)
		start_over(c, "the lease expired");
	c->beaten_ns = now_ns;
	if (watchdog_beat(&c->watchdog) < 0)
		replace_watchdog(c);
}

static void tick(struct controller *c)
{
	const struct rules_ops ops = { &c->actuator, actuator_act, actuator_revert, actuator_tell };
	const struct live_taker taker = { c->parts, take_sample, wants_sample, c };
	bool is_off = is_switched_off(c);

	beat(c);
	if (is_off != c->was_off)
		switch_over(c, is_off);
	c->failed += live_samples(c->exporter, &taker, NULL) < 0;
	if (!is_off)
		rules_engine_tick(&c->engine, clock_mono_ns(), clock_real_ns(), &ops);
	actuator_tick(&c->actuator, clock_mono_ns());
	c->ticks++;
}

static void *work(void *arg)
{
	struct controller *c = arg;
	int64_t next_ns = clock_mono_ns();

	pthread_mutex_lock(&c->lock);
	while (!c->is_ending) {
		struct timespec until;
		int64_t now_ns;

		tick(c);
		next_ns += c->file->interval_ns;
		now_ns = clock_mono_ns();
		if (next_ns < now_ns) {
			c->late++;
			next_ns = now_ns;
		}
		until = (struct timespec){ next_ns / 1000000000, next_ns % 1000000000 };
		while (!c->is_ending && pthread_cond_timedwait(&c->wake, &c->lock, &until) == 0)
			;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int controller_start(struct controller *c, struct sonde_err *err)
{
	int rc = pthread_create(&c->thread, NULL, work, c);

	c->has_thread = rc == 0;
	return rc ? err_sys(err, rc, "cannot start the controller") : 0;
}

void controller_free(struct controller *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->is_ending = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	if (c->has_thread)
		pthread_join(c->thread, NULL);
	actuator_release(&c->actuator);
	watchdog_end(&c->watchdog); /* reverts all changes */
	rules_engine_release(&c->engine);
	action_log_close(&c->journal);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void controller_switch(struct controller *c, bool is_on)
{
	pthread_mutex_lock(&c->lock);
	c->is_off = !is_on;
	pthread_mutex_unlock(&c->lock);
}

/* Called only from live_metrics and live_samples, under their lock: takes no lock, only reads numbers. */
void controller_metrics(void *arg, struct exposition *x)
{
	const struct controller *c = arg;

	exposition_family(x, "sonde_rule_state", EXPOSITION_GAUGE, "0 idle, 1 pending, 2 firing, 3 cooling down.");
	for (size_t i = 0; i < c->file->rule_count; i++)
		exposition_sample(x, (double)c->engine.rules[i].state, "rule", c->file->rules[i].name, NULL);
	exposition_family(x, "sonde_rule_fired", EXPOSITION_COUNTER, "Number of times the rule fired.");
	for (size_t i = 0; i < c->file->rule_count; i++)
		exposition_sample(x, (double)c->engine.rules[i].fired, "rule", c->file->rules[i].name, NULL);
	exposition_family(x, "sonde_regulator_effort_ratio", EXPOSITION_GAUGE,
			"Effort of a regulator's level, 0 to 1.");
	for (size_t i = 0; i < c->file->regulator_count; i++)
		for (size_t k = 0; k < c->file->regulators[i].settings.rung_count; k++)
			exposition_sample(x, c->engine.regulators[i].regulator.efforts[k], "regulator",
					c->file->regulators[i].name, "act", c->file->regulators[i].rungs[k].text, NULL);
	exposition_family(x, "sonde_actions", EXPOSITION_COUNTER, "Actions of the controller, by kind and result.");
	for (size_t i = 0; i < ACTION_KINDS; i++)
		for (size_t k = 0; k < ACTUATOR_RESULTS; k++)
			if (c->actuator.counts[i][k])
				exposition_sample(x, (double)c->actuator.counts[i][k], "action",
						action_word((enum action_kind)i), "result",
						actuator_result_word((enum actuator_result)k), NULL);
	exposition_family(x, "sonde_controller_ticks", EXPOSITION_COUNTER, "Number of rule evaluations.");
	exposition_sample(x, (double)c->ticks, NULL);
	exposition_family(x, "sonde_controller_is_off", EXPOSITION_GAUGE, "1 while it is switched off.");
	exposition_sample(x, c->was_off, NULL);
}

static void show_value(struct json *out, const char *key, struct expr_value v, bool is_truth)
{
	json_key(out, key);
	if (!v.is_known)
		json_null(out);
	else if (is_truth)
		json_bool(out, v.number != 0);
	else
		json_real(out, v.number);
}

static void show_rule(struct json *out, const struct rule *rule, const struct rule_status *s)
{
	json_object(out);
	json_kstr(out, "name", rule->name);
	json_kstr(out, "when", rule->when_text);
	json_kstr(out, "state", rule_state_word(s->state));
	json_kuint(out, "fired", s->fired);
	show_value(out, "condition", s->condition, true);
	json_kstr(out, "why", s->why);
	json_end(out);
}

static void show_regulator(struct json *out, const struct rules_regulator *g, const struct regulator_status *s)
{
	json_object(out);
	json_kstr(out, "name", g->name);
	json_kstr(out, "measure", g->measure_text);
	show_value(out, "value", s->measure, false);
	json_kreal(out, "target", g->settings.target);
	json_kbool(out, "is_saturated", s->regulator.is_saturated);
	json_key(out, "rungs");
	json_array(out);
	for (size_t k = 0; k < g->settings.rung_count; k++) {
		json_object(out);
		json_kstr(out, "act", g->rungs[k].text);
		json_kreal(out, "effort", s->regulator.efforts[k]);
		json_kreal(out, "value", s->told[k]);
		json_end(out);
	}
	json_end(out);
	json_end(out);
}

void controller_show_rules(struct controller *c, struct json *out)
{
	pthread_mutex_lock(&c->lock);
	json_object(out);
	json_kbool(out, "is_off", c->was_off);
	json_kbool(out, "is_dry_run", c->file->is_dry_run);
	json_key(out, "rules");
	json_array(out);
	for (size_t i = 0; i < c->file->rule_count; i++)
		show_rule(out, &c->file->rules[i], &c->engine.rules[i]);
	json_end(out);
	json_key(out, "regulators");
	json_array(out);
	for (size_t i = 0; i < c->file->regulator_count; i++)
		show_regulator(out, &c->file->regulators[i], &c->engine.regulators[i]);
	json_end(out);
	json_end(out);
	pthread_mutex_unlock(&c->lock);
}

void controller_show_journal(struct controller *c, struct json *out)
{
	pthread_mutex_lock(&c->lock);
	action_log_show(&c->journal, out);
	pthread_mutex_unlock(&c->lock);
}
