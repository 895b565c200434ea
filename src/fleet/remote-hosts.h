/*
 * members: agents of a fleet on other hosts, reached by a remote shell (ssh).
 *
 * On each runs `sonde fleet ACTION --member NAME`, which keeps a home of its own
 * there; address and token go to its standard input, never onto a command line. The
 * agents live on by themselves: the shell is needed to start and to end them only, so
 * a host that is cut off comes back without being told to.
 */
#ifndef SONDE_FLEET_REMOTE_HOSTS_H
#define SONDE_FLEET_REMOTE_HOSTS_H

#include "fleet/fleet-dir.h"

/*
 * The hosts of a file: a line is `HOST [agents=N] [label=NAME,...]`, `#` starts a comment. Each becomes a member with
 * what `usual` has where the line does not say; a host that is there already is changed. -EINVAL names the line.
 */
int fleet_members_parse(struct fleet_dir *home, const char *text, const struct fleet_host *usual, struct arena *arena,
		struct sonde_err *err);
/* One host. -EINVAL: that is no host's name. */
int fleet_members_add(struct fleet_dir *home, const struct fleet_host *member, struct sonde_err *err);
struct fleet_host *fleet_members_find(const struct fleet_dir *home, const char *host);
void fleet_members_remove(struct fleet_dir *home, const char *host);

/*
 * `sonde fleet ACTION` on `count` members, all at the same time; `join` gets address and token to read. 0, or the first
 * failure, in its host's own words; the others are done all the same. A host that has not answered after
 * patience_ns (INT64_MAX: for ever) is given up.
 */
int fleet_members_call(const struct fleet_dir *home, const struct fleet_host *first, size_t count, const char *action,
		int64_t patience_ns, struct sonde_err *err);

#endif
