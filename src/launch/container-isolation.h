/* container-isolation: shared by the jobs that use a container engine. */
#ifndef SONDE_LAUNCH_CONTAINER_ISOLATION_H
#define SONDE_LAUNCH_CONTAINER_ISOLATION_H

#include "launch/container-engine.h"
#include "launch/job-private.h"
#include "launch/mounts.h"
#include "launch/start-barrier.h"

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
/* container-usage.c: usage of a container with the lifetime of the job. */
void container_poll(struct job *j);
void container_seen(const struct job *j, struct job_usage *usage);

/* For container.h: a job of `exec`; the image of its isolation is the container's name. */
extern const struct isolation_ops isolation_exec;

#endif
