#include "tune/online-run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "launch/job.h"
#include "tune/online-controller.h"
#include "tune/online-journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECOND_NS INT64_C(1000000000)

enum { TICK_MS = 100, CHUNK = 16 << 10, CRASHES_MAX = 3 };

static const int64_t stop_patience_ns = 10 * SECOND_NS;

struct driver {
	struct train_drive *d;
	struct online_controller *c;
	struct job *job;
	int fd;    /* our end of the program's socket */
	int outer; /* the agent's socket; -1: none */
	struct train_lines heard, ordered;
	int64_t start_ns, stop_ns; /* stop_ns: when the program was asked to exit for good; 0: it was not */
	const char *why;
	unsigned crashes;
	int rc; /* error of a callback that cannot return it */
	struct sonde_err *err;
};

static double now_s(const struct driver *v)
{
	return (double)(clock_mono_ns() - v->start_ns) / 1e9;
}

/* Sends a line to the agent; dropped if the agent does not read. */
static void pass_on(struct driver *v, const char *word, const char *text)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	if (v->outer < 0)
		return;
	buf_addf(&line, "%s%s\n", word, text);
	(void)!send(v->outer, line.data, line.len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_report(void *arg, const char *line)
{
	struct driver *v = arg;
	struct train_report report;
	double time_s = now_s(v);

	if (!train_report_parse(line, &report)) {
		v->heard.bad++;
		return;
	}
	pass_on(v, line, "");
	train_record_report(v->d->record, v->c, &report, time_s);
	if (v->rc == 0)
		v->rc = online_controller_report(v->c,
				report.has_config ? report.config : online_controller_now(v->c)->index, report.worker,
				report.loss, time_s, v->err);
}

/* The value is JSON. An unknown parameter is ignored. */
static void pin(struct online_controller *c, const char *name, const char *value)
{
	CLEANUP(cleanup_free) char *text = strdup(value);
	size_t len = strlen(value);

	if (!text)
		return;
	if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
		text[len - 1] = '\0';
		online_controller_pin(c, name, text + 1, NULL);
	} else {
		online_controller_pin(c, name, text, NULL);
	}
}

static void obey(void *arg, const char *line)
{
	struct driver *v = arg;
	char name[256];
	int used = 0;

	if (strcmp(line, "stop") == 0 && !v->why)
		v->why = "stopped";
	else if (sscanf(line, "knob %255s %n", name, &used) == 1 && used)
		pin(v->c, name, line + used);
}

static void collect_from(int fd, struct train_lines *lines, void (*tell)(void *, const char *), struct driver *v)
{
	char bytes[CHUNK];
	ssize_t n;

	while (fd >= 0 && (n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		train_lines_consume(lines, bytes, (size_t)n, tell, v);
}

static void collect(struct driver *v)
{
	collect_from(v->fd, &v->heard, on_report, v);
	collect_from(v->outer, &v->ordered, obey, v);
}

static int start(struct driver *v)
{
	CLEANUP(buf_release) struct buf config = BUF_INIT, dir = BUF_INIT, id = BUF_INIT, fd = BUF_INIT;
	const struct online_stage *s = online_controller_now(v->c);
	struct job_spec spec = JOB_SPEC_INIT;
	const char *env[5] = { NULL };
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(v->err, errno, "cannot start the program");
	buf_addf(&config, "SONDE_JOB_CONFIG=%u ", s->index);
	train_config_json(&config, v->d->plan, s->point);
	buf_addf(&dir, "SONDE_JOB_DIR=%s", v->d->dir);
	buf_addf(&id, "SONDE_JOB_ID=%s", v->d->id);
	buf_addf(&fd, "SONDE_JOB_FD=%d", pair[1]);
	env[0] = config.data;
	env[1] = dir.data;
	env[2] = id.data;
	env[3] = fd.data;
	spec.argv = v->d->argv;
	spec.env = env;
	spec.inherit = &pair[1];
	spec.inherit_count = 1;
	if (v->d->is_output_aside)
		spec.fds[1] = STDERR_FILENO;
	v->heard.len = 0;
	rc = job_start(&v->job, &spec, v->err);
	close(pair[1]);
	if (rc < 0)
		close(pair[0]);
	v->fd = rc < 0 ? -1 : pair[0];
	return rc;
}

static void say(const struct driver *v, const char *text, size_t n)
{
	/* Non-blocking: the program may never read. */
	(void)!send(v->fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void put_away(struct driver *v)
{
	static const struct job_ladder ladder = JOB_LADDER_USUAL;

	if (!v->job)
		return;
	job_end(v->job, &ladder, NULL); /* stragglers too */
	collect(v);
	job_free(v->job);
	v->job = NULL;
	close(v->fd);
	v->fd = -1;
}

/* Asks the program to exit, so that it writes a checkpoint; kills it after a timeout. */
static void wind_down(struct driver *v)
{
	int64_t until_ns = clock_mono_ns() + stop_patience_ns;

	say(v, "stop\n", 5);
	while (clock_mono_ns() < until_ns && job_wait(v->job, clock_mono_ns() + TICK_MS * INT64_C(1000000), NULL) < 0)
		collect(v);
	put_away(v);
}

static int move(struct driver *v, const struct train_decision *decision)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT, event = BUF_INIT;
	bool is_restart = !v->job || online_controller_is_restart(v->c, decision->point);
	int rc = online_controller_moved(v->c, decision, now_s(v), v->err);

	if (rc < 0)
		return rc;
	train_record_config(v->d->record, v->c, decision, now_s(v), &event);
	pass_on(v, "event ", event.data);
	if (is_restart) {
		if (v->job)
			wind_down(v);
		return start(v);
	}
	buf_addf(&line, "config %u ", online_controller_now(v->c)->index);
	train_config_json(&line, v->d->plan, decision->point);
	buf_addc(&line, '\n');
	say(v, line.data, line.len);
	return buf_error(&line);
}

static int decide(struct driver *v)
{
	CLEANUP(buf_release) struct buf event = BUF_INIT;
	struct online_stage *s = online_controller_now(v->c);
	bool was_told = s->is_told, is_news;
	struct train_decision decision;
	int rc = online_controller_decide(v->c, now_s(v), &decision, v->err);

	is_news = s->is_told != was_told;
	if (rc == 0 && is_news) {
		train_record_known(v->d->record, v->c, s, &event);
		pass_on(v, "event ", event.data);
	}
	if (rc == 0 && decision.act == TRAIN_FINISH)
		v->why = "target";
	if (rc == 0 && decision.act == TRAIN_MOVE)
		rc = move(v, &decision);
	if (v->d->show && (is_news || decision.act != TRAIN_WAIT))
		v->d->show(v->d->arg, v->c);
	return rc;
}

static int code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * The program has exited. If it failed under a configuration that was being tried, that configuration is marked
 * failed.
 */
static int on_end(struct driver *v, struct train_outcome *outcome)
{
	int code = code_of(job_status(v->job)), rc;
	const struct online_stage *s = online_controller_now(v->c);

	put_away(v);
	outcome->exit_code = code;
	v->why = code ? "failed" : "ended";
	if (!code || s->reason == TRAIN_START || v->d->plan->mode == TRAIN_FIXED || ++v->crashes > CRASHES_MAX)
		return 0;
	online_controller_fail(v->c);
	v->why = NULL;
	rc = decide(v);
	if (rc == 0 && !v->job)
		v->why = "failed"; /* no other configuration is left */
	else if (rc == 0)
		outcome->exit_code = 0;
	return rc;
}

static int attend(struct driver *v, struct train_outcome *outcome)
{
	int rc = 0;

	while (rc == 0 && !v->why) {
		struct pollfd fds[] = { { job_pidfd(v->job), POLLIN, 0 }, { v->fd, POLLIN, 0 },
			{ v->outer, POLLIN, 0 } };

		poll(fds, 3, TICK_MS);
		if ((fds[1].revents | fds[2].revents) & POLLHUP)
			poll(fds, 1, TICK_MS / 4); /* POLLHUP is always ready: do not spin until the program exits */
		collect(v);
		train_record_flush(v->d->record);
		rc = v->rc;
		if (rc == 0 && job_wait(v->job, clock_mono_ns(), NULL) == 0)
			rc = on_end(v, outcome);
		else if (rc == 0 && !v->why)
			rc = decide(v);
		if (rc == 0 && !v->why) {
			if (*v->d->is_interrupted)
				v->why = "interrupted";
			else if (v->d->plan->timeout_ns && clock_mono_ns() - v->start_ns > v->d->plan->timeout_ns)
				v->why = "timeout";
		}
	}
	return rc;
}

static int find_outer(void)
{
	const char *text = getenv("SONDE_JOB_FD");
	char *end;
	long fd = text && *text ? strtol(text, &end, 10) : -1;

	return fd > 2 && fd < 1 << 20 && *end == '\0' && fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0 ? (int)fd : -1;
}

int train_drive(struct train_drive *d, struct train_outcome *outcome, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf event = BUF_INIT;
	struct driver v = { .d = d,
		.c = d->controller,
		.fd = -1,
		.outer = find_outer(),
		.start_ns = clock_mono_ns(),
		.err = err };
	int rc = online_controller_start(v.c, 0, err);

	*outcome = (struct train_outcome){ 0 };
	if (rc == 0)
		rc = start(&v);
	if (rc < 0)
		return rc;
	train_record_config(d->record, v.c, NULL, 0, &event);
	pass_on(&v, "event ", event.data);
	rc = attend(&v, outcome);
	outcome->runtime_s = now_s(&v); /* until the target: the rest is cleanup of the program */
	if (v.job && rc == 0)
		wind_down(&v);
	put_away(&v);
	buf_reset(&event);
	if (rc == 0 && strcmp(v.why, "interrupted") != 0) {
		train_record_finish(d->record, v.c, now_s(&v), v.why, &event);
		pass_on(&v, "event ", event.data);
	}
	outcome->why = v.why;
	outcome->bad_lines = v.heard.bad;
	return rc;
}

/*
 * The end of a job: writes the tables that need all of its data.
 */

static void add_cell(struct buf *out, double value)
{
	buf_addc(out, ',');
	if (isfinite(value))
		buf_addf(out, "%.9g", value);
}

static double final_loss(const struct online_controller *c)
{
	size_t n = c->loss_count < 5 ? c->loss_count : 5;

	return n ? stats_moments_of(c->losses + c->loss_count - n, n).mean : NAN;
}

static double moves_s(const struct online_controller *c, size_t *count)
{
	double sum = 0;

	*count = 0;
	for (size_t i = 1; i < c->stage_count; i++)
		if (isfinite(c->stages[i]->cost_s)) {
			sum += c->stages[i]->cost_s;
			++*count;
		}
	return sum;
}

static void add_summary(struct buf *out, const struct train_record *r, const struct online_controller *c,
		double runtime_s)
{
	static const char *const given[] = { "ml_model", "batch_size", "learning_rate" };
	const struct train_plan *plan = c->plan;
	size_t moves;
	double total = moves_s(c, &moves);
	char text[128];

	buf_adds(out,
			"job_id,runtime_sec,avg_recovery_time_sec,target_loss,ml_model,batch_size,learning_rate,"
			"final_loss,os_size,n_iter_per_os,online_os_size,online_n_iter_per_os,check_reconfig,"
			"do_reconfig,"
			"total_iteration,init_duration,estimation_func,run_mode,total_reconfiguration_time\n");
	buf_adds(out, r->id);
	add_cell(out, runtime_s);
	add_cell(out, moves ? total / (double)moves : NAN);
	add_cell(out, plan->target_loss);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		train_column(plan, online_controller_now(c)->point, given[i], text, sizeof(text));
		buf_addf(out, ",%s", text);
	}
	add_cell(out, final_loss(c));
	buf_addf(out, ",%lld,%lld,,%lld,%zu,%zu,%zu", (long long)plan->explore, (long long)plan->iterations,
			(long long)plan->online_iterations, c->looks, c->moves, c->loss_count);
	add_cell(out, c->explored_s);
	buf_addf(out, ",%s,%s", plan->curve ? plan->curve->name : "ensemble",
			plan->mode == TRAIN_FIXED ? "dry_run" : "selftf");
	add_cell(out, total);
	buf_addc(out, '\n');
}

static void add_configs(struct buf *out, const struct online_controller *c)
{
	const struct tune_space *space = c->optimizer.space;
	char text[128];

	buf_adds(out,
			"config_idx,reason,start_s,iterations,iteration_s,iteration_lo_s,iteration_hi_s,value,"
			"reconfiguration_s");
	for (size_t i = 0; i < space->count; i++)
		buf_addf(out, ",%s", space->params[i].name);
	buf_addc(out, '\n');
	for (size_t k = 0; k < c->stage_count; k++) {
		const struct online_stage *s = c->stages[k];
		struct stats_interval rate = online_stage_rate(s);

		buf_addf(out, "%u,%s", s->index, train_reason_word(s->reason));
		add_cell(out, s->asked_s);
		buf_addf(out, ",%zu", s->count);
		add_cell(out, rate.estimate);
		add_cell(out, rate.lo);
		add_cell(out, rate.hi);
		add_cell(out, s->value);
		add_cell(out, s->cost_s);
		for (size_t i = 0; i < space->count; i++) {
			*text = '\0';
			if (!isnan(s->point[i]) && tune_param_is_category(&space->params[i]) &&
					space->params[i].choices) /* a bool has none */
				snprintf(text, sizeof(text), "%s", space->params[i].choices[(size_t)s->point[i]].text);
			else if (!isnan(s->point[i]))
				tune_param_format(&space->params[i], s->point[i], text, sizeof(text));
			buf_addf(out, ",%s", text);
		}
		buf_addc(out, '\n');
	}
}

static int add_result(struct buf *out, const struct train_record *r, struct online_controller *c, double runtime_s,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf params = BUF_INIT;
	struct progress_cost cost = { NAN, NAN };
	const double *best;
	struct json j;
	size_t moves;
	int rc = progress_cost_best(c, &best, &cost, err);

	if (rc < 0)
		return rc;
	train_config_json(&params, c->plan, best ? best : online_controller_now(c)->point);
	json_init(&j, out, true);
	json_object(&j);
	json_kstr(&j, "job", r->id);
	json_kreal(&j, "runtime_s", runtime_s);
	json_kbool(&j, "reached", c->is_reached);
	json_kreal(&j, "target_loss", c->plan->target_loss);
	json_kreal(&j, "final_loss", final_loss(c));
	json_kuint(&j, "iterations", c->loss_count);
	json_kuint(&j, "configurations", c->stage_count);
	json_kuint(&j, "moves", c->moves);
	json_kuint(&j, "looks", c->looks);
	json_kreal(&j, "exploring_s", c->explored_s);
	json_kreal(&j, "reconfiguration_s", moves_s(c, &moves));
	json_kobject(&j, "best");
	json_key(&j, "params");
	json_raw(&j, params.data, params.len);
	json_kreal(&j, "iteration_s", cost.mean);
	json_kreal(&j, "sd_s", cost.sd);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
	return 0;
}

static int write_file(const char *dir, const char *name, const struct buf *text, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, name);
	return buf_error(text) < 0 ? err_sys(err, ENOMEM, "cannot write '%s'", path.data)
				   : fs_replace_file(AT_FDCWD, path.data, text->data, text->len, err);
}

int train_record_conclude(struct train_record *r, struct online_controller *c, double runtime_s, struct buf *json,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf summary = BUF_INIT, configs = BUF_INIT;
	int rc = add_result(json, r, c, runtime_s, err);

	add_summary(&summary, r, c, runtime_s);
	add_configs(&configs, c);
	if (rc == 0)
		rc = write_file(r->dir, "summary.csv", &summary, err);
	if (rc == 0)
		rc = write_file(r->dir, "configs.csv", &configs, err);
	return rc < 0 ? rc : write_file(r->dir, "result.json", json, err);
}
