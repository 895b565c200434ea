#include "launch/container.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/container-isolation.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_LIMIT_NS 60000000000
#define RUN_PAUSE_MS 20

struct container {
	struct job *job; /* the idle process */
	char *engine;
	char name[64];
	pid_t pid;
};

/* Removes the records of containers left by a sonde that was killed; its supervisors have killed the processes. */
static void remove_left(const char *engine)
{
	CLEANUP(words_release) struct words w = { 0 };
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	static const char *const list[] = { "ps", "--all", "--filter=name=^sonde-[0-9]+-[0-9]+$", "--format={{.Names}}",
		NULL };
	engine_add(&w, engine);
	for (const char *const *word = list; *word; word++)
		words_add(&w, *word);
	if (words_done(&w) || engine_run(&w, &names, NULL))
		return;
	char *rest = names.data;
	for (char *name; (name = strsep(&rest, "\n"));) {
		int pid;
		if (sscanf(name, "sonde-%d-", &pid) == 1 && pid > 0 && kill(pid, 0) && errno == ESRCH)
			engine_remove(engine, name, NULL);
	}
}

/* Waits until the engine accepts commands. */
static int await_running(struct container *c, int interrupt_fd, struct sonde_err *err)
{
	struct pollfd interrupt = { .fd = interrupt_fd, .events = POLLIN };
	int64_t until_ns = clock_mono_ns() + RUN_LIMIT_NS;
	while (!(c->pid = engine_pid(c->engine, c->name))) {
		if (job_has_ended(c->job)) {
			int rc = err_set(err, EIO, "the container exited immediately");
			err_hint(err,
					"check that the image and the command in it exist; the engine's messages are "
					"above");
			return rc;
		}
		if (clock_mono_ns() > until_ns)
			return err_set(err, ETIMEDOUT, "the container '%s' does not start", c->name);
		if (poll(&interrupt, 1, RUN_PAUSE_MS) > 0)
			return err_set(err, EINTR, "interrupted");
	}
	return 0;
}

static int start(struct container *c, const struct job_isolation *place, char *const *idle, const char *const *env,
		int interrupt_fd, struct sonde_err *err)
{
	static char tail[] = "tail", follow[] = "-f", nothing[] = "/dev/null";
	static char *const usual[] = { tail, follow, nothing, NULL };
	struct job_spec spec = JOB_SPEC_INIT;
	int rc = engine_find(&c->engine, place->engine, err);
	if (rc)
		return rc;
	remove_left(c->engine);
	spec.argv = idle ? idle : usual;
	spec.env = env;
	spec.fds[1] = JOB_FD_NULL;
	spec.place = place;
	spec.interrupt_fd = interrupt_fd;
	rc = job_start(&c->job, &spec, err);
	if (rc)
		return rc;
	const struct contained *inner = c->job->place;
	snprintf(c->name, sizeof(c->name), "%s", inner->name);
	return await_running(c, interrupt_fd, err);
}

int container_start(struct container **out, const struct job_isolation *place, char *const *idle,
		const char *const *env, int interrupt_fd, struct sonde_err *err)
{
	struct container *c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(err, ENOMEM, "cannot start a container");
	int rc = start(c, place, idle, env, interrupt_fd, err);
	if (rc)
		container_free(c);
	else
		*out = c;
	return rc;
}

pid_t container_pid(const struct container *c)
{
	return c->pid;
}

static int prepare_exec(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err)
{
	struct contained *c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(err, ENOMEM, "cannot execute in a container");
	j->place = c;
	struct words *w = &c->argv;
	engine_add(w, spec->place->engine);
	words_add(w, "exec");
	if (spec->fds[0] != JOB_FD_NULL)
		words_add(w, "--interactive");
	engine_add_env(w, spec->env);
	if (spec->cwd)
		words_addf(w, "--workdir=%s", spec->cwd);
	words_add(w, spec->place->image);
	for (size_t i = 0; spec->argv[i]; i++)
		words_add(w, spec->argv[i]);
	return container_use_client(j, plan, w, err);
}

static int release_exec(struct job *j, struct sonde_err *err)
{
	struct contained *c = j->place;
	(void)err;
	if (c)
		words_release(&c->argv);
	free(c);
	j->place = NULL;
	return 0;
}

const struct isolation_ops isolation_exec = {
	.prepare = prepare_exec,
	.signal = container_signal,
	.usage = container_usage,
	.release = release_exec,
};

int container_exec(struct job **out, struct container *c, const struct job_spec *spec, struct sonde_err *err)
{
	struct job_isolation place = { .kind = JOB_CONTAINER, .engine = c->engine, .image = c->name };
	struct job_spec inner = *spec;
	if (spec->place || spec->inherit_count || spec->cpus)
		return err_set(err, EINVAL,
				"a command in a running container cannot have isolation, CPUs or descriptors");
	inner.place = &place;
	return job_start_at(out, &inner, &isolation_exec, err);
}

int container_copy_out(struct container *c, const char *from, const char *to, struct sonde_err *err)
{
	CLEANUP(words_release) struct words w = { 0 };
	engine_add(&w, c->engine);
	words_add(&w, "cp");
	words_addf(&w, "%s:%s", c->name, from);
	words_add(&w, to);
	return words_done(&w) ? err_sys(err, ENOMEM, "cannot copy '%s'", from) : engine_run(&w, NULL, err);
}

int container_stop(struct container *c, struct sonde_err *err)
{
	static const struct job_ladder at_once = JOB_LADDER_KILL;
	if (!c)
		return 0;
	int rc = c->job ? job_end(c->job, &at_once, err) : 0;
	c->pid = 0;
	return rc;
}

void container_free(struct container *c)
{
	if (!c)
		return;
	job_free(c->job);
	free(c->engine);
	free(c);
}
