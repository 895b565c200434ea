/* Shared by hosts.c (recorders that we start on hosts) and slurm-task.c (recorders that srun starts). */
#ifndef SONDE_RECORD_HOSTS_PRIVATE_H
#define SONDE_RECORD_HOSTS_PRIVATE_H

#include "record/host-client.h"
#include "record/hosts.h"
#include "store/run-dir.h"

#include <signal.h>
#include <stdbool.h>

#define HOSTS_BURST 16 /* pings at the start and the end */
#define HOSTS_FEW 4    /* and in between */
#define HOSTS_PING_MS 1000

struct host {
	const char *name;
	const char *node;      /* host name, if it is one of several recorders on a host; else NULL */
	struct hostlink *link; /* NULL: not connected */
	bool is_here;          /* same clock as ours */
	struct buf place;      /* its run directory, below hosts/ */
	pid_t pid;             /* the connection of its recorder; 0: closed */
	int status;
	bool is_fetched;
	struct sonde_err why; /* why it was not recorded, or not completely */
};

struct hosts {
	const struct record_hosts *o;
	struct store_run run;
	struct host *all;
	size_t count;
	sigset_t old_mask;
	int signals;
	int64_t start_mono_ns, start_real_ns, end_mono_ns;
};

/* Connect to an agent on that host. */
int hosts_open_link(const struct hosts *h, struct host *one, struct sonde_err *err);
/* Write hosts.json, the input of `sonde join`. */
int hosts_write(const struct hosts *h, struct sonde_err *err);
int hosts_join(const char *path, struct sonde_err *err);

#endif
