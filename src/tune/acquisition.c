#include "tune/acquisition.h"

#include <math.h>
#include <string.h>

enum { ROUGH_BUDGET = 3600 }; /* of a rough evaluation: members times rows squared */

#define SQRT_2 1.41421356237309504880
#define SQRT_PI_2 1.25331413731550025121 /* of pi / 2 */
#define LOG_SQRT_2PI 0.91893853320467274178
#define FAR (-20) /* below this, use the series */

static double log_density(double z)
{
	return -0.5 * z * z - LOG_SQRT_2PI;
}

/* Mills' ratio cdf(z) / density(z), for z <= 0. */
static double mills(double z)
{
	double z2 = z * z;

	if (z > FAR)
		return SQRT_PI_2 * exp(0.5 * z2) * erfc(-z / SQRT_2);
	return (1 - 1 / z2 + 3 / (z2 * z2)) / -z;
}

double tune_log_cdf(double z, double *slope)
{
	double value;

	if (z > 0) {
		double cdf = 0.5 * erfc(-z / SQRT_2);

		if (slope)
			*slope = exp(log_density(z)) / cdf;
		return log(cdf);
	}
	value = mills(z);
	if (slope)
		*slope = 1 / value;
	return log_density(z) + log(value);
}

/* log of h(z) = density(z) + z cdf(z). */
static double log_h(double z)
{
	double z2 = z * z;

	if (z > -1)
		return log(exp(log_density(z)) + z * 0.5 * erfc(-z / SQRT_2));
	if (z > FAR)
		return log_density(z) + log1p(z * mills(z));
	return log_density(z) - log(z2) + log1p(-3 / z2 + 15 / (z2 * z2));
}

double tune_log_ei(double mean, double sd, double target, double *by_mean, double *by_sd)
{
	double z = (target - mean) / sd, value = log_h(z);

	if (by_mean) {
		/* h' is the distribution function, and h - z h' the density. */
		*by_mean = -exp(tune_log_cdf(z, NULL) - value) / sd;
		*by_sd = exp(log_density(z) - value) / sd;
	}
	return log(sd) + value;
}

static double predict(const struct tune_model *m, const struct stats_gp *gp, const double *x, double *sd,
		double *mean_gradient, double *sd_gradient)
{
	double mean, variance;

	tune_model_predict(m, gp, x, &mean, &variance, mean_gradient, sd_gradient);
	*sd = sqrt(variance);
	if (sd_gradient)
		for (size_t k = 0; k < gp->data.dims; k++)
			sd_gradient[k] /= 2 * *sd;
	return mean;
}

static double log_feasible(const struct tune_model *m, const double *x, double *gradient)
{
	double by_mean[STATS_GP_DIMS], by_sd[STATS_GP_DIMS], sd, slope;
	double mean = predict(m, &m->gp, x, &sd, gradient ? by_mean : NULL, gradient ? by_sd : NULL);
	double z = -mean / sd, value = tune_log_cdf(z, &slope);

	if (gradient)
		for (size_t k = 0; k < m->gp.data.dims; k++)
			gradient[k] -= slope * (by_mean[k] + z * by_sd[k]) / sd;
	return value;
}

/* log EI of one member. */
static double member_value(const struct tune_acquisition *a, size_t i, const double *x, double *gradient)
{
	double by_mean[STATS_GP_DIMS], by_sd[STATS_GP_DIMS], sd, value, d_mean = 0, d_sd = 0;
	double mean = predict(&a->model, a->members[i], x, &sd, gradient ? by_mean : NULL, gradient ? by_sd : NULL);

	value = tune_log_ei(mean, sd, a->targets[i], gradient ? &d_mean : NULL, &d_sd);
	if (gradient)
		for (size_t k = 0; k < a->space->count; k++)
			gradient[k] = d_mean * by_mean[k] + d_sd * by_sd[k];
	return value;
}

/* The logarithm of the mean of the members' expected improvements. */
static double some_members(const struct tune_acquisition *a, size_t count, const double *x, double *gradient)
{
	double values[TUNE_ENSEMBLE + 1], gradients[TUNE_ENSEMBLE + 1][STATS_GP_DIMS], most = -INFINITY, sum = 0;

	for (size_t i = 0; i < count; i++) {
		values[i] = member_value(a, i, x, gradient ? gradients[i] : NULL);
		most = fmax(most, values[i]);
	}
	for (size_t i = 0; i < count; i++)
		sum += exp(values[i] - most);
	if (gradient) {
		memset(gradient, 0, a->space->count * sizeof(*gradient));
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < a->space->count; k++)
				gradient[k] += exp(values[i] - most) / sum * gradients[i][k];
	}
	return most + log(sum / (double)count);
}

static double add_feasibility(const struct tune_acquisition *a, double value, const double *x, double *gradient)
{
	for (size_t i = 0; i < a->feasibility_count; i++)
		value += log_feasible(&a->feasibility[i], x, gradient);
	return value;
}

static double by_second(const struct tune_acquisition *a, double value, const double *x, double *gradient)
{
	double by_mean[STATS_GP_DIMS], ignored[STATS_GP_DIMS], mean, variance;

	if (!a->has_seconds)
		return value;
	tune_model_predict(&a->seconds, &a->seconds.gp, x, &mean, &variance, gradient ? by_mean : NULL,
			gradient ? ignored : NULL);
	for (size_t k = 0; gradient && k < a->space->count; k++)
		gradient[k] -= by_mean[k];
	return value - mean;
}

double tune_acquisition(const struct tune_acquisition *a, const double *x, double *gradient)
{
	double value = add_feasibility(a, some_members(a, a->member_count, x, gradient), x, gradient);

	return by_second(a, value, x, gradient);
}

double tune_acquisition_rough(const struct tune_acquisition *a, const double *x)
{
	size_t count = ROUGH_BUDGET / (a->model.n * a->model.n) + 1;

	count = count < a->member_count ? count : a->member_count;
	return by_second(a, add_feasibility(a, some_members(a, count, x, NULL), x, NULL), x, NULL);
}
