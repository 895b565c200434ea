/*
 * jobs-config: what a job server may run, and what of a request it takes.
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
#define JOBS_WORDS_MAX 64 /* variables of a request */

struct jobs_app {
	const char *name;
	const char **command; /* instead of an image */
	const char *root;     /* it runs in a sandbox over this directory, with mounts; NULL: as it is, without */
};

struct jobs_config {
	struct jobs_app apps[JOBS_APPS_MAX];
	size_t app_count;
	const char **images; /* prefixes of names that may be run as images; NULL: any */
	const char **mounts; /* directories that jobs may see, "DIR" or, where they may write, "DIR:rw"; NULL: none */
	int64_t timeout_ns;  /* of a session; 0: never */
};

/* path NULL: the usual, which is any image, no mounts, one hour. */
int jobs_config_load(struct jobs_config *c, const char *path, struct arena *arena, struct sonde_err *err);

/* A request's words after they went through the allow-list. */
struct jobs_plan {
	const struct jobs_app *app; /* NULL: an image */
	const char *app_name;
	char **args;
	struct job_mount mounts[SESSION_MOUNTS_MAX]; /* each beneath what the configuration allows */
	size_t mount_count;
	const char *env[JOBS_WORDS_MAX][2]; /* name and value */
	size_t env_count;
	bool has_unused_mounts; /* the application is a command, which sees all files as they are */
};

/* -EINVAL: it makes no sense; -EACCES: it is not allowed. */
int jobs_plan(struct jobs_plan *plan, const struct jobs_config *c, const char *app_name, const char *app_args,
		const char *docker_args, struct arena *arena, struct sonde_err *err);
/* The session file of a plan. */
void jobs_plan_write(struct json *out, const struct jobs_config *c, const struct jobs_plan *plan);

#endif
