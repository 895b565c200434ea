/*
 * build-cache: the output of `prepare` in {build}, shared by all runs with equal parameters of
 * class rebuild.
 *
 * A complete build has a marker file that lists its parameter values. A build that was interrupted,
 * or has the directory name but not the values, is rebuilt.
 */
#ifndef SONDE_TUNE_BUILD_CACHE_H
#define SONDE_TUNE_BUILD_CACHE_H

#include "tune/trial-run.h"

bool tune_build_is_used(const struct tune_study *study); /* `prepare` uses {build} */
/* Sets the run's `build` if the study uses one. */
int tune_build_find(struct tune_run *r, struct sonde_err *err);
bool tune_build_is_made(struct tune_run *r);
int tune_build_begin(struct tune_run *r, struct sonde_err *err); /* creates an empty directory */
int tune_build_end(struct tune_run *r, struct sonde_err *err);   /* marks it complete */
/* Are all parameters that the build uses of class rebuild? */
int tune_build_check(const struct tune_study *study, struct sonde_err *err);

#endif
