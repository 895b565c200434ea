/*
 * acquisition: how much is to be hoped for at a configuration.
 *
 * The logarithm of the expected improvement over the best expected cost so far
 * (LogEI of Ament et al., NeurIPS 2023), which has a slope everywhere, and of the
 * probability that the trial works and keeps the limits; by the second where trials differ much in
 * what they take (Snoek et al., NeurIPS 2012).
 */
#ifndef SONDE_TUNE_ACQUISITION_H
#define SONDE_TUNE_ACQUISITION_H

#include "tune/model.h"

struct tune_acquisition {
	const struct tune_space *space;
	struct tune_model model;
	const struct stats_gp *members[TUNE_ENSEMBLE + 1]; /* of the model: each hopes for itself, */
	double targets[TUNE_ENSEMBLE + 1];                 /* to improve on this, warped */
	size_t member_count;
	struct tune_model feasibility[1 + 2 * TUNE_LIMITS_MAX]; /* of values that should stay below 0 */
	size_t feasibility_count;
	struct tune_model seconds; /* the logarithm of what a trial takes, */
	bool has_seconds;          /* where hope counts by that */
};

/* At coordinates, by the first few members: for a first look at many. */
double tune_acquisition_rough(const struct tune_acquisition *a, const double *x);
/* At coordinates; gradients NULL or one entry a parameter, 0 for categories. Bigger is better. */
double tune_acquisition(const struct tune_acquisition *a, const double *x, double *gradient);

/* log of the expectation of max(target - N(mean, sd), 0), and its derivatives where not NULL. */
double tune_log_ei(double mean, double sd, double target, double *by_mean, double *by_sd);
/* log of the normal distribution function and its derivative where not NULL. */
double tune_log_cdf(double z, double *slope);

#endif
