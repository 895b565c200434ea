/*
 * earlier: what studies before this one have learnt, as far as it is about the same parameters.
 *
 * The trials of an earlier study make a model of their own, whose expectation is a first
 * guess for this study: how much it counts is learnt from the trials that both
 * can be held against (model.h), so that a study of something else does not mislead for
 * long. Its best configurations come right after the default.
 */
#ifndef SONDE_TUNE_WARM_START_H
#define SONDE_TUNE_WARM_START_H

#include "stats/gp.h"
#include "tune/space.h"

enum { TUNE_WARM_START_ROWS = 150, TUNE_WARM_START_BEST = 5 };

struct tune_warm_start {
	size_t count;   /* configurations, best first, at most TUNE_WARM_START_ROWS */
	double *points; /* count times the space's parameters */
	bool has_model; /* false: too few for one */
	struct stats_gp gp;
};

/*
 * From its journal. Parameters that it does not have are at their defaults; trials that this space does not
 * allow are left out. Everything is from the arena. A journal that cannot be read is an error, one without
 * trials is not.
 */
int tune_warm_start_read(struct tune_warm_start *e, const char *path, const struct tune_space *space, bool is_maximized,
		struct arena *arena, struct sonde_err *err);

#endif
