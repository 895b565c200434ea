/*
 * step: a recorder that srun has started several times, as in `srun -N2 -n4 sonde record -- CMD`.
 *
 * Each task records its own program into BUNDLE/hosts/TASK-NODE, so that the program is what srun
 * started: its rank, its place, its stdin. The first task makes the bundle and tells the others where
 * by a link, which is why they must see one directory. Beside its recorder a process pings an agent
 * (host-agent.h) on every other node, waits until all tasks have ended, and joins their runs.
 *
 *   hosts/.task-N    "NODE LOCAL PID STATUS": who records there, STATUS -1 until that has ended
 */
#ifndef SONDE_RECORD_SLURM_TASK_H
#define SONDE_RECORD_SLURM_TASK_H

#include "base/buf.h"
#include "base/err.h"
#include "record/hosts.h"

#include <stdbool.h>
#include <sys/types.h>

struct record_step {
	unsigned task, tasks; /* which of how many */
	unsigned local;       /* which of its node's */
	const char *node;
	char id[64];       /* of the step, unlike every other */
	struct buf bundle; /* of the step */
	struct buf run;    /* and of this task */
	/* private */
	pid_t helper;
	int start_barrier; /* closed when the first task has ended; -1: there is no helper */
};

/* Are we one of several tasks of a step, and not within the recording of one? From the environment. */
bool record_step_find(struct record_step *s);
/* Of `o` count the options dir, name, argv, shell and sonde; the first task's. s->run is where to record. */
int record_step_begin(struct record_step *s, const struct record_hosts *o, struct sonde_err *err);
/* This task has ended, with that exit code. The first waits for the others, and for one run of them all. */
int record_step_end(struct record_step *s, int exit_code, struct sonde_err *err);
void record_step_release(struct record_step *s);

#endif
