/*
 * plan: how a training job is tuned while it trains: one YAML file, doc/man/sonde-train(1) describes it.
 *
 * Everything lives in the arena given to train_plan_load. Errors name the file, the
 * line and what would be right.
 */
#ifndef SONDE_TUNE_JOB_FILE_H
#define SONDE_TUNE_JOB_FILE_H

#include "stats/curve.h"
#include "tune/stop-rules.h"
#include "tune/study.h"

enum { TRAIN_SETTINGS_MAX = 64 };

enum train_mode {
	TRAIN_TUNE,
	TRAIN_FIXED, /* the baseline: the start configuration to the end */
};

/* What is the same in every configuration. */
struct train_setting {
	const char *name, *text;
	bool is_number;
};

struct train_plan {
	const char *path, *name;
	const char *const *command; /* NULL: it is on the command line */
	struct tune_study study;    /* its space and method only */
	struct train_setting settings[TRAIN_SETTINGS_MAX];
	size_t setting_count;
	enum train_mode mode;
	double target_loss;              /* NaN: none; it then trains until it ends by itself */
	enum train_finish_rule finish;   /* when the target counts as reached */
	int64_t window;                  /* losses that the moving average takes; 0: one for each worker, at least 5 */
	const struct stats_curve *curve; /* NULL: the ensemble */
	int64_t explore;                 /* configurations to begin with */
	int64_t iterations;              /* at most so many are measured in each of them, where that is long enough */
	int64_t online_iterations;       /* between looks, after that */
	double confidence;               /* standard deviations by which a move's gain must exceed its cost */
	double moving_share;             /* of the job's whole time: so much may go into moves that only learn */
	int64_t timeout_ns;              /* 0: none */
	int64_t seed;
};

int train_plan_load(struct train_plan *plan, const char *path, struct arena *arena, struct sonde_err *err);
/* The same from text; path stands for it in errors. */
int train_plan_parse(struct train_plan *plan, const char *path, const char *text, size_t size, struct arena *arena,
		struct sonde_err *err);

#endif
