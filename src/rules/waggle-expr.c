/*
 * Conditions of science rules: a little of Python's expressions, by precedence, written out as expr.h has them; see
 * waggle.h.
 */
#include "rules/waggle.h"

#include "rules/expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 40
#define WINDOW_USUAL "1m"

/* What a part is: a number or a truth, or samples that something has to be made of first. */
enum kind { NUMBER, TRUTH, SAMPLES, RATES, COMPARED };

struct part {
	enum kind kind;
	char text[1024]; /* of samples: `name[window]` */
	char op[3];      /* COMPARED: samples, and this with */
	char bound[256];
};

struct reader {
	const char *text, *at;
	struct sonde_err *err;
	int depth;
};

static int read_or(struct reader *r, struct part *out);

static int refuse(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int refuse(struct reader *r, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(r->err, EINVAL, "column %zu of the condition: %s", (size_t)(r->at - r->text) + 1, what);
}

static int put(struct reader *r, struct part *p, enum kind kind, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
static int put(struct reader *r, struct part *p, enum kind kind, const char *fmt, ...)
{
	char text[sizeof(p->text)];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return refuse(r, "it is too long");
	memcpy(p->text, text, (size_t)n + 1);
	p->kind = kind;
	return 0;
}

static bool take(struct reader *r, const char *token)
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

static int read_string(struct reader *r, char *out, size_t size)
{
	char quote;
	const char *end;

	take(r, "");
	quote = *r->at;
	end = quote == '"' || quote == '\'' ? strchr(r->at + 1, quote) : NULL;
	if (!end || (size_t)(end - r->at) > size)
		return refuse(r, "a text in quotes is expected");
	snprintf(out, size, "%.*s", (int)(end - r->at - 1), r->at + 1);
	r->at = end + 1;
	return 0;
}

/* "-5m" and 300 (seconds) are five minutes back. */
static int read_since(struct reader *r, char *window, size_t size)
{
	char text[32], *end;
	double count;
	int rc;

	take(r, "");
	if (*r->at == '"' || *r->at == '\'') {
		rc = read_string(r, text, sizeof(text));
		if (rc < 0)
			return rc;
		count = strtod(text, &end);
		if (!(count <= -1 && *end && strchr("smhd", *end) && !end[1]))
			return refuse(r, "'since' is a time back, such as '-5m'");
		snprintf(window, size, "%.0f%c", -count, *end);
		return 0;
	}
	count = strtod(r->at, &end);
	if (end == r->at || !(count >= 1 && count <= 86400))
		return refuse(r, "'since' is a time back, such as '-5m'");
	r->at = end;
	snprintf(window, size, "%.0fs", count);
	return 0;
}

/* v(NAME, since=...) and rate(NAME, since=...): samples of a window. */
static int read_samples(struct reader *r, enum kind kind, struct part *out)
{
	char name[128], window[32] = WINDOW_USUAL;
	int rc = read_string(r, name, sizeof(name));

	if (rc == 0 && (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")]))
		return refuse(r, "'%s' is no name of a measurement", name);
	while (rc == 0 && take(r, ",")) {
		if (!take(r, "since"))
			return refuse(r, "measurements have no meta data here: only 'since' can be given");
		rc = take(r, "=") ? read_since(r, window, sizeof(window)) : refuse(r, "= is expected");
	}
	if (rc == 0 && !take(r, ")"))
		return refuse(r, ") is expected");
	for (char *c = name; *c; c++)
		*c = *c == '.' ? '_' : *c;
	return rc < 0 ? rc : put(r, out, kind, "sonde_app_%s[%s]", name, window);
}

/* any and all of a comparison look at the highest or the lowest sample. */
static int fold_compared(struct reader *r, bool is_any, const struct part *p, struct part *out)
{
	bool is_up = p->op[0] == '>';

	if (p->op[0] == '=' || p->op[0] == '!')
		return refuse(r, "samples are compared by <, <=, > and >= only");
	return put(r, out, TRUTH, "%s(%s) %s %s", is_up == is_any ? "max" : "min", p->text, p->op, p->bound);
}

static int fold(struct reader *r, const char *name, const struct part *p, struct part *out)
{
	static const struct {
		const char *name, *samples, *rates; /* what becomes of them; NULL: nothing */
		enum kind kind;
	} rows[] = {
		{ "avg", "avg(%s)", "rate(%s)", NUMBER },
		{ "mean", "avg(%s)", "rate(%s)", NUMBER },
		{ "min", "min(%s)", NULL, NUMBER },
		{ "max", "max(%s)", NULL, NUMBER },
		{ "sum", "(avg(%1$s) * count(%1$s))", "increase(%s)", NUMBER },
		{ "len", "count(%s)", NULL, NUMBER },
		{ "any", "max(%s) > 0", "increase(%s) > 0", TRUTH },
		{ "all", "min(%s) > 0", NULL, TRUTH },
	};
	char text[sizeof(p->text)];
	const char *form = NULL, *at;
	size_t n = 0, i = 0;

	if (p->kind == COMPARED && (strcmp(name, "any") == 0 || strcmp(name, "all") == 0))
		return fold_compared(r, strcmp(name, "any") == 0, p, out);
	while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, name) != 0)
		i++;
	if (i < sizeof(rows) / sizeof(rows[0]))
		form = p->kind == SAMPLES ? rows[i].samples : p->kind == RATES ? rows[i].rates : NULL;
	if (!form)
		return refuse(r, "'%s' of this cannot be said here", name);
	/* Each %s or %1$s is the samples. */
	for (at = form; *at && n + strlen(p->text) + 2 < sizeof(text);) {
		if (*at != '%') {
			text[n++] = *at++;
			continue;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", p->text);
		at += at[1] == 's' ? 2 : 4;
	}
	text[n] = '\0';
	return *at ? refuse(r, "it is too long") : put(r, out, rows[i].kind, "%s", text);
}

/* Of the day, in UTC, as nodes have it. */
static int read_time(struct reader *r, struct part *out)
{
	char unit[16];
	int rc = read_string(r, unit, sizeof(unit));

	if (rc == 0 && !take(r, ")"))
		return refuse(r, ") is expected");
	if (rc < 0)
		return rc;
	if (strcmp(unit, "hour") == 0)
		return put(r, out, NUMBER, "((time() %% 86400 - time() %% 3600) / 3600)");
	if (strcmp(unit, "minute") == 0)
		return put(r, out, NUMBER, "((time() %% 3600 - time() %% 60) / 60)");
	return strcmp(unit, "second") == 0 ? put(r, out, NUMBER, "((time() - time() %% 1) %% 60)")
					   : refuse(r, "time() tells the 'hour', the 'minute' or the 'second' here");
}

/* True for half of each minute that fits, so that the next one is a beginning again. */
static int read_cronjob(struct reader *r, struct part *out)
{
	char program[128], when[128];
	int rc = read_string(r, program, sizeof(program));

	if (rc == 0 && !take(r, ","))
		return refuse(r, "cronjob() has a program and a time");
	if (rc == 0)
		rc = read_string(r, when, sizeof(when));
	if (rc == 0 && !take(r, ")"))
		return refuse(r, ") is expected");
	return rc < 0 ? rc : put(r, out, TRUTH, "cron(\"%s\") and time() %% 60 < 30", when);
}

static int read_call(struct reader *r, const char *name, struct part *out)
{
	struct part inner;
	int rc;

	if (strcmp(name, "v") == 0)
		return read_samples(r, SAMPLES, out);
	if (strcmp(name, "rate") == 0)
		return read_samples(r, RATES, out);
	if (strcmp(name, "time") == 0)
		return read_time(r, out);
	if (strcmp(name, "cronjob") == 0)
		return read_cronjob(r, out);
	if (strcmp(name, "after") == 0)
		return refuse(r, "after() asks when a program last ended, which is not known here");
	rc = read_or(r, &inner);
	if (rc == 0 && !take(r, ")"))
		return refuse(r, ") is expected");
	if (rc < 0)
		return rc;
	if (strcmp(name, "abs") == 0 && inner.kind == NUMBER)
		return put(r, out, NUMBER, "abs(%s)", inner.text);
	return fold(r, name, &inner, out);
}

static int read_atom(struct reader *r, struct part *out)
{
	char name[32], *end;
	size_t n = 0;
	double number;

	if (take(r, "(")) {
		struct part inner;
		int rc = read_or(r, &inner);

		if (rc == 0 && !take(r, ")"))
			return refuse(r, ") is expected");
		*out = inner;
		return rc < 0 || inner.kind > TRUTH ? rc : put(r, out, inner.kind, "(%s)", inner.text);
	}
	if (take(r, "True") || take(r, "False"))
		return put(r, out, TRUTH, r->at[-1] == 'e' && r->at[-2] == 'u' ? "1 == 1" : "1 == 0");
	if (isdigit((unsigned char)*r->at) || *r->at == '.') {
		number = strtod(r->at, &end);
		if (end == r->at)
			return refuse(r, "this is no number");
		r->at = end;
		return put(r, out, NUMBER, "%.15g", number);
	}
	while (n + 1 < sizeof(name) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')) {
		name[n] = r->at[n];
		n++;
	}
	name[n] = '\0';
	if (!n || r->at[n] != '(')
		return refuse(r, n ? "'%s' is not known" : "something is expected%s", name);
	r->at += n + 1;
	return read_call(r, name, out);
}

static int read_unary(struct reader *r, struct part *out)
{
	struct part inner;
	int rc;

	if (!take(r, "-"))
		return read_atom(r, out);
	if (++r->depth > DEPTH_MAX)
		return refuse(r, "it is too deep");
	rc = read_unary(r, &inner);
	r->depth--;
	if (rc == 0 && inner.kind != NUMBER)
		return refuse(r, "- needs a number");
	return rc < 0 ? rc : put(r, out, NUMBER, "-%s", inner.text);
}

/* + - * / %, all by their own precedence, which is ours too. */
static int read_sum(struct reader *r, struct part *out)
{
	static const char *const operators[] = { "+", "-", "*", "/", "%", NULL };
	int rc = read_unary(r, out);

	for (bool is_more = true; rc == 0 && is_more;) {
		is_more = false;
		for (const char *const *op = operators; *op && !is_more && rc == 0; op++) {
			struct part right;

			if (!take(r, *op))
				continue;
			is_more = true;
			rc = read_unary(r, &right);
			if (rc == 0 && (out->kind != NUMBER || right.kind != NUMBER))
				return refuse(r, "%s needs numbers: say avg(v(...)), not v(...) alone", *op);
			if (rc == 0)
				rc = put(r, out, NUMBER, "%s %s %s", out->text, *op, right.text);
		}
	}
	return rc;
}

static int read_comparison(struct reader *r, struct part *out)
{
	static const char *const operators[] = { "<=", ">=", "==", "!=", "<", ">", NULL };
	const char *const *op = operators;
	struct part right;
	int rc = read_sum(r, out);

	if (rc < 0)
		return rc;
	while (*op && !take(r, *op))
		op++;
	if (!*op)
		return 0;
	rc = read_sum(r, &right);
	if (rc < 0)
		return rc;
	if (right.kind == NUMBER && out->kind == NUMBER)
		return put(r, out, TRUTH, "%s %s %s", out->text, *op, right.text);
	if (right.kind != NUMBER || out->kind != SAMPLES || strlen(right.text) >= sizeof(out->bound))
		return refuse(r, "%s needs numbers: say avg(v(...)), not v(...) alone", *op);
	out->kind = COMPARED;
	snprintf(out->op, sizeof(out->op), "%s", *op);
	memcpy(out->bound, right.text, strlen(right.text) + 1);
	return 0;
}

static int read_not(struct reader *r, struct part *out)
{
	struct part inner;
	int rc;

	if (!take(r, "not"))
		return read_comparison(r, out);
	if (++r->depth > DEPTH_MAX)
		return refuse(r, "it is too deep");
	rc = read_not(r, &inner);
	r->depth--;
	if (rc == 0 && inner.kind != TRUTH)
		return refuse(r, "'not' needs a condition");
	return rc < 0 ? rc : put(r, out, TRUTH, "not (%s)", inner.text);
}

static int read_chain(struct reader *r, const char *word, int (*next)(struct reader *, struct part *), struct part *out)
{
	int rc = next(r, out);

	while (rc == 0 && take(r, word)) {
		struct part right;

		rc = next(r, &right);
		if (rc == 0 && (out->kind != TRUTH || right.kind != TRUTH))
			return refuse(r, "'%s' needs conditions", word);
		if (rc == 0)
			rc = put(r, out, TRUTH, "(%s) %s (%s)", out->text, word, right.text);
	}
	return rc;
}

static int read_and(struct reader *r, struct part *out)
{
	return read_chain(r, "and", read_not, out);
}

static int read_or(struct reader *r, struct part *out)
{
	int rc;

	if (++r->depth > DEPTH_MAX)
		return refuse(r, "it is too deep");
	rc = read_chain(r, "or", read_and, out);
	r->depth--;
	return rc;
}

int waggle_condition(struct buf *out, const char *text, struct arena *arena, struct sonde_err *err)
{
	struct reader r = { text, text, err, 0 };
	struct part whole;
	struct expr *compiled;
	int rc = read_or(&r, &whole);

	if (rc == 0) {
		take(&r, "");
		if (*r.at)
			return refuse(&r, "'%.20s' is not understood", r.at);
		if (whole.kind != TRUTH)
			return refuse(&r, "it is no condition: something is to be compared");
		rc = expr_compile(&compiled, whole.text, EXPR_TRUTH, arena, err);
	}
	if (rc == 0)
		buf_adds(out, whole.text);
	return rc;
}
