/*
 * transfer: makes one request to a remote server in a separate program.
 *
 * libcurl pulls in two dozen libraries, which a daemon that rarely needs them should not load. So the request is
 * written to a memfd and passed to libexec/sonde/sonde-transfer, which makes it and prints one line of JSON:
 *
 *	METHOD URL              GET, HEAD, PUT or POST; or PUBLISH HOST:PORT (MQTT 3.1.1)
 *	header NAME: VALUE      any number
 *	user ID:SECRET
 *	sigv4 aws:amz:REGION:s3 sign as this user (AWS Signature Version 4); the path must be percent-encoded and
 *	                        the digest of the body be in a header x-amz-content-sha256
 *	output PATH             append the body to this file; created if missing
 *	from BYTES              request the range from this offset and check that the response has it
 *	timeout SECONDS         without progress; default 30
 *	topic TEXT, qos 0|1     of PUBLISH
 *	(an empty line, and the body)
 *
 * Redirects are followed for GET and HEAD, up to five, and never from https to http.
 */
#ifndef SONDE_LAUNCH_TRANSFER_H
#define SONDE_LAUNCH_TRANSFER_H

#include "base/buf.h"
#include "base/err.h"
#include "launch/job.h"

#include <stdbool.h>
#include <stdint.h>

struct transfer_answer {
	long status;     /* HTTP status; 0: no response */
	int64_t bytes;   /* bytes of the body received */
	int64_t whole;   /* total size reported by the server; -1 if unknown */
	char error[256]; /* "": none */
};

/* Starts it. Its line is written to `out`, which remains the caller's. */
int transfer_start(struct job **job, const struct buf *request, int out, struct sonde_err *err);
/* Makes the request and waits. 0 if a response came, whatever its status. */
int transfer_run(const struct buf *request, struct transfer_answer *answer, struct sonde_err *err);
int transfer_parse(const char *text, struct transfer_answer *answer);

#endif
