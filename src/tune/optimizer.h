/*
 * optimizer: ask for a configuration, tell its result.
 *
 * A proposal is a function of the space, the seed, its number and the known trials, without
 * hidden state. So a study that is read back from its journal continues exactly as if it had never
 * stopped, and the same results in the same order give the same proposals.
 *
 * Several trials may be pending: they are assumed to have the result the model expects, so that
 * proposals spread. No configuration is proposed twice, except to measure a promising one again
 * where noise decides, or when no other is left.
 *
 * Values are the user's: smaller is better unless the goal is to maximize.
 */
#ifndef SONDE_TUNE_OPTIMIZER_H
#define SONDE_TUNE_OPTIMIZER_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/gp.h"
#include "tune/space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Results of earlier studies, for the parameters they share with this one.
 *
 * The trials of an earlier study are fitted by a separate model; its prediction is a prior mean for
 * this study. Its weight is learned from this study's trials (model.h), so that an unrelated study
 * does not mislead for long. Its best configurations are tried right after the default.
 */

enum { TUNE_WARM_START_ROWS = 150, TUNE_WARM_START_BEST = 5 };

struct tune_warm_start {
	size_t count;   /* configurations, best first, at most TUNE_WARM_START_ROWS */
	double *points; /* count times the space's parameters */
	bool has_model; /* false: too few for a model */
	struct stats_gp gp;
};

/*
 * Reads its journal. Parameters it does not have get their defaults; trials that this space does not allow are
 * skipped. Memory is from the arena. An unreadable journal is an error, one without trials is not.
 */
int tune_warm_start_read(struct tune_warm_start *e, const char *path, const struct tune_space *space, bool is_maximized,
		struct arena *arena, struct sonde_err *err);

enum {
	TUNE_OBJECTIVES_MAX = 3,
	TUNE_LIMITS_MAX = 4,
	TUNE_TRIALS_MAX = 100000,
	TUNE_RUNGS_MAX = 20,
	TUNE_WARM_START_MAX = 16
};

struct tune_optimizer;

/* A method; see tune_methods in optimizer.c. */
struct tune_method {
	const char *name;
	const char *summary; /* one line */
	/* Writes the point of trial `id`, after `o->count` others; it must be canonical and allowed. */
	int (*propose)(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch,
			struct sonde_err *err);
};

extern const struct tune_method *const tune_methods[];        /* NULL-terminated, the default first */
const struct tune_method *tune_method_find(const char *name); /* NULL if unknown */

enum tune_state {
	TUNE_PENDING, /* asked for, no result yet */
	TUNE_DONE,
	TUNE_CUT,    /* stopped early: the values are a bound or a pessimistic estimate */
	TUNE_FAILED, /* no values: the configuration does not work */
};

/* The result of a trial. */
struct tune_result {
	enum tune_state state;
	double values[TUNE_OBJECTIVES_MAX];
	double limits[TUNE_LIMITS_MAX]; /* the limited metrics; NaN if unknown */
	unsigned repeats;               /* measurements that the values are the mean of; 0 means 1 */
	double wall_s;                  /* run time; 0 or NaN if unknown */
	/*
	 * For a paired trial: the trial it ran together with, and the ratio to its value. The trial itself if it is
	 * the reference of the others. 0: not paired.
	 */
	uint64_t beside;
	double ratio;
	double rungs[TUNE_RUNGS_MAX]; /* of a trial that reports steps: the best value after 1, 2, 4, 8, ... steps */
	size_t rung_count;
};

struct tune_trial {
	uint64_t id; /* from 1 */
	double *point;
	struct tune_result result;
	bool is_again; /* a repeated measurement of a configuration */
};

struct tune_limit {
	double min, max; /* range of the metric; infinite if unbounded */
};

struct tune_options {
	const struct tune_method *method; /* NULL: the default */
	uint64_t seed;
	size_t objective_count; /* 0 means 1 */
	bool is_maximized[TUNE_OBJECTIVES_MAX];
	struct tune_limit limits[TUNE_LIMITS_MAX];
	size_t limit_count;
	bool is_per_second;                    /* weight improvement by expected run time */
	const struct tune_warm_start *earlier; /* earlier studies; must outlive the optimizer */
	size_t warm_start_count;               /* at most TUNE_WARM_START_MAX */
};

struct tune_optimizer {
	const struct tune_space *space;
	struct tune_options options;
	struct tune_trial *trials; /* in the order they were asked for */
	size_t count;
	/* private */
	size_t cap;
	uint64_t last_id;
	struct arena arena; /* points */
};

int tune_optimizer_init(struct tune_optimizer *o, const struct tune_space *space, const struct tune_options *options,
		struct sonde_err *err);
void tune_optimizer_release(struct tune_optimizer *o);

/* The next trial; valid until the next call. -ENOENT: no configuration satisfies the constraints. */
int tune_ask(struct tune_optimizer *o, const struct tune_trial **trial, struct sonde_err *err);
/* -ENOENT: unknown trial; -EEXIST: it already has a result. A value that is not finite makes it a failed one. */
int tune_tell(struct tune_optimizer *o, uint64_t id, const struct tune_result *result, struct sonde_err *err);
/* Makes a failed trial pending again, after its cause was fixed. -ENOENT: the trial is unknown or has not failed. */
int tune_retry(struct tune_optimizer *o, uint64_t id, struct sonde_err *err);
/* Adds a trial from elsewhere (a journal, an earlier study, the user); id 0: the next. */
int tune_add(struct tune_optimizer *o, uint64_t id, const double *point, const struct tune_trial **trial,
		struct sonde_err *err);
struct tune_trial *tune_find(const struct tune_optimizer *o, uint64_t id); /* NULL if unknown */

/* The recommendation: the configuration with the best expected value among those tried and within the limits. */
struct tune_best {
	const struct tune_trial *trial; /* NULL: none has succeeded yet */
	double value, lo, hi; /* expected value and its 95 % interval, in the user's units; for one objective */
	bool is_modelled;     /* false: too few trials for a model: the best measured, lo and hi are NaN */
};
int tune_recommend(struct tune_optimizer *o, struct tune_best *best, struct arena *scratch, struct sonde_err *err);
/* The same among all configurations except that one. */
int tune_recommend_other(struct tune_optimizer *o, const double *than, struct tune_best *best, struct arena *scratch,
		struct sonde_err *err);

/* Is a at least as good in all objectives, and better in one? For completed trials. */
bool tune_dominates(const struct tune_optimizer *o, const struct tune_trial *a, const struct tune_trial *b);
/* Completed, and within the limits as far as they are known. */
bool tune_trial_is_good(const struct tune_optimizer *o, const struct tune_trial *t);

/* For methods: an allowed, untried point by rejection sampling; -ENOENT if none was found. */
int tune_random_point(const struct tune_optimizer *o, struct stats_rng *rng, double *point, struct sonde_err *err);
bool tune_is_tried(const struct tune_optimizer *o, const double *point);
/* The default first, then space-filling points; every method starts with some. */
int tune_design_point(const struct tune_optimizer *o, uint64_t id, double *point, struct sonde_err *err);
/* One objective as a cost: smaller is better. */
double tune_cost(const struct tune_optimizer *o, const struct tune_trial *t, size_t objective);

/*
 * Rows of tune_methods that are in separate files.
 */

extern const struct tune_method tune_method_gp;     /* method-gp.c: the default */
extern const struct tune_method tune_method_tpe;    /* method-tpe.c */
extern const struct tune_method tune_method_selftf; /* method-selftf.c */

#endif
