/*
 * study: what to tune, how a configuration reaches the program, what is measured
 * and how much may be spent: one YAML file, doc/man/sonde-tune(1) describes it.
 *
 * Everything lives in the arena given to tune_study_load. Errors name the file,
 * the line and what would be right.
 */
#ifndef SONDE_TUNE_STUDY_H
#define SONDE_TUNE_STUDY_H

#include "tune/optimizer.h"

enum {
	TUNE_WORDS_MAX = 256,
	TUNE_FILES_MAX = 16,
	TUNE_WARM_MAX = TUNE_WARM_START_MAX,
	TUNE_PARALLEL_MAX = 64,
	TUNE_REPEATS_MAX = 100,
};

/* Where a number comes from. */
enum tune_source {
	TUNE_TOLD,   /* whoever drives the study tells it: sonde tune serve */
	TUNE_WALL,   /* seconds from start to end */
	TUNE_CPU,    /* seconds of user and system time of the whole tree */
	TUNE_MEMORY, /* bytes resident at most */
	TUNE_SIZE,   /* bytes of a file that the program leaves */
	TUNE_OUTPUT, /* a regular expression's first group in the output, its last match */
	TUNE_STEP,   /* the last value of the steps it reports */
	TUNE_TARGET, /* seconds from start until the steps' value has reached a target */
	TUNE_RATE,   /* seconds from step to step */
	TUNE_METRIC, /* a metric that it keeps: a counter's sum, a gauge's last value, a histogram's mean */
};

struct tune_metric {
	const char *name;
	enum tune_source source;
	const char *regex; /* OUTPUT */
	const char *file;  /* SIZE; relative to the trial's directory */
	const char *kept;  /* METRIC: its name on the board */
	double target;     /* TARGET; NaN: none was given */
	bool is_rising;    /* TARGET: values rise towards it */
	int64_t mean_of;   /* TARGET: the mean of so many steps counts; 0 is 1 */
	size_t line;
};

struct tune_objective {
	struct tune_metric metric;
	bool is_maximized;
};

struct tune_bound {
	struct tune_metric metric;
	struct tune_limit limit;
};

/* A file made for every trial: {name} stands for a parameter's value. */
struct tune_file {
	const char *template; /* the text, or */
	const char *from;     /* the file that has it */
	const char *path;     /* where it goes */
};

enum tune_stop { TUNE_STOP_NONE, TUNE_STOP_MEDIAN, TUNE_STOP_ASHA };

struct tune_study {
	const char *path;
	const char *name;
	const char *directory;          /* the program runs there; NULL: where sonde does */
	const char *const *command;     /* words, with {name} in them; NULL: none given */
	const char *const *prepare;     /* runs before each trial and is not measured (a build); NULL: none */
	const char *const *environment; /* "NAME=text" */
	struct tune_space space;
	struct tune_objective objectives[TUNE_OBJECTIVES_MAX];
	size_t objective_count;
	struct tune_bound limits[TUNE_LIMITS_MAX];
	size_t limit_count;
	struct tune_file files[TUNE_FILES_MAX];
	size_t file_count;
	const char *warm[TUNE_WARM_MAX]; /* journals of earlier studies */
	size_t warm_count;
	int64_t trials;    /* at most */
	int64_t budget_ns; /* 0: no limit of time */
	int64_t repeats;   /* of each trial */
	int64_t parallel;
	int64_t seed;
	int64_t timeout_ns; /* of one run; 0: none */
	int64_t confirm;    /* pairs of runs, best beside default, at the end */
	bool is_per_second; /* prefer trials that do not take long, for as much as may be gained */
	bool is_capped;     /* end runs that take much longer than the best */
	enum tune_stop stop;
	const char *step_regex; /* two groups in the output: step and value; NULL: steps that it announces */
	const char *step_name;  /* of the loop that counts; NULL: the first */
	int64_t window;    /* steps of a trial within one running program; 0: each trial has a program of its own */
	int64_t settle;    /* steps before that, which do not count */
	bool is_announced; /* does it take part: knobs, announced steps, metrics? */
	const struct tune_method *method;
	const struct tune_launcher *launcher; /* where trials run; NULL: here */
};

/* -EINVAL: the file is wrong; -ENOENT and others: it cannot be read. */
int tune_study_load(struct tune_study *study, const char *path, struct arena *arena, struct sonde_err *err);
/* The same from text. */
int tune_study_parse(struct tune_study *study, const char *path, const char *text, size_t size, struct arena *arena,
		struct sonde_err *err);
/* The options of the study's optimiser. */
void tune_study_options(const struct tune_study *study, struct tune_options *options);

#endif
