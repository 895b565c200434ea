/* What slurm-task.c (a task's own part) and slurm-task-join.c (one run of all) share. */
#ifndef SONDE_RECORD_SLURM_TASK_PRIVATE_H
#define SONDE_RECORD_SLURM_TASK_PRIVATE_H

#include "record/slurm-task.h"

#define STEP_TASK_FILE ".task-%u"

/* The name of a task's run below hosts/. */
void step_add_place(struct buf *out, unsigned task, const char *node);
/*
 * In a process of its own: to its end, see slurm-task.h. `gate` is readable when the first task has ended. An exit
 * code.
 */
int step_join(const struct record_step *s, const struct record_hosts *o, const char *meeting, int start_barrier);

#endif
