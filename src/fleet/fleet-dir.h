/*
 * home: the directory of a fleet on this machine.
 *
 * fleet.json (0600) has the server's address, the token, and the processes that
 * were started, each with its start time, so that no other process that got the
 * same number is ever taken for it; and the hosts where agents of the fleet run. Such
 * a host has a home too, that of a member: the same address and token, agents only.
 * nats.conf, streams/ and the logs lie beside it. Who changes it holds the lock.
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
	uint64_t start_ticks; /* since boot, as /proc says */
};

/* Another host, and how it is reached: the words of shell, the host, a command. */
struct fleet_host {
	const char *host;
	const char *shell; /* to be split into words */
	const char *sonde; /* its path there */
	const char *label; /* of its agents, commas between several; NULL: none */
	int64_t agents;
};

struct fleet_dir {
	const char *dir;         /* absolute */
	const char *url, *token; /* NULL: nothing was ever up here */
	const char *member;      /* what the fleet calls this host; NULL: this is where the server is */
	struct fleet_process processes[FLEET_PROCESSES_MAX];
	size_t count;
	struct fleet_host *members; /* in the arena, room for all */
	size_t member_count;
};

/*
 * dir NULL: SONDE_FLEET_DIR, XDG_STATE_HOME/sonde/fleet, ~/.local/state/sonde/fleet, the first that there is.
 * The strings live in the arena. A directory without fleet.json is a home without url.
 */
int fleet_dir_load(struct fleet_dir *home, const char *dir, struct arena *arena, struct sonde_err *err);
/* Where member `name` of a fleet has its home, below dir (NULL: the usual one). NULL: no memory. */
const char *fleet_dir_of_host(const char *dir, const char *name, struct arena *arena);
/* Address and token from what the fleet's first host sends; the home stays as it is when they are not there. */
int fleet_dir_join(struct fleet_dir *home, const char *text, size_t len, const char *member, struct arena *arena,
		struct sonde_err *err);
int fleet_dir_save(const struct fleet_dir *home, struct sonde_err *err);
/* A descriptor to close; -EAGAIN: another sonde fleet is at it. */
int fleet_dir_lock(const struct fleet_dir *home, struct sonde_err *err);

#endif
