/*
 * search: the configuration with the best acquisition, in a mixed space.
 *
 * Many points are looked at: evenly spread ones and changed copies of the best
 * trials; from the most promising, numbers climb by their gradient and everything
 * discrete by trying its neighbours, in turn, until nothing gets better. Small
 * discrete spaces are looked at whole.
 */
#ifndef SONDE_TUNE_SEARCH_H
#define SONDE_TUNE_SEARCH_H

#include "tune/acquisition.h"

/* An allowed point that is not tried yet, if there is one. -ENOENT: nothing satisfies the constraints. */
int tune_search(const struct tune_optimizer *o, const struct tune_acquisition *a, uint64_t id, double *point,
		struct arena *scratch, struct sonde_err *err);

#endif
