/*
 * job-file: the training job file, one YAML file that configures online tuning; see
 * doc/man/sonde-train(1).
 *
 * All memory is from the arena given to train_plan_load. Errors name the file, the line and the
 * valid values.
 */
#ifndef SONDE_TUNE_JOB_FILE_H
#define SONDE_TUNE_JOB_FILE_H

#include "stats/curve.h"
#include "tune/study.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Has a job reached its target loss? Four rules, SelfTF's.
 *
 *	average  the moving average of the last losses of all workers
 *	all      the last loss of every worker
 *	once     every worker has reached it once
 *	most     nine workers in ten have reached it once
 *
 * A worker counts while it reports: after a reconfiguration those that have not reported since do
 * not count. Pure.
 */

enum { TRAIN_WINDOW_MAX = 1000, TRAIN_WORKERS_MAX = 1024 };

enum train_finish_rule { TRAIN_FINISH_AVERAGE, TRAIN_FINISH_ALL, TRAIN_FINISH_ONCE, TRAIN_FINISH_MOST };

int train_finish_find(const char *name); /* -1: unknown rule */

struct train_finish { /* initialized by train_finish_init */
	enum train_finish_rule rule;
	double target; /* NaN: never */
	size_t window; /* 0: one per worker, at least 5 */
	/* private */
	double recent[TRAIN_WINDOW_MAX];
	size_t reports, since_change, here;
	struct train_worker {
		bool is_here, has_reached;
		double last;
	} workers[TRAIN_WORKERS_MAX];
};

void train_finish_init(struct train_finish *f, enum train_finish_rule rule, double target, size_t window);
void train_finish_add(struct train_finish *f, unsigned worker, double loss);
/* The configuration has changed: workers may be gone. */
void train_finish_change(struct train_finish *f);
size_t train_finish_workers(const struct train_finish *f); /* that have reported since */
bool train_finish_is_reached(const struct train_finish *f);

enum { TRAIN_SETTINGS_MAX = 64 };

enum train_mode {
	TRAIN_TUNE,
	TRAIN_FIXED, /* the baseline: keeps the start configuration */
};

/* A constant passed in every configuration. */
struct train_setting {
	const char *name, *text;
	bool is_number;
};

struct train_plan {
	const char *path, *name;
	const char *const *command; /* NULL: given on the command line */
	struct tune_study study;    /* only space and method are used */
	struct train_setting settings[TRAIN_SETTINGS_MAX];
	size_t setting_count;
	enum train_mode mode;
	double target_loss;              /* NaN: none, the job trains until it exits */
	enum train_finish_rule finish;   /* when the target is reached */
	int64_t window;                  /* losses in the moving average; 0: one per worker, at least 5 */
	const struct stats_curve *curve; /* NULL: the ensemble */
	int64_t explore;                 /* number of configurations to explore first */
	int64_t iterations;              /* maximum number measured in each of them, if that takes long enough */
	int64_t online_iterations;       /* between decisions after the exploration */
	double confidence;   /* standard deviations by which a reconfiguration's gain must exceed its cost */
	double moving_share; /* fraction of the job's total time that exploratory reconfigurations may cost */
	int64_t timeout_ns;  /* 0: none */
	int64_t seed;
};

int train_plan_load(struct train_plan *plan, const char *path, struct arena *arena, struct sonde_err *err);
/* The same from text; path is used in errors. */
int train_plan_parse(struct train_plan *plan, const char *path, const char *text, size_t size, struct arena *arena,
		struct sonde_err *err);

#endif
