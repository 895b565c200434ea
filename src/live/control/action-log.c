#include "live/control/action-log.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int journal_open(struct journal *j, const char *path, struct sonde_err *err)
{
	*j = (struct journal){ .fd = -1 };
	if (!path)
		return 0;
	j->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	return j->fd < 0 ? err_sys(err, errno, "cannot open the journal '%s'", path) : 0;
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	for (size_t i = 0; i < JOURNAL_KEPT; i++)
		free(j->lines[i]);
	*j = (struct journal){ .fd = -1 };
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

void journal_format(struct buf *out, const struct journal_line *line)
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
	buf_addc(out, '\n');
}

static bool is_same(const char *kept, size_t size, const char *text)
{
	return strncmp(kept, text ? text : "", size - 1) == 0;
}

/* Was this refusal logged recently? Records it if not. */
static bool is_known(struct journal *j, const struct journal_line *line)
{
	struct journal_refusal *r;
	int64_t now_ns = clock_mono_ns();

	if (strcmp(line->result, "refused") != 0 && strcmp(line->result, "failed") != 0)
		return false;
	for (r = j->refusals; r < j->refusals + JOURNAL_REFUSALS; r++)
		if (r->mono_ns && now_ns - r->mono_ns < JOURNAL_AGAIN_NS &&
				is_same(r->who, sizeof(r->who), line->who) &&
				is_same(r->action, sizeof(r->action), line->action) &&
				is_same(r->message, sizeof(r->message), line->message))
			return true;
	r = &j->refusals[j->refusal_count++ % JOURNAL_REFUSALS];
	snprintf(r->who, sizeof(r->who), "%s", line->who ? line->who : "");
	snprintf(r->action, sizeof(r->action), "%s", line->action ? line->action : "");
	snprintf(r->message, sizeof(r->message), "%s", line->message ? line->message : "");
	r->mono_ns = now_ns;
	return false;
}

void journal_add(struct journal *j, const struct journal_line *line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char **kept = &j->lines[j->count % JOURNAL_KEPT];

	if (is_known(j, line))
		return;
	journal_format(&text, line);
	if (buf_error(&text) < 0)
		return;
	if (j->fd >= 0)
		(void)!write(j->fd, text.data, text.len); /* a full disk must not stop the controller */
	free(*kept);
	*kept = buf_take(&text);
	j->count++;
}

void journal_show(const struct journal *j, struct json *out)
{
	uint64_t first = j->count > JOURNAL_KEPT ? j->count - JOURNAL_KEPT : 0;

	json_array(out);
	for (uint64_t i = first; i < j->count; i++) {
		const char *line = j->lines[i % JOURNAL_KEPT];

		if (line)
			json_raw(out, line, strlen(line) - 1);
	}
	json_end(out);
}
