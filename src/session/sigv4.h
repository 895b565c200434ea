/*
 * sigv4: AWS Signature Version 4 of a GET without a body. Pure: the time is an argument.
 */
#ifndef SONDE_SESSION_SIGV4_H
#define SONDE_SESSION_SIGV4_H

#include "base/buf.h"

struct sigv4_key {
	const char *id, *secret, *token; /* token NULL: none */
	const char *region, *service;
};

struct sigv4_request {
	const char *host; /* with its port, as in the Host header */
	const char *path; /* not encoded, with the leading '/' */
	const char *time; /* "20130524T000000Z" */
};

/* Percent-encodes all bytes that are not unreserved; keeps '/' if is_path. */
void sigv4_encode(struct buf *out, const char *text, bool is_path);
/* Appends lines "header NAME: VALUE" of a transfer request: date, payload digest, token, authorization. */
void sigv4_headers(struct buf *out, const struct sigv4_key *key, const struct sigv4_request *r);

#endif
