/*
 * expression: a constraint between parameters in a study file: config/expr.h over parameters.
 *
 *	threads * chunk <= 64 and (mode == fast or level < 10)
 *
 * Operands are numbers, parameter names, and choice names, bare or quoted, compared with their parameter. Choices of
 * an ordinal parameter are ordered as listed; if all are numbers they count as numbers. Comparisons are 0 or 1, and
 * whatever is not 0 is true. A division by zero is 0. An expression with an inactive parameter holds.
 */
#ifndef SONDE_TUNE_EXPRESSION_H
#define SONDE_TUNE_EXPRESSION_H

#include "tune/space.h"

/* The text must live as long as the arena. On -EINVAL the error has the reason and position. */
int tune_expression_parse(const struct tune_expression **out, const struct tune_space *space, const char *text,
		struct arena *arena, struct sonde_err *err);
bool tune_expression_holds(const struct tune_expression *e, const struct tune_space *space, const double *point);
const char *tune_expression_text(const struct tune_expression *e);

#endif
