/*
 * session: runs and records an application with its data and limits, and writes one profile.
 *
 * The run directory of the first repeat is the requested run; it contains the others in `repeats`, and the files of
 * the profile next to run.json.
 */
#ifndef SONDE_SESSION_SESSION_H
#define SONDE_SESSION_SESSION_H

#include "session/profile.h"

/* Runs all repeats; stops at the first that fails. Returns 0 if they ran, whether or not they succeeded: see
 * session_failed. dir NULL: a new run directory in the default place. */
int session_run(struct session_profile *p, const struct session_spec *spec, const char *dir, struct arena *arena,
		struct sonde_err *err);
/* Writes profile.json and the other formats of the spec into the run directory of the first repeat. */
int session_write(const struct session_profile *p, struct sonde_err *err);

#endif
