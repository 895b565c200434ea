/*
 * A Gaussian process that takes one of the functions it holds possible for the true one; see gp.h.
 */
#include "stats/gp-private.h"
#include "stats/matrix.h"

#include <errno.h>
#include <string.h>

#define ALL_BUT_EXACT 0.01 /* of a measurement's noise: rows that lie close together stay apart */

/* With N the covariance of the noise, the function at the rows is y - N alpha, give or take N - N inverse N. */
static bool draw(const struct stats_gp *gp, struct stats_rng *rng, double *y, double *scratch)
{
	size_t n = gp->data.n;
	double *noise = scratch, *rest = noise + n * n, *normal = rest + n * n;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			noise[i * n + j] = gp->noise * gp_noise_of(&gp->data, i, j);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			normal[j] = stats_dot(noise + i * n, gp->inverse + j * n, n);
		for (size_t j = 0; j <= i; j++)
			rest[i * n + j] = noise[i * n + j] - stats_dot(normal, noise + j * n, n);
		rest[i * n + i] += JITTER * gp->noise;
	}
	if (!stats_cholesky(rest, n))
		return false;
	for (size_t i = 0; i < n; i++)
		normal[i] = stats_rng_normal(rng);
	for (size_t i = 0; i < n; i++)
		y[i] = gp->data.y[i] - stats_dot(noise + i * n, gp->alpha, n) + stats_dot(rest + i * n, normal, i + 1);
	return true;
}

int stats_gp_draw(struct stats_gp *gp, struct stats_rng *rng, struct arena *arena, struct sonde_err *err)
{
	size_t n = gp->data.n;
	double *y = arena_alloc(arena, (2 * n + 3) * n * sizeof(*y));
	struct stats_gp_parameters parameters = gp->parameters;
	struct stats_gp_data data = gp->data;
	double *noise;

	if (!y)
		return err_sys(err, ENOMEM, "cannot draw from a Gaussian process");
	noise = y + n;
	if (!draw(gp, rng, y, noise + n))
		return 0; /* there is no noise to speak of */
	for (size_t i = 0; i < n; i++)
		noise[i] = ALL_BUT_EXACT;
	data.y = y;
	data.noise = noise;
	data.shared = NULL;
	return stats_gp_condition(gp, &data, &parameters, arena, err);
}
