/*
 * build: what `prepare` makes in {build}, kept for all runs whose parameters of class rebuild are equal.
 *
 * A build is whole when its mark is there, which says what it is of: one that was cut short, or whose name only looks
 * like that of another, is made anew.
 */
#ifndef SONDE_TUNE_BUILD_CACHE_H
#define SONDE_TUNE_BUILD_CACHE_H

#include "tune/trial-run.h"

bool tune_build_is_used(const struct tune_study *study); /* `prepare` has {build} */
/* Sets the run's `build`, where its study has such. */
int tune_build_find(struct tune_run *r, struct sonde_err *err);
bool tune_build_is_made(struct tune_run *r);
int tune_build_begin(struct tune_run *r, struct sonde_err *err); /* an empty directory */
int tune_build_end(struct tune_run *r, struct sonde_err *err);   /* it is whole */
/* Is everything that goes into a build of class rebuild? */
int tune_build_check(const struct tune_study *study, struct sonde_err *err);

#endif
