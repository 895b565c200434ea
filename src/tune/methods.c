/*
 * methods: the table of methods that choose the next trial, and the two without a model.
 */
#include "tune/methods.h"

#include <string.h>

static int propose_random(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch,
		struct sonde_err *err)
{
	struct stats_rng rng;

	stats_rng_init(&rng, o->options.seed, id);
	return tune_random_point(o, &rng, point, err);
}

static int propose_sobol(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch,
		struct sonde_err *err)
{
	return tune_design_point(o, id, point, err);
}

static const struct tune_method random_method = { "random", "independent random configurations", propose_random };
static const struct tune_method sobol_method = { "sobol", "the default, then configurations that fill the space evenly",
	propose_sobol };

const struct tune_method *const tune_methods[] = { &tune_method_gp, &tune_method_tpe, &tune_method_selftf,
	&sobol_method, &random_method, NULL };

const struct tune_method *tune_method_find(const char *name)
{
	for (size_t i = 0; tune_methods[i]; i++)
		if (strcmp(tune_methods[i]->name, name) == 0)
			return tune_methods[i];
	return NULL;
}
