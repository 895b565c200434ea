/* container-place: what jobs of engines share. */
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
	bool was_running;                   /* when the engine was asked last */
	bool has_no_oom_file;               /* see drop_oom_file */
	struct mount_dir mounts;            /* of a request; until its first process has taken them over */
	struct start_barrier start_barrier; /* where its first process waits, if the engine may be a daemon's client */
	struct job_usage seen;              /* by its control group, last; -1: not known */
	int64_t looked_ns;
	bool is_limited; /* in memory: the engine is asked afterwards whether that was too little */
};

int container_use_client(struct job *j, struct supervisor_plan *plan, struct words *argv, struct sonde_err *err);
int container_signal(struct job *j, int signal, struct sonde_err *err);
void container_usage(const struct job *j, struct job_usage *usage);
/* container-usage.c: of a container that lives as long as the job. */
void container_poll(struct job *j);
void container_seen(const struct job *j, struct job_usage *usage);

/* Of container.h: a job of `exec`; its place's image is the container's name. */
extern const struct isolation_ops isolation_exec;

#endif
