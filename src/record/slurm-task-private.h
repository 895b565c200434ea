/* Shared by slurm-task.c (each task) and slurm-task-join.c (merging all tasks). */
#ifndef SONDE_RECORD_SLURM_TASK_PRIVATE_H
#define SONDE_RECORD_SLURM_TASK_PRIVATE_H

#include "record/slurm-task.h"

#define STEP_TASK_FILE ".task-%u"

/* The name of a task's run below hosts/. */
void step_add_place(struct buf *out, unsigned task, const char *node);
/*
 * Runs in a separate process until all tasks have finished, see slurm-task.h. `start_barrier` is readable when the
 * first task has finished. Returns an exit code.
 */
int step_join(const struct record_step *s, const struct record_hosts *o, const char *meeting, int start_barrier);

#endif
