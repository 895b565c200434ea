/*
 * transfer: one request to a server elsewhere, made by a program of its own.
 *
 * libcurl brings two dozen libraries; a daemon that rarely needs them should not carry them.
 * So the request is written into a memory file and given to libexec/sonde/sonde-transfer, which
 * makes it and answers with one line of JSON on its standard output:
 *
 *	METHOD URL              GET, HEAD, PUT or POST; or PUBLISH HOST:PORT, which is MQTT 3.1.1
 *	header NAME: VALUE      as many as there are
 *	output PATH             append the body to this file, made if need be
 *	from BYTES              ask for what lies behind, and check that it was given
 *	timeout SECONDS         of a standstill; 30
 *	topic TEXT, qos 0|1     of PUBLISH
 *	(an empty line, and the body)
 *
 * Redirects are followed for GET and HEAD, five at most, and never from https to http.
 */
#ifndef SONDE_LAUNCH_TRANSFER_H
#define SONDE_LAUNCH_TRANSFER_H

#include "base/buf.h"
#include "base/err.h"
#include "launch/job.h"

#include <stdbool.h>
#include <stdint.h>

struct transfer_answer {
	long status;     /* of HTTP; 0: none came */
	int64_t bytes;   /* of the body that were taken */
	int64_t whole;   /* what the server says that the whole has; -1: nothing */
	char error[256]; /* "": none */
};

/* Starts it. `out` is where its line goes, a descriptor of the caller's, who keeps it. */
int transfer_start(struct job **job, const struct buf *request, int out, struct sonde_err *err);
/* Makes it and waits. 0 when an answer came, whatever its status. */
int transfer_run(const struct buf *request, struct transfer_answer *answer, struct sonde_err *err);
int transfer_parse(const char *text, struct transfer_answer *answer);

#endif
