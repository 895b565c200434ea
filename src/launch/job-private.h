/* job-private: struct job, for the implementations of the isolations. */
#ifndef SONDE_LAUNCH_JOB_PRIVATE_H
#define SONDE_LAUNCH_JOB_PRIVATE_H

#include "launch/job.h"
#include "launch/supervisor.h"

#include <stdbool.h>
#include <stdint.h>

struct job {
	const struct isolation_ops *ops;
	pid_t supervisor, pid, inner_pid;
	bool is_bound; /* it is killed when sonde dies */
	int sock, supervisor_pidfd, pidfd;
	char **envp;
	char *program;
	int64_t start_ns, end_ns;
	int status;
	struct rusage rusage;   /* of the processes the supervisor has reaped, */
	bool is_client;         /* which are a container engine's client */
	struct job_usage usage; /* of the reaped processes, as last reported by the supervisor */
	bool has_ended;         /* the command has exited: status and end_ns are set */
	bool is_overdue;        /* its deadline had passed by then */
	bool is_gone;           /* no process of the tree is left, and the supervisor has exited */
	bool is_lost;           /* the supervisor was killed */
	pid_t stuck;            /* a process that we may not kill; 0 if none */
	void *place;            /* private data of the isolation */
	void (*meanwhile)(void *arg);
	int interrupt_fd;
	void (*met)(void *arg, pid_t pid);
	void *meanwhile_arg; /* of both callbacks */
};

/* What an isolation does beyond a plain process. Every function may be NULL. */
struct isolation_ops {
	int (*check)(const struct job_isolation *place, struct sonde_err *err);
	/* Before the start: fills in the plan. Data that must outlive the call is j->place. */
	int (*prepare)(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err);
	int (*started)(struct job *j, struct sonde_err *err);
	int (*signal)(struct job *j, int signal, struct sonde_err *err); /* NULL: signal the supervisor's tree */
	void (*kill)(struct job *j);                                     /* before the supervisor does */
	void (*look)(struct job *j); /* polled while it runs, for what cannot be read after its end */
	void (*usage)(const struct job *j, struct job_usage *usage);
	int (*release)(struct job *j, struct sonde_err *err); /* once, when no process is left; frees j->place */
};

static inline bool job_has_limits(const struct job_limits *l)
{
	return l->cpus > 0 || l->cpu_weight || l->memory_bytes || l->pids;
}
/* Handles all pending messages of the supervisor. */
void job_read_messages(struct job *j);
/* Waits for a message or for the exit of `pidfd` (-1: none); false on timeout. */
bool job_await(const struct job *j, int pidfd, int64_t until_ns);
int job_lost(const struct job *j, struct sonde_err *err); /* sets the error of a job with a killed supervisor */
/* Like job_start, with isolation_ops that are in no table. */
int job_start_at(struct job **out, const struct job_spec *spec, const struct isolation_ops *ops, struct sonde_err *err);

extern const struct isolation_ops isolation_process, isolation_cgroup, isolation_sandbox, isolation_container;

/*
 * Our environment with "NAME=value" set and "NAME" removed; the last change of a name wins. The caller frees the
 * array; the strings are shared. NULL if out of memory.
 */
char **environment_with(const char *const *changes);

#endif
