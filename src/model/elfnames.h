/*
 * elfnames: find the functions of one ELF file by offset, including inlined ones. Private to model/; the only user of
 * libdw.
 *
 * Nothing is downloaded: debugging information comes from the file or, by build id, from /usr/lib/debug.
 */
#ifndef SONDE_MODEL_ELFNAMES_H
#define SONDE_MODEL_ELFNAMES_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct elfnames;

struct elfname {
	const char *function; /* mangled; valid until the file is closed */
	const char *source;
	int line;
};

/*
 * build_id: hexadecimal, must match the file's; NULL: any. Returns NULL if the file does not exist or does not match.
 */
struct elfnames *elfnames_open(const char *path, const char *build_id);
void elfnames_free(struct elfnames *e); /* NULL is allowed */
/* Call `say` for the innermost function, then for those it was inlined into. False if nothing is known. */
bool elfnames_find(struct elfnames *e, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg);

/*
 * Demangle C++ names.
 *
 * Uses the machine's C++ run-time library if it is installed: it is loaded with dlopen for the first mangled name.
 * Without it names stay mangled.
 */

/* The demangled name, in the arena; name itself if it is not mangled or cannot be demangled. */
const char *model_demangle(struct arena *arena, const char *name);

/*
 * Function names found before, stored by build id in the user's cache
 * ($XDG_CACHE_HOME or ~/.cache, sonde/names-<build id>). Private to model/.
 *
 * A text file with a line per offset: the offset, then for each function, innermost first, its name, source and line,
 * separated by tabs; a line with only an offset is an address without a name. A cache that is damaged or cannot be
 * written is ignored: names are looked up again. Only files owned by the user are trusted.
 */

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
