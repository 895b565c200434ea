/*
 * sonde/tune.h: an optimizer's ask/tell interface in C, for use inside a program. Link with libsonde-tune (pkg-config
 * sonde-tune).
 *
 * 	char why[SONDE_TUNE_WHY_BYTES];
 * 	struct sonde_tune *t = sonde_tune_open("study.yml", -1, why);
 * 	for (int i = 0; t && i < 50; i++) {
 * 		int64_t trial = sonde_tune_ask(t);
 * 		sonde_tune_tell(t, trial, measure(sonde_tune_number(t, trial, "threads"),
 * 						  sonde_tune_text(t, trial, "mode")));
 * 	}
 * 	double value, lo, hi;
 * 	int64_t best = sonde_tune_best(t, &value, &lo, &hi);
 * 	printf("%s: %g [%g, %g]\n", sonde_tune_text(t, best, "mode"), value, lo, hi);
 * 	sonde_tune_close(t);
 *
 * sonde-tune(1) documents the study file; only `params` and `objective` are required here. The same study, seed and
 * results give the same proposals. Several trials may be pending at once. On failure, functions return a negative
 * errno, NAN or NULL, and sonde_tune_why returns the reason. A handle must not be used by two threads at once;
 * different handles may.
 */
#ifndef SONDE_TUNE_H
#define SONDE_TUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_TUNE_WHY_BYTES 512

struct sonde_tune;

/*
 * Open a study file, or its text; seed -1: the study's own. NULL if it is invalid: `why`, unless NULL, gets the
 * reason.
 */
struct sonde_tune *sonde_tune_open(const char *path, int64_t seed, char *why);
struct sonde_tune *sonde_tune_parse(const char *text, int64_t seed, char *why);
void sonde_tune_close(struct sonde_tune *t);            /* accepts NULL */
const char *sonde_tune_why(const struct sonde_tune *t); /* message of the last failure; "" if none */

/* The number of the next trial, from 1. */
int64_t sonde_tune_ask(struct sonde_tune *t);
/*
 * Add a user-defined trial: names and values of parameters as text, NULL-terminated pairs; the rest have their
 * defaults.
 */
int64_t sonde_tune_add(struct sonde_tune *t, const char *const *names_and_values);
/* A parameter of a trial as a number: NAN if it is inactive there or its choice is not a number. */
double sonde_tune_number(struct sonde_tune *t, int64_t trial, const char *name);
/* The same as text, valid until the next call; NULL if inactive. */
const char *sonde_tune_text(struct sonde_tune *t, int64_t trial, const char *name);

/* Report the result of a trial. A value that is not finite is a failure. */
int sonde_tune_tell(struct sonde_tune *t, int64_t trial, double value);
/* For several objectives, and for metrics with limits, in the order of the study; limits may be NULL. */
int sonde_tune_tell_all(struct sonde_tune *t, int64_t trial, const double *values, const double *limits);
int sonde_tune_fail(struct sonde_tune *t, int64_t trial);

/*
 * The best trial by expected value; 0 if none has succeeded yet. Also returns the expected value of the first
 * objective and its 95 % interval, NAN if there are too few trials; each may be NULL.
 */
int64_t sonde_tune_best(struct sonde_tune *t, double *value, double *lo, double *hi);

#ifdef __cplusplus
}
#endif
#endif
