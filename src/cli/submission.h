/*
 * submission: a job on its way to a fleet, from the command line or a row of a file.
 */
#ifndef SONDE_CLI_SUBMISSION_H
#define SONDE_CLI_SUBMISSION_H

#include "base/buf.h"
#include "cli/fleet-cli.h"

struct submission {
	const char *name;       /* NULL: the program's */
	const char *cwd;        /* NULL: where we are */
	char *const *argv;      /* ended by NULL */
	const char *const *env; /* "NAME=value", ended by NULL; NULL: none */
	double target_loss;     /* NaN: none */
	int64_t window;         /* losses of the average */
	const char *push;       /* a directory that it brings; NULL: none */
	int64_t cpus;           /* that it needs; 0: any */
	uint64_t memory_bytes;  /* 0: any */
	const char *label;      /* NULL: any */
	const char *plan;       /* a job file: it is tuned while it trains (sonde train); NULL: it is not */
};

#define SUBMISSION_INIT { .target_loss = __builtin_nan(""), .window = 5 }

/* What the fleet is told, or what is wrong. Strings live in the arena. */
int submission_check(struct submission *s, struct arena *arena, struct sonde_err *err);
/* After that: tell it, and give its id. */
int submission_send(const struct submission *s, struct fleet_client *client, struct buf *id, struct sonde_err *err);

/* The rows of a YAML file, checked. *out has *count of them. */
int submission_load(const char *path, struct submission **out, size_t *count, struct arena *arena,
		struct sonde_err *err);

#endif
