/*
 * warp: a rising function that makes costs look normal, so that a Gaussian
 * process can believe in them.
 *
 * Costs of configurations are skewed: a few are near the best, some are worse by
 * factors. A logarithm or Yeo and Johnson's power (Biometrika 87(4), 2000),
 * whichever leaves least skew, evens that out; mean 0 and variance 1 come after. Numbers that
 * only stand for "bad" (1e30 among seconds) are cut off first.
 */
#ifndef SONDE_TUNE_WARP_H
#define SONDE_TUNE_WARP_H

#include <stddef.h>

enum tune_warp_kind { TUNE_WARP_NONE, TUNE_WARP_LOG, TUNE_WARP_LOG_OF_GAIN, TUNE_WARP_POWER };

struct tune_warp {
	enum tune_warp_kind kind;
	double centre, width; /* POWER: of what it is applied to */
	double lambda;
	double mean, sd; /* of the warped costs */
	double most;     /* costs above count as this */
};

/* Choose for n finite costs; scratch has room for n. */
void tune_warp_fit(struct tune_warp *w, const double *cost, size_t n, double *scratch);
/* Logarithms, whatever they look like; of costs that are all above 0, or all below: gains. */
void tune_warp_log(struct tune_warp *w, const double *cost, size_t n, double *scratch);
double tune_warp(const struct tune_warp *w, double cost);
double tune_unwarp(const struct tune_warp *w, double value); /* may be infinite beyond what the warp reaches */

#endif
