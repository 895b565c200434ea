/*
 * study: the study file: parameters, how they are passed to the program, metrics and budget; one
 * YAML file, see doc/man/sonde-tune(1).
 *
 * All memory is from the arena given to tune_study_load. Errors name the file, the line and the
 * valid values.
 */
#ifndef SONDE_TUNE_STUDY_H
#define SONDE_TUNE_STUDY_H

#include "config/config.h"
#include "tune/optimizer.h"

enum {
	TUNE_FILES_MAX = 16,
	TUNE_WARM_MAX = TUNE_WARM_START_MAX,
	TUNE_PARALLEL_MAX = 64,
	TUNE_REPEATS_MAX = 100,
};

/* The source of a metric. */
enum tune_source {
	TUNE_TOLD,   /* given by the client: sonde tune serve */
	TUNE_WALL,   /* wall time in seconds */
	TUNE_CPU,    /* user and system time of the process tree, in seconds */
	TUNE_MEMORY, /* maximum resident set size, in bytes */
	TUNE_SIZE,   /* size in bytes of a file that the program writes */
	TUNE_OUTPUT, /* first capture group of the last match of a regular expression in the output */
	TUNE_STEP,   /* the value of the last reported step */
	TUNE_TARGET, /* seconds from start until the steps' value reaches a target */
	TUNE_RATE,   /* seconds per step */
	TUNE_METRIC, /* a libsonde metric: a counter's sum, a gauge's last value, a histogram's mean */
};

struct tune_metric {
	const char *name;
	enum tune_source source;
	const char *regex; /* OUTPUT */
	const char *file;  /* SIZE; relative to the trial's directory */
	const char *kept;  /* METRIC: its name on the board */
	double target;     /* TARGET; NaN: not given */
	bool is_rising;    /* TARGET: values rise towards it */
	int64_t mean_of;   /* TARGET: number of steps to average; 0 means 1 */
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

/* A file generated for every trial: {name} is replaced by a parameter's value. */
struct tune_file {
	const char *template; /* the text, or */
	const char *from;     /* the file to read it from */
	const char *path;     /* its destination */
};

enum tune_stop { TUNE_STOP_NONE, TUNE_STOP_MEDIAN, TUNE_STOP_ASHA };

struct tune_study {
	const char *path;
	const char *name;
	const char *directory;          /* working directory of the program; NULL: that of sonde */
	const char *const *command;     /* words, with {name} in them; NULL: not given */
	const char *const *prepare;     /* runs before each trial, not measured (a build); NULL: none */
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
	int64_t trials;    /* maximum */
	int64_t budget_ns; /* 0: no time limit */
	int64_t repeats;   /* of each trial */
	int64_t parallel;
	int64_t seed;
	int64_t timeout_ns; /* of one run; 0: none */
	int64_t confirm;    /* number of paired runs of best and default at the end */
	bool is_per_second; /* prefer trials with a short run time, relative to their expected improvement */
	bool is_capped;     /* kill runs that take much longer than the best */
	enum tune_stop stop;
	const char *step_regex; /* two capture groups in the output: step and value; NULL: steps of libsonde */
	const char *step_name;  /* name of the loop that counts; NULL: the first */
	int64_t window;         /* steps per trial within one running program; 0: each trial starts the program */
	int64_t settle;         /* steps before the window, not measured */
	bool is_announced;      /* does the program use libsonde: knobs, steps, metrics? */
	const struct tune_method *method;
	const struct tune_launcher *launcher; /* where trials run; NULL: on this host */
};

/* -EINVAL: invalid file; -ENOENT and others: it cannot be read. */
int tune_study_load(struct tune_study *study, const char *path, struct arena *arena, struct sonde_err *err);
/* The same from text. */
int tune_study_parse(struct tune_study *study, const char *path, const char *text, size_t size, struct arena *arena,
		struct sonde_err *err);
/* The options of the study's optimizer. */
void tune_study_options(const struct tune_study *study, struct tune_options *options);

/*
 * Parses `params` and `constraints` of a study file.
 */

int tune_parse_params(struct config_reader *r, yaml_node_t *list, void *study);
int tune_parse_constraints(struct config_reader *r, yaml_node_t *list, struct tune_space *space);

#endif
