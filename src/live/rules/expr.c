/* The parser: from text to a type-checked tree. Precedence climbing over one table of functions and operators. */
#include "live/rules/expr-private.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNARY 7 /* binds tighter than every binary operator */
#define NOT 3

static int parse(struct expr_parser *p, int precedence, struct expr **out);

int expr_complain(struct expr_parser *p, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(p->err, EINVAL, "column %zu: %s", (size_t)(p->at - p->text) + 1, what);
}

static void blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool take(struct expr_parser *p, const char *token)
{
	size_t n = strlen(token);

	blanks(p);
	if (strncmp(p->at, token, n) != 0)
		return false;
	if (isalpha((unsigned char)*token) && (isalnum((unsigned char)p->at[n]) || p->at[n] == '_'))
		return false;
	p->at += n;
	return true;
}

static struct expr *new_expr(struct expr_parser *p, enum expr_kind kind, enum expr_type type)
{
	struct expr *e = arena_alloc(p->arena, sizeof(*e));

	if (e) {
		e->kind = kind;
		e->type = type;
	} else {
		err_sys(p->err, ENOMEM, "cannot read the expression");
	}
	return e;
}

void expr_set_text(struct expr_parser *p, struct expr *e, const char *from)
{
	const char *end = p->at;

	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	e->text = arena_copy(p->arena, from, (size_t)(end - from));
}

static size_t name_length(const char *text)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*text) && *text != '_')
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == ':' || text[n] == '.')
		n++;
	return n;
}

static int parse_string(struct expr_parser *p, const char **out)
{
	const char *from = ++p->at;
	const char *end = strchr(from, '"');

	if (!end)
		return expr_complain(p, "the text has no closing quote");
	*out = arena_copy(p->arena, from, (size_t)(end - from));
	p->at = end + 1;
	return *out ? 0 : err_sys(p->err, ENOMEM, "cannot read the expression");
}

/* Parses a number, or with a time unit a duration in seconds. */
static int parse_number(struct expr_parser *p, double *value, bool *is_duration)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "ms", 1e-3 }, { "us", 1e-6 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	char *end;

	*value = strtod(p->at, &end);
	if (end == p->at || !isfinite(*value))
		return expr_complain(p, "this is no number");
	p->at = end;
	*is_duration = false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && !*is_duration; i++) {
		size_t n = strlen(units[i].unit);

		if (strncmp(p->at, units[i].unit, n) == 0 && !isalnum((unsigned char)p->at[n])) {
			*value *= units[i].seconds;
			*is_duration = true;
			p->at += n;
		}
	}
	return isalpha((unsigned char)*p->at) ? expr_complain(p, "a unit of time is us, ms, s, m, h or d") : 0;
}

static int parse_match(struct expr_parser *p, struct expr *e)
{
	struct expr_match *m = &e->matches[e->match_count];
	size_t n;
	int rc;

	blanks(p);
	n = name_length(p->at);
	if (!n)
		return expr_complain(p, "a label's name is expected");
	if (e->match_count == MEMORY_LABELS_MAX)
		return expr_complain(p, "a selector has at most %d labels", MEMORY_LABELS_MAX);
	m->key = arena_copy(p->arena, p->at, n);
	p->at += n;
	m->is_not = take(p, "!=");
	if (!m->is_not && !take(p, "="))
		return expr_complain(p, "= or != is expected after the label");
	blanks(p);
	if (*p->at != '"')
		return expr_complain(p, "the value of a label stands in double quotes");
	rc = parse_string(p, &m->value);
	e->match_count++;
	return rc;
}

static int parse_window(struct expr_parser *p, struct expr *e)
{
	double seconds;
	bool is_duration;
	int rc;

	blanks(p);
	rc = parse_number(p, &seconds, &is_duration);
	if (rc < 0)
		return rc;
	if (!is_duration || !(seconds > 0) || seconds * 1e9 > (double)EXPR_WINDOW_NS_MAX)
		return expr_complain(p, "a window is a time from 1us to 1h, such as [10s]");
	e->window_ns = (int64_t)(seconds * 1e9);
	e->type = EXPR_WINDOW;
	return take(p, "]") ? 0 : expr_complain(p, "] is expected");
}

static int parse_selector(struct expr_parser *p, size_t n, struct expr **out)
{
	const char *from = p->at;
	struct expr *e = new_expr(p, EXPR_SELECTOR, EXPR_SERIES);
	int rc = e ? 0 : -ENOMEM;

	if (rc == 0)
		e->name = arena_copy(p->arena, p->at, n);
	p->at += n;
	if (rc == 0 && take(p, "{") && !take(p, "}")) {
		do
			rc = parse_match(p, e);
		while (rc == 0 && take(p, ","));
		if (rc == 0 && !take(p, "}"))
			rc = expr_complain(p, "} is expected");
	}
	if (rc == 0 && take(p, "["))
		rc = parse_window(p, e);
	if (rc == 0) {
		expr_set_text(p, e, from);
		*out = e;
	}
	return rc;
}

static int parse_call(struct expr_parser *p, size_t n, struct expr **out)
{
	const char *from = p->at;
	struct expr *e = new_expr(p, EXPR_CALL, EXPR_NUMBER);
	int rc = e ? 0 : -ENOMEM;

	if (rc == 0 && !expr_is_function(from, n))
		return expr_complain_function(p, from, n);
	p->at += n;
	if (rc == 0 && take(p, "(") && !take(p, ")")) {
		do {
			if (e->arg_count == EXPR_ARGS_MAX)
				return expr_complain(p, "'%.*s' has too many arguments", (int)n, from);
			rc = parse(p, 1, &e->args[e->arg_count]);
			e->arg_count += rc == 0;
		} while (rc == 0 && take(p, ","));
		if (rc == 0 && !take(p, ")"))
			rc = expr_complain(p, ") is expected");
	}
	if (rc == 0)
		rc = expr_apply(p, from, n, 0, e, from);
	if (rc == 0)
		*out = e;
	return rc;
}

static int parse_constant(struct expr_parser *p, struct expr **out)
{
	const char *from = p->at;
	struct expr *e = new_expr(p, EXPR_CONSTANT, EXPR_NUMBER);
	int rc = e ? 0 : -ENOMEM;

	if (rc == 0 && *p->at == '"') {
		e->kind = EXPR_STRING;
		e->type = EXPR_TEXT;
		rc = parse_string(p, &e->name);
	} else if (rc == 0) {
		rc = parse_number(p, &e->number, &e->is_duration);
	}
	if (rc == 0) {
		expr_set_text(p, e, from);
		*out = e;
	}
	return rc;
}

static int parse_unary(struct expr_parser *p, const char *name, int precedence, const char *from, struct expr **out)
{
	struct expr *e = new_expr(p, EXPR_OPERATOR, EXPR_NUMBER);
	int rc = e ? parse(p, precedence, &e->args[0]) : -ENOMEM;

	if (rc == 0) {
		e->arg_count = 1;
		rc = expr_apply(p, name, strlen(name), precedence, e, from);
	}
	if (rc == 0)
		*out = e;
	return rc;
}

static int parse_truth(struct expr_parser *p, double value, const char *from, struct expr **out)
{
	struct expr *e = new_expr(p, EXPR_CONSTANT, EXPR_TRUTH);

	if (!e)
		return -ENOMEM;
	e->number = value;
	expr_set_text(p, e, from);
	*out = e;
	return 0;
}

static int parse_primary(struct expr_parser *p, struct expr **out)
{
	const char *from;
	size_t n;
	int rc;

	blanks(p);
	from = p->at;
	if (take(p, "(")) {
		rc = parse(p, 1, out);
		return rc < 0 || take(p, ")") ? rc : expr_complain(p, ") is expected");
	}
	if (take(p, "not"))
		return parse_unary(p, "not", NOT, from, out);
	if (take(p, "-"))
		return parse_unary(p, "-", UNARY, from, out);
	if (take(p, "true"))
		return parse_truth(p, 1, from, out);
	if (take(p, "false"))
		return parse_truth(p, 0, from, out);
	if (isdigit((unsigned char)*p->at) || *p->at == '.' || *p->at == '"')
		return parse_constant(p, out);
	n = name_length(p->at);
	if (!n)
		return *p->at ? expr_complain(p, "a value is expected, not '%c'", *p->at)
			      : expr_complain(p, "a value is expected at the end");
	from += n;
	while (*from == ' ')
		from++;
	return *from == '(' ? parse_call(p, n, out) : parse_selector(p, n, out);
}

/* The operator at this position, if it binds at least as tightly as `precedence`. */
static const struct expr_function *next_operator(struct expr_parser *p, int precedence)
{
	const struct expr_function *found = NULL;

	blanks(p);
	for (const struct expr_function *f = expr_functions; f->name; f++) {
		size_t n = strlen(f->name);

		if (f->arg_count != 2 || f->precedence < precedence || !f->precedence ||
				strncmp(p->at, f->name, n) != 0 || (found && n <= strlen(found->name)))
			continue;
		if (isalpha((unsigned char)*f->name) && (isalnum((unsigned char)p->at[n]) || p->at[n] == '_'))
			continue;
		found = f;
	}
	return found;
}

static int parse(struct expr_parser *p, int precedence, struct expr **out)
{
	const struct expr_function *f;
	const char *from;
	struct expr *left = NULL;
	int rc;

	if (++p->depth > EXPR_DEPTH_MAX)
		return expr_complain(p, "this is nested too deeply");
	blanks(p);
	from = p->at;
	rc = parse_primary(p, &left);
	while (rc == 0 && (f = next_operator(p, precedence))) {
		struct expr *e = new_expr(p, EXPR_OPERATOR, EXPR_NUMBER);

		p->at += strlen(f->name);
		rc = e ? parse(p, f->precedence + 1, &e->args[1]) : -ENOMEM;
		if (rc == 0) {
			e->args[0] = left;
			e->arg_count = 2;
			rc = expr_apply(p, f->name, strlen(f->name), f->precedence, e, from);
			left = e;
		}
	}
	p->depth--;
	*out = left;
	return rc;
}

int expr_compile(struct expr **out, const char *text, enum expr_type wanted, struct arena *arena, struct sonde_err *err)
{
	struct expr_parser p = { .text = text, .at = text, .arena = arena, .err = err };
	struct expr *e = NULL;
	int rc = parse(&p, 1, &e);

	blanks(&p);
	if (rc == 0 && *p.at)
		rc = expr_complain(&p, "an operator is expected, not '%c'", *p.at);
	if (rc == 0 && e && !expr_fits(wanted, e->type)) {
		p.at = text;
		rc = expr_complain(&p, "this is a %s, and a %s is wanted", expr_type_word(e->type),
				expr_type_word(wanted));
	}
	if (rc == 0)
		*out = e;
	return rc;
}

const char *expr_type_word(enum expr_type type)
{
	static const char *const words[EXPR_TYPES] = { "number", "truth", "text", "series", "window" };

	return words[type];
}

int expr_watch(const struct expr *e, struct memory *m)
{
	int rc = e->kind == EXPR_SELECTOR ? memory_watch(m, e->name, e->window_ns) : 0;

	for (size_t i = 0; i < e->arg_count && rc == 0; i++)
		rc = expr_watch(e->args[i], m);
	return rc;
}
