#include "live/control/controller.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/transfer.h"
#include "live/control/actuator.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void add_sample(void *arg, const char *name, const struct exposition_label *labels, size_t count, double value)
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

static void tick(struct controller *c)
{
	const struct rules_ops ops = { &c->actuator, actuator_act, actuator_revert, actuator_report };
	const struct live_taker taker = { c->parts, add_sample, wants_sample, c };
	bool is_off = c->is_off || (c->file->off_file && access(c->file->off_file, F_OK) == 0);
	int64_t now_ns = clock_mono_ns();

	/* If we were stopped for longer than the lease, the watchdog has reverted all changes. */
	if (c->beaten_ns && now_ns - c->beaten_ns > c->file->lease_ns)
		start_over(c, "the lease expired");
	c->beaten_ns = now_ns;
	if (watchdog_beat(&c->watchdog) < 0)
		replace_watchdog(c);
	if (is_off != c->was_off) {
		struct action_log_line line = { .action = is_off ? "off" : "on", .result = "reported" };

		action_log_add(&c->journal, &line);
		if (is_off)
			start_over(c, "switched off");
		c->was_off = is_off;
	}
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

static void show_regulator(struct json *out, const struct rules_regulator *g, const struct regulator_status *s)
{
	json_object(out);
	json_kstr(out, "name", g->name);
	json_kstr(out, "measure", g->measure_text);
	show_value(out, "value", s->measure, false);
	json_kreal(out, "target", g->settings.target);
	json_kbool(out, "is_saturated", s->regulator.is_saturated);
	json_karray(out, "rungs");
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
	json_karray(out, "rules");
	for (size_t i = 0; i < c->file->rule_count; i++) {
		json_object(out);
		json_kstr(out, "name", c->file->rules[i].name);
		json_kstr(out, "when", c->file->rules[i].when_text);
		json_kstr(out, "state", rule_state_word(c->engine.rules[i].state));
		json_kuint(out, "fired", c->engine.rules[i].fired);
		show_value(out, "condition", c->engine.rules[i].condition, true);
		json_kstr(out, "why", c->engine.rules[i].why);
		json_end(out);
	}
	json_end(out);
	json_karray(out, "regulators");
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

#define EVERY_USUAL_NS 15000000000

struct metrics_push {
	struct push_options options;
	struct live_exporter *exporter;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_ending;
};

static int push(const char *url, const struct buf *text, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT;
	struct transfer_answer answer;
	size_t n = strlen(url);
	int rc;

	while (n && url[n - 1] == '/')
		n--;
	buf_addf(&request, "PUT %.*s/metrics/job/sonde\nheader Content-Type: text/plain\ntimeout 10\n\n", (int)n, url);
	buf_add(&request, text->data, text->len);
	rc = transfer_run(&request, &answer, err);
	if (rc == 0 && answer.status / 100 != 2)
		rc = err_set(err, EIO, "the Pushgateway returned HTTP status %ld", answer.status);
	return rc;
}

static int deliver(const struct push_options *options, struct live_exporter *e, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = live_metrics(e, EXPOSITION_TEXT, &text, err);

	if (rc == 0 && options->textfile) {
		rc = fs_replace_file(AT_FDCWD, options->textfile, text.data, text.len, err);
		if (rc == 0 && chmod(options->textfile, 0644))
			rc = err_sys(err, errno, "cannot make '%s' readable", options->textfile);
	}
	if (rc == 0 && options->push)
		rc = push(options->push, &text, err);
	return rc;
}

static void *push_loop(void *arg)
{
	struct metrics_push *o = arg;

	pthread_mutex_lock(&o->lock);
	while (!o->is_ending) {
		int64_t next_ns;
		struct timespec until;

		pthread_mutex_unlock(&o->lock);
		if (deliver(&o->options, o->exporter, NULL) < 0)
			__atomic_add_fetch(&o->exporter->undelivered, 1, __ATOMIC_RELAXED);
		pthread_mutex_lock(&o->lock);
		next_ns = clock_mono_ns() + (o->options.every_ns ? o->options.every_ns : EVERY_USUAL_NS);
		until = (struct timespec){ next_ns / 1000000000, next_ns % 1000000000 };
		while (!o->is_ending && pthread_cond_timedwait(&o->wake, &o->lock, &until) == 0)
			;
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

int metrics_push_start(struct metrics_push **out, const struct push_options *options, struct live_exporter *e,
		struct sonde_err *err)
{
	struct metrics_push *o;
	pthread_condattr_t attr;
	int rc;

	*out = NULL;
	if (!options->textfile && !options->push)
		return 0;
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_sys(err, ENOMEM, "cannot push metrics");
	o->options = *options;
	o->exporter = e;
	pthread_mutex_init(&o->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&o->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&o->thread, NULL, push_loop, o);
	if (rc) {
		free(o);
		return err_sys(err, rc, "cannot push metrics");
	}
	*out = o;
	return 0;
}

void metrics_push_free(struct metrics_push *o)
{
	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	o->is_ending = true;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
	pthread_join(o->thread, NULL);
	if (o->options.textfile)
		unlink(o->options.textfile); /* do not leave outdated values */
	pthread_cond_destroy(&o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
