/*
 * The journal and the reports, while the job runs.
 */
#include "tune/online-journal.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names of parameters with that meaning. */
static const struct {
	const char *column;
	const char *names[5];
} meanings[] = {
	{ "ps_num", { "ps_num", "ps", "servers" } },
	{ "worker_num", { "worker_num", "workers", "num_worker" } },
	{ "intra", { "intra", "intra_op_parallelism_threads", "threads", "num_intra_thread" } },
	{ "inter", { "inter", "inter_op_parallelism_threads" } },
	{ "optimizer", { "optimizer" } },
	{ "learning_rate", { "learning_rate", "rate", "lr" } },
	{ "batch_size", { "batch_size", "batch" } },
	{ "ml_model", { "ml_model" } },
};

enum { ITERATION_COLUMNS = 7 }; /* the first of them, in order, end a row of iterations */

static void text_of(const struct train_plan *plan, const double *point, const char *name, char *text, size_t size)
{
	const struct tune_param *p = tune_space_find(&plan->study.space, name);
	double value = p ? point[p - plan->study.space.params] : NAN;

	*text = '\0';
	if (p && !isnan(value) && p->type >= TUNE_ORDINAL && p->type != TUNE_BOOL)
		snprintf(text, size, "%s", p->choices[(size_t)value].text);
	else if (p && !isnan(value))
		tune_param_format(p, value, text, size);
	for (size_t i = 0; !p && i < plan->setting_count; i++)
		if (strcmp(plan->settings[i].name, name) == 0)
			snprintf(text, size, "%s", plan->settings[i].text);
}

void train_column(const struct train_plan *plan, const double *point, const char *column, char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		for (size_t k = 0; strcmp(meanings[i].column, column) == 0 && meanings[i].names[k] && !*text; k++)
			text_of(plan, point, meanings[i].names[k], text, size);
}

void train_config_json(struct buf *out, const struct train_plan *plan, const double *point)
{
	const struct tune_space *space = &plan->study.space;
	struct json j;
	char text[256];

	json_init(&j, out, false);
	json_object(&j);
	for (size_t i = 0; i < plan->setting_count; i++) {
		json_key(&j, plan->settings[i].name);
		if (plan->settings[i].is_number)
			json_real(&j, strtod(plan->settings[i].text, NULL));
		else
			json_str(&j, plan->settings[i].text);
	}
	for (size_t i = 0; i < space->count; i++) {
		const struct tune_param *p = &space->params[i];

		if (isnan(point[i]))
			continue;
		json_key(&j, p->name);
		if (p->type == TUNE_BOOL)
			json_bool(&j, point[i] != 0);
		else if (p->type == TUNE_FLOAT || p->type == TUNE_INT)
			json_real(&j, point[i]);
		else if (p->choices[(size_t)point[i]].is_number)
			json_real(&j, p->choices[(size_t)point[i]].number);
		else {
			tune_param_format(p, point[i], text, sizeof(text));
			json_str(&j, p->choices[(size_t)point[i]].text);
		}
	}
	json_end(&j);
}

/* The text of `out` after `from` is a line. Training goes on if it cannot be written. */
static void write_line(struct train_record *r, const struct buf *out, size_t from)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	buf_add(&line, out->data + from, out->len - from);
	(void)journal_append(&r->journal, &line, NULL);
}

static void begin_line(struct json *j, struct buf *out, const char *event, double time_s)
{
	json_init(j, out, false);
	json_object(j);
	json_kstr(j, "event", event);
	json_kreal(j, "time_s", time_s);
}

void train_record_config(struct train_record *r, const struct online_controller *c, const struct train_decision *d,
		double time_s, struct buf *out)
{
	CLEANUP(buf_release) struct buf params = BUF_INIT;
	const struct online_stage *s = online_controller_now(c);
	size_t from = out->len;
	struct json j;

	train_config_json(&params, c->plan, s->point);
	begin_line(&j, out, "config", time_s);
	json_kuint(&j, "index", s->index);
	json_kstr(&j, "reason", train_reason_word(s->reason));
	json_kbool(&j, "restart", s->is_restart);
	if (d && isfinite(d->gain_s)) {
		json_kreal(&j, "gain_s", d->gain_s);
		json_kreal(&j, "cost_s", d->cost_s);
		json_kreal(&j, "sd_s", d->sd_s);
	}
	json_key(&j, "params");
	json_raw(&j, params.data, params.len);
	json_end(&j);
	write_line(r, out, from);
}

void train_record_known(struct train_record *r, const struct online_controller *c, const struct online_stage *s,
		struct buf *out)
{
	struct stats_interval rate = online_stage_rate(s), remaining = online_controller_remaining(c);
	size_t from = out->len;
	struct json j;

	begin_line(&j, out, "known", s->last_s);
	json_kuint(&j, "index", s->index);
	json_kuint(&j, "iterations", s->count);
	json_kbool(&j, "failed", s->is_failed);
	json_kreal(&j, "value", s->value);
	json_kreal(&j, "iteration_s", rate.estimate);
	json_kreal(&j, "iteration_lo_s", rate.lo);
	json_kreal(&j, "iteration_hi_s", rate.hi);
	json_kreal(&j, "reconfiguration_s", s->cost_s);
	json_kreal(&j, "remaining_s", remaining.estimate);
	json_kreal(&j, "remaining_lo_s", remaining.lo);
	json_kreal(&j, "remaining_hi_s", remaining.hi);
	json_end(&j);
	write_line(r, out, from);
}

void train_record_finish(struct train_record *r, const struct online_controller *c, double time_s, const char *why,
		struct buf *out)
{
	size_t from = out->len;
	struct json j;

	begin_line(&j, out, "finish", time_s);
	json_kstr(&j, "why", why);
	json_kbool(&j, "reached", c->is_reached);
	json_kuint(&j, "iterations", c->loss_count);
	json_end(&j);
	write_line(r, out, from);
}

void train_record_report(struct train_record *r, const struct online_controller *c, const struct train_report *report,
		double time_s)
{
	size_t worker = report->worker < TRAIN_WORKERS_MAX ? report->worker : TRAIN_WORKERS_MAX - 1;

	if (r->iterations) {
		size_t now = c->stage_count - 1,
		       index = report->has_config && report->config < now ? report->config : now;
		char text[128];

		/* The worker's own number of steps, and the time since its last report. */
		fprintf(r->iterations, "%lld,%llu,%.6f,%.6f,", (long long)report->step,
				(unsigned long long)++r->worker_steps[worker], (double)clock_real_ns() / 1e9,
				time_s - r->worker_s[worker]);
		if (isfinite(report->loss)) /* absent otherwise */
			fprintf(r->iterations, "%.9g", report->loss);
		fprintf(r->iterations, ",%zu", index);
		for (size_t i = 0; i < ITERATION_COLUMNS; i++) {
			train_column(c->plan, c->stages[index]->point, meanings[i].column, text, sizeof(text));
			fprintf(r->iterations, ",%s", text);
		}
		fputc('\n', r->iterations);
	}
	r->worker_s[worker] = time_s;
}

void train_record_flush(struct train_record *r)
{
	if (r->iterations)
		fflush(r->iterations);
}

/* Replays one line of an earlier run: configurations and their results. */
static int recall(struct online_controller *c, const json_t *line, struct sonde_err *err)
{
	const char *event = json_string_value(json_object_get(line, "event"));
	json_int_t index = json_integer_value(json_object_get(line, "index"));
	double point[TUNE_PARAMS_MAX];

	if (event && strcmp(event, "config") == 0 && (size_t)index == c->stage_count) {
		/* Parameters by name; missing ones get their defaults. */
		tune_point_default(c->optimizer.space, point);
		for (size_t i = 0; i < c->optimizer.space->count; i++) {
			CLEANUP(cleanup_free) char *text = NULL;
			const json_t *value = json_object_get(json_object_get(line, "params"),
					c->optimizer.space->params[i].name);

			if (json_is_string(value))
				text = strdup(json_string_value(value));
			else if (value)
				text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
			if (text)
				tune_param_parse(&c->optimizer.space->params[i], text, &point[i], NULL);
		}
		tune_point_canonical(c->optimizer.space, point);
		return online_controller_recall(c, point, err);
	}
	if (event && strcmp(event, "known") == 0 && index >= 0 && (size_t)index < c->stage_count)
		return online_controller_recall_value(c, (size_t)index, json_is_true(json_object_get(line, "failed")),
				json_number_value(json_object_get(line, "value")), err);
	return 0;
}

/* Opens the journal, and replays it if its job has not finished; the journal of one that has is overwritten. */
static int open_journal(struct train_record *r, const char *path, struct online_controller *c, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t at = 0, size;
	int rc = journal_open(&r->journal, path, 0, 0644, &text, err);

	if (rc == 0 && strstr(text.data, "\"event\":\"finish\""))
		return journal_clear(&r->journal, err);
	for (const char *line; rc == 0 && (line = journal_line(&text, &at, &size));) {
		json_t *object = json_loadb(line, size, 0, NULL);

		rc = object ? recall(c, object, err) : 0;
		json_decref(object);
	}
	r->is_resumed = rc == 0 && c->stage_count > 0;
	if (rc)
		return rc;
	return r->is_resumed ? journal_trim(&r->journal, err) : journal_clear(&r->journal, err);
}

int train_record_open(struct train_record *r, const char *dir, const char *id, struct online_controller *c,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT, iterations = BUF_INIT;
	int rc = fs_mkdir_p(dir, 0700, err);

	*r = (struct train_record){ .dir = dir, .id = id, .journal = JOURNAL_INIT };
	buf_addf(&journal, "%s/journal.jsonl", dir);
	buf_addf(&iterations, "%s/iteration_training_data.csv", dir);
	if (rc == 0)
		rc = open_journal(r, journal.data, c, err);
	if (rc < 0)
		return rc;
	r->iterations = fopen(iterations.data, r->is_resumed ? "ae" : "we");
	if (!r->iterations)
		return err_sys(err, errno, "cannot open '%s'", iterations.data);
	if (!r->is_resumed) {
		fputs("step,local_step,timestamp,elapsed_time_sec,loss,config_idx", r->iterations);
		for (size_t i = 0; i < ITERATION_COLUMNS; i++)
			fprintf(r->iterations, ",%s", meanings[i].column);
		fputc('\n', r->iterations);
	}
	return 0;
}

void train_record_release(struct train_record *r)
{
	journal_close(&r->journal);
	if (r->iterations)
		fclose(r->iterations);
	r->iterations = NULL;
}

void train_lines_consume(struct train_lines *l, const char *bytes, size_t n, void (*tell)(void *arg, const char *line),
		void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			if (l->len < sizeof(l->line))
				l->line[l->len++] = bytes[i]; /* full: too long, skip to the end of the line */
			continue;
		}
		if (l->len < sizeof(l->line)) {
			l->line[l->len] = '\0';
			tell(arg, l->line);
		} else {
			l->bad++;
		}
		l->len = 0;
	}
}

/* Parses a non-negative number after a blank; advances at. */
static bool parse_index(const char **at, unsigned *index)
{
	unsigned long value;
	char *end;

	if (**at != ' ' || (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	errno = 0;
	value = strtoul(*at + 1, &end, 10);
	if (errno || value > UINT_MAX)
		return false;
	*index = (unsigned)value;
	*at = end;
	return true;
}

bool train_report_parse(const char *line, struct train_report *report)
{
	static const char word[] = "report ";
	const char *at = line + sizeof(word) - 1;
	char *end;

	if (strncmp(line, word, sizeof(word) - 1) != 0)
		return false;
	*report = (struct train_report){ 0 };
	errno = 0;
	report->step = strtoll(at, &end, 10);
	if (end == at || *end != ' ' || errno)
		return false;
	at = end + 1;
	report->loss = strtod(at, &end);
	if (end == at)
		return false;
	at = end;
	if (*at && !parse_index(&at, &report->worker))
		return false;
	if (*at) {
		report->has_config = parse_index(&at, &report->config);
		if (!report->has_config)
			return false;
	}
	return *at == '\0';
}
