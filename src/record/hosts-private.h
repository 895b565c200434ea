/* Shared by hosts.c (recorders that we start on hosts), slurm-task.c (recorders that srun starts) and host-client.c. */
#ifndef SONDE_RECORD_HOSTS_PRIVATE_H
#define SONDE_RECORD_HOSTS_PRIVATE_H

#include "base/clock.h"
#include "base/err.h"
#include "record/hosts.h"
#include "store/run-dir.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

/*
 * host-client.c: the client of an agent (host-agent.h) on another host.
 *
 * Every request has a timeout. A broken connection stays broken and keeps the reason.
 */

#define HOSTLINK_LINE_BYTES 4096

struct hostlink {
	pid_t pid; /* the remote shell; 0: none */
	bool is_broken;
	struct sonde_err why; /* reason, if broken */
	struct clock_ping *pings;
	size_t ping_count;
	/* private */
	int to, from;
	size_t ping_cap;
	size_t start, end; /* of the buffered bytes */
	char bytes[65536];
};

/* Start argv (the remote shell, its host, the agent) and wait for the greeting. */
int hostlink_open(struct hostlink *l, char *const argv[], struct sonde_err *err);
void hostlink_ping(struct hostlink *l, unsigned times);
/* Send the command of a recorder, in the format of host-agent.h. *dir gets the agent's directory. */
int hostlink_prepare(struct hostlink *l, const void *bytes, size_t n, char dir[HOSTLINK_LINE_BYTES]);
int hostlink_signal(struct hostlink *l, int number);
/* Is that process alive there? -errno if there is no response. */
int hostlink_lives(struct hostlink *l, pid_t pid);
/* Copy the run into the directory `dirfd`. */
int hostlink_fetch(struct hostlink *l, int dirfd);
void hostlink_close(struct hostlink *l); /* accepts a broken one; waits for its exit */

#endif
