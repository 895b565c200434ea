/*
 * Conditions of science rules: a subset of Python's expressions, parsed by precedence and translated to expr.h's
 * language.
 */
#include "live/rules/expr.h"
#include "live/rules/waggle-private.h"
#include "live/rules/waggle.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 40

int waggle_refuse(struct waggle_reader *r, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(r->err, EINVAL, "column %zu of the condition: %s", (size_t)(r->at - r->text) + 1, what);
}

int waggle_put(struct waggle_reader *r, struct waggle_part *p, enum waggle_kind kind, const char *fmt, ...)
{
	char text[sizeof(p->text)];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return waggle_refuse(r, "it is too long");
	memcpy(p->text, text, (size_t)n + 1);
	p->kind = kind;
	return 0;
}

bool waggle_take(struct waggle_reader *r, const char *token)
{
	size_t n = strlen(token);

	while (isspace((unsigned char)*r->at))
		r->at++;
	if (strncmp(r->at, token, n) != 0)
		return false;
	if (isalpha((unsigned char)*token) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
		return false;
	r->at += n;
	return true;
}

static int read_atom(struct waggle_reader *r, struct waggle_part *out)
{
	char name[32], *end;
	size_t n = 0;
	double number;

	if (waggle_take(r, "(")) {
		struct waggle_part inner;
		int rc = waggle_read_or(r, &inner);

		if (rc == 0 && !waggle_take(r, ")"))
			return waggle_refuse(r, ") is expected");
		*out = inner;
		return rc < 0 || inner.kind > WAGGLE_TRUTH ? rc : waggle_put(r, out, inner.kind, "(%s)", inner.text);
	}
	if (waggle_take(r, "True") || waggle_take(r, "False"))
		return waggle_put(r, out, WAGGLE_TRUTH, r->at[-1] == 'e' && r->at[-2] == 'u' ? "1 == 1" : "1 == 0");
	if (isdigit((unsigned char)*r->at) || *r->at == '.') {
		number = strtod(r->at, &end);
		if (end == r->at)
			return waggle_refuse(r, "this is no number");
		r->at = end;
		return waggle_put(r, out, WAGGLE_NUMBER, "%.15g", number);
	}
	while (n + 1 < sizeof(name) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')) {
		name[n] = r->at[n];
		n++;
	}
	name[n] = '\0';
	if (!n || r->at[n] != '(')
		return waggle_refuse(r, n ? "'%s' is not known" : "something is expected%s", name);
	r->at += n + 1;
	return waggle_read_call(r, name, out);
}

static int read_unary(struct waggle_reader *r, struct waggle_part *out)
{
	struct waggle_part inner;
	int rc;

	if (!waggle_take(r, "-"))
		return read_atom(r, out);
	if (++r->depth > DEPTH_MAX)
		return waggle_refuse(r, "it is too deep");
	rc = read_unary(r, &inner);
	r->depth--;
	if (rc == 0 && inner.kind != WAGGLE_NUMBER)
		return waggle_refuse(r, "- needs a number");
	return rc < 0 ? rc : waggle_put(r, out, WAGGLE_NUMBER, "-%s", inner.text);
}

/* + - * / %, with Python's precedence, which is the same in expr.h. */
static int read_sum(struct waggle_reader *r, struct waggle_part *out)
{
	static const char *const operators[] = { "+", "-", "*", "/", "%", NULL };
	int rc = read_unary(r, out);

	for (bool is_more = true; rc == 0 && is_more;) {
		is_more = false;
		for (const char *const *op = operators; *op && !is_more && rc == 0; op++) {
			struct waggle_part right;

			if (!waggle_take(r, *op))
				continue;
			is_more = true;
			rc = read_unary(r, &right);
			if (rc == 0 && (out->kind != WAGGLE_NUMBER || right.kind != WAGGLE_NUMBER))
				return waggle_refuse(r, "%s needs numbers: say avg(v(...)), not v(...) alone", *op);
			if (rc == 0)
				rc = waggle_put(r, out, WAGGLE_NUMBER, "%s %s %s", out->text, *op, right.text);
		}
	}
	return rc;
}

static int read_comparison(struct waggle_reader *r, struct waggle_part *out)
{
	static const char *const operators[] = { "<=", ">=", "==", "!=", "<", ">", NULL };
	const char *const *op = operators;
	struct waggle_part right;
	int rc = read_sum(r, out);

	if (rc < 0)
		return rc;
	while (*op && !waggle_take(r, *op))
		op++;
	if (!*op)
		return 0;
	rc = read_sum(r, &right);
	if (rc < 0)
		return rc;
	if (right.kind == WAGGLE_NUMBER && out->kind == WAGGLE_NUMBER)
		return waggle_put(r, out, WAGGLE_TRUTH, "%s %s %s", out->text, *op, right.text);
	if (right.kind != WAGGLE_NUMBER || out->kind != WAGGLE_SAMPLES || strlen(right.text) >= sizeof(out->bound))
		return waggle_refuse(r, "%s needs numbers: say avg(v(...)), not v(...) alone", *op);
	out->kind = WAGGLE_COMPARED;
	snprintf(out->op, sizeof(out->op), "%s", *op);
	memcpy(out->bound, right.text, strlen(right.text) + 1);
	return 0;
}

static int read_not(struct waggle_reader *r, struct waggle_part *out)
{
	struct waggle_part inner;
	int rc;

	if (!waggle_take(r, "not"))
		return read_comparison(r, out);
	if (++r->depth > DEPTH_MAX)
		return waggle_refuse(r, "it is too deep");
	rc = read_not(r, &inner);
	r->depth--;
	if (rc == 0 && inner.kind != WAGGLE_TRUTH)
		return waggle_refuse(r, "'not' needs a condition");
	return rc < 0 ? rc : waggle_put(r, out, WAGGLE_TRUTH, "not (%s)", inner.text);
}

static int read_chain(struct waggle_reader *r, const char *word,
		int (*next)(struct waggle_reader *, struct waggle_part *), struct waggle_part *out)
{
	int rc = next(r, out);

	while (rc == 0 && waggle_take(r, word)) {
		struct waggle_part right;

		rc = next(r, &right);
		if (rc == 0 && (out->kind != WAGGLE_TRUTH || right.kind != WAGGLE_TRUTH))
			return waggle_refuse(r, "'%s' needs conditions", word);
		if (rc == 0)
			rc = waggle_put(r, out, WAGGLE_TRUTH, "(%s) %s (%s)", out->text, word, right.text);
	}
	return rc;
}

static int read_and(struct waggle_reader *r, struct waggle_part *out)
{
	return read_chain(r, "and", read_not, out);
}

int waggle_read_or(struct waggle_reader *r, struct waggle_part *out)
{
	int rc;

	if (++r->depth > DEPTH_MAX)
		return waggle_refuse(r, "it is too deep");
	rc = read_chain(r, "or", read_and, out);
	r->depth--;
	return rc;
}

int waggle_condition(struct buf *out, const char *text, struct arena *arena, struct sonde_err *err)
{
	struct waggle_reader r = { text, text, err, 0 };
	struct waggle_part whole;
	struct expr *compiled;
	int rc = waggle_read_or(&r, &whole);

	if (rc == 0) {
		waggle_take(&r, "");
		if (*r.at)
			return waggle_refuse(&r, "'%.20s' is not understood", r.at);
		if (whole.kind != WAGGLE_TRUTH)
			return waggle_refuse(&r, "it is no condition: something is to be compared");
		rc = expr_compile(&compiled, whole.text, EXPR_TRUTH, arena, err);
	}
	if (rc == 0)
		buf_adds(out, whole.text);
	return rc;
}
