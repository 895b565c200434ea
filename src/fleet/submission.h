/*
 * submission: a job to submit to a fleet, from the command line or a row of a file.
 */
#ifndef SONDE_FLEET_SUBMISSION_H
#define SONDE_FLEET_SUBMISSION_H

#include "base/buf.h"
#include "fleet/nats-client.h"

struct submission {
	const char *name;       /* NULL: the program's name */
	const char *cwd;        /* NULL: the current directory */
	char *const *argv;      /* NULL-terminated */
	const char *const *env; /* "NAME=value", NULL-terminated; NULL: none */
	double target_loss;     /* NaN: none */
	int64_t window;         /* losses that are averaged */
	const char *push;       /* a directory to upload; NULL: none */
	int64_t cpus;           /* required; 0: any */
	uint64_t memory_bytes;  /* 0: any */
	const char *label;      /* NULL: any */
	const char *plan;       /* a training job file: the job is tuned online (sonde train); NULL: not tuned */
};

#define SUBMISSION_INIT { .target_loss = __builtin_nan(""), .window = 5 }

/* Validates the job and fills in defaults. Strings live in the arena. */
int submission_check(struct submission *s, struct arena *arena, struct sonde_err *err);
/* Call it after submission_check: sends the job and returns its ID. */
int submission_send(const struct submission *s, struct fleet_client *client, struct buf *id, struct sonde_err *err);

/* Loads the rows of a YAML file and checks them. *out has *count of them. */
int submission_load(const char *path, struct submission **out, size_t *count, struct arena *arena,
		struct sonde_err *err);

#endif
