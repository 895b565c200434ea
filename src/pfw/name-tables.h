/*
 * pfw-dims: who and what the events of an import refer to.
 *
 * Strings, processes, threads, files and calls are found or made here by all
 * workers, under one lock; workers remember what they were told. A process is a
 * host and a pid. A file is a hash that trace records name ("FH"), or a name;
 * hashes of 16 bits, which early tracers wrote, are taken as good within one
 * process only. All together have PFW_DIMS_BYTES_MAX of memory: what no longer
 * fits is null in the rows, and counted.
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
#define PFW_NAME_BYTES_MAX ((size_t)64 << 10) /* longer ones find no room */
#define PFW_CALL_ARGS_MAX 4                   /* io.arg0 .. io.arg3 */
#define PFW_ARG_NAME_MAX 32
#define PFW_SHORT_HASH_MAX 65535u

/* How the records of a process look: which generation wrote them. */
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

/* Made once, never moved. Fields below `key` are guarded by the lock, but `forms`. */
struct pfw_process {
	int64_t number;
	struct pfw_process_key key;
	atomic_uint forms;
	int64_t ppid;
	uint64_t cmd_hash, exec_hash, cwd_hash;
	bool has_cmd, has_exec, has_cwd;
	int64_t first_ns, last_ns;
	uint64_t events;
	/* of traces that say it at once: string ids; argv is arguments that end in a NUL each */
	int64_t exe, argv, exit_code, exit_signal;
};

struct pfw_call {
	int64_t name, category;
	unsigned arg_count;
	char arg_names[PFW_CALL_ARGS_MAX][PFW_ARG_NAME_MAX];
};

struct pfw_file {
	int64_t name; /* STORE_NULL: no record names it */
	int64_t hash; /* STORE_NULL: known by its name */
};

/* What a worker saw of a thread. */
struct pfw_thread {
	const struct pfw_process *process;
	int64_t tid;
	int64_t first_ns, last_ns; /* STORE_NULL: no event */
	uint64_t events;
	int64_t name;
};

struct pfw_dims {
	struct store_sink *sink;
	bool is_foreign;    /* the trace is not DFTracer's */
	uint64_t refused;   /* that found no room */
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

int64_t pfw_dims_string(struct pfw_dims *d, const char *bytes, size_t n); /* STORE_NULL: no room */
/* NULL: no room. */
struct pfw_process *pfw_dims_process(struct pfw_dims *d, const struct pfw_process_key *key);
/* The file's id; STORE_NULL: no room. */
int64_t pfw_dims_file(struct pfw_dims *d, const struct pfw_process *p, uint64_t hash);
int64_t pfw_dims_named_file(struct pfw_dims *d, int64_t name);
/* A record says what a hash stands for; kind is 'F', 'S' or 'H'. */
void pfw_dims_define(struct pfw_dims *d, char kind, const struct pfw_process *p, uint64_t hash, int64_t text);
/* NULL: no room. The category is that of the call when it was first met. */
struct pfw_call *pfw_dims_call(struct pfw_dims *d, int64_t name, int64_t category);
/* The place of this argument among those of the call, 0 .. PFW_CALL_ARGS_MAX - 1; -1: it has none. */
int pfw_dims_call_arg(struct pfw_dims *d, struct pfw_call *call, const char *name, size_t n);
/* What a "start" record says. */
void pfw_dims_started(struct pfw_dims *d, struct pfw_process *p, const struct pfw_process *facts);
void pfw_dims_thread(struct pfw_dims *d, const struct pfw_thread *seen);
/* A row of the table meta. */
void pfw_dims_meta(struct pfw_dims *d, const struct store_meta *row);

/* The text of a hash; STORE_NULL when no record defined it. For the end, without the lock. */
int64_t pfw_dims_text(const struct pfw_dims *d, char kind, const struct pfw_process *p, uint64_t hash);
/* "A" to "E". */
const char *pfw_generation(unsigned forms);
/* Write the tables process, thread, file and call, and what of processes goes to meta. */
void pfw_dims_write(struct pfw_dims *d);

#endif
