/*
 * warp: an increasing function that makes costs nearly normal, as a Gaussian process assumes.
 *
 * Costs of configurations are skewed: a few are near the best, some are worse by factors. It
 * applies a logarithm or Yeo and Johnson's power (Biometrika 87(4), 2000), whichever leaves the
 * least skew, and then standardizes. Placeholders for "bad" (1e30 among seconds) are clipped first.
 */
#ifndef SONDE_TUNE_WARP_H
#define SONDE_TUNE_WARP_H

#include <stddef.h>

enum tune_warp_kind { TUNE_WARP_NONE, TUNE_WARP_LOG, TUNE_WARP_LOG_OF_GAIN, TUNE_WARP_POWER };

struct tune_warp {
	enum tune_warp_kind kind;
	double centre, width; /* POWER: of its input */
	double lambda;
	double mean, sd; /* of the warped costs */
	double most;     /* costs above are clipped to this */
};

/* Fits to n finite costs; scratch has room for n. */
void tune_warp_fit(struct tune_warp *w, const double *cost, size_t n, double *scratch);
/* Always logarithmic; costs must be all positive or all negative (gains). */
void tune_warp_log(struct tune_warp *w, const double *cost, size_t n, double *scratch);
double tune_warp(const struct tune_warp *w, double cost);
double tune_unwarp(const struct tune_warp *w, double value); /* may be infinite outside the range of the warp */

#endif
