/*
 * Evaluates a constraint at a point; see expression.h.
 */
#include "tune/expression-private.h"

#include <math.h>

bool expression_is_numeric(const struct tune_param *p)
{
	for (size_t i = 0; i < p->choice_count; i++)
		if (!p->choices[i].is_number)
			return false;
	return p->type <= TUNE_ORDINAL;
}

static double param_number(const struct tune_param *p, double value)
{
	bool is_place = p->type == TUNE_ORDINAL && expression_is_numeric(p) && !isnan(value);

	return is_place ? p->choices[(size_t)value].number : value;
}

/* NaN if it refers to an inactive parameter. */
static double evaluate(const struct node *n, const struct tune_space *space, const double *point)
{
	double a, b;

	if (n->op == NUMBER)
		return n->number;
	if (n->op == PARAM)
		return param_number(&space->params[n->param], point[n->param]);
	a = evaluate(n->a, space, point);
	b = n->b ? evaluate(n->b, space, point) : 0;
	if (n->op == OR)
		return isnan(a) ? b : isnan(b) ? a : a != 0 || b != 0;
	if (n->op == AND)
		return isnan(a) ? b : isnan(b) ? a : a != 0 && b != 0;
	if (isnan(a) || isnan(b))
		return NAN;
	switch (n->op) {
	case NOT:
		return a == 0;
	case LE:
		return a <= b;
	case GE:
		return a >= b;
	case EQ:
		return a == b;
	case NE:
		return a != b;
	case LT:
		return a < b;
	case GT:
		return a > b;
	case ADD:
		return a + b;
	case SUB:
		return a - b;
	case MUL:
		return a * b;
	case DIV:
		return b != 0 ? a / b : 0; /* a division by zero violates the constraint */
	case NEGATE:
		return -a;
	default:
		return NAN;
	}
}

bool tune_expression_holds(const struct tune_expression *e, const struct tune_space *space, const double *point)
{
	double value = evaluate(e->root, space, point);

	return isnan(value) || value != 0;
}
