#include "session/jobs-private.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/job.h"
#include "launch/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LOOK_NS 100000000 /* interval at which a running job is checked for cancellation */

static int write_session(struct jobs *q, unsigned number, const struct jobs_plan *plan, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	struct json j;

	json_init(&j, &text, true);
	jobs_plan_write(&j, q->options.config, plan);
	buf_addc(&text, '\n');
	jobs_path(q, number, "session.yml", &path);
	return fs_replace_file(AT_FDCWD, path.data, text.data, text.len, err);
}

static bool is_cancelled(struct jobs *q, const struct entry *e)
{
	pthread_mutex_lock(&q->lock);
	bool is_it = e->is_cancelled || q->is_stopping;
	pthread_mutex_unlock(&q->lock);
	return is_it;
}

static int open_log(const struct jobs *q, unsigned number, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int fd;

	jobs_path(q, number, "log", &path);
	fd = open(path.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? err_sys(err, errno, "cannot write '%s'", path.data) : fd;
}

/* Check the original request again: the configuration may have changed since it was submitted. */
static int plan_again(struct jobs *q, const struct entry *e, struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct jobs_plan plan;
	int rc = jobs_plan(&plan, q->options.config, e->app_name, e->app_args, e->app_docker_args, &arena, err);

	return rc < 0 ? rc : write_session(q, e->number, &plan, err);
}

static int start(const struct jobs *q, unsigned number, struct job **job, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT, run = BUF_INIT;
	CLEANUP(cleanup_fd) int log = open_log(q, number, err);
	char word[] = "session", to[] = "-o";
	char *argv[6] = { (char *)(uintptr_t)q->options.program, word, NULL, to, NULL, NULL };
	struct job_spec spec = JOB_SPEC_INIT;

	if (log < 0)
		return log;
	jobs_path(q, number, "session.yml", &file);
	jobs_path(q, number, "run", &run);
	argv[2] = file.data;
	argv[4] = run.data;
	spec.argv = argv;
	spec.fds[1] = spec.fds[2] = log;
	return job_start(job, &spec, err);
}

/* Returns the final state. */
static enum state run_one(struct jobs *q, struct entry *e, int *exit_code, struct sonde_err *err)
{
	static const struct job_ladder ladder = { .interrupt_ns = 5000000000, .terminate_ns = 5000000000 };
	struct job *job = NULL;
	bool was_cancelled = false;
	int status = 0, rc = plan_again(q, e, err);

	if (rc == 0)
		rc = start(q, e->number, &job, err);
	*exit_code = -1;
	if (rc < 0)
		return FAILED;
	while (!was_cancelled && job_wait(job, clock_mono_ns() + LOOK_NS, err) == -ETIMEDOUT)
		was_cancelled = is_cancelled(q, e);
	rc = job_end(job, &ladder, err);
	status = job_status(job);
	job_free(job);
	if (was_cancelled)
		return CANCELLED;
	if (rc == 0 && WIFEXITED(status))
		*exit_code = WEXITSTATUS(status);
	return *exit_code == 0 || *exit_code == 3 ? DONE : FAILED; /* 3: it ran, and a threshold is breached */
}

/* Sets the next queued job to running; NULL: the server stops. */
static struct entry *start_next(struct jobs *q)
{
	struct entry *e = NULL;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		for (e = q->first; e && e->state != QUEUED; e = e->next)
			;
		if (e || q->is_stopping)
			break;
		pthread_cond_wait(&q->wake, &q->lock);
	}
	if (q->is_stopping)
		e = NULL;
	if (e) {
		e->state = RUNNING;
		q->waiting--;
		jobs_entry_save(q->options.dir, e);
	}
	pthread_mutex_unlock(&q->lock);
	return e;
}

/* The worker thread: runs one job after the other until jobs_free. */
static void *work(void *arg)
{
	struct jobs *q = arg;
	struct entry *e;

	while ((e = start_next(q))) {
		struct sonde_err err = SONDE_ERR_INIT;
		int exit_code;
		enum state state = run_one(q, e, &exit_code, &err);

		pthread_mutex_lock(&q->lock);
		e->state = state;
		e->exit_code = exit_code;
		if (state == FAILED && exit_code < 0)
			e->err = err;
		if (state == CANCELLED && !e->is_cancelled)
			e->state = QUEUED; /* the server stops; the next one runs the job */
		jobs_entry_save(q->options.dir, e);
		pthread_mutex_unlock(&q->lock);
	}
	return NULL;
}

#define TEXT_BYTES_MAX 4096
#define NUMBER_MAX 1000000

void jobs_path(const struct jobs *q, unsigned number, const char *file, struct buf *out)
{
	buf_reset(out);
	buf_addf(out, "%s/%u%s%s", q->options.dir, number, *file ? "/" : "", file);
}

struct entry *jobs_find(struct jobs *q, unsigned number)
{
	struct entry *e = q->first;

	while (e && e->number != number)
		e = e->next;
	return e;
}

void jobs_entry_free(struct entry *e)
{
	if (!e)
		return;
	free(e->name);
	free(e->app_name);
	free(e->app_args);
	free(e->app_docker_args);
	free(e);
}

int jobs_open(struct jobs **out, const struct jobs_options *options, struct sonde_err *err)
{
	struct jobs *q;
	int rc = fs_mkdir_p(options->dir, 0700, err);

	if (rc < 0)
		return rc;
	q = calloc(1, sizeof(*q));
	if (!q)
		return err_sys(err, ENOMEM, "cannot store jobs");
	q->options = *options;
	mount_dir_sweep(); /* left by a server that was killed while a container started */
	q->first = jobs_entries_load(options->dir);
	for (q->end = &q->first; *q->end; q->end = &(*q->end)->next) {
		q->count++;
		q->waiting += (*q->end)->state == QUEUED;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->wake, NULL);
	rc = pthread_create(&q->worker, NULL, work, q);
	q->has_worker = rc == 0;
	if (rc) {
		jobs_free(q);
		return err_sys(err, rc, "cannot start the job worker");
	}
	*out = q;
	return 0;
}

void jobs_free(struct jobs *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->is_stopping = true;
	pthread_cond_broadcast(&q->wake);
	pthread_mutex_unlock(&q->lock);
	if (q->has_worker)
		pthread_join(q->worker, NULL);
	while (q->first) {
		struct entry *next = q->first->next;

		jobs_entry_free(q->first);
		q->first = next;
	}
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* Requests. */

static char *copy_of(const char *text)
{
	return strdup(text ? text : "");
}

static struct entry *entry_new(const struct jobs_request *r, const struct jobs_plan *plan)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->name = copy_of(r->name);
	e->app_name = copy_of(r->app_name);
	e->app_args = copy_of(r->app_args);
	e->app_docker_args = copy_of(r->app_docker_args);
	e->has_unused_mounts = plan->has_unused_mounts;
	e->submitted_real_ns = clock_real_ns();
	e->exit_code = -1;
	if (e->name && e->app_name && e->app_args && e->app_docker_args)
		return e;
	jobs_entry_free(e);
	return NULL;
}

/* Creates a new directory; those of an earlier server are kept. */
static int create_dir(struct jobs *q, unsigned *number, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	for (unsigned n = 1; n < NUMBER_MAX; n++) {
		jobs_path(q, n, "", &path);
		if (mkdir(path.data, 0700) == 0) {
			*number = n;
			return 0;
		}
		if (errno != EEXIST)
			return err_sys(err, errno, "cannot create '%s'", path.data);
	}
	return err_set(err, ENOSPC, "'%s' is full", q->options.dir);
}

/* Forgets the oldest finished job; its directory is kept. */
static void forget_oldest(struct jobs *q)
{
	struct entry **at = &q->first, *oldest;

	while (*at && ((*at)->state == QUEUED || (*at)->state == RUNNING))
		at = &(*at)->next;
	oldest = *at;
	if (!oldest)
		return;
	*at = oldest->next;
	if (!*at)
		q->end = at;
	q->count--;
	jobs_entry_free(oldest);
}

static int make_room(struct jobs *q, struct sonde_err *err)
{
	if (q->waiting >= JOBS_WAITING_MAX)
		return err_set(err, EBUSY, "the queue is full (%d jobs)", JOBS_WAITING_MAX);
	if (q->count >= JOBS_MAX)
		forget_oldest(q);
	return 0;
}

static int check_lengths(const struct jobs_request *r, struct sonde_err *err)
{
	const char *texts[] = { r->name, r->app_name, r->app_args, r->app_docker_args };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] && strlen(texts[i]) > TEXT_BYTES_MAX)
			return err_set(err, EINVAL, "a parameter is longer than %d bytes", TEXT_BYTES_MAX);
	return 0;
}

static int enqueue(struct jobs *q, struct entry *e, const struct jobs_plan *plan, unsigned *number,
		struct sonde_err *err)
{
	int rc;

	pthread_mutex_lock(&q->lock);
	rc = make_room(q, err);
	if (rc == 0)
		rc = create_dir(q, &e->number, err);
	if (rc == 0)
		rc = write_session(q, e->number, plan, err);
	if (rc == 0) {
		*q->end = e;
		q->end = &e->next;
		q->count++;
		q->waiting++;
		*number = e->number;
		jobs_entry_save(q->options.dir, e);
		pthread_cond_signal(&q->wake);
	}
	pthread_mutex_unlock(&q->lock);
	return rc;
}

int jobs_submit(struct jobs *q, const struct jobs_request *r, unsigned *number, struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct jobs_plan plan;
	struct entry *e;
	int rc = check_lengths(r, err);

	if (rc == 0)
		rc = jobs_plan(&plan, q->options.config, r->app_name, r->app_args, r->app_docker_args, &arena, err);
	if (rc < 0)
		return rc;
	e = entry_new(r, &plan);
	if (!e)
		return err_sys(err, ENOMEM, "cannot queue the job");
	rc = enqueue(q, e, &plan, number, err);
	if (rc < 0)
		jobs_entry_free(e);
	return rc;
}

int jobs_not_found(unsigned number, struct sonde_err *err)
{
	return err_set(err, ENOENT, "job %u not found", number);
}

int jobs_cancel(struct jobs *q, unsigned number, struct sonde_err *err)
{
	struct entry *e;

	pthread_mutex_lock(&q->lock);
	e = jobs_find(q, number);
	if (e && e->state == QUEUED) {
		e->state = CANCELLED;
		q->waiting--;
	}
	if (e) {
		e->is_cancelled = true;
		jobs_entry_save(q->options.dir, e);
	}
	pthread_mutex_unlock(&q->lock);
	return e ? 0 : jobs_not_found(number, err);
}

static void write_entry(struct json *j, const struct entry *e)
{
	char path[64];

	json_object(j);
	json_kuint(j, "number", e->number);
	json_kstr(j, "job", e->name);
	json_kstr(j, "app_name", e->app_name);
	json_kstr(j, "app_args", e->app_args);
	json_kstr(j, "app_docker_args", e->app_docker_args);
	json_kstr(j, "state", jobs_state_word(e->state));
	json_kreal(j, "submitted_timestamp_seconds", (double)e->submitted_real_ns / 1e9);
	json_key(j, "exit_code");
	if (e->exit_code >= 0)
		json_int(j, e->exit_code);
	else
		json_null(j);
	if (e->err.text[0])
		json_kstr(j, "error", e->err.text);
	if (e->has_unused_mounts)
		json_kstr(j, "note",
				"the application is a command and sees the host's files: mounts were left "
				"out");
	snprintf(path, sizeof(path), "/jobs/%u/log", e->number);
	json_kstr(j, "log", path);
	snprintf(path, sizeof(path), "/jobs/%u/artifacts", e->number);
	json_kstr(j, "artifacts", path);
	json_end(j);
}

int jobs_show(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err)
{
	struct entry *e;

	pthread_mutex_lock(&q->lock);
	e = jobs_find(q, number);
	if (e)
		write_entry(out, e);
	pthread_mutex_unlock(&q->lock);
	return e ? 0 : jobs_not_found(number, err);
}

void jobs_list(struct jobs *q, struct json *out)
{
	json_array(out);
	pthread_mutex_lock(&q->lock);
	for (struct entry *e = q->first; e; e = e->next)
		write_entry(out, e);
	pthread_mutex_unlock(&q->lock);
	json_end(out);
}
