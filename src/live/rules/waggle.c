#include "live/rules/waggle.h"

#include "base/cleanup.h"
#include "live/rules/action.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RULES_MOST 64 /* the limit of a rules file */

struct line {
	char action[16], object[128], value[64];
	const char *condition;
};

static const char *skip(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Strips "- " of a YAML list and quotes, in place. */
static char *bare(char *text)
{
	char *end = text + strlen(text), *to;
	char quote;

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	text += skip(text) - text;
	if (text[0] == '-' && text[1] == ' ')
		text += skip(text + 1) - text;
	quote = *text;
	if ((quote != '"' && quote != '\'') || end - text < 2 || end[-1] != quote)
		return text;
	end[-1] = '\0';
	to = ++text;
	for (const char *from = text; *from; from++) {
		from += *from == '\\' && quote == '"' && from[1];
		from += *from == '\'' && quote == '\'' && from[1] == '\'';
		*to++ = *from;
	}
	*to = '\0';
	return text;
}

/* Reads a word, optionally quoted, up to one of `ends`. */
static const char *word(const char *at, const char *ends, char *out, size_t size)
{
	size_t n;

	at = skip(at);
	if (*at == '"' || *at == '\'') {
		n = strcspn(at + 1, *at == '"' ? "\"" : "'");
		snprintf(out, size, "%.*s", (int)n, at + 1);
		at += n + 1 + (at[n + 1] != '\0');
	} else {
		n = strcspn(at, ends);
		while (n && isspace((unsigned char)at[n - 1]))
			n--;
		snprintf(out, size, "%.*s", (int)n, at);
		at += n;
	}
	return skip(at);
}

/* ACTION(OBJECT[, key=value...]): CONDITION */
static bool split(const char *text, struct line *l)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	const char *at = text + n;

	*l = (struct line){ .condition = NULL };
	if (!n || n >= sizeof(l->action) || *at != '(')
		return false;
	memcpy(l->action, text, n);
	at = word(at + 1, ",)", l->object, sizeof(l->object));
	while (*at == ',') {
		char key[32], value[64];

		at = word(at + 1, "=,)", key, sizeof(key));
		if (*at != '=')
			return false;
		at = word(at + 1, ",)", value, sizeof(value));
		if (strcmp(key, "value") == 0)
			memcpy(l->value, value, sizeof(value));
	}
	if (*at != ')')
		return false;
	at = skip(at + 1);
	l->condition = *at == ':' ? skip(at + 1) : NULL;
	return l->condition && *l->object;
}

/* Contains no characters that are special to words or YAML. */
static bool is_plain(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/:")];
}

static int add_action(struct buf *out, const struct line *l, const struct waggle_options *o, struct sonde_err *err)
{
	const char *hole = o->schedule ? strstr(o->schedule, "{}") : NULL;

	if (strcmp(l->action, "schedule") == 0) {
		if (!o->schedule)
			buf_addf(out, "report schedule %s", l->object);
		else if (hole)
			buf_addf(out, "%.*s%s%s", (int)(hole - o->schedule), o->schedule, l->object, hole + 2);
		else
			buf_adds(out, o->schedule);
	} else if (strcmp(l->action, "publish") == 0) {
		if (o->broker)
			buf_addf(out, "mqtt %s %s 1", o->broker, l->object);
		else
			buf_addf(out, "report publish %s", l->object);
	} else if (strcmp(l->action, "set") == 0) {
		if (!is_plain(l->value))
			return err_set(err, EINVAL, "set() needs a value: set(%s, value=1)", l->object);
		if (o->app)
			buf_addf(out, "knob %s %s %s", o->app, l->object, l->value);
		else
			buf_addf(out, "report set %s %s", l->object, l->value);
	} else {
		return err_set(err, EINVAL, "unknown action '%s' (supported: schedule, publish, set)", l->action);
	}
	return 0;
}

static void add_quoted(struct buf *out, const char *text)
{
	buf_addc(out, '\'');
	for (; *text; text++)
		buf_adds(out, *text == '\'' ? "''" : (char[2]){ *text, '\0' });
	buf_addc(out, '\'');
}

static int add_rule(struct buf *out, const char *text, size_t number, const struct waggle_options *o,
		struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf when = BUF_INIT, what = BUF_INIT;
	struct action action;
	struct line l;
	int rc;

	if (!split(text, &l))
		return err_set(err, EINVAL, "invalid science rule (expected ACTION(NAME): CONDITION)");
	if (!is_plain(l.object))
		return err_set(err, EINVAL, "invalid name '%s'", l.object);
	rc = waggle_condition(&when, l.condition, arena, err);
	if (rc == 0)
		rc = add_action(&what, &l, o, err);
	if (rc == 0)
		rc = action_parse(&action, what.data, false, arena, err);
	if (rc < 0)
		return rc;
	buf_addf(out, "  # %s\n  - name: %s-%s-%zu\n    when: ", text, l.action, l.object, number);
	add_quoted(out, when.data);
	buf_adds(out, "\n    do: [ ");
	add_quoted(out, what.data);
	buf_adds(out, " ]\n");
	return 0;
}

/* In a job description only lines that look like a rule; in a list of rules every line. */
static bool is_rule(const char *text, bool is_job)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return *text && *text != '#' && (!is_job || (n && text[n] == '('));
}

int waggle_import(struct buf *out, const char *text, const struct waggle_options *options, struct arena *arena,
		struct sonde_err *err)
{
	char *copy = arena_strdup(arena, text), *next;
	bool is_job = strstr(text, "scienceRules:") != NULL;
	size_t count = 0, number = 1;

	buf_adds(out, "rules:\n");
	for (char *line = copy; line; line = next, number++) {
		const char *rule;
		int rc;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		rule = bare(line);
		if (!is_rule(rule, is_job))
			continue;
		if (++count > RULES_MOST)
			return err_set(err, E2BIG, "too many rules (maximum %d)", RULES_MOST);
		rc = add_rule(out, rule, count, options, arena, err);
		if (rc < 0) {
			err_prefix(err, "line %zu", number);
			return rc;
		}
	}
	if (!copy)
		return err_sys(err, ENOMEM, "cannot read the rules");
	return count ? 0 : err_set(err, EINVAL, "no science rules found");
}
