/* Writes metadata as lines, and collects facts for the `end` record; see pfwlog.h. */
#include "pfw/log-args.h"

static bool has_member(const char *object, const char *key, size_t n)
{
	for (const char *p = object; *p; p++)
		if (*p == '"' && !strncmp(p + 1, key, n) && p[1 + n] == '"' && p[2 + n] == ':')
			return true;
	return false;
}

void log_note_used(struct pfwlog *log, const char *name, size_t n)
{
	char *used = log->state->used, line[256], *at = line;
	size_t len = strlen(used);
	if (n > 64 || has_member(used, name, n) || len + LINE_JSON_ROOM(n) + 4 > sizeof(log->state->used))
		return;
	if (len)
		*at++ = ',';
	at = put_json(at, name, n);
	at = PUT(at, ":1");
	*at++ = '\0';
	if (len + (size_t)(at - line) <= sizeof(log->state->used))
		memcpy(used + len, line, (size_t)(at - line));
}

static bool is_letters(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((text[i] < 'A' || text[i] > 'Z') && (text[i] < 'a' || text[i] > 'z') && text[i] != '_')
			return false;
	return n > 0;
}

enum taken log_take_meta(struct pfwlog *log, const struct walk *w, bool is_last_chance)
{
	const struct pfwlog_rec_meta *r = (const void *)log->ring_record.bytes;
	const struct name *name = names_string(&log->names, r->name);
	char kind[16] = "CM";
	if ((!name || !args_known(log, sizeof(*r), r->head.call)) && !is_last_chance)
		return WAITS;
	if (name && name->bytes < sizeof(kind) && is_letters(name->text, name->bytes)) {
		memcpy(kind, name->text, name->bytes);
		kind[name->bytes] = '\0';
	}
	char *at = line_begin(log, 0);
	if (!at)
		return TAKEN;
	at = put_own_head(log, at, log->state->setup.generation != 'E', kind, w->pid, w->tid);
	at = put_phase(at, log->state->setup.generation, 'M');
	at = put_bytes(at, log->host, log->host_bytes);
	at = args_put(log, at, sizeof(*r), r->head.call);
	line_end(log, PUT(at, "}}"));
	return TAKEN;
}

/* A new value of an app fact replaces the old one: readers use the last member of a name, so the old one is removed. */
static void forget_fact(char *app, const char *key, size_t n)
{
	for (char *p = app; *p; p++) {
		bool is_start = p == app || p[-1] == ',';
		if (!is_start || strncmp(p, key, n) || p[n] != ':')
			continue;
		char *end = p + n + 1;
		bool is_inside = false;
		for (; *end && (is_inside || *end != ','); end++) {
			if (*end == '\\' && end[1])
				end++;
			else if (*end == '"')
				is_inside = !is_inside;
		}
		if (*end)
			end++;
		else if (p > app)
			p--;
		memmove(p, end, strlen(end) + 1);
		return;
	}
}

void log_note_fact(struct pfwlog *log)
{
	const struct pfwlog_rec_meta *r = (const void *)log->ring_record.bytes;
	const struct name *key;
	struct arg arg;
	size_t at = sizeof(*r);
	char line[2048], *end = line;
	if (!args_next(&log->ring_record, &at, &arg) || !(key = names_string(&log->names, arg.head.key)))
		return;
	if (r->type == 0) {
		log_note_used(log, key->text, key->bytes);
		return;
	}
	if (LINE_JSON_ROOM(key->bytes) + LINE_JSON_ROOM(arg.bytes) + 32 > sizeof(line) ||
			arg.head.type == PFWLOG_ARG_FAR)
		return;
	char *app = log->state->app;
	end = put_json(end, key->text, key->bytes);
	forget_fact(app, line, (size_t)(end - line));
	*end++ = ':';
	end = args_put_value(log, end, &arg);
	size_t len = strlen(app), n = (size_t)(end - line);
	if (len + n + 2 > sizeof(log->state->app))
		return;
	if (len)
		app[len++] = ',';
	memcpy(app + len, line, n);
	app[len + n] = '\0';
}
