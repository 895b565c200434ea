/*
 * hosts: one recording of several hosts.
 *
 * On each host runs a recorder of its own, started over a remote shell, and an agent
 * (host-agent.h) that answers pings: before the start, each second, and after the end. Their
 * runs are fetched into the bundle's hosts/, and hosts.json says how each clock stood to ours.
 * `sonde join` makes one run of them; it can be called again.
 */
#ifndef SONDE_RECORD_HOSTS_H
#define SONDE_RECORD_HOSTS_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>

#define HOSTS_MAX 1024
#define HOSTS_FILE "hosts.json"

struct record_hosts {
	const char *const *names;
	size_t count;
	char *const *shell;   /* the remote shell; a host and a command are put behind it */
	const char *sonde;    /* its path there */
	char *const *options; /* of `record`, for each */
	char *const *argv;    /* what to run; NULL: the options say what to observe */
	const char *dir;      /* of the bundle; NULL: a new one */
	bool is_forced;       /* a run that is in dir is replaced */
	const char *name;     /* of the run */
};

/* *status is the first bad exit code, *path the bundle. -errno when nothing could be recorded. */
int record_hosts(const struct record_hosts *o, int *status, struct buf *path, struct sonde_err *err);

#endif
