#include "live/control/action-runner.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/transfer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define RETRY_NS 5000000000
#define SPOOL_FILES_MAX 1000
#define SPOOL_BYTES_MAX ((size_t)1 << 20)

void action_runs_init(struct action_runs *e, struct action_log *log, const char *spool)
{
	*e = (struct action_runs){ .journal = log, .spool = spool };
	for (size_t i = 0; i < ACTION_RUNS_MAX; i++)
		e->all[i].out = -1;
}

static void clear(struct action_run *one)
{
	job_free(one->job);
	if (one->out >= 0)
		close(one->out);
	free(one->request);
	*one = (struct action_run){ .out = -1 };
}

void action_runs_release(struct action_runs *e)
{
	for (size_t i = 0; i < ACTION_RUNS_MAX; i++)
		clear(&e->all[i]);
}

static struct action_run *free_slot(struct action_runs *e, struct sonde_err *err)
{
	for (size_t i = 0; i < ACTION_RUNS_MAX; i++)
		if (!e->all[i].job)
			return &e->all[i];
	err_set(err, EBUSY, "%d actions are running already", ACTION_RUNS_MAX);
	return NULL;
}

static void name(struct action_run *one, const struct rules_request *r)
{
	one->end_ns = clock_mono_ns() + ACTION_SECONDS * 1000000000LL;
	snprintf(one->who, sizeof(one->who), "%s", r->who);
	snprintf(one->action, sizeof(one->action), "%s", r->action->text);
}

int action_run_exec(struct action_runs *e, const struct rules_request *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf rule = BUF_INIT, why = BUF_INIT;
	struct action_run *one = free_slot(e, err);
	struct job_spec spec = JOB_SPEC_INIT;
	const char *env[4];
	int rc;

	if (!one)
		return -EBUSY;
	buf_addf(&rule, "SONDE_RULE=%s", r->who);
	buf_addf(&why, "SONDE_WHY=%s", r->why);
	env[0] = rule.data;
	env[1] = why.data;
	env[2] = r->is_clearing ? "SONDE_STATUS=resolved" : "SONDE_STATUS=firing";
	env[3] = NULL;
	spec.argv = r->action->argv;
	spec.env = env;
	spec.fds[1] = JOB_FD_NULL;
	rc = job_start(&one->job, &spec, err);
	if (rc == 0)
		name(one, r);
	return rc;
}

static void add_time(struct json *j, const char *key, int64_t real_ns)
{
	char text[40] = "0001-01-01T00:00:00Z";
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm at;

	if (real_ns && gmtime_r(&seconds, &at))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &at);
	json_kstr(j, key, text);
}

static void add_labels(struct json *j, const char *key, const struct rules_request *r)
{
	json_kobject(j, key);
	json_kstr(j, "alertname", r->who);
	json_kstr(j, "job", "sonde");
	json_end(j);
}

static void add_annotations(struct json *j, const char *key, const struct rules_request *r)
{
	json_kobject(j, key);
	json_kstr(j, "description", r->why);
	json_end(j);
}

/* In the webhook format of Alertmanager (version 4). */
static void put_alert(struct buf *out, const struct rules_request *r)
{
	const char *status = r->is_clearing ? "resolved" : "firing";
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "version", "4");
	json_kstr(&j, "groupKey", r->who);
	json_kint(&j, "truncatedAlerts", 0);
	json_kstr(&j, "status", status);
	json_kstr(&j, "receiver", "sonde");
	add_labels(&j, "groupLabels", r);
	add_labels(&j, "commonLabels", r);
	add_annotations(&j, "commonAnnotations", r);
	json_kstr(&j, "externalURL", "");
	json_karray(&j, "alerts");
	json_object(&j);
	json_kstr(&j, "status", status);
	add_labels(&j, "labels", r);
	add_annotations(&j, "annotations", r);
	add_time(&j, "startsAt", r->real_ns);
	add_time(&j, "endsAt", r->is_clearing ? r->real_ns : 0);
	json_kstr(&j, "generatorURL", "");
	json_kstr(&j, "fingerprint", r->who);
	json_end(&j);
	json_end(&j);
	json_end(&j);
}

static int begin(struct action_runs *e, const struct buf *request, struct action_run **out, struct sonde_err *err)
{
	struct action_run *one = free_slot(e, err);
	int rc;

	if (!one)
		return -EBUSY;
	one->out = memfd_create("answer", MFD_CLOEXEC);
	rc = one->out < 0 ? err_sys(err, errno, "cannot create a memory file")
			  : transfer_start(&one->job, request, one->out, err);
	if (rc < 0)
		clear(one);
	else
		*out = one;
	return rc;
}

int action_run_webhook(struct action_runs *e, const struct rules_request *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT;
	struct action_run *one;
	int rc;

	buf_addf(&request, "POST %s\nheader Content-Type: application/json\ntimeout 10\n\n", r->action->name);
	put_alert(&request, r);
	rc = begin(e, &request, &one, err);
	if (rc < 0)
		return rc;
	name(one, r);
	one->request = malloc(request.len);
	one->request_bytes = one->request ? request.len : 0;
	if (one->request)
		memcpy(one->request, request.data, request.len);
	return 0;
}

int action_run_mqtt(struct action_runs *e, const struct rules_request *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT;
	struct action_run *one;
	int rc;

	buf_addf(&request, "PUBLISH %s:%u\ntopic %s\nqos %d\ntimeout 10\n\n", r->action->host, r->action->port,
			r->action->name, r->action->qos);
	put_alert(&request, r);
	rc = begin(e, &request, &one, err);
	if (rc == 0)
		name(one, r);
	return rc;
}

/* The file name starts with the time, so that names sort by age. */
static void spool(struct action_runs *e, const struct action_run *one)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	if (!e->spool || !one->request || *one->spooled)
		return;
	buf_addf(&path, "%s/%020lld-%llu.request", e->spool, (long long)clock_real_ns(),
			(unsigned long long)e->spooled);
	if (fs_mkdir_p(e->spool, 0700, NULL) == 0 &&
			fs_replace_file(AT_FDCWD, path.data, one->request, one->request_bytes, NULL) == 0)
		e->spooled++;
}

static void finish(struct action_runs *e, struct action_run *one, bool is_late)
{
	struct transfer_answer answer = { .status = 0 };
	int status = is_late ? -1 : job_status(one->job);
	bool is_fine = status == 0;
	char text[1024] = "", words[320] = "";
	ssize_t n = one->out >= 0 ? pread(one->out, text, sizeof(text) - 1, 0) : -1;
	struct action_log_line line = { .who = one->who, .action = one->action, .message = words };

	if (n > 0 && transfer_parse(text, &answer) == 0 && answer.status)
		snprintf(words, sizeof(words), "HTTP status %ld", answer.status);
	if (*answer.error)
		snprintf(words, sizeof(words), "%s", answer.error);
	else if (is_late)
		snprintf(words, sizeof(words), "timed out after %d s", ACTION_SECONDS);
	else if (!is_fine && !*words)
		snprintf(words, sizeof(words), "exit status %d", WIFEXITED(status) ? WEXITSTATUS(status) : status);
	line.result = is_fine ? "finished" : "failed";
	if (!is_fine)
		spool(e, one);
	else if (*one->spooled)
		unlink(one->spooled);
	if (!*one->spooled || is_fine)
		action_log_add(e->journal, &line);
	*(is_fine ? &e->done : &e->failed) += 1;
	clear(one);
}

/* Finds the oldest file of the spool. */
static bool oldest(const char *dir, char *path, size_t size)
{
	DIR *d = opendir(dir);
	char least[256] = "";
	size_t seen = 0;

	for (struct dirent *f; d && (f = readdir(d)) && seen < SPOOL_FILES_MAX; seen++) {
		const char *ending = strrchr(f->d_name, '.');

		if (ending && strcmp(ending, ".request") == 0 && (!*least || strcmp(f->d_name, least) < 0))
			snprintf(least, sizeof(least), "%s", f->d_name);
	}
	if (d)
		closedir(d);
	snprintf(path, size, "%s/%s", dir, least);
	return *least != '\0';
}

static void retry(struct action_runs *e, int64_t now_ns)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT;
	struct action_run *one = NULL;
	char path[300];

	for (size_t i = 0; i < ACTION_RUNS_MAX; i++)
		if (e->all[i].job && *e->all[i].spooled)
			return;
	if (!e->spool || now_ns < e->retry_ns || !oldest(e->spool, path, sizeof(path)))
		return;
	e->retry_ns = now_ns + RETRY_NS;
	if (fs_read_file(AT_FDCWD, path, SPOOL_BYTES_MAX, &request, NULL) < 0 || begin(e, &request, &one, NULL) < 0)
		return;
	one->end_ns = now_ns + ACTION_SECONDS * 1000000000LL;
	snprintf(one->who, sizeof(one->who), "spool");
	snprintf(one->action, sizeof(one->action), "webhook");
	snprintf(one->spooled, sizeof(one->spooled), "%s", path);
}

void action_runs_tick(struct action_runs *e, int64_t now_ns)
{
	for (size_t i = 0; i < ACTION_RUNS_MAX; i++) {
		struct action_run *one = &e->all[i];

		if (!one->job)
			continue;
		if (job_wait(one->job, 0, NULL) == 0) {
			bool was_spooled = *one->spooled && job_status(one->job) == 0;

			finish(e, one, false);
			if (was_spooled)
				e->retry_ns = 0; /* the receiver accepts again: retry the next one at once */
		} else if (now_ns >= one->end_ns) {
			finish(e, one, true);
		}
	}
	retry(e, now_ns);
}

int action_log_open(struct action_log *log, const char *path, struct sonde_err *err)
{
	*log = (struct action_log){ .file = JOURNAL_INIT };
	return path ? journal_open(&log->file, path, JOURNAL_SHARED, 0600, NULL, err) : 0;
}

void action_log_close(struct action_log *log)
{
	journal_close(&log->file);
	for (size_t i = 0; i < ACTION_LOG_LINES; i++)
		free(log->lines[i]);
	*log = (struct action_log){ .file = JOURNAL_INIT };
}

static void add(struct json *out, const char *key, const char *text)
{
	if (text)
		json_kstr(out, key, text);
}

/* NULL fields are omitted. */
static void format(struct buf *out, const struct action_log_line *line)
{
	int64_t real_ns = line->real_ns ? line->real_ns : clock_real_ns();
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct json j;
	struct tm at;
	char time[40];
	size_t n = gmtime_r(&seconds, &at) ? strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &at) : 0;

	json_init(&j, out, false);
	json_object(&j);
	snprintf(time + n, sizeof(time) - n, ".%03dZ", (int)(real_ns / 1000000 % 1000));
	json_kstr(&j, "time", time);
	add(&j, "rule", line->who);
	add(&j, "action", line->action);
	add(&j, "result", line->result);
	add(&j, "place", line->place);
	add(&j, "before", line->before);
	add(&j, "after", line->after);
	add(&j, "why", line->why);
	add(&j, "message", line->message && *line->message ? line->message : NULL);
	json_end(&j);
}

static bool is_same(const char *kept, size_t size, const char *text)
{
	return strncmp(kept, text ? text : "", size - 1) == 0;
}

/* Was this refusal logged recently? Records it if not. */
static bool is_known(struct action_log *log, const struct action_log_line *line)
{
	struct action_refusal *r;
	int64_t now_ns = clock_mono_ns();

	if (strcmp(line->result, "refused") != 0 && strcmp(line->result, "failed") != 0)
		return false;
	for (r = log->refusals; r < log->refusals + ACTION_LOG_REFUSALS; r++)
		if (r->mono_ns && now_ns - r->mono_ns < ACTION_LOG_AGAIN_NS &&
				is_same(r->who, sizeof(r->who), line->who) &&
				is_same(r->action, sizeof(r->action), line->action) &&
				is_same(r->message, sizeof(r->message), line->message))
			return true;
	r = &log->refusals[log->refusal_count++ % ACTION_LOG_REFUSALS];
	snprintf(r->who, sizeof(r->who), "%s", line->who ? line->who : "");
	snprintf(r->action, sizeof(r->action), "%s", line->action ? line->action : "");
	snprintf(r->message, sizeof(r->message), "%s", line->message ? line->message : "");
	r->mono_ns = now_ns;
	return false;
}

void action_log_write(struct journal *file, const struct action_log_line *line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	format(&text, line);
	(void)journal_append(file, &text, NULL);
}

void action_log_add(struct action_log *log, const struct action_log_line *line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char **kept = &log->lines[log->count % ACTION_LOG_LINES];

	if (is_known(log, line))
		return;
	format(&text, line);
	(void)journal_append(&log->file, &text, NULL); /* a full disk must not stop the controller */
	if (buf_error(&text) < 0)
		return;
	free(*kept);
	*kept = buf_take(&text);
	log->count++;
}

void action_log_show(const struct action_log *log, struct json *out)
{
	uint64_t first = log->count > ACTION_LOG_LINES ? log->count - ACTION_LOG_LINES : 0;

	json_array(out);
	for (uint64_t i = first; i < log->count; i++) {
		const char *line = log->lines[i % ACTION_LOG_LINES];

		if (line)
			json_raw(out, line, strlen(line) - 1);
	}
	json_end(out);
}
