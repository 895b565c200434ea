/* Operands are parameters (EXPR_NAME), numbers, and words (EXPR_STRING) until a comparison makes them numbers. */
#include "tune/expression.h"

#include "base/shell-words.h"
#include "config/expr.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1000 };

struct tune_expression {
	const char *text;
	struct expr *root;
};

static const struct tune_param *param_of(const struct expr *e)
{
	return e->kind == EXPR_NAME ? e->detail : NULL;
}

/* Are the parameter's values numbers? A choice counts as its index, unless all choices are numbers in order. */
static bool is_numeric(const struct tune_param *p)
{
	for (size_t i = 0; i < p->choice_count; i++)
		if (!p->choices[i].is_number)
			return false;
	return p->type <= TUNE_ORDINAL;
}

static int unknown_param(struct expr_parser *p, const char *word)
{
	const struct tune_space *space = p->context;
	const char *names[TUNE_PARAMS_MAX + 1], *nearest;

	for (size_t i = 0; i < space->count; i++)
		names[i] = space->params[i].name;
	names[space->count] = NULL;
	nearest = words_nearest(word, names);
	err_set(p->err, EINVAL, "unknown parameter '%s'", word);
	if (nearest)
		err_hint(p->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int operand(struct expr_parser *p, struct expr **out)
{
	struct expr *e = expr_new(p, EXPR_CONSTANT, EXPR_NUMBER);
	const struct tune_space *space = p->context;
	size_t n = expr_name_length(p);
	char *end;

	if (!e)
		return -ENOMEM;
	*out = e;
	if (*p->at == '\'' || *p->at == '"') {
		e->kind = EXPR_STRING;
		return expr_parse_quoted(p, &e->name);
	}
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1]))) {
		e->number = strtod(p->at, &end);
		p->at = end;
		return 0;
	}
	if (!n)
		return *p->at ? expr_error(p, "expected a number, a parameter or a choice")
			      : expr_error(p, "expected a value at the end");
	e->name = arena_copy(p->arena, p->at, n);
	if (!e->name)
		return err_sys(p->err, ENOMEM, "cannot parse the expression");
	p->at += n;
	e->detail = tune_space_find(space, e->name);
	e->kind = e->detail ? EXPR_NAME : EXPR_STRING;
	return 0;
}

/* A word compared with a parameter is one of its choices. */
static int resolve_choice(struct expr_parser *p, struct expr *word, const struct expr *other)
{
	const struct tune_param *q = param_of(other);
	int rc;

	if (!q || q->type < TUNE_ORDINAL)
		return unknown_param(p, word->name);
	rc = tune_param_parse(q, word->name, &word->number, p->err);
	if (rc < 0)
		return rc;
	if (is_numeric(q))
		word->number = q->choices[(size_t)word->number].number;
	word->kind = EXPR_CONSTANT;
	return 0;
}

static int check(struct expr_parser *p, struct expr *e)
{
	bool is_comparison = expr_is_comparison(e->op), is_logic = e->op <= EXPR_NOT;
	int rc = 0;

	for (size_t i = 0; i < e->arg_count && rc == 0; i++)
		if (e->args[i]->kind == EXPR_STRING)
			rc = is_comparison ? resolve_choice(p, e->args[i], e->args[!i])
					   : unknown_param(p, e->args[i]->name);
	for (size_t i = 0; i < e->arg_count && rc == 0; i++) {
		const struct tune_param *q = param_of(e->args[i]);

		if (q && !is_logic && !is_comparison && !is_numeric(q))
			rc = expr_error(p, "arithmetic on choices is not supported");
		else if (q && is_comparison && e->op != EXPR_EQUAL && e->op != EXPR_UNEQUAL &&
				tune_param_is_category(q))
			rc = expr_error(p, "choices of a categorical parameter have no order; make it ordinal");
	}
	return rc;
}

int tune_expression_parse(const struct tune_expression **out, const struct tune_space *space, const char *text,
		struct arena *arena, struct sonde_err *err)
{
	static const struct expr_language language = { "_.-", "_.-", operand, check };
	struct expr_parser p = { .language = &language, .text = text, .arena = arena, .err = err, .context = space };
	struct tune_expression *e = arena_alloc(arena, sizeof(*e));
	int rc;

	if (!e)
		return err_sys(err, ENOMEM, "cannot parse the constraint");
	if (strlen(text) > TEXT_MAX)
		return err_set(err, EINVAL, "the constraint is too long (maximum %d characters)", TEXT_MAX);
	e->text = text;
	rc = expr_parse(&p, &e->root);
	if (rc == 0 && e->root->kind == EXPR_STRING)
		rc = unknown_param(&p, e->root->name);
	if (rc < 0)
		err_prefix(err, "invalid constraint '%s'", text);
	else
		*out = e;
	return rc;
}

/* NaN if it refers to an inactive parameter. */
static double evaluate(const struct expr *e, const struct tune_space *space, const double *point)
{
	const struct tune_param *q = param_of(e);
	double a, b = 0;

	if (e->kind == EXPR_CONSTANT)
		return e->number;
	if (q) {
		a = point[q - space->params];
		return q->type == TUNE_ORDINAL && is_numeric(q) && !isnan(a) ? q->choices[(size_t)a].number : a;
	}
	a = evaluate(e->args[0], space, point);
	if (e->arg_count > 1)
		b = evaluate(e->args[1], space, point);
	if (isnan(a) || isnan(b)) {
		/* What does not apply restricts nothing: the other side decides. */
		if (e->op == EXPR_OR || e->op == EXPR_AND)
			return isnan(a) ? b : a;
		return NAN;
	}
	/* The remainder of a division by zero would be NaN, and thereby hold. */
	if ((e->op == EXPR_DIVIDE || e->op == EXPR_REMAINDER) && b == 0)
		return 0;
	return expr_compute(e->op, a, b);
}

bool tune_expression_holds(const struct tune_expression *e, const struct tune_space *space, const double *point)
{
	double value = evaluate(e->root, space, point);

	return isnan(value) || value != 0;
}

const char *tune_expression_text(const struct tune_expression *e)
{
	return e->text;
}
