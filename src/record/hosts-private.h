/* What hosts.c (recorders that we start on hosts) and slurm-task.c (those that srun starts) share. */
#ifndef SONDE_RECORD_HOSTS_PRIVATE_H
#define SONDE_RECORD_HOSTS_PRIVATE_H

#include "record/host-client.h"
#include "record/hosts.h"
#include "store/run-dir.h"

#include <signal.h>
#include <stdbool.h>

#define HOSTS_BURST 16 /* pings at the start and the end */
#define HOSTS_FEW 4    /* and in between, */
#define HOSTS_PING_MS 1000

struct host {
	const char *name;
	const char *node;      /* where it is one of several recorders on a host: that one's name; else NULL */
	struct hostlink *link; /* NULL: there is none */
	bool is_here;          /* its clock is ours */
	struct buf place;      /* its directory below hosts/ */
	pid_t pid;             /* the connection of its recorder; 0: it has ended */
	int status;
	bool is_fetched;
	struct sonde_err why; /* it could not be recorded, or not to its end */
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

/* The conversation with an agent there. */
int hosts_open_link(const struct hosts *h, struct host *one, struct sonde_err *err);
/* hosts.json, which says what `sonde join` needs to know. */
int hosts_write(const struct hosts *h, struct sonde_err *err);
int hosts_join(const char *path, struct sonde_err *err);

#endif
