/*
 * dataset: a session's data as a file here.
 *
 *	file:PATH                      as it is
 *	http://..., https://...       fetched
 *	s3://BUCKET/KEY               fetched, signed with $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY where they are;
 *	                              `endpoint` or $AWS_ENDPOINT_URL is another server than Amazon's
 *	sage://BUCKET/PATH            from the Sage object store, with $SAGE_TOKEN where it is
 *
 * What was fetched stays in the cache ($XDG_CACHE_HOME/sonde/datasets), by its source. With a
 * sha256 a good copy there is not fetched again, and a transfer that broke off goes on where
 * it stopped; without one nobody knows whether old and new belong together, and it begins anew.
 */
#ifndef SONDE_SESSION_DATASET_H
#define SONDE_SESSION_DATASET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"

#include <stdbool.h>

struct session_dataset {
	const char *source;   /* NULL: there is none */
	const char *sha256;   /* that the file must have; NULL: any */
	const char *endpoint; /* of s3 and sage; NULL: the usual */
};

struct dataset_file {
	char *path; /* absolute */
	char sha256[SHA256_TEXT_BYTES];
	bool was_cached;
	int64_t resumed_bytes; /* that were there already */
};

int dataset_check(const struct session_dataset *d, struct sonde_err *err); /* does the source make sense? */
int dataset_fetch(const struct session_dataset *d, struct dataset_file *f, struct arena *arena, struct sonde_err *err);

#endif
