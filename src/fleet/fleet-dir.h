/*
 * fleet-dir: the directory of a fleet on this machine.
 *
 * fleet.json (0600) has the server's address, the token, the hosts with agents of the fleet, and
 * the processes that were started, each with its start time to detect reuse of the PID. A remote
 * host has such a directory too, with the same address and token, but agents only. nats.conf,
 * streams/ and the logs are in the same directory. Writers hold the lock.
 */
#ifndef SONDE_FLEET_FLEET_DIR_H
#define SONDE_FLEET_FLEET_DIR_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FLEET_PROCESSES_MAX = 256, FLEET_ROLE_MAX = 16, FLEET_MEMBERS_MAX = 1024 };

struct fleet_process {
	char role[FLEET_ROLE_MAX]; /* "server", "monitor", "agent" */
	pid_t pid;
	uint64_t start_ticks; /* since boot, from /proc/PID/stat */
};

/* A remote host and how to reach it: run the words of shell, the host, then a command. */
struct fleet_host {
	const char *host;
	const char *shell; /* split into words */
	const char *sonde; /* its path on that host */
	const char *label; /* of its agents, comma-separated; NULL: none */
	int64_t agents;
};

struct fleet_dir {
	const char *dir;         /* absolute */
	const char *url, *token; /* NULL: no fleet was ever started here */
	const char *member;      /* the fleet's name for this host; NULL: the server runs here */
	struct fleet_process processes[FLEET_PROCESSES_MAX];
	size_t count;
	struct fleet_host *members; /* in the arena, capacity FLEET_MEMBERS_MAX */
	size_t member_count;
};

/*
 * dir NULL: the first that is set of SONDE_FLEET_DIR, XDG_STATE_HOME/sonde/fleet, ~/.local/state/sonde/fleet. Strings
 * are allocated from the arena. Without fleet.json in the directory, url is NULL.
 */
int fleet_dir_load(struct fleet_dir *home, const char *dir, struct arena *arena, struct sonde_err *err);
/* The fleet directory of remote host `name`, below dir (NULL: the default). NULL if out of memory. */
const char *fleet_dir_of_host(const char *dir, const char *name, struct arena *arena);
/* Reads address and token, as sent by the server's host; leaves home unchanged if they are missing. */
int fleet_dir_join(struct fleet_dir *home, const char *text, size_t len, const char *member, struct arena *arena,
		struct sonde_err *err);
int fleet_dir_save(const struct fleet_dir *home, struct sonde_err *err);
/* Returns a file descriptor to close; -EAGAIN if another sonde fleet holds the lock. */
int fleet_dir_lock(const struct fleet_dir *home, struct sonde_err *err);

#endif
