/*
 * space: the search space: parameters, conditions and constraints.
 *
 * A *point* is one configuration: a double for each parameter, in its own units (a number for float
 * and int, the index of the choice for the others, 0 and 1 for bool), NaN for an inactive
 * parameter. A point is *canonical* if every number is in range and integral where required, and
 * exactly the active parameters have values; equal configurations are then equal points.
 *
 * Models use an *encoded point*: numbers in 0..1 (logarithmic if configured, ints at the middle of
 * their bins), categories as their index. An inactive parameter is 0.5, or an additional category:
 * it then adds no information beyond that of its parent.
 */
#ifndef SONDE_TUNE_SPACE_H
#define SONDE_TUNE_SPACE_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TUNE_PARAMS_MAX = 64,
	TUNE_CHOICES_MAX = 256,
	TUNE_CONSTRAINTS_MAX = 64,
};

enum tune_type { TUNE_FLOAT, TUNE_INT, TUNE_ORDINAL, TUNE_CATEGORICAL, TUNE_BOOL };

/* What a change of the parameter requires. */
enum tune_class { TUNE_RESTART, TUNE_LIVE, TUNE_REBUILD };

struct tune_choice {
	const char *text;
	bool is_number;       /* written without quotes, in JSON too */
	double number;        /* its value then; NaN otherwise */
	const char *gives_up; /* what choosing it loses, as text; NULL: nothing */
};

/* The parameter is active only where `param` has one of these values. */
struct tune_condition {
	size_t param;
	const double *values;
	size_t value_count;
};

struct tune_param {
	const char *name;
	enum tune_type type;
	double low, high; /* float, int */
	bool is_log;
	const struct tune_choice *choices; /* ordinal, categorical */
	size_t choice_count;
	double start;                            /* its default; if not given, the middle or the first choice */
	bool has_default;                        /* whether it was given */
	const struct tune_condition *conditions; /* all must hold */
	size_t condition_count;
	enum tune_class class;
	const char *argument; /* how it is passed to the program: an argument with {} in it, */
	const char *variable; /* an environment variable, */
	const char *knob;     /* a knob; each NULL if unused */
	size_t line;          /* of the study file; 0 if unknown */
};

struct tune_expression; /* see below */

struct tune_space {
	struct tune_param params[TUNE_PARAMS_MAX];
	size_t count;
	const struct tune_expression *constraints[TUNE_CONSTRAINTS_MAX];
	size_t constraint_count;
	/* private: parents before children */
	size_t order[TUNE_PARAMS_MAX];
};

/* Computes order and defaults; -EINVAL if conditions form a cycle. */
int tune_space_finish(struct tune_space *space, struct sonde_err *err);
const struct tune_param *tune_space_find(const struct tune_space *space, const char *name); /* NULL if unknown */

/* Number of different values; 0: too many to count. */
uint64_t tune_param_levels(const struct tune_param *p);
bool tune_param_is_category(const struct tune_param *p);          /* values without order */
double tune_param_snap(const struct tune_param *p, double value); /* the nearest valid value */
double tune_param_from_unit(const struct tune_param *p, double unit);
double tune_param_to_unit(const struct tune_param *p, double value);
/* Parses a value; on -EINVAL the error lists the valid ones. */
int tune_param_parse(const struct tune_param *p, const char *text, double *value, struct sonde_err *err);
/* Formats a value as the program gets it: the shortest text that reads back the same. */
void tune_param_format(const struct tune_param *p, double value, char *text, size_t size);

void tune_point_canonical(const struct tune_space *space, double *point);
void tune_point_default(const struct tune_space *space, double *point);
/* Converts unit coordinates in 0..1, one per parameter, to a canonical point; categories divide the unit interval. */
void tune_point_from_units(const struct tune_space *space, const double *units, double *point);
void tune_point_random(const struct tune_space *space, struct stats_rng *rng, double *point);
void tune_point_coordinates(const struct tune_space *space, const double *point, double *coordinates);
bool tune_point_equal(const struct tune_space *space, const double *a, const double *b);
bool tune_point_is_allowed(const struct tune_space *space, const double *point); /* by all constraints */
/* Number of points if every parameter is discrete, ignoring conditions; 0: more than `max`, or continuous. */
uint64_t tune_space_size(const struct tune_space *space, uint64_t max);
/* Canonical point `index` of those; several may be equal if parameters are inactive. */
void tune_space_nth(const struct tune_space *space, uint64_t index, double *point);

/*
 * A constraint between parameters in a study file: config/expr.h over parameters.
 *
 *	threads * chunk <= 64 and (mode == fast or level < 10)
 *
 * Operands are numbers, parameter names, and choice names, bare or quoted, compared with their parameter. Choices of
 * an ordinal parameter are ordered as listed; if all are numbers they count as numbers. Comparisons are 0 or 1, and
 * whatever is not 0 is true. A division by zero is 0. An expression with an inactive parameter holds.
 */

/* The text must live as long as the arena. On -EINVAL the error has the reason and position. */
int tune_expression_parse(const struct tune_expression **out, const struct tune_space *space, const char *text,
		struct arena *arena, struct sonde_err *err);
bool tune_expression_holds(const struct tune_expression *e, const struct tune_space *space, const double *point);
const char *tune_expression_text(const struct tune_expression *e);

#endif
