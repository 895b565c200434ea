/* A job as jobs.c keeps it and jobs-store.c writes it down. */
#ifndef SONDE_SESSION_JOBS_PRIVATE_H
#define SONDE_SESSION_JOBS_PRIVATE_H

#include "session/jobs.h"

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

const char *jobs_state_word(enum state state);
void jobs_entry_free(struct entry *e); /* NULL is fine */
/* As DIR/NUMBER/job.json; failure costs only what a next server would know. */
void jobs_entry_save(const char *dir, const struct entry *e);
/* What an earlier server left there, in the order of its numbers; the first, or NULL. One that was running then is
 * queued again, without the half run that it left. */
struct entry *jobs_entries_load(const char *dir);

#endif
