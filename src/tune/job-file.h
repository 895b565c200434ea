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
#include "tune/stop-rules.h"
#include "tune/study.h"

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
