/*
 * optimizer: ask for a configuration, tell what came of it.
 *
 * A proposal is a function of the space, the seed, its number and the trials
 * that are known when it is asked for: nothing else is remembered. So a study that is read
 * back from its journal goes on exactly as if it had never stopped, and the
 * same answers in the same order give the same proposals.
 *
 * Trials may be asked for before others are told: those not yet told are taken to
 * come out as the model expects, so that proposals spread. No
 * configuration is proposed twice, except on purpose: to measure a promising one
 * again where noise decides, or when there is no other.
 *
 * Values are the user's: smaller is better unless the goal says otherwise.
 */
#ifndef SONDE_TUNE_OPTIMIZER_H
#define SONDE_TUNE_OPTIMIZER_H

#include "base/arena.h"
#include "base/err.h"
#include "tune/space.h"
#include "tune/warm-start.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TUNE_OBJECTIVES_MAX = 3,
	TUNE_LIMITS_MAX = 4,
	TUNE_TRIALS_MAX = 100000,
	TUNE_RUNGS_MAX = 20,
	TUNE_WARM_START_MAX = 16
};

struct tune_optimizer;

/* One way to choose; see methods.c. */
struct tune_method {
	const char *name;
	const char *summary; /* one line */
	/* Trial `id` comes next, after `o->count` others: write its point, canonical and allowed. */
	int (*propose)(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch,
			struct sonde_err *err);
};

extern const struct tune_method *const tune_methods[];        /* NULL-terminated, the usual one first */
const struct tune_method *tune_method_find(const char *name); /* NULL: there is none */

enum tune_state {
	TUNE_PENDING, /* asked for, not told */
	TUNE_DONE,
	TUNE_CUT,    /* stopped early: the values are what it would have had at least, or worse */
	TUNE_FAILED, /* no values: the configuration does not work */
};

/* What came of a trial. */
struct tune_result {
	enum tune_state state;
	double values[TUNE_OBJECTIVES_MAX];
	double limits[TUNE_LIMITS_MAX]; /* the metrics that are limited; NaN: unknown */
	unsigned repeats;               /* measurements that the values are the mean of; 0 is 1 */
	double wall_s;                  /* what it took; 0 or NaN: not known */
	/* Of a trial beside another: that one, and the value by its own. The same trial: others are by it. 0: none. */
	uint64_t beside;
	double ratio;
	double rungs[TUNE_RUNGS_MAX]; /* of a trial that reports steps: the best value after 1, 2, 4, 8, ... steps */
	size_t rung_count;
};

struct tune_trial {
	uint64_t id; /* from 1 */
	double *point;
	struct tune_result result;
	bool is_again; /* measures a configuration once more */
};

struct tune_limit {
	double min, max; /* the metric stays within; infinite where there is no end */
};

struct tune_options {
	const struct tune_method *method; /* NULL: the usual one */
	uint64_t seed;
	size_t objective_count; /* 0 is 1 */
	bool is_maximized[TUNE_OBJECTIVES_MAX];
	struct tune_limit limits[TUNE_LIMITS_MAX];
	size_t limit_count;
	bool is_per_second;                    /* hope counts by what a trial is expected to take */
	const struct tune_warm_start *earlier; /* studies before this one; they outlive the optimizer */
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
/* -ENOENT: no such trial; -EEXIST: it was told before. A value that is not finite makes it a failed one. */
int tune_tell(struct tune_optimizer *o, uint64_t id, const struct tune_result *result, struct sonde_err *err);
/* A trial that failed counts as not yet told: what made it fail has been mended. -ENOENT: it is none that failed. */
int tune_retry(struct tune_optimizer *o, uint64_t id, struct sonde_err *err);
/* A trial that was asked for elsewhere (a journal, an earlier study, the user's own idea); id 0: the next. */
int tune_add(struct tune_optimizer *o, uint64_t id, const double *point, const struct tune_trial **trial,
		struct sonde_err *err);
struct tune_trial *tune_find(const struct tune_optimizer *o, uint64_t id); /* NULL: there is none */

/* What to take: the configuration, among those tried and within the limits, whose value is expected to be best. */
struct tune_best {
	const struct tune_trial *trial; /* NULL: none has worked yet */
	double value, lo, hi;           /* of the function there, 95 %, in the user's terms; for one objective */
	bool is_modelled;               /* false: too few trials for a model: the best seen, lo and hi are NaN */
};
int tune_recommend(struct tune_optimizer *o, struct tune_best *best, struct arena *scratch, struct sonde_err *err);
/* The same, of all others than that configuration. */
int tune_recommend_other(struct tune_optimizer *o, const double *than, struct tune_best *best, struct arena *scratch,
		struct sonde_err *err);

/* Is a at least as good in everything, and better in something? Of trials that are done. */
bool tune_dominates(const struct tune_optimizer *o, const struct tune_trial *a, const struct tune_trial *b);
/* Done, and within the limits as far as they are known. */
bool tune_trial_is_good(const struct tune_optimizer *o, const struct tune_trial *t);

/* For methods: allowed and not yet tried, by rejection; -ENOENT when there seems to be none. */
int tune_random_point(const struct tune_optimizer *o, struct stats_rng *rng, double *point, struct sonde_err *err);
bool tune_is_tried(const struct tune_optimizer *o, const double *point);
/* The default first, then points that fill the space; every method starts with some. */
int tune_design_point(const struct tune_optimizer *o, uint64_t id, double *point, struct sonde_err *err);
/* The first objective, smaller is better. */
double tune_cost(const struct tune_optimizer *o, const struct tune_trial *t, size_t objective);

#endif
