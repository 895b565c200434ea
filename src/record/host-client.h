/*
 * hostlink: our end of the conversation with an agent (host-agent.h) on another host.
 *
 * Every answer must come within a time; a link that broke stays broken and says why.
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
	struct sonde_err why; /* it is */
	struct clock_ping *pings;
	size_t ping_count;
	/* private */
	int to, from;
	size_t ping_cap;
	size_t start, end; /* of what was read */
	char bytes[65536];
};

/* Start argv (the remote shell, its host, the agent) and wait for the greeting. */
int hostlink_open(struct hostlink *l, char *const argv[], struct sonde_err *err);
void hostlink_ping(struct hostlink *l, unsigned times);
/* Give the command of a recorder: bytes as host-agent.h has them. *dir gets the agent's directory. */
int hostlink_prepare(struct hostlink *l, const void *bytes, size_t n, char dir[HOSTLINK_LINE_BYTES]);
int hostlink_signal(struct hostlink *l, int number);
/* Does that process live there? -errno: it does not answer. */
int hostlink_lives(struct hostlink *l, pid_t pid);
/* Take the run into the directory `dirfd`. */
int hostlink_fetch(struct hostlink *l, int dirfd);
void hostlink_close(struct hostlink *l); /* a broken one too; waits for its end */

#endif
