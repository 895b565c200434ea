#include "sonde/tune.h"

#include "tune/study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

struct sonde_tune {
	struct arena arena;
	struct tune_study study;
	struct tune_optimizer optimizer;
	struct sonde_err err;
	char text[512];
};

static void say(char *why, const struct sonde_err *err)
{
	if (why)
		snprintf(why, SONDE_TUNE_WHY_BYTES, "%.300s%s%.200s", err->text, err->hint[0] ? "; " : "", err->hint);
}

static int start(struct sonde_tune *t, int64_t seed)
{
	struct tune_options options;

	tune_study_options(&t->study, &options);
	if (seed >= 0)
		options.seed = (uint64_t)seed;
	return tune_optimizer_init(&t->optimizer, &t->study.space, &options, &t->err);
}

/* From a file, or from text if path is NULL. */
static struct sonde_tune *make(const char *path, const char *text, int64_t seed, char *why)
{
	struct sonde_tune *t = calloc(1, sizeof(*t));
	struct sonde_err err = SONDE_ERR_INIT;
	int rc;

	if (!t) {
		err_sys(&err, ENOMEM, "cannot open a study");
		say(why, &err);
		return NULL;
	}
	arena_init(&t->arena);
	rc = path ? tune_study_load(&t->study, path, &t->arena, &t->err)
		  : tune_study_parse(&t->study, "the study", text ? text : "", text ? strlen(text) : 0, &t->arena,
				    &t->err);
	if (rc == 0)
		rc = start(t, seed);
	if (rc == 0)
		return t;
	say(why, &t->err);
	arena_release(&t->arena);
	free(t);
	return NULL;
}

PUBLIC struct sonde_tune *sonde_tune_open(const char *path, int64_t seed, char *why)
{
	return make(path, NULL, seed, why);
}

PUBLIC struct sonde_tune *sonde_tune_parse(const char *text, int64_t seed, char *why)
{
	return make(NULL, text, seed, why);
}

PUBLIC void sonde_tune_close(struct sonde_tune *t)
{
	if (!t)
		return;
	tune_optimizer_release(&t->optimizer);
	arena_release(&t->arena);
	free(t);
}

PUBLIC const char *sonde_tune_why(const struct sonde_tune *t)
{
	return t->err.text;
}

static void clear(struct sonde_tune *t)
{
	t->err = (struct sonde_err)SONDE_ERR_INIT;
}

PUBLIC int64_t sonde_tune_ask(struct sonde_tune *t)
{
	const struct tune_trial *trial;
	int rc;

	clear(t);
	rc = tune_ask(&t->optimizer, &trial, &t->err);
	return rc < 0 ? rc : (int64_t)trial->id;
}

PUBLIC int64_t sonde_tune_add(struct sonde_tune *t, const char *const *names_and_values)
{
	const struct tune_space *space = &t->study.space;
	const struct tune_trial *trial;
	double point[TUNE_PARAMS_MAX];
	int rc = 0;

	clear(t);
	for (size_t i = 0; i < space->count; i++)
		point[i] = space->params[i].start;
	for (const char *const *at = names_and_values; *at && rc == 0; at += 2) {
		const struct tune_param *p = tune_space_find(space, at[0]);

		if (!p)
			return err_set(&t->err, ENOENT, "unknown parameter '%s'", at[0]);
		rc = tune_param_parse(p, at[1] ? at[1] : "", &point[p - space->params], &t->err);
		if (!at[1])
			break;
	}
	if (rc)
		return rc;
	tune_point_canonical(space, point);
	rc = tune_add(&t->optimizer, 0, point, &trial, &t->err);
	return rc ? rc : (int64_t)trial->id;
}

/* The value of a parameter in a trial; NULL with an error text if unknown. */
static const struct tune_param *look_up(struct sonde_tune *t, int64_t trial, const char *name, double *value)
{
	const struct tune_trial *found = trial > 0 ? tune_find(&t->optimizer, (uint64_t)trial) : NULL;
	const struct tune_param *p = tune_space_find(&t->study.space, name);

	clear(t);
	if (!found || !p) {
		err_set(&t->err, ENOENT, found ? "unknown parameter '%s'" : "unknown trial: cannot read '%s'", name);
		return NULL;
	}
	*value = found->point[p - t->study.space.params];
	return p;
}

PUBLIC double sonde_tune_number(struct sonde_tune *t, int64_t trial, const char *name)
{
	double value;
	const struct tune_param *p = look_up(t, trial, name, &value);

	if (!p || isnan(value))
		return NAN;
	return p->type == TUNE_ORDINAL || p->type == TUNE_CATEGORICAL ? p->choices[(size_t)value].number : value;
}

PUBLIC const char *sonde_tune_text(struct sonde_tune *t, int64_t trial, const char *name)
{
	double value;
	const struct tune_param *p = look_up(t, trial, name, &value);

	if (!p || isnan(value))
		return NULL;
	if (p->type == TUNE_ORDINAL || p->type == TUNE_CATEGORICAL)
		return p->choices[(size_t)value].text;
	tune_param_format(p, value, t->text, sizeof(t->text));
	return t->text;
}

static int tell(struct sonde_tune *t, int64_t trial, const struct tune_result *result)
{
	clear(t);
	return tune_tell(&t->optimizer, trial < 0 ? 0 : (uint64_t)trial, result, &t->err);
}

PUBLIC int sonde_tune_tell_all(struct sonde_tune *t, int64_t trial, const double *values, const double *limits)
{
	struct tune_result result = { .state = TUNE_DONE, .repeats = 1 };

	memcpy(result.values, values, t->study.objective_count * sizeof(*values));
	for (size_t k = 0; k < TUNE_LIMITS_MAX; k++)
		result.limits[k] = limits && k < t->study.limit_count ? limits[k] : NAN;
	return tell(t, trial, &result);
}

PUBLIC int sonde_tune_tell(struct sonde_tune *t, int64_t trial, double value)
{
	if (t->study.objective_count == 1)
		return sonde_tune_tell_all(t, trial, &value, NULL);
	clear(t);
	return err_set(&t->err, EINVAL, "this study has %zu objectives: use sonde_tune_tell_all",
			t->study.objective_count);
}

PUBLIC int sonde_tune_fail(struct sonde_tune *t, int64_t trial)
{
	struct tune_result result = { .state = TUNE_FAILED };

	return tell(t, trial, &result);
}

PUBLIC int64_t sonde_tune_best(struct sonde_tune *t, double *value, double *lo, double *hi)
{
	struct arena scratch = ARENA_INIT;
	struct tune_best best;
	int rc;

	clear(t);
	rc = tune_recommend(&t->optimizer, &best, &scratch, &t->err);
	arena_release(&scratch);
	if (rc < 0)
		return rc;
	if (value)
		*value = best.value;
	if (lo)
		*lo = best.lo;
	if (hi)
		*hi = best.hi;
	return best.trial ? (int64_t)best.trial->id : 0;
}
