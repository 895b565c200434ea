/*
 * acquisition: the acquisition function of the Gaussian process method.
 *
 * The logarithm of the expected improvement over the best expected cost so far (LogEI of Ament et
 * al., NeurIPS 2023), which has a gradient everywhere, plus the log probability that the trial
 * succeeds and keeps the limits. If trial times differ much it is improvement per second (Snoek et
 * al., NeurIPS 2012).
 */
#ifndef SONDE_TUNE_ACQUISITION_H
#define SONDE_TUNE_ACQUISITION_H

#include "tune/model.h"

struct tune_acquisition {
	const struct tune_space *space;
	struct tune_model model;
	const struct stats_gp *members[TUNE_ENSEMBLE + 1]; /* ensemble of the model; each has its own EI, */
	double targets[TUNE_ENSEMBLE + 1];                 /* relative to this target, warped */
	size_t member_count;
	struct tune_model feasibility[1 + 2 * TUNE_LIMITS_MAX]; /* models of values that should stay below 0 */
	size_t feasibility_count;
	struct tune_model seconds; /* models the log of a trial's run time, */
	bool has_seconds;          /* if EI is per second */
};

/* At an encoded point; gradient: NULL or one entry per parameter, 0 for categories. Larger is better. */
double tune_acquisition(const struct tune_acquisition *a, const double *x, double *gradient);

/* log E[max(target - N(mean, sd), 0)], and its derivatives if not NULL. */
double tune_log_ei(double mean, double sd, double target, double *by_mean, double *by_sd);
/* log of the normal CDF, and its derivative if not NULL. */
double tune_log_cdf(double z, double *slope);

/*
 * Maximizes the acquisition function in a mixed space.
 *
 * It evaluates many points: evenly spread ones and mutated copies of the best trials. From the most
 * promising ones, it optimizes numbers by gradient and discrete parameters by trying their
 * neighbours, in turn, until convergence. Small discrete spaces are enumerated.
 */

/* Returns an allowed, untried point if there is one. -ENOENT: no point satisfies the constraints. */
int tune_search(const struct tune_optimizer *o, const struct tune_acquisition *a, uint64_t id, double *point,
		struct arena *scratch, struct sonde_err *err);

#endif
