#include "live/control/action-log.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int action_log_open(struct action_log *log, const char *path, struct sonde_err *err)
{
	*log = (struct action_log){ .file = JOURNAL_INIT };
	return path ? journal_open(&log->file, path, JOURNAL_SHARED, 0600, NULL, err) : 0;
}

void action_log_close(struct action_log *log)
{
	journal_close(&log->file);
	for (size_t i = 0; i < ACTION_LOG_LINES; i++)
		free(log->lines[i]);
	*log = (struct action_log){ .file = JOURNAL_INIT };
}

static void add_time(struct json *out, int64_t real_ns)
{
	char text[40];
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm at;
	size_t n = gmtime_r(&seconds, &at) ? strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &at) : 0;

	snprintf(text + n, sizeof(text) - n, ".%03dZ", (int)(real_ns / 1000000 % 1000));
	json_kstr(out, "time", text);
}

static void add(struct json *out, const char *key, const char *text)
{
	if (text)
		json_kstr(out, key, text);
}

/* NULL fields are omitted. */
static void format(struct buf *out, const struct action_log_line *line)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	add_time(&j, line->real_ns ? line->real_ns : clock_real_ns());
	add(&j, "rule", line->who);
	add(&j, "action", line->action);
	add(&j, "result", line->result);
	add(&j, "place", line->place);
	add(&j, "before", line->before);
	add(&j, "after", line->after);
	add(&j, "why", line->why);
	add(&j, "message", line->message && *line->message ? line->message : NULL);
	json_end(&j);
}

static bool is_same(const char *kept, size_t size, const char *text)
{
	return strncmp(kept, text ? text : "", size - 1) == 0;
}

/* Was this refusal logged recently? Records it if not. */
static bool is_known(struct action_log *log, const struct action_log_line *line)
{
	struct action_refusal *r;
	int64_t now_ns = clock_mono_ns();

	if (strcmp(line->result, "refused") != 0 && strcmp(line->result, "failed") != 0)
		return false;
	for (r = log->refusals; r < log->refusals + ACTION_LOG_REFUSALS; r++)
		if (r->mono_ns && now_ns - r->mono_ns < ACTION_LOG_AGAIN_NS &&
				is_same(r->who, sizeof(r->who), line->who) &&
				is_same(r->action, sizeof(r->action), line->action) &&
				is_same(r->message, sizeof(r->message), line->message))
			return true;
	r = &log->refusals[log->refusal_count++ % ACTION_LOG_REFUSALS];
	snprintf(r->who, sizeof(r->who), "%s", line->who ? line->who : "");
	snprintf(r->action, sizeof(r->action), "%s", line->action ? line->action : "");
	snprintf(r->message, sizeof(r->message), "%s", line->message ? line->message : "");
	r->mono_ns = now_ns;
	return false;
}

void action_log_write(struct journal *file, const struct action_log_line *line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	format(&text, line);
	(void)journal_append(file, &text, NULL);
}

void action_log_add(struct action_log *log, const struct action_log_line *line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char **kept = &log->lines[log->count % ACTION_LOG_LINES];

	if (is_known(log, line))
		return;
	format(&text, line);
	(void)journal_append(&log->file, &text, NULL); /* a full disk must not stop the controller */
	if (buf_error(&text) < 0)
		return;
	free(*kept);
	*kept = buf_take(&text);
	log->count++;
}

void action_log_show(const struct action_log *log, struct json *out)
{
	uint64_t first = log->count > ACTION_LOG_LINES ? log->count - ACTION_LOG_LINES : 0;

	json_array(out);
	for (uint64_t i = first; i < log->count; i++) {
		const char *line = log->lines[i % ACTION_LOG_LINES];

		if (line)
			json_raw(out, line, strlen(line) - 1);
	}
	json_end(out);
}
