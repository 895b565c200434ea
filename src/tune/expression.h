/*
 * expression: a constraint between parameters, as a study file writes it.
 *
 *	threads * chunk <= 64 and (mode == fast or level < 10)
 *
 * `or`, `and`, `not` (also ||, &&, !), comparisons (<, <=, >, >=, ==, =, !=), + - * / and
 * parentheses; numbers, names of parameters, and names of choices, bare or quoted,
 * beside the parameter they belong to. Choices of an ordinal parameter are ordered
 * as listed; where all are numbers they count as these. What speaks of a parameter that is
 * not active holds.
 */
#ifndef SONDE_TUNE_EXPRESSION_H
#define SONDE_TUNE_EXPRESSION_H

#include "tune/space.h"

/* The text must live as long as the arena. -EINVAL says what is wrong, and where. */
int tune_expression_parse(const struct tune_expression **out, const struct tune_space *space, const char *text,
		struct arena *arena, struct sonde_err *err);
bool tune_expression_holds(const struct tune_expression *e, const struct tune_space *space, const double *point);
const char *tune_expression_text(const struct tune_expression *e);

#endif
