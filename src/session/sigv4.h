/*
 * sigv4: AWS Signature Version 4 of a GET without a body. Pure: the time is given.
 */
#ifndef SONDE_SESSION_SIGV4_H
#define SONDE_SESSION_SIGV4_H

#include "base/buf.h"

struct sigv4_key {
	const char *id, *secret, *token; /* token NULL: none */
	const char *region, *service;
};

struct sigv4_request {
	const char *host; /* with its port, as the Host header has it */
	const char *path; /* not encoded, from its '/' on */
	const char *time; /* "20130524T000000Z" */
};

/* Bytes that are not unreserved as %XX; '/' stays when is_path. */
void sigv4_encode(struct buf *out, const char *text, bool is_path);
/* Lines "header NAME: VALUE" of a transfer request: the date, the payload's digest, the token, the authorization. */
void sigv4_headers(struct buf *out, const struct sigv4_key *key, const struct sigv4_request *r);

#endif
