/*
 * jobs: sessions that wait for the one slot of a machine.
 *
 * A request names an application, its arguments and those of its container; what may be
 * asked for is an allow-list. Accepted, it becomes a directory with session.yml, log and
 * run, and waits its turn: one session at a time, so that none disturbs another. Any thread
 * may call. Jobs outlive the server: what waited or ran when it ended is run by the next.
 */
#ifndef SONDE_SESSION_JOBS_H
#define SONDE_SESSION_JOBS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "session/jobs-config.h"

#define JOBS_MAX 1000        /* remembered: of those that have ended the newest */
#define JOBS_WAITING_MAX 100 /* at once */
#define JOBS_FILE_BYTES_MAX ((size_t)64 << 20)

struct jobs_options {
	const char *dir;     /* of the jobs' directories; made when it is not there */
	const char *program; /* the sonde that runs sessions */
	const struct jobs_config *config;
};

struct jobs_request {
	const char *name;                                  /* of the pipeline it was asked of */
	const char *app_name, *app_args, *app_docker_args; /* NULL: not given */
};

struct jobs;

int jobs_open(struct jobs **out, const struct jobs_options *options, struct sonde_err *err);
void jobs_free(struct jobs *q); /* ends what runs; NULL is fine */

/* -EINVAL and -EACCES: it is refused; -EBUSY: too many wait. */
int jobs_submit(struct jobs *q, const struct jobs_request *request, unsigned *number, struct sonde_err *err);
int jobs_cancel(struct jobs *q, unsigned number, struct sonde_err *err); /* of one that has ended: nothing */
int jobs_show(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err);
void jobs_list(struct jobs *q, struct json *out);
int jobs_log(struct jobs *q, unsigned number, struct buf *out, struct sonde_err *err);
/* A part of its log from a byte on; is_over: there is and will be no more. */
int jobs_log_from(struct jobs *q, unsigned number, int64_t from, struct buf *out, bool *is_over, struct sonde_err *err);
/* The names of the files of its run. */
int jobs_artifacts(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err);
int jobs_artifact(struct jobs *q, unsigned number, const char *name, struct buf *out, struct sonde_err *err);

#endif
