/*
 * host-client: the client of an agent (host-agent.h) on another host.
 *
 * Every request has a timeout. A broken connection stays broken and keeps the reason.
 */
#ifndef SONDE_RECORD_HOST_CLIENT_H
#define SONDE_RECORD_HOST_CLIENT_H

#include "base/clockfit.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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
