/*
 * Conditions of science rules: a subset of Python's expressions, parsed by precedence and translated to expr.h's
 * language.
 */
#include "live/rules/waggle.h"

#include "live/rules/rule-expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Type of a part: a number or a truth, or samples that must be aggregated first. */
enum waggle_kind { WAGGLE_NUMBER, WAGGLE_TRUTH, WAGGLE_SAMPLES, WAGGLE_RATES, WAGGLE_COMPARED };

struct waggle_part {
	enum waggle_kind kind;
	char text[1024]; /* of samples: `name[window]` */
	char op[3];      /* WAGGLE_COMPARED: comparison operator and right operand */
	char bound[256];
};

struct waggle_reader {
	const char *text, *at;
	struct sonde_err *err;
	int depth;
};

/* Reports an unsupported expression, with the column. Returns -EINVAL. */
static int waggle_refuse(struct waggle_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets a part's kind and text; the text may include the old one. */
static int waggle_put(struct waggle_reader *r, struct waggle_part *p, enum waggle_kind kind, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
/* Skips blanks, then consumes the token if it is next. */
static bool waggle_accept(struct waggle_reader *r, const char *token);

/* Parses a whole expression, such as the argument of a call. */
static int waggle_read_or(struct waggle_reader *r, struct waggle_part *out);
/* Parses what follows `name(`, up to and including its closing bracket. */
static int waggle_read_call(struct waggle_reader *r, const char *name, struct waggle_part *out);

#define WINDOW_USUAL "1m"

static int read_string(struct waggle_reader *r, char *out, size_t size)
{
	char quote;
	const char *end;

	waggle_accept(r, "");
	quote = *r->at;
	end = quote == '"' || quote == '\'' ? strchr(r->at + 1, quote) : NULL;
	if (!end || (size_t)(end - r->at) > size)
		return waggle_refuse(r, "expected a quoted string");
	snprintf(out, size, "%.*s", (int)(end - r->at - 1), r->at + 1);
	r->at = end + 1;
	return 0;
}

/* "-5m" and 300 (seconds) both mean five minutes ago. */
static int read_since(struct waggle_reader *r, char *window, size_t size)
{
	char text[32], *end;
	double count;
	int rc;

	waggle_accept(r, "");
	if (*r->at == '"' || *r->at == '\'') {
		rc = read_string(r, text, sizeof(text));
		if (rc < 0)
			return rc;
		count = strtod(text, &end);
		if (!(count <= -1 && *end && strchr("smhd", *end) && !end[1]))
			return waggle_refuse(r, "'since' must be a negative duration, such as '-5m'");
		snprintf(window, size, "%.0f%c", -count, *end);
		return 0;
	}
	count = strtod(r->at, &end);
	if (end == r->at || !(count >= 1 && count <= 86400))
		return waggle_refuse(r, "'since' must be a negative duration, such as '-5m'");
	r->at = end;
	snprintf(window, size, "%.0fs", count);
	return 0;
}

/* v(NAME, since=...) and rate(NAME, since=...): samples of a window. */
static int read_samples(struct waggle_reader *r, enum waggle_kind kind, struct waggle_part *out)
{
	char name[128], window[32] = WINDOW_USUAL;
	int rc = read_string(r, name, sizeof(name));

	if (rc == 0 && (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")]))
		return waggle_refuse(r, "invalid measurement name '%s'", name);
	while (rc == 0 && waggle_accept(r, ",")) {
		if (!waggle_accept(r, "since"))
			return waggle_refuse(r, "measurement metadata is not supported (only 'since')");
		rc = waggle_accept(r, "=") ? read_since(r, window, sizeof(window)) : waggle_refuse(r, "missing '='");
	}
	if (rc == 0 && !waggle_accept(r, ")"))
		return waggle_refuse(r, "missing ')'");
	for (char *c = name; *c; c++)
		*c = *c == '.' ? '_' : *c;
	return rc < 0 ? rc : waggle_put(r, out, kind, "sonde_app_%s[%s]", name, window);
}

/* any and all of a comparison compare the highest or the lowest sample. */
static int fold_compared(struct waggle_reader *r, bool is_any, const struct waggle_part *p, struct waggle_part *out)
{
	bool is_up = p->op[0] == '>';

	if (p->op[0] == '=' || p->op[0] == '!')
		return waggle_refuse(r, "samples can be compared by <, <=, > and >= only");
	return waggle_put(r, out, WAGGLE_TRUTH, "%s(%s) %s %s", is_up == is_any ? "max" : "min", p->text, p->op,
			p->bound);
}

static int fold(struct waggle_reader *r, const char *name, const struct waggle_part *p, struct waggle_part *out)
{
	static const struct {
		const char *name, *samples, *rates; /* templates for the translation; NULL: unsupported */
		enum waggle_kind kind;
	} rows[] = {
		{ "avg", "avg(%s)", "rate(%s)", WAGGLE_NUMBER },
		{ "mean", "avg(%s)", "rate(%s)", WAGGLE_NUMBER },
		{ "min", "min(%s)", NULL, WAGGLE_NUMBER },
		{ "max", "max(%s)", NULL, WAGGLE_NUMBER },
		{ "sum", "(avg(%1$s) * count(%1$s))", "increase(%s)", WAGGLE_NUMBER },
		{ "len", "count(%s)", NULL, WAGGLE_NUMBER },
		{ "any", "max(%s) > 0", "increase(%s) > 0", WAGGLE_TRUTH },
		{ "all", "min(%s) > 0", NULL, WAGGLE_TRUTH },
	};
	char text[sizeof(p->text)];
	const char *form = NULL, *at;
	size_t n = 0, i = 0;

	if (p->kind == WAGGLE_COMPARED && (strcmp(name, "any") == 0 || strcmp(name, "all") == 0))
		return fold_compared(r, strcmp(name, "any") == 0, p, out);
	while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, name) != 0)
		i++;
	if (i < sizeof(rows) / sizeof(rows[0]))
		form = p->kind == WAGGLE_SAMPLES ? rows[i].samples : p->kind == WAGGLE_RATES ? rows[i].rates : NULL;
	if (!form)
		return waggle_refuse(r, "'%s' of this is not supported", name);
	/* Each %s or %1$s is replaced by the samples. */
	for (at = form; *at && n + strlen(p->text) + 2 < sizeof(text);) {
		if (*at != '%') {
			text[n++] = *at++;
			continue;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", p->text);
		at += at[1] == 's' ? 2 : 4;
	}
	text[n] = '\0';
	return *at ? waggle_refuse(r, "the condition is too long") : waggle_put(r, out, rows[i].kind, "%s", text);
}

/* Of the day, in UTC, as on Waggle nodes. */
static int read_time(struct waggle_reader *r, struct waggle_part *out)
{
	char unit[16];
	int rc = read_string(r, unit, sizeof(unit));

	if (rc == 0 && !waggle_accept(r, ")"))
		return waggle_refuse(r, "missing ')'");
	if (rc < 0)
		return rc;
	if (strcmp(unit, "hour") == 0)
		return waggle_put(r, out, WAGGLE_NUMBER, "((time() %% 86400 - time() %% 3600) / 3600)");
	if (strcmp(unit, "minute") == 0)
		return waggle_put(r, out, WAGGLE_NUMBER, "((time() %% 3600 - time() %% 60) / 60)");
	return strcmp(unit, "second") == 0 ? waggle_put(r, out, WAGGLE_NUMBER, "((time() - time() %% 1) %% 60)")
					   : waggle_refuse(r, "time() supports 'hour', 'minute' and 'second' only");
}

/* True for half of each matching minute, so that the next match is a new rising edge. */
static int read_cronjob(struct waggle_reader *r, struct waggle_part *out)
{
	char program[128], when[128];
	int rc = read_string(r, program, sizeof(program));

	if (rc == 0 && !waggle_accept(r, ","))
		return waggle_refuse(r, "cronjob() needs a program and a schedule");
	if (rc == 0)
		rc = read_string(r, when, sizeof(when));
	if (rc == 0 && !waggle_accept(r, ")"))
		return waggle_refuse(r, "missing ')'");
	return rc < 0 ? rc : waggle_put(r, out, WAGGLE_TRUTH, "cron(\"%s\") and time() %% 60 < 30", when);
}

static int waggle_read_call(struct waggle_reader *r, const char *name, struct waggle_part *out)
{
	struct waggle_part inner;
	int rc;

	if (strcmp(name, "v") == 0)
		return read_samples(r, WAGGLE_SAMPLES, out);
	if (strcmp(name, "rate") == 0)
		return read_samples(r, WAGGLE_RATES, out);
	if (strcmp(name, "time") == 0)
		return read_time(r, out);
	if (strcmp(name, "cronjob") == 0)
		return read_cronjob(r, out);
	if (strcmp(name, "after") == 0)
		return waggle_refuse(r, "after() is not supported: the end of other programs is not recorded");
	rc = waggle_read_or(r, &inner);
	if (rc == 0 && !waggle_accept(r, ")"))
		return waggle_refuse(r, "missing ')'");
	if (rc < 0)
		return rc;
	if (strcmp(name, "abs") == 0 && inner.kind == WAGGLE_NUMBER)
		return waggle_put(r, out, WAGGLE_NUMBER, "abs(%s)", inner.text);
	return fold(r, name, &inner, out);
}

#define DEPTH_MAX 40

static int waggle_refuse(struct waggle_reader *r, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(r->err, EINVAL, "column %zu of the condition: %s", (size_t)(r->at - r->text) + 1, what);
}

static int waggle_put(struct waggle_reader *r, struct waggle_part *p, enum waggle_kind kind, const char *fmt, ...)
{
	char text[sizeof(p->text)];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return waggle_refuse(r, "the condition is too long");
	memcpy(p->text, text, (size_t)n + 1);
	p->kind = kind;
	return 0;
}

static bool waggle_accept(struct waggle_reader *r, const char *token)
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

	if (waggle_accept(r, "(")) {
		struct waggle_part inner;
		int rc = waggle_read_or(r, &inner);

		if (rc == 0 && !waggle_accept(r, ")"))
			return waggle_refuse(r, "missing ')'");
		*out = inner;
		return rc < 0 || inner.kind > WAGGLE_TRUTH ? rc : waggle_put(r, out, inner.kind, "(%s)", inner.text);
	}
	if (waggle_accept(r, "True") || waggle_accept(r, "False"))
		return waggle_put(r, out, WAGGLE_TRUTH, r->at[-1] == 'e' && r->at[-2] == 'u' ? "1 == 1" : "1 == 0");
	if (isdigit((unsigned char)*r->at) || *r->at == '.') {
		number = strtod(r->at, &end);
		if (end == r->at)
			return waggle_refuse(r, "invalid number");
		r->at = end;
		return waggle_put(r, out, WAGGLE_NUMBER, "%.15g", number);
	}
	while (n + 1 < sizeof(name) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')) {
		name[n] = r->at[n];
		n++;
	}
	name[n] = '\0';
	if (!n || r->at[n] != '(')
		return waggle_refuse(r, n ? "unknown name '%s'" : "something is expected%s", name);
	r->at += n + 1;
	return waggle_read_call(r, name, out);
}

static int read_unary(struct waggle_reader *r, struct waggle_part *out)
{
	struct waggle_part inner;
	int rc;

	if (!waggle_accept(r, "-"))
		return read_atom(r, out);
	if (++r->depth > DEPTH_MAX)
		return waggle_refuse(r, "nested too deeply");
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

			if (!waggle_accept(r, *op))
				continue;
			is_more = true;
			rc = read_unary(r, &right);
			if (rc == 0 && (out->kind != WAGGLE_NUMBER || right.kind != WAGGLE_NUMBER))
				return waggle_refuse(r, "%s needs numbers: use avg(v(...)), not v(...) alone", *op);
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
	while (*op && !waggle_accept(r, *op))
		op++;
	if (!*op)
		return 0;
	rc = read_sum(r, &right);
	if (rc < 0)
		return rc;
	if (right.kind == WAGGLE_NUMBER && out->kind == WAGGLE_NUMBER)
		return waggle_put(r, out, WAGGLE_TRUTH, "%s %s %s", out->text, *op, right.text);
	if (right.kind != WAGGLE_NUMBER || out->kind != WAGGLE_SAMPLES || strlen(right.text) >= sizeof(out->bound))
		return waggle_refuse(r, "%s needs numbers: use avg(v(...)), not v(...) alone", *op);
	out->kind = WAGGLE_COMPARED;
	snprintf(out->op, sizeof(out->op), "%s", *op);
	memcpy(out->bound, right.text, strlen(right.text) + 1);
	return 0;
}

static int read_not(struct waggle_reader *r, struct waggle_part *out)
{
	struct waggle_part inner;
	int rc;

	if (!waggle_accept(r, "not"))
		return read_comparison(r, out);
	if (++r->depth > DEPTH_MAX)
		return waggle_refuse(r, "nested too deeply");
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

	while (rc == 0 && waggle_accept(r, word)) {
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

static int waggle_read_or(struct waggle_reader *r, struct waggle_part *out)
{
	int rc;

	if (++r->depth > DEPTH_MAX)
		return waggle_refuse(r, "nested too deeply");
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
		waggle_accept(&r, "");
		if (*r.at)
			return waggle_refuse(&r, "unexpected '%.20s'", r.at);
		if (whole.kind != WAGGLE_TRUTH)
			return waggle_refuse(&r, "not a condition: expected a comparison");
		rc = rule_expr_compile(&compiled, whole.text, EXPR_TRUTH, arena, err);
	}
	if (rc == 0)
		buf_adds(out, whole.text);
	return rc;
}
