/*
 * hosts: one recording of several hosts.
 *
 * Each host runs a recorder, started over a remote shell, and an agent (host-agent.h) that answers pings: before the
 * start, each second, and after the end. The runs are copied to hosts/ in the run directory; hosts.json holds the
 * clock offset of each host. `sonde join` merges them; it can be repeated.
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
	char *const *shell;   /* the remote shell; host and command are appended */
	const char *sonde;    /* its path on the hosts */
	char *const *options; /* of `record`, for each host */
	char *const *argv;    /* the command; NULL: the options select what to observe */
	const char *dir;      /* run directory; NULL: a new one */
	bool is_forced;       /* replace an existing run in dir */
	const char *name;     /* of the run */
};

/* *status is the first nonzero exit code, *path the run directory. -errno if no host could be recorded. */
int record_hosts(const struct record_hosts *o, int *status, struct buf *path, struct sonde_err *err);

#endif
