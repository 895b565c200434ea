/* job-private: what a job is made of, for the files that make places. */
#ifndef SONDE_LAUNCH_JOB_PRIVATE_H
#define SONDE_LAUNCH_JOB_PRIVATE_H

#include "launch/job.h"
#include "launch/supervisor.h"

struct job {
	const struct isolation_ops *ops;
	pid_t supervisor, pid, inner_pid;
	bool is_bound; /* it ends when we do */
	int sock, supervisor_pidfd, pidfd;
	char **envp;
	char *program;
	int64_t start_ns, end_ns;
	int status;
	struct rusage rusage;   /* of what the keeper has reaped, */
	bool is_client;         /* which is a container engine's client */
	struct job_usage usage; /* as the keeper told last, of what it has reaped */
	bool has_ended;         /* the command: status and end_ns are known */
	bool is_overdue;        /* its deadline had come then */
	bool is_gone;           /* nothing of the tree lives, and the keeper has gone */
	bool is_lost;           /* somebody killed the keeper */
	pid_t stuck;            /* a process that we may not kill; 0: none */
	void *place;            /* what the place keeps */
	void (*meanwhile)(void *arg);
	int interrupt_fd;
	void (*met)(void *arg, pid_t pid);
	void *meanwhile_arg; /* of both */
};

/* What a place does beyond a plain process. Every function may be NULL. */
struct isolation_ops {
	int (*check)(const struct job_isolation *place, struct sonde_err *err);
	/* Before the start: fill in the plan. What it needs for longer is j->place. */
	int (*prepare)(struct job *j, const struct job_spec *spec, struct supervisor_plan *plan, struct sonde_err *err);
	int (*started)(struct job *j, struct sonde_err *err);
	int (*signal)(struct job *j, int signal, struct sonde_err *err); /* NULL: the keeper's tree */
	void (*kill)(struct job *j);                                     /* before the keeper does */
	void (*look)(struct job *j); /* now and then while it runs, at what cannot be seen afterwards */
	void (*usage)(const struct job *j, struct job_usage *usage);
	int (*set_limits)(struct job *j, const struct job_limits *limits, struct sonde_err *err);
	const char *(*cgroup)(const struct job *j);
	int (*release)(struct job *j, struct sonde_err *err); /* once, when nothing lives; frees j->place */
};

/* All that the keeper has said by now. */
void job_hear(struct job *j);
/* Until it says something or `pidfd` (-1: none) has ended; false when neither happened in time. */
bool job_await(const struct job *j, int pidfd, int64_t until_ns);
int job_lost(const struct job *j, struct sonde_err *err); /* the failure of a job whose keeper was killed */
/* As job_start, in a place that is in no table. */
int job_start_at(struct job **out, const struct job_spec *spec, const struct isolation_ops *ops, struct sonde_err *err);

extern const struct isolation_ops isolation_process, isolation_cgroup, isolation_sandbox, isolation_container;

#endif
