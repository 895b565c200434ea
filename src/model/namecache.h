/*
 * namecache: function names found before, stored by build id in the user's cache
 * ($XDG_CACHE_HOME or ~/.cache, sonde/names-<build id>). Private to model/.
 *
 * A text file with a line per offset: the offset, then for each function, innermost first, its name, source and line,
 * separated by tabs; a line with only an offset is an address without a name. A cache that is damaged or cannot be
 * written is ignored: names are looked up again. Only files owned by the user are trusted.
 */
#ifndef SONDE_MODEL_NAMECACHE_H
#define SONDE_MODEL_NAMECACHE_H

#include "base/buf.h"
#include "model/elfnames.h"

struct namecache;

/* NULL if build_id is NULL (names cannot be stored without one) or on allocation failure. */
struct namecache *namecache_open(const char *build_id);
void namecache_close(struct namecache *c); /* writes new entries; NULL is allowed */

/* The functions found for an offset, as a line of the cache. */
struct namecache_entry {
	struct buf line;
};
#define NAMECACHE_ENTRY_INIT { .line = BUF_INIT }

void namecache_add(void *entry, const struct elfname *n);
void namecache_replay(struct namecache_entry *e, void (*say)(void *arg, const struct elfname *n), void *arg);
/* True if the offset is in the cache. c may be NULL: false. */
bool namecache_get(struct namecache *c, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg);
void namecache_put(struct namecache *c, uint64_t offset, struct namecache_entry *e); /* releases e */

#endif
