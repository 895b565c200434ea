/*
 * sonde/tune.h: ask for a configuration, tell what came of it; in C, within one's own
 * program. Link with libsonde-tune (pkg-config sonde-tune).
 *
 *	char why[SONDE_TUNE_WHY_BYTES];
 *	struct sonde_tune *t = sonde_tune_open("study.yml", -1, why);
 *	for (int i = 0; t && i < 50; i++) {
 *		int64_t trial = sonde_tune_ask(t);
 *		sonde_tune_tell(t, trial, measure(sonde_tune_number(t, trial, "threads"),
 *						  sonde_tune_text(t, trial, "mode")));
 *	}
 *	double value, lo, hi;
 *	int64_t best = sonde_tune_best(t, &value, &lo, &hi);
 *	printf("%s: %g [%g, %g]\n", sonde_tune_text(t, best, "mode"), value, lo, hi);
 *	sonde_tune_close(t);
 *
 * A study is described in sonde-tune(1); `params` and `objective` are all it needs here.
 * The same study, seed and answers give the same proposals. Trials may be open at once.
 * Functions that fail return a negative errno, NAN or NULL, and sonde_tune_why says why. A
 * handle is for one thread at a time; different ones may be used at the same time.
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

/* A study file, or its text; seed -1: its own. NULL when it is wrong: `why`, unless NULL, says where and how. */
struct sonde_tune *sonde_tune_open(const char *path, int64_t seed, char *why);
struct sonde_tune *sonde_tune_parse(const char *text, int64_t seed, char *why);
void sonde_tune_close(struct sonde_tune *t);            /* NULL is fine */
const char *sonde_tune_why(const struct sonde_tune *t); /* the last failure in words; "" when there was none */

/* The next trial: its number, from 1. */
int64_t sonde_tune_ask(struct sonde_tune *t);
/* A trial of one's own: the values of parameters as text, NULL-terminated pairs; others have their defaults. */
int64_t sonde_tune_add(struct sonde_tune *t, const char *const *names_and_values);
/* A parameter of a trial as a number: NAN where it is not active there or its choice is no number. */
double sonde_tune_number(struct sonde_tune *t, int64_t trial, const char *name);
/* The same as text, until the next call; NULL where it is not active. */
const char *sonde_tune_text(struct sonde_tune *t, int64_t trial, const char *name);

/* What came of it. A value that is not finite is a failure. */
int sonde_tune_tell(struct sonde_tune *t, int64_t trial, double value);
/* For several objectives, and metrics that have limits, in the order of the study; limits may be NULL. */
int sonde_tune_tell_all(struct sonde_tune *t, int64_t trial, const double *values, const double *limits);
int sonde_tune_fail(struct sonde_tune *t, int64_t trial);

/*
 * The trial to take, by expectation and not by luck; 0: none has worked yet. The expected value of the first objective
 * and 95 % around it, NAN where trials are too few to tell; each may be NULL.
 */
int64_t sonde_tune_best(struct sonde_tune *t, double *value, double *lo, double *hi);

#ifdef __cplusplus
}
#endif
#endif
