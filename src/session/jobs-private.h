/* A job as jobs.c keeps it, jobs-work.c runs it, jobs-store.c writes it down and jobs-files.c finds what it left. */
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
	int exit_code;        /* -1: none, a signal or not yet */
	struct sonde_err err; /* why it could not be started */
};

struct jobs {
	struct jobs_options options;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	struct entry *first, **end;
	size_t count, waiting;
	bool is_stopping;
	pthread_t worker;
	bool has_worker;
};

/* DIR/NUMBER, or a file there; FILE "": the directory. */
void jobs_path(const struct jobs *q, unsigned number, const char *file, struct buf *out);
struct entry *jobs_find(struct jobs *q, unsigned number); /* with the lock held; NULL: there is none */
int jobs_not_found(unsigned number, struct sonde_err *err);

/* DIR/NUMBER/session.yml. */
int jobs_write_session(struct jobs *q, unsigned number, const struct jobs_plan *plan, struct sonde_err *err);

void *jobs_work(void *jobs); /* a thread: one job after the other, until jobs_free */

const char *jobs_state_word(enum state state);
void jobs_entry_free(struct entry *e); /* NULL is fine */
/* As DIR/NUMBER/job.json; failure costs only what a next server would know. */
void jobs_entry_save(const char *dir, const struct entry *e);
/* What an earlier server left there, in the order of its numbers; the first, or NULL. One that was running then is
 * queued again, without the half run that it left. */
struct entry *jobs_entries_load(const char *dir);

#endif
