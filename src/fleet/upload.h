/*
 * push: the files that a job brings with it.
 *
 * A directory becomes an archive (tar, gzip) that is kept in the server's stream
 * SONDE_FILES under its SHA-256, in numbered chunks: pushed again it is there already, and
 * a push that was interrupted is made whole by the next. An agent unpacks it into a
 * directory of the job's own, which it holds a lock on; one whose agent was killed is
 * swept away by the next agent.
 */
#ifndef SONDE_FLEET_UPLOAD_H
#define SONDE_FLEET_UPLOAD_H

#include "base/sha256.h"
#include "base/tempdir.h"
#include "fleet/nats-client.h"

enum { FLEET_CHUNK_BYTES = 512 << 10, FLEET_CHUNKS_MAX = 1024 };

struct fleet_files {
	char hash[SHA256_TEXT_BYTES]; /* "": none */
	uint64_t chunks;
};

/* Pack dir and put it on the server; version control's own directories stay out. -EFBIG: more than 512 MiB. */
int fleet_push(struct fleet_client *client, const char *dir, struct fleet_files *files, struct sonde_err *err);

#define FLEET_WORK "sonde-job" /* the directories of jobs that bring their files (base/tempdir.h) */

/*
 * Such a directory, with the files in it. `tick` is called for each chunk. -ENOENT: they are not on the server any
 * more. -EBADMSG: they are not what was pushed. Others: try again later.
 */
int fleet_work_open(struct tempdir *w, struct fleet_client *client, const struct fleet_files *files,
		void (*tick)(void *arg), void *arg, struct sonde_err *err);

#endif
