/*
 * jobserver: profiling jobs over HTTP, with the build call of the Jenkins API:
 *
 *	POST /job/NAME/buildWithParameters   app_name, app_args, app_docker_args; 201 and a Location
 *	GET  /queue/item/N/, /jobs/N         the job; /jobs lists all
 *	GET  /jobs/N/log, /jobs/N/artifacts, /jobs/N/artifacts/NAME
 *	POST /jobs/N/cancel
 */
#ifndef SONDE_SERVE_JOBSERVER_H
#define SONDE_SERVE_JOBSERVER_H

#include "base/buf.h"
#include "base/err.h"
#include "serve/http-server.h"
#include "session/jobs.h"

#include <stdbool.h>

/* Starts a server for the queue, which must outlive it; uses address, port and basic of the options. */
int jobserver_start(struct http_server **out, struct jobs *jobs, const struct http_server_options *options,
		struct sonde_err *err);

/* The fields of an application/x-www-form-urlencoded body. */

/* Appends the decoded value of the first field `name`; sets *is_there if the field exists. -EINVAL: malformed. */
int form_field(const struct buf *body, const char *name, struct buf *out, bool *is_there, struct sonde_err *err);

#endif
