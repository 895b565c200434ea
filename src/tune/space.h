/*
 * space: what may be tuned: parameters, when they count, and what may go together.
 *
 * A *point* is one configuration: a double for each parameter, in its own terms
 * (a number for float and int, the index of the choice for the others, 0 and 1
 * for bool), NaN for a parameter that is not active there. A point is *canonical*
 * when every number is within its range and whole where it must be, and exactly the active
 * parameters have values; equal configurations then are equal points.
 *
 * Models see a point as *coordinates*: numbers in 0..1 (logarithmic where asked
 * for, whole numbers at the middle of their bins), categories as their index. An
 * inactive parameter stands at 0.5, or at a category of its own: it then says
 * nothing that its parent does not say.
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

/* What a change of the parameter takes. */
enum tune_class { TUNE_RESTART, TUNE_LIVE, TUNE_REBUILD };

struct tune_choice {
	const char *text;
	bool is_number;       /* written without quotes, in JSON too */
	double number;        /* then; NaN otherwise */
	const char *gives_up; /* what whoever takes it loses, in words; NULL: nothing */
};

/* The parameter counts only where `param` has one of these values. */
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
	double start;                            /* its default; where none is given, the middle or the first choice */
	bool has_default;                        /* was one given? */
	const struct tune_condition *conditions; /* all must hold */
	size_t condition_count;
	enum tune_class class;
	const char *argument; /* how it reaches the program: an argument with {} in it, */
	const char *variable; /* a variable of the environment, */
	const char *knob;     /* a knob; each NULL: not that way */
	size_t line;          /* of the study file; 0: unknown */
};

struct tune_expression; /* expression.h */

struct tune_space {
	struct tune_param params[TUNE_PARAMS_MAX];
	size_t count;
	const struct tune_expression *constraints[TUNE_CONSTRAINTS_MAX];
	size_t constraint_count;
	/* private: parents before children */
	size_t order[TUNE_PARAMS_MAX];
};

/* Settle order and defaults; -EINVAL when parameters depend on each other in a circle. */
int tune_space_finish(struct tune_space *space, struct sonde_err *err);
const struct tune_param *tune_space_find(const struct tune_space *space, const char *name); /* NULL: there is none */

/* How many different values it has; 0: too many to count. */
uint64_t tune_param_levels(const struct tune_param *p);
bool tune_param_is_category(const struct tune_param *p);          /* values without order */
double tune_param_snap(const struct tune_param *p, double value); /* the nearest it can have */
double tune_param_from_unit(const struct tune_param *p, double unit);
double tune_param_to_unit(const struct tune_param *p, double value);
/* The value whose text this is; -EINVAL with what would be right. */
int tune_param_parse(const struct tune_param *p, const char *text, double *value, struct sonde_err *err);
/* The text of a value as the program gets it: shortest that reads back the same. */
void tune_param_format(const struct tune_param *p, double value, char *text, size_t size);

void tune_point_canonical(const struct tune_space *space, double *point);
void tune_point_default(const struct tune_space *space, double *point);
/* Coordinates in 0..1, one a parameter, to a canonical point; categories are cut from the unit interval. */
void tune_point_from_units(const struct tune_space *space, const double *units, double *point);
void tune_point_random(const struct tune_space *space, struct stats_rng *rng, double *point);
void tune_point_coordinates(const struct tune_space *space, const double *point, double *coordinates);
bool tune_point_equal(const struct tune_space *space, const double *a, const double *b);
bool tune_point_is_allowed(const struct tune_space *space, const double *point); /* by all constraints */
/* The first constraint that does not hold, NULL when all do. */
const struct tune_expression *tune_point_violates(const struct tune_space *space, const double *point);

/* Points in all when every parameter is discrete, counted without conditions; 0: more than `max`, or continuous. */
uint64_t tune_space_size(const struct tune_space *space, uint64_t max);
/* Canonical point `index` of those; several may come out equal where parameters are inactive. */
void tune_space_nth(const struct tune_space *space, uint64_t index, double *point);

#endif
