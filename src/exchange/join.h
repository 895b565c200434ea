/*
 * join: merges the runs of several hosts to one run, on one clock.
 *
 * All ids that are local to a run (processes, strings, files, stacks, modules) are mapped to ids of the joined run.
 * Times are converted to the first clock with the measured offset of each other one. Process and thread ids may collide
 * between hosts: those of the k-th host (from 0) are raised by k times JOIN_PIDS. Counters of a machine are prefixed
 * with its name.
 */
#ifndef SONDE_EXCHANGE_JOIN_H
#define SONDE_EXCHANGE_JOIN_H

#include "base/clock.h"
#include "base/err.h"
#include "model/run-model.h"
#include "store/sink.h"

#include <stdbool.h>

#define JOIN_PIDS (1ll << 22) /* the kernel's maximum per host */
#define JOIN_HOSTS_MAX 1024

struct join_host {
	const char *name;
	struct model_run *run;
	struct clock_fit clock; /* its clock relative to the joined run's */
};

struct join {
	struct store_sink *sink;
	/* private: totals of the hosts before */
	int64_t processes, paths, stacks, modules, flows, hosts;
	struct map once; /* existing rows of `call` and `series` */
};

void join_init(struct join *j, struct store_sink *sink);
void join_release(struct join *j);
/* Adds all rows of a host. Damaged blocks are skipped: the host's own run reports them. */
int join_add(struct join *j, const struct join_host *host, struct sonde_err *err);

#endif
