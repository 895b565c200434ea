/* container-isolation: shared by the jobs that use a container engine. */
#ifndef SONDE_LAUNCH_CONTAINER_ISOLATION_H
#define SONDE_LAUNCH_CONTAINER_ISOLATION_H

#include "base/buf.h"
#include "base/fs.h"
#include "launch/job-private.h"
#include "launch/job.h"
#include "launch/mounts.h"

#include <stdbool.h>
#include <sys/types.h>

/* container-engine.c: runs podman or docker by argument vectors. */

/* A growing argument vector. Errors are sticky: check words_done once. */
struct words {
	char **items; /* NULL-terminated after words_done */
	size_t count, cap;
	bool is_failed;
};

void words_add(struct words *w, const char *word);
void words_addf(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int words_done(struct words *w); /* 0 or -ENOMEM */
void words_release(struct words *w);

/* A command that runs containers, optionally with arguments: "podman", "sudo docker". */
void engine_add(struct words *w, const char *engine);
/* Finds the requested engine, or any that is installed. The caller frees *path. */
int engine_find(char **path, const char *asked, struct sonde_err *err);
/*
 * Runs the engine to completion. out (NULL: discarded) receives its stdout. -EIO with the engine's error text if it
 * fails.
 */
int engine_run(const struct words *argv, struct buf *out, struct sonde_err *err);
/* Generates a container name that is unique on this machine. */
void engine_name(char *out, size_t size, bool is_kept);
/*
 * Adds the arguments of `run` for an isolation: limits, mounts (those with `beneath` come from `mounts`),
 * environment, directory, CPUs.
 */
void engine_add_place(struct words *w, const struct job_isolation *place, const struct job_spec *spec,
		const struct mount_dir *mounts);
void engine_add_env(struct words *w, const char *const *env);
bool engine_is_podman(const char *engine);    /* by name: its containers are our descendants */
bool engine_is_elsewhere(const char *engine); /* its daemon runs on another machine, which does not have our files */
/* Adds the entrypoint of the image, or of the arguments of `run`. -errno if it is unknown. */
int engine_add_entrypoint(struct words *w, const char *engine, const struct job_isolation *place);
/* Kills and removes the container at once. It is not an error if it does not exist. */
int engine_remove(const char *engine, const char *name, struct sonde_err *err);
/* Kills the container's processes and keeps the container. It is not an error if it does not exist. */
void engine_kill(const char *engine, const char *name);
/* Host pid of its first process; 0 if it is not running; -errno on failure. */
pid_t engine_pid(const char *engine, const char *name);
/* Did the OOM killer kill processes of the container? 1 or 0; -errno if unknown. */
int engine_was_oom(const char *engine, const char *name);

/*
 * Where the first process of a daemon's container (container-init.c) waits until it is observed.
 *
 * A socket that is mounted into the container. The credentials of a connection contain the pid of the process in our
 * namespace.
 */
struct start_barrier {
	bool is_made;
	char path[FS_TEMP_BYTES + 8];
	/* private */
	char dir[FS_TEMP_BYTES];
	int listening, waiting; /* -1: none */
};

#define START_BARRIER_INIT { .listening = -1, .waiting = -1 }

struct contained { /* j->place */
	char *engine;
	char name[64];
	bool is_kept;
	struct words argv;
	bool was_running;                   /* at the last query of the engine */
	bool has_no_oom_file;               /* see drop_oom_file */
	struct mount_dir mounts;            /* sources with `beneath`; until the first process has mounted them */
	struct start_barrier start_barrier; /* where the first process waits, if the engine may use a daemon */
	struct job_usage seen;              /* last reading of its cgroup; -1 if unknown */
	int64_t looked_ns;
	bool is_limited; /* has a memory limit: the engine is queried for an OOM kill afterwards */
};

int container_use_client(struct job *j, struct supervisor_plan *plan, struct words *argv, struct sonde_err *err);
int container_signal(struct job *j, int signal, struct sonde_err *err);
void container_usage(const struct job *j, struct job_usage *usage);

/* For container.h: a job of `exec`; the image of its isolation is the container's name. */
extern const struct isolation_ops isolation_exec;

#endif
