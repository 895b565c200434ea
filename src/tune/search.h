/*
 * search: maximizes the acquisition function in a mixed space.
 *
 * It evaluates many points: evenly spread ones and mutated copies of the best trials. From the most
 * promising ones, it optimizes numbers by gradient and discrete parameters by trying their
 * neighbours, in turn, until convergence. Small discrete spaces are enumerated.
 */
#ifndef SONDE_TUNE_SEARCH_H
#define SONDE_TUNE_SEARCH_H

#include "tune/acquisition.h"

/* Returns an allowed, untried point if there is one. -ENOENT: no point satisfies the constraints. */
int tune_search(const struct tune_optimizer *o, const struct tune_acquisition *a, uint64_t id, double *point,
		struct arena *scratch, struct sonde_err *err);

#endif
