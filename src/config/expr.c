/* Precedence climbing over one table of operators. */
#include "config/expr.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct operator
{
	const char *name;
	enum expr_op op;
	int precedence;
	size_t operands;
}
operators[] = {
	{ "or", EXPR_OR, 1, 2 },
	{ "||", EXPR_OR, 1, 2 },
	{ "and", EXPR_AND, 2, 2 },
	{ "&&", EXPR_AND, 2, 2 },
	{ "not", EXPR_NOT, 3, 1 },
	{ "!", EXPR_NOT, 3, 1 },
	{ "<", EXPR_LESS, 4, 2 },
	{ "<=", EXPR_LESS_EQUAL, 4, 2 },
	{ ">", EXPR_GREATER, 4, 2 },
	{ ">=", EXPR_GREATER_EQUAL, 4, 2 },
	{ "==", EXPR_EQUAL, 4, 2 },
	{ "=", EXPR_EQUAL, 4, 2 },
	{ "!=", EXPR_UNEQUAL, 4, 2 },
	{ "+", EXPR_ADD, 5, 2 },
	{ "-", EXPR_SUBTRACT, 5, 2 },
	{ "*", EXPR_MULTIPLY, 6, 2 },
	{ "/", EXPR_DIVIDE, 6, 2 },
	{ "%", EXPR_REMAINDER, 6, 2 },
	{ "-", EXPR_NEGATE, 7, 1 },
};

int expr_error(struct expr_parser *p, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(p->err, EINVAL, "column %zu: %s", (size_t)(p->at - p->text) + 1, what);
}

void expr_skip_blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool is_one_of(char c, const char *more)
{
	return isalnum((unsigned char)c) || (c && strchr(more, c));
}

/* Is the token next? "or" must not match the start of a name such as "order". */
static bool is_next(const struct expr_parser *p, const char *token)
{
	size_t n = strlen(token);

	return strncmp(p->at, token, n) == 0 &&
			!(isalpha((unsigned char)*token) && is_one_of(p->at[n], p->language->keyword_chars));
}

bool expr_accept(struct expr_parser *p, const char *token)
{
	expr_skip_blanks(p);
	if (!is_next(p, token))
		return false;
	p->at += strlen(token);
	return true;
}

size_t expr_name_length(const struct expr_parser *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*p->at) && *p->at != '_')
		return 0;
	while (is_one_of(p->at[n], p->language->name_chars))
		n++;
	return n;
}

static int no_memory(struct expr_parser *p)
{
	return err_sys(p->err, ENOMEM, "cannot parse the expression");
}

int expr_parse_quoted(struct expr_parser *p, const char **out)
{
	const char *from = p->at + 1;
	const char *end = strchr(from, *p->at);

	if (!end)
		return expr_error(p, "missing closing quote");
	*out = arena_copy(p->arena, from, (size_t)(end - from));
	p->at = end + 1;
	return *out ? 0 : no_memory(p);
}

struct expr *expr_new(struct expr_parser *p, enum expr_kind kind, enum expr_type type)
{
	struct expr *e = arena_alloc(p->arena, sizeof(*e));

	if (e)
		*e = (struct expr){ .kind = kind, .type = type };
	else
		no_memory(p);
	return e;
}

int expr_set_text(struct expr_parser *p, struct expr *e, const char *from)
{
	const char *end = p->at;

	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	e->text = arena_copy(p->arena, from, (size_t)(end - from));
	return e->text ? 0 : no_memory(p);
}

/* The operator at this position, if it has so many operands and binds at least as tightly as `precedence`. */
static const struct operator* next_operator(struct expr_parser *p, size_t operands, int precedence)
{
	const struct operator* found = NULL;
	size_t longest = 0;

	expr_skip_blanks(p);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		const struct operator* o = & operators[i];
		size_t n = strlen(o->name);

		if (n < longest || !is_next(p, o->name))
			continue;
		/* A longer operator hides a shorter one even where it cannot stand: "!=" is not "!" and "=". */
		if (n > longest)
			found = NULL;
		longest = n;
		if (o->operands == operands && o->precedence >= precedence)
			found = o;
	}
	return found;
}

static int apply(struct expr_parser *p, const struct operator* o, struct expr *e, const char *from)
{
	int rc;

	e->op = o->op;
	e->name = o->name;
	e->arg_count = o->operands;
	rc = p->language->check(p, e);
	return rc < 0 ? rc : expr_set_text(p, e, from);
}

static int climb(struct expr_parser *p, int precedence, struct expr **out);

/* Bounds the recursion: the text is as long as a file may be. */
static int nested(struct expr_parser *p, int precedence, struct expr **out)
{
	int rc;

	if (++p->depth > EXPR_DEPTH_MAX)
		return expr_error(p, "nested too deeply (maximum %d)", EXPR_DEPTH_MAX);
	rc = climb(p, precedence, out);
	p->depth--;
	return rc;
}

static int primary(struct expr_parser *p, int precedence, struct expr **out)
{
	const struct operator* o = next_operator(p, 1, precedence);
	const char *from = p->at;
	struct expr *e;
	int rc;

	if (o) {
		e = expr_new(p, EXPR_OPERATOR, EXPR_NUMBER);
		if (!e)
			return -ENOMEM;
		p->at += strlen(o->name);
		rc = nested(p, o->precedence, &e->args[0]);
		*out = e;
		return rc < 0 ? rc : apply(p, o, e, from);
	}
	if (!expr_accept(p, "("))
		return p->language->operand(p, out);
	rc = nested(p, 1, out);
	return rc < 0 || expr_accept(p, ")") ? rc : expr_error(p, "missing ')'");
}

static int climb(struct expr_parser *p, int precedence, struct expr **out)
{
	const struct operator* o;
	bool is_compared = false;
	const char *from;
	int rc;

	expr_skip_blanks(p);
	from = p->at;
	rc = primary(p, precedence, out);
	while (rc == 0 && (o = next_operator(p, 2, precedence))) {
		struct expr *e;

		/* In C, "1 < x < 3" compares a truth with 3: never what was meant. */
		if (is_compared && expr_is_comparison(o->op))
			return expr_error(p, "comparisons cannot be chained (use 'and')");
		is_compared = expr_is_comparison(o->op);
		e = expr_new(p, EXPR_OPERATOR, EXPR_NUMBER);
		if (!e)
			return -ENOMEM;
		p->at += strlen(o->name);
		e->args[0] = *out;
		rc = climb(p, o->precedence + 1, &e->args[1]);
		if (rc == 0)
			rc = apply(p, o, e, from);
		*out = e;
	}
	return rc;
}

int expr_parse_nested(struct expr_parser *p, struct expr **out)
{
	return nested(p, 1, out);
}

int expr_parse(struct expr_parser *p, struct expr **out)
{
	int rc;

	p->at = p->text;
	p->depth = 0;
	rc = nested(p, 1, out);
	expr_skip_blanks(p);
	if (rc == 0 && *p->at)
		rc = expr_error(p, "expected an operator, not '%c'", *p->at);
	return rc;
}

double expr_compute(enum expr_op op, double a, double b)
{
	switch (op) {
	case EXPR_OR:
		return a != 0 || b != 0;
	case EXPR_AND:
		return a != 0 && b != 0;
	case EXPR_NOT:
		return a == 0;
	case EXPR_LESS:
		return a < b;
	case EXPR_LESS_EQUAL:
		return a <= b;
	case EXPR_GREATER:
		return a > b;
	case EXPR_GREATER_EQUAL:
		return a >= b;
	case EXPR_EQUAL:
		return a == b;
	case EXPR_UNEQUAL:
		return a != b;
	case EXPR_ADD:
		return a + b;
	case EXPR_SUBTRACT:
		return a - b;
	case EXPR_MULTIPLY:
		return a * b;
	case EXPR_DIVIDE:
		return a / b;
	case EXPR_REMAINDER:
		return fmod(a, b);
	case EXPR_NEGATE:
		return -a;
	}
	return NAN;
}
