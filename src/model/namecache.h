/*
 * namecache: names that were found once, kept by build id in the user's cache
 * ($XDG_CACHE_HOME or ~/.cache, sonde/names-<build id>). Private to model/.
 *
 * A file of lines: an offset, then for each function from the inside out its name,
 * source and line, with tabs between; an offset alone is one that has no name. A cache
 * that is damaged or cannot be written is no cache: names are found again. Only files
 * that are ours are believed.
 */
#ifndef SONDE_MODEL_NAMECACHE_H
#define SONDE_MODEL_NAMECACHE_H

#include "base/buf.h"
#include "model/elfnames.h"

struct namecache;

/* Never NULL for a build id unless there is no memory; NULL for no build id: what has none cannot be kept. */
struct namecache *namecache_open(const char *build_id);
void namecache_close(struct namecache *c); /* writes what is new; NULL is fine */

/* What was found for an offset, as a line of the cache. */
struct namecache_entry {
	struct buf line;
};
#define NAMECACHE_ENTRY_INIT { .line = BUF_INIT }

void namecache_add(void *entry, const struct elfname *n);
void namecache_replay(struct namecache_entry *e, void (*say)(void *arg, const struct elfname *n), void *arg);
/* Whether the offset is known; c NULL: nothing is. */
bool namecache_get(struct namecache *c, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg);
void namecache_put(struct namecache *c, uint64_t offset, struct namecache_entry *e); /* releases e */

#endif
