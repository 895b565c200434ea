/* The only worker of the queue. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/job.h"
#include "session/jobs-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#define LOOK_NS 100000000 /* interval at which a running job is checked for cancellation */

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

	return rc < 0 ? rc : jobs_write_session(q, e->number, &plan, err);
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
static struct entry *take_next(struct jobs *q)
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

void *jobs_work(void *arg)
{
	struct jobs *q = arg;
	struct entry *e;

	while ((e = take_next(q))) {
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
