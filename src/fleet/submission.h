/*
 * submission: a job to submit to a fleet, from the command line or a row of a file.
 */
#ifndef SONDE_FLEET_SUBMISSION_H
#define SONDE_FLEET_SUBMISSION_H

#include "base/buf.h"
#include "base/fs.h"
#include "base/sha256.h"
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

/*
 * The uploaded files of a job.
 *
 * A directory is packed into an archive (tar, gzip) and stored in the stream SONDE_FILES under its
 * SHA-256, in numbered chunks: a second upload finds it there, and the next one completes an
 * interrupted upload. An agent unpacks it into a private, locked directory; if the agent is killed,
 * the next agent removes that directory.
 */

enum { FLEET_CHUNK_BYTES = 512 << 10, FLEET_CHUNKS_MAX = 1024 };

struct fleet_files {
	char hash[SHA256_TEXT_BYTES]; /* "": none */
	uint64_t chunks;
};

#define FLEET_WORK "sonde-job" /* working directories of jobs with uploaded files (base/fs.h) */

/*
 * Creates such a directory and unpacks the files into it. `tick` is called for each chunk. -ENOENT: the server has
 * dropped the files. -EBADMSG: hash mismatch. Others: retry later.
 */
int fleet_work_open(struct tempdir *w, struct fleet_client *client, const struct fleet_files *files,
		void (*tick)(void *arg), void *arg, struct sonde_err *err);

#endif
