/*
 * import-cache: a worker's cache of the name tables, and the threads it has seen.
 *
 * A lookup in name-tables.h takes a lock, and the same few keys recur. Small direct-mapped tables cache the results.
 * Threads belong to the worker until pfw_cache_flush adds their counts to the name tables. Thread pointers are valid
 * for one `epoch`.
 */
#ifndef SONDE_PFW_IMPORT_CACHE_H
#define SONDE_PFW_IMPORT_CACHE_H

#include "pfw/name-tables.h"

#define PFW_CACHE_PROCESSES 256u
#define PFW_CACHE_THREADS 1024u
#define PFW_CACHE_FILES 4096u
#define PFW_CACHE_STRINGS 512u
#define PFW_CACHE_STRING_BYTES 40u

struct pfw_cache {
	struct pfw_dims *dims;
	unsigned epoch;
	/* private */
	struct arena arena;
	struct map thread_numbers;
	struct pfw_thread **threads;
	size_t thread_count, thread_cap;
	struct pfw_process *processes[PFW_CACHE_PROCESSES];
	struct pfw_thread *recent[PFW_CACHE_THREADS];
	struct {
		uint64_t hash;
		int64_t process, id;
	} files[PFW_CACHE_FILES];
	struct {
		int64_t id;
		uint8_t bytes;
		char text[PFW_CACHE_STRING_BYTES];
	} strings[PFW_CACHE_STRINGS]; /* short ones only */
};

void pfw_cache_init(struct pfw_cache *c, struct pfw_dims *dims);
/* Adds the thread counts to the name tables and clears the threads. */
void pfw_cache_flush(struct pfw_cache *c);
void pfw_cache_release(struct pfw_cache *c); /* flushes */

int64_t pfw_cache_string(struct pfw_cache *c, const char *bytes, size_t n);
struct pfw_process *pfw_cache_process(struct pfw_cache *c, const struct pfw_process_key *key);
int64_t pfw_cache_file(struct pfw_cache *c, const struct pfw_process *p, uint64_t hash);
/* NULL if out of room. Valid until the epoch changes: by a flush, or by this call. */
struct pfw_thread *pfw_cache_thread(struct pfw_cache *c, const struct pfw_process *p, int64_t tid);

/* Counts an event of the thread; accepts NULL. */
static inline void pfw_thread_note(struct pfw_thread *t, int64_t ts_ns, int64_t dur_ns)
{
	int64_t end_ns = dur_ns == STORE_NULL ? ts_ns : ts_ns + dur_ns;

	if (!t)
		return;
	t->events++;
	if (t->first_ns == STORE_NULL)
		t->first_ns = t->last_ns = ts_ns;
	t->first_ns = ts_ns < t->first_ns ? ts_ns : t->first_ns;
	t->last_ns = end_ns > t->last_ns ? end_ns : t->last_ns;
}

#endif
