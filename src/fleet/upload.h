/*
 * upload: the uploaded files of a job.
 *
 * A directory is packed into an archive (tar, gzip) and stored in the stream SONDE_FILES under its
 * SHA-256, in numbered chunks: a second upload finds it there, and the next one completes an
 * interrupted upload. An agent unpacks it into a private, locked directory; if the agent is killed,
 * the next agent removes that directory.
 */
#ifndef SONDE_FLEET_UPLOAD_H
#define SONDE_FLEET_UPLOAD_H

#include "base/fs.h"
#include "base/sha256.h"
#include "fleet/nats-client.h"

enum { FLEET_CHUNK_BYTES = 512 << 10, FLEET_CHUNKS_MAX = 1024 };

struct fleet_files {
	char hash[SHA256_TEXT_BYTES]; /* "": none */
	uint64_t chunks;
};

/* Packs dir and uploads it, without version control directories. -EFBIG: more than 512 MiB. */
int fleet_push(struct fleet_client *client, const char *dir, struct fleet_files *files, struct sonde_err *err);

#define FLEET_WORK "sonde-job" /* working directories of jobs with uploaded files (base/fs.h) */

/*
 * Creates such a directory and unpacks the files into it. `tick` is called for each chunk. -ENOENT: the server has
 * dropped the files. -EBADMSG: hash mismatch. Others: retry later.
 */
int fleet_work_open(struct tempdir *w, struct fleet_client *client, const struct fleet_files *files,
		void (*tick)(void *arg), void *arg, struct sonde_err *err);

#endif
