/*
 * slurm-task: a recorder that srun has started several times, as in `srun -N2 -n4 sonde record -- CMD`.
 *
 * Each task records its own program into RUN/hosts/TASK-NODE, so that the program keeps what srun gave it: rank,
 * binding, stdin. The first task creates the run directory and publishes its path by a symbolic link, so all tasks
 * need a shared directory. Its companion process pings an agent (host-agent.h) on every other node, waits for all
 * tasks, and merges their runs.
 *
 *   hosts/.task-N    "NODE LOCAL PID STATUS" of a recorder, STATUS -1 while it runs
 */
#ifndef SONDE_RECORD_SLURM_TASK_H
#define SONDE_RECORD_SLURM_TASK_H

#include "base/buf.h"
#include "base/err.h"
#include "record/hosts.h"

#include <stdbool.h>
#include <sys/types.h>

struct record_step {
	unsigned task, tasks; /* index and number of tasks */
	unsigned local;       /* index on its node */
	const char *node;
	char id[64];       /* unique id of the step */
	struct buf bundle; /* run directory of the step */
	struct buf run;    /* run directory of this task */
	/* private */
	pid_t helper;
	int start_barrier; /* closed when the first task has finished; -1: no companion */
};

/* Is this one of several tasks of a step, and not inside the recording of one? From the environment. */
bool record_step_find(struct record_step *s);
/* Uses dir, name, argv, shell and sonde of `o`, as given to the first task. s->run is where to record. */
int record_step_begin(struct record_step *s, const struct record_hosts *o, struct sonde_err *err);
/* This task has finished with that exit code. The first task waits for the others and for the merged run. */
int record_step_end(struct record_step *s, int exit_code, struct sonde_err *err);
void record_step_release(struct record_step *s);

#endif
