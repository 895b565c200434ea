/* jobs-private: a job as managed and run by jobs.c, and saved by jobs-store.c, which also finds its files. */
#ifndef SONDE_SESSION_JOBS_PRIVATE_H
#define SONDE_SESSION_JOBS_PRIVATE_H

#include "session/jobs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum state { QUEUED, RUNNING, DONE, FAILED, CANCELLED };

struct entry {
	struct entry *next;
	unsigned number;
	char *name, *app_name, *app_args, *app_docker_args;
	enum state state;
	bool is_cancelled;
	bool has_unused_mounts;
	int64_t submitted_real_ns;
	int exit_code;        /* -1: none (not finished, or killed by a signal) */
	struct sonde_err err; /* why it could not be started */
};

struct jobs {
	struct jobs_options options;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t wake;
	struct entry *first, **end;
	size_t count, waiting;
	bool is_stopping;
	pthread_t worker;
	bool has_worker;
};

/* DIR/NUMBER/FILE; FILE "": the directory itself. */
void jobs_path(const struct jobs *q, unsigned number, const char *file, struct buf *out);
struct entry *jobs_find(struct jobs *q, unsigned number); /* the caller holds the lock; NULL: not found */
int jobs_not_found(unsigned number, struct sonde_err *err);

const char *jobs_state_word(enum state state);
void jobs_entry_free(struct entry *e); /* accepts NULL */
/* Writes DIR/NUMBER/job.json; on failure only a restarted server lacks the information. */
void jobs_entry_save(const char *dir, const struct entry *e);
/* Loads the jobs of an earlier server, sorted by number; returns the first, or NULL. A job that was running then is
 * queued again, and its partial run is removed. */
struct entry *jobs_entries_load(const char *dir);

#endif
