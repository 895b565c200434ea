/*
 * name-tables: the strings, processes, threads, files and calls that the events of an import refer to.
 *
 * All workers find or insert them here, under one lock, and cache the results (pfw_cache). A process is a host and a
 * pid. A file is a hash that trace records name ("FH"), or a name. The 16-bit hashes of early tracers are only unique
 * within one process. The memory limit for all tables is PFW_DIMS_BYTES_MAX: references that do not fit are null in the
 * rows, and counted.
 */
#ifndef SONDE_PFW_NAME_TABLES_H
#define SONDE_PFW_NAME_TABLES_H

#include "base/arena.h"
#include "base/map.h"
#include "store/sink.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFW_DIMS_BYTES_MAX ((size_t)384 << 20)
#define PFW_NAME_BYTES_MAX ((size_t)64 << 10) /* longer ones are not stored */
#define PFW_CALL_ARGS_MAX 4                   /* io.arg0 .. io.arg3 */
#define PFW_ARG_NAME_MAX 32
#define PFW_SHORT_HASH_MAX 65535u

/* Properties of the records of a process; they identify the generation that wrote them. */
enum pfw_forms {
	PFW_FORM_QUOTED = 1 << 0,       /* A: numbers in quotes */
	PFW_FORM_SHORT_HASH = 1 << 1,   /* B: hashes below 2^16 */
	PFW_FORM_INTEGER_HASH = 1 << 2, /* C */
	PFW_FORM_HEX_HASH = 1 << 3,     /* D */
	PFW_FORM_INTEGER_PHASE = 1 << 4 /* E */
};

enum pfw_host_kind { PFW_HOST_NONE, PFW_HOST_HASH, PFW_HOST_NAME /* value is a string id */ };

struct pfw_process_key {
	uint64_t host_kind;
	uint64_t host;
	int64_t pid;
};

/* Allocated once, never moved. The fields after `key` are guarded by the lock, except `forms`. */
struct pfw_process {
	int64_t number;
	struct pfw_process_key key;
	atomic_uint forms;
	int64_t ppid;
	uint64_t cmd_hash, exec_hash, cwd_hash;
	bool has_cmd, has_exec, has_cwd;
	int64_t first_ns, last_ns;
	uint64_t events;
	/* from traces that have them in one record: string ids; argv is NUL-terminated arguments */
	int64_t exe, argv, exit_code, exit_signal;
};

struct pfw_call {
	int64_t name, category;
	unsigned arg_count;
	char arg_names[PFW_CALL_ARGS_MAX][PFW_ARG_NAME_MAX];
};

struct pfw_file {
	int64_t name; /* STORE_NULL: no record names it */
	int64_t hash; /* STORE_NULL: identified by its name */
};

/* A worker's counts of a thread. */
struct pfw_thread {
	const struct pfw_process *process;
	int64_t tid;
	int64_t first_ns, last_ns; /* STORE_NULL: no event */
	uint64_t events;
	int64_t name;
};

struct pfw_dims {
	struct store_sink *sink;
	bool is_foreign;    /* not a DFTracer trace */
	uint64_t refused;   /* entries that did not fit */
	uint64_t conflicts; /* hashes with more than one name */
	/* private */
	pthread_mutex_t lock;
	size_t bytes;
	struct arena arena;
	struct map process_numbers, thread_numbers, file_hashes, file_names, call_numbers, texts;
	struct pfw_process **processes;
	size_t process_count, process_cap;
	struct pfw_thread *threads;
	size_t thread_count, thread_cap;
	struct pfw_file *files;
	size_t file_count, file_cap;
	struct pfw_call **calls;
	size_t call_count, call_cap;
};

void pfw_dims_init(struct pfw_dims *d, struct store_sink *sink);
void pfw_dims_release(struct pfw_dims *d);

int64_t pfw_dims_string(struct pfw_dims *d, const char *bytes, size_t n); /* STORE_NULL if out of room */
/* NULL if out of room. */
struct pfw_process *pfw_dims_process(struct pfw_dims *d, const struct pfw_process_key *key);
/* The file's id; STORE_NULL if out of room. */
int64_t pfw_dims_file(struct pfw_dims *d, const struct pfw_process *p, uint64_t hash);
int64_t pfw_dims_named_file(struct pfw_dims *d, int64_t name);
/* Defines the text of a hash; kind is 'F', 'S' or 'H'. */
void pfw_dims_define(struct pfw_dims *d, char kind, const struct pfw_process *p, uint64_t hash, int64_t text);
/* NULL if out of room. The category is the one that the call was first seen with. */
struct pfw_call *pfw_dims_call(struct pfw_dims *d, int64_t name, int64_t category);
/* The index of this argument in the call, 0 .. PFW_CALL_ARGS_MAX - 1, or -1 if it has none. */
int pfw_dims_call_arg(struct pfw_dims *d, struct pfw_call *call, const char *name, size_t n);
/* Stores the fields of a "start" record. */
void pfw_dims_started(struct pfw_dims *d, struct pfw_process *p, const struct pfw_process *facts);
void pfw_dims_thread(struct pfw_dims *d, const struct pfw_thread *seen);
/* Adds a row to the table meta. */
void pfw_dims_meta(struct pfw_dims *d, const struct store_meta *row);

/* The text of a hash; STORE_NULL if no record defined it. Does not lock: call after the workers have finished. */
int64_t pfw_dims_text(const struct pfw_dims *d, char kind, const struct pfw_process *p, uint64_t hash);
/* "A" to "E". */
const char *pfw_generation(unsigned forms);
/* Writes the tables process, thread, file and call, and the processes' rows of meta. */
void pfw_dims_write(struct pfw_dims *d);

/*
 * A worker's cache of the name tables, and the threads it has seen.
 *
 * A lookup in name-tables.h takes a lock, and the same few keys recur. Small direct-mapped tables cache the results.
 * Threads belong to the worker until pfw_cache_flush adds their counts to the name tables. Thread pointers are valid
 * for one `epoch`.
 */

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
void pfw_cache_release(struct pfw_cache *c); /* flushes */

int64_t pfw_cache_string(struct pfw_cache *c, const char *bytes, size_t n);
struct pfw_process *pfw_cache_process(struct pfw_cache *c, const struct pfw_process_key *key);
int64_t pfw_cache_file(struct pfw_cache *c, const struct pfw_process *p, uint64_t hash);
/* NULL if out of room. Valid until the epoch changes: by a flush, or by this call. */
struct pfw_thread *pfw_cache_thread(struct pfw_cache *c, const struct pfw_process *p, int64_t tid);

/* Counts an event of the thread; accepts NULL. */
static inline void pfw_thread_count_event(struct pfw_thread *t, int64_t ts_ns, int64_t dur_ns)
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
