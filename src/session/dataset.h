/*
 * dataset: the data of a session as a local file.
 *
 *	file:PATH                      used in place
 *	http://..., https://...       downloaded
 *	s3://BUCKET/KEY               downloaded, signed with $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY if set;
 *	                              `endpoint` or $AWS_ENDPOINT_URL replaces Amazon's server
 *	sage://BUCKET/PATH            from the Sage object store, with $SAGE_TOKEN if it is set
 *
 * Downloads are cached by source in $XDG_CACHE_HOME/sonde/datasets. With a sha256, a valid cached copy is not
 * downloaded again, and an interrupted download is resumed; without one, the parts may not belong together, and it
 * restarts.
 */
#ifndef SONDE_SESSION_DATASET_H
#define SONDE_SESSION_DATASET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"

#include <stdbool.h>

struct session_dataset {
	const char *source;   /* NULL: no dataset */
	const char *sha256;   /* expected digest; NULL: any */
	const char *endpoint; /* of s3 and sage; NULL: the default */
};

struct dataset_file {
	char *path; /* absolute */
	char sha256[SHA256_TEXT_BYTES];
	bool was_cached;
	int64_t resumed_bytes; /* bytes that an earlier attempt had downloaded */
};

int dataset_check(const struct session_dataset *d, struct sonde_err *err); /* checks the syntax of the source */
int dataset_fetch(const struct session_dataset *d, struct dataset_file *f, struct arena *arena, struct sonde_err *err);

#endif
