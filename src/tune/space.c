#include "tune/space.h"

#include "base/shell-words.h"
#include "config/expr.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF_BIN 0.499 /* of an int on a logarithmic scale: 0.5 would reach zero for a low end of 0.5 */

const struct tune_param *tune_space_find(const struct tune_space *space, const char *name)
{
	for (size_t i = 0; i < space->count; i++)
		if (strcmp(space->params[i].name, name) == 0)
			return &space->params[i];
	return NULL;
}

bool tune_param_is_category(const struct tune_param *p)
{
	return p->type == TUNE_CATEGORICAL || p->type == TUNE_BOOL;
}

uint64_t tune_param_levels(const struct tune_param *p)
{
	switch (p->type) {
	case TUNE_FLOAT:
		return p->low == p->high;
	case TUNE_INT:
		return p->high - p->low < 9e15 ? (uint64_t)(p->high - p->low) + 1 : 0;
	case TUNE_BOOL:
		return 2;
	default:
		return p->choice_count;
	}
}

double tune_param_snap(const struct tune_param *p, double value)
{
	double low = p->low, high = p->high;

	if (p->type >= TUNE_ORDINAL) {
		low = 0;
		high = (double)tune_param_levels(p) - 1;
	}
	if (p->type != TUNE_FLOAT)
		value = round(value);
	return fmin(fmax(value, low), high);
}

/* The ends of an int's range, half a bin outside. */
static double edge_low(const struct tune_param *p)
{
	return p->type == TUNE_INT ? p->low - HALF_BIN : p->low;
}

static double edge_high(const struct tune_param *p)
{
	return p->type == TUNE_INT ? p->high + HALF_BIN : p->high;
}

double tune_param_from_unit(const struct tune_param *p, double unit)
{
	double low = edge_low(p), high = edge_high(p), levels;

	if (p->type >= TUNE_ORDINAL) {
		levels = (double)tune_param_levels(p);
		return fmin(fmax(floor(unit * levels), 0), levels - 1);
	}
	if (p->is_log)
		return tune_param_snap(p, exp(log(low) + unit * (log(high) - log(low))));
	return tune_param_snap(p, low + unit * (high - low));
}

double tune_param_to_unit(const struct tune_param *p, double value)
{
	double low = edge_low(p), high = edge_high(p);

	if (p->type >= TUNE_ORDINAL)
		return (value + 0.5) / (double)tune_param_levels(p);
	if (low == high)
		return 0.5;
	return p->is_log ? (log(value) - log(low)) / (log(high) - log(low)) : (value - low) / (high - low);
}

static int parse_number(const struct tune_param *p, const char *text, double *value, struct sonde_err *err)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !isfinite(number))
		return err_set(err, EINVAL, "'%s' must be a number, not '%s'", p->name, text);
	if (p->type == TUNE_INT && number != round(number))
		return err_set(err, EINVAL, "'%s' must be an integer, not %s", p->name, text);
	if (number < p->low || number > p->high)
		return err_set(err, EINVAL, "'%s' must be between %.17g and %.17g, not %s", p->name, p->low, p->high,
				text);
	*value = number;
	return 0;
}

int tune_param_parse(const struct tune_param *p, const char *text, double *value, struct sonde_err *err)
{
	const char *names[TUNE_CHOICES_MAX + 1], *nearest;

	if (p->type == TUNE_BOOL) {
		static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strcasecmp(text, words[i]) == 0) {
				*value = (double)(i % 2);
				return 0;
			}
		return err_set(err, EINVAL, "'%s' must be true or false, not '%s'", p->name, text);
	}
	if (p->type < TUNE_ORDINAL)
		return parse_number(p, text, value, err);
	for (size_t i = 0; i < p->choice_count; i++)
		if (strcmp(text, p->choices[i].text) == 0) {
			*value = (double)i;
			return 0;
		}
	for (size_t i = 0; i < p->choice_count; i++)
		names[i] = p->choices[i].text;
	names[p->choice_count] = NULL;
	nearest = words_nearest(text, names);
	err_set(err, EINVAL, "'%s' has no choice '%s'", p->name, text);
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

/* The shortest text that reads back as the same number. */
static void format_real(double value, char *text, size_t size)
{
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, size, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			return;
	}
}

void tune_param_format(const struct tune_param *p, double value, char *text, size_t size)
{
	if (isnan(value))
		snprintf(text, size, "-");
	else if (p->type == TUNE_BOOL)
		snprintf(text, size, "%s", value != 0 ? "true" : "false");
	else if (p->type == TUNE_INT)
		snprintf(text, size, "%" PRId64, (int64_t)value);
	else if (p->type == TUNE_FLOAT)
		format_real(value, text, size);
	else
		snprintf(text, size, "%s", p->choices[(size_t)value].text);
}

static bool condition_holds(const struct tune_condition *c, const double *point)
{
	for (size_t i = 0; i < c->value_count; i++)
		if (point[c->param] == c->values[i])
			return true;
	return false;
}

void tune_point_canonical(const struct tune_space *space, double *point)
{
	for (size_t k = 0; k < space->count; k++) {
		size_t i = space->order[k];
		const struct tune_param *p = &space->params[i];
		bool is_active = true;

		for (size_t c = 0; c < p->condition_count && is_active; c++)
			is_active = condition_holds(&p->conditions[c], point);
		if (!is_active)
			point[i] = NAN;
		else
			point[i] = isnan(point[i]) ? p->start : tune_param_snap(p, point[i]);
	}
}

void tune_point_default(const struct tune_space *space, double *point)
{
	for (size_t i = 0; i < space->count; i++)
		point[i] = space->params[i].start;
	tune_point_canonical(space, point);
}

void tune_point_from_units(const struct tune_space *space, const double *units, double *point)
{
	for (size_t i = 0; i < space->count; i++)
		point[i] = tune_param_from_unit(&space->params[i], units[i]);
	tune_point_canonical(space, point);
}

void tune_point_random(const struct tune_space *space, struct stats_rng *rng, double *point)
{
	double units[TUNE_PARAMS_MAX];

	for (size_t i = 0; i < space->count; i++)
		units[i] = stats_rng_open(rng);
	tune_point_from_units(space, units, point);
}

void tune_point_coordinates(const struct tune_space *space, const double *point, double *coordinates)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct tune_param *p = &space->params[i];

		if (tune_param_is_category(p))
			coordinates[i] = isnan(point[i]) ? -1 : point[i];
		else
			coordinates[i] = isnan(point[i]) ? 0.5 : tune_param_to_unit(p, point[i]);
	}
}

bool tune_point_equal(const struct tune_space *space, const double *a, const double *b)
{
	for (size_t i = 0; i < space->count; i++)
		if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
			return false;
	return true;
}

bool tune_point_is_allowed(const struct tune_space *space, const double *point)
{
	for (size_t i = 0; i < space->constraint_count; i++)
		if (!tune_expression_holds(space->constraints[i], space, point))
			return false;
	return true;
}

uint64_t tune_space_size(const struct tune_space *space, uint64_t max)
{
	uint64_t size = 1;

	for (size_t i = 0; i < space->count; i++) {
		uint64_t levels = tune_param_levels(&space->params[i]);

		if (!levels || levels > max / size)
			return 0;
		size *= levels;
	}
	return size;
}

void tune_space_nth(const struct tune_space *space, uint64_t index, double *point)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct tune_param *p = &space->params[i];
		uint64_t levels = tune_param_levels(p);

		if (!levels)
			continue; /* not finite: tune_space_size has reported it */
		point[i] = (double)(index % levels) + (p->type < TUNE_ORDINAL ? p->low : 0);
		index /= levels;
	}
	tune_point_canonical(space, point);
}

/* Depth-first search: state 1 while its parents are visited, 2 when it is in the order. */
static int place(struct tune_space *space, size_t i, char *state, size_t *placed, struct sonde_err *err)
{
	const struct tune_param *p = &space->params[i];
	int rc = 0;

	if (state[i] == 2)
		return 0;
	if (state[i] == 1)
		return err_set(err, EINVAL, "whether '%s' is active depends on itself", p->name);
	state[i] = 1;
	for (size_t c = 0; c < p->condition_count && rc == 0; c++)
		rc = place(space, p->conditions[c].param, state, placed, err);
	state[i] = 2;
	if (rc == 0)
		space->order[(*placed)++] = i;
	return rc;
}

int tune_space_finish(struct tune_space *space, struct sonde_err *err)
{
	char state[TUNE_PARAMS_MAX] = { 0 };
	size_t placed = 0;
	int rc = 0;

	for (size_t i = 0; i < space->count && rc == 0; i++) {
		struct tune_param *p = &space->params[i];

		if (!p->has_default)
			p->start = tune_param_is_category(p) ? 0 : tune_param_from_unit(p, 0.5);
		rc = place(space, i, state, &placed, err);
	}
	return rc;
}

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
