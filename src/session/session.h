/*
 * session: an application with its data and limits, run and recorded, and one profile.
 *
 * The bundle of the first repeat is the run that was asked for; those of the others
 * are in its directory `repeats`, and so are the files of the profile beside run.json.
 */
#ifndef SONDE_SESSION_SESSION_H
#define SONDE_SESSION_SESSION_H

#include "session/profile.h"

/* Runs all repeats; stops at the first that fails. 0 when they ran, whatever became of them: see session_failed.
 * dir NULL: a new bundle among the runs. */
int session_run(struct session_profile *p, const struct session_spec *spec, const char *dir, struct arena *arena,
		struct sonde_err *err);
/* profile.json and what else the spec wants, into the bundle of the first repeat. */
int session_write(const struct session_profile *p, struct sonde_err *err);

#endif
