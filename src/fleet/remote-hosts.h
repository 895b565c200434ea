/*
 * remote-hosts: agents of a fleet on other hosts, started through a remote shell (ssh).
 *
 * Each host runs `sonde fleet ACTION --member NAME`, which keeps its own fleet directory; address
 * and token are passed on stdin, never on a command line. The agents run independently: the shell
 * is needed only to start and stop them, so a disconnected host reconnects without intervention.
 */
#ifndef SONDE_FLEET_REMOTE_HOSTS_H
#define SONDE_FLEET_REMOTE_HOSTS_H

#include "fleet/fleet-dir.h"

/*
 * Parses a host file: a line is `HOST [agents=N] [label=NAME,...]`, `#` starts a comment. Adds each host, with
 * defaults from `usual`, or updates an existing one. On -EINVAL the error names the line.
 */
int fleet_members_parse(struct fleet_dir *home, const char *text, const struct fleet_host *usual, struct arena *arena,
		struct sonde_err *err);
/* Adds one host. -EINVAL: invalid host name. */
int fleet_members_add(struct fleet_dir *home, const struct fleet_host *member, struct sonde_err *err);
struct fleet_host *fleet_members_find(const struct fleet_dir *home, const char *host);

/*
 * Runs `sonde fleet ACTION` on `count` hosts in parallel; `join` gets address and token on stdin. Returns 0 or the
 * first failure, with its host's error text; the other hosts are still processed. A host that does not respond within
 * patience_ns (INT64_MAX: no limit) times out.
 */
int fleet_members_call(const struct fleet_dir *home, const struct fleet_host *first, size_t count, const char *action,
		int64_t patience_ns, struct sonde_err *err);

#endif
