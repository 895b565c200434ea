/*
 * warm-start: results of earlier studies, for the parameters they share with this one.
 *
 * The trials of an earlier study are fitted by a separate model; its prediction is a prior mean for
 * this study. Its weight is learned from this study's trials (model.h), so that an unrelated study
 * does not mislead for long. Its best configurations are tried right after the default.
 */
#ifndef SONDE_TUNE_WARM_START_H
#define SONDE_TUNE_WARM_START_H

#include "stats/gp.h"
#include "tune/space.h"

enum { TUNE_WARM_START_ROWS = 150, TUNE_WARM_START_BEST = 5 };

struct tune_warm_start {
	size_t count;   /* configurations, best first, at most TUNE_WARM_START_ROWS */
	double *points; /* count times the space's parameters */
	bool has_model; /* false: too few for a model */
	struct stats_gp gp;
};

/*
 * Reads its journal. Parameters it does not have get their defaults; trials that this space does not allow are
 * skipped. Memory is from the arena. An unreadable journal is an error, one without trials is not.
 */
int tune_warm_start_read(struct tune_warm_start *e, const char *path, const struct tune_space *space, bool is_maximized,
		struct arena *arena, struct sonde_err *err);

#endif
