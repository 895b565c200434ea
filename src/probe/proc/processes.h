/*
 * processes: resource usage of each process of the tree.
 *
 * CPU time is exact (the process's CPU clock). The perf source reports which
 * processes exist; without it we follow /proc/PID/task/PID/children and may miss
 * a process that lives shorter than the sampling interval.
 */
#ifndef SONDE_PROBE_PROC_PROCESSES_H
#define SONDE_PROBE_PROC_PROCESSES_H

#include "probe/proc/counters.h"
#include "probe/tasks.h"

#include "base/buf.h"

struct processes;

struct processes *processes_new(void);
void processes_read(struct processes *p, struct tasks *tasks, struct counters *c, struct buf *room);
void processes_free(struct processes *p, struct counters *c); /* NULL is fine */

#endif
