/*
 * jobs: a queue of sessions; one runs at a time.
 *
 * A request names an application, its arguments and those of its container; an allow-list limits what may be
 * requested. An accepted request becomes a directory with session.yml, log and run, and is queued. Sessions run one
 * at a time, so that they do not disturb each other. All functions are thread-safe. Jobs survive a restart: the next
 * server runs those that were queued or running.
 */
#ifndef SONDE_SESSION_JOBS_H
#define SONDE_SESSION_JOBS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "session/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job server may run, and which parts of a request it accepts. */

#define JOBS_APPS_MAX 64
#define JOBS_WORDS_MAX 64 /* environment variables per request */

struct jobs_app {
	const char *name;
	const char **command; /* instead of an image */
	const char *root;     /* runs in a sandbox over this directory, with mounts; NULL: unconfined, without mounts */
};

struct jobs_config {
	struct jobs_app apps[JOBS_APPS_MAX];
	size_t app_count;
	const char **images; /* allowed prefixes of image names; NULL: any image */
	const char **mounts; /* directories that jobs may mount, "DIR" or, if writable, "DIR:rw"; NULL: none */
	int64_t timeout_ns;  /* of a session; 0: no limit */
};

/* path NULL: the default: any image, no mounts, one hour. */
int jobs_config_load(struct jobs_config *c, const char *path, struct arena *arena, struct sonde_err *err);

/* A request after the allow-list check. */
struct jobs_plan {
	const struct jobs_app *app; /* NULL: app_name is an image */
	const char *app_name;
	char **args;
	struct job_mount mounts[SESSION_MOUNTS_MAX]; /* each below a directory that the configuration allows */
	size_t mount_count;
	const char *env[JOBS_WORDS_MAX][2]; /* name and value */
	size_t env_count;
	bool has_unused_mounts; /* mounts were ignored: the application is a command and sees all files */
};

/* -EINVAL: malformed; -EACCES: not allowed. */
int jobs_plan(struct jobs_plan *plan, const struct jobs_config *c, const char *app_name, const char *app_args,
		const char *docker_args, struct arena *arena, struct sonde_err *err);
/* Writes the session file of a plan. */
void jobs_plan_write(struct json *out, const struct jobs_config *c, const struct jobs_plan *plan);

#define JOBS_MAX 1000        /* jobs in memory: the newest of the finished ones */
#define JOBS_WAITING_MAX 100 /* queued jobs */
#define JOBS_FILE_BYTES_MAX ((size_t)64 << 20)

struct jobs_options {
	const char *dir;     /* parent of the jobs' directories; created if missing */
	const char *program; /* the sonde executable that runs sessions */
	const struct jobs_config *config;
};

struct jobs_request {
	const char *name;                                  /* pipeline name in the request */
	const char *app_name, *app_args, *app_docker_args; /* NULL: not given */
};

struct jobs;

int jobs_open(struct jobs **out, const struct jobs_options *options, struct sonde_err *err);
void jobs_free(struct jobs *q); /* stops the running job; accepts NULL */

/* -EINVAL and -EACCES: refused; -EBUSY: the queue is full. */
int jobs_submit(struct jobs *q, const struct jobs_request *request, unsigned *number, struct sonde_err *err);
int jobs_cancel(struct jobs *q, unsigned number, struct sonde_err *err); /* does nothing if it has finished */
int jobs_show(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err);
void jobs_list(struct jobs *q, struct json *out);
int jobs_log(struct jobs *q, unsigned number, struct buf *out, struct sonde_err *err);
/* Appends a part of the log from byte `from` on; is_over: the log is complete and was read to its end. */
int jobs_log_from(struct jobs *q, unsigned number, int64_t from, struct buf *out, bool *is_over, struct sonde_err *err);
/* Lists the files of its run. */
int jobs_artifacts(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err);
int jobs_artifact(struct jobs *q, unsigned number, const char *name, struct buf *out, struct sonde_err *err);

#endif
