/*
 * join: one run of the runs of several hosts, on one clock.
 *
 * Every number that means something only within a run (processes, strings, files, stacks,
 * modules) becomes one of the joined run; times become those of the first clock by what was
 * measured of each other one. Hosts number their processes alike: the process and thread ids of
 * the k-th host (from 0) are raised by k times JOIN_PIDS. Counters of a machine get its name
 * before theirs.
 */
#ifndef SONDE_EXCHANGE_JOIN_H
#define SONDE_EXCHANGE_JOIN_H

#include "base/clockfit.h"
#include "base/err.h"
#include "model/run-model.h"
#include "store/sink.h"

#include <stdbool.h>

#define JOIN_PIDS (1ll << 22) /* more there cannot be on a host */
#define JOIN_HOSTS_MAX 1024

struct join_host {
	const char *name;
	struct model_run *run;
	struct clock_fit clock; /* its clock against the joined run's */
};

struct join {
	struct store_sink *sink;
	/* private: how many of each the hosts before had */
	int64_t processes, paths, stacks, modules, flows, hosts;
	struct map once; /* rows of `call` and `series` that are there */
};

void join_init(struct join *j, struct store_sink *sink);
void join_release(struct join *j);
/* Add all rows of a host. Damaged blocks are left out: the host's own run says which. */
int join_add(struct join *j, const struct join_host *host, struct sonde_err *err);

#endif
