/*
 * jobs-config: what a job server may run, and which parts of a request it accepts.
 */
#ifndef SONDE_SESSION_JOBS_CONFIG_H
#define SONDE_SESSION_JOBS_CONFIG_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "session/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
