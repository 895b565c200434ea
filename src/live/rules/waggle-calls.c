/* Functions in science rules: measurements, aggregations of their samples, the time of day. */
#include "live/rules/waggle-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_USUAL "1m"

static int read_string(struct waggle_reader *r, char *out, size_t size)
{
	char quote;
	const char *end;

	waggle_take(r, "");
	quote = *r->at;
	end = quote == '"' || quote == '\'' ? strchr(r->at + 1, quote) : NULL;
	if (!end || (size_t)(end - r->at) > size)
		return waggle_refuse(r, "a text in quotes is expected");
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

	waggle_take(r, "");
	if (*r->at == '"' || *r->at == '\'') {
		rc = read_string(r, text, sizeof(text));
		if (rc < 0)
			return rc;
		count = strtod(text, &end);
		if (!(count <= -1 && *end && strchr("smhd", *end) && !end[1]))
			return waggle_refuse(r, "'since' is a time back, such as '-5m'");
		snprintf(window, size, "%.0f%c", -count, *end);
		return 0;
	}
	count = strtod(r->at, &end);
	if (end == r->at || !(count >= 1 && count <= 86400))
		return waggle_refuse(r, "'since' is a time back, such as '-5m'");
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
		return waggle_refuse(r, "'%s' is no name of a measurement", name);
	while (rc == 0 && waggle_take(r, ",")) {
		if (!waggle_take(r, "since"))
			return waggle_refuse(r, "measurements have no meta data here: only 'since' can be given");
		rc = waggle_take(r, "=") ? read_since(r, window, sizeof(window)) : waggle_refuse(r, "= is expected");
	}
	if (rc == 0 && !waggle_take(r, ")"))
		return waggle_refuse(r, ") is expected");
	for (char *c = name; *c; c++)
		*c = *c == '.' ? '_' : *c;
	return rc < 0 ? rc : waggle_put(r, out, kind, "sonde_app_%s[%s]", name, window);
}

/* any and all of a comparison compare the highest or the lowest sample. */
static int fold_compared(struct waggle_reader *r, bool is_any, const struct waggle_part *p, struct waggle_part *out)
{
	bool is_up = p->op[0] == '>';

	if (p->op[0] == '=' || p->op[0] == '!')
		return waggle_refuse(r, "samples are compared by <, <=, > and >= only");
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
		return waggle_refuse(r, "'%s' of this cannot be said here", name);
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
	return *at ? waggle_refuse(r, "it is too long") : waggle_put(r, out, rows[i].kind, "%s", text);
}

/* Of the day, in UTC, as on Waggle nodes. */
static int read_time(struct waggle_reader *r, struct waggle_part *out)
{
	char unit[16];
	int rc = read_string(r, unit, sizeof(unit));

	if (rc == 0 && !waggle_take(r, ")"))
		return waggle_refuse(r, ") is expected");
	if (rc < 0)
		return rc;
	if (strcmp(unit, "hour") == 0)
		return waggle_put(r, out, WAGGLE_NUMBER, "((time() %% 86400 - time() %% 3600) / 3600)");
	if (strcmp(unit, "minute") == 0)
		return waggle_put(r, out, WAGGLE_NUMBER, "((time() %% 3600 - time() %% 60) / 60)");
	return strcmp(unit, "second") == 0
			? waggle_put(r, out, WAGGLE_NUMBER, "((time() - time() %% 1) %% 60)")
			: waggle_refuse(r, "time() tells the 'hour', the 'minute' or the 'second' here");
}

/* True for half of each matching minute, so that the next match is a new rising edge. */
static int read_cronjob(struct waggle_reader *r, struct waggle_part *out)
{
	char program[128], when[128];
	int rc = read_string(r, program, sizeof(program));

	if (rc == 0 && !waggle_take(r, ","))
		return waggle_refuse(r, "cronjob() has a program and a time");
	if (rc == 0)
		rc = read_string(r, when, sizeof(when));
	if (rc == 0 && !waggle_take(r, ")"))
		return waggle_refuse(r, ") is expected");
	return rc < 0 ? rc : waggle_put(r, out, WAGGLE_TRUTH, "cron(\"%s\") and time() %% 60 < 30", when);
}

int waggle_read_call(struct waggle_reader *r, const char *name, struct waggle_part *out)
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
		return waggle_refuse(r, "after() asks when a program last ended, which is not known here");
	rc = waggle_read_or(r, &inner);
	if (rc == 0 && !waggle_take(r, ")"))
		return waggle_refuse(r, ") is expected");
	if (rc < 0)
		return rc;
	if (strcmp(name, "abs") == 0 && inner.kind == WAGGLE_NUMBER)
		return waggle_put(r, out, WAGGLE_NUMBER, "abs(%s)", inner.text);
	return fold(r, name, &inner, out);
}
