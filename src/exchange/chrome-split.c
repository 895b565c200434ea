#include "exchange/chrome-split.h"

#include "pfw/line-parse.h"

#include <errno.h>
#include <string.h>

#define KEY_BYTES 16 /* bytes of a member's name that are compared */

void chrome_split_init(struct chrome_split *s, int (*take)(void *arg, char *text, size_t n), void *arg)
{
	*s = (struct chrome_split){ .take = take, .arg = arg };
	buf_init(&s->event, 2 * PFW_LINE_BYTES_MAX);
	buf_init(&s->key, 0);
}

void chrome_split_release(struct chrome_split *s)
{
	buf_release(&s->event);
	buf_release(&s->key);
}

static bool is_named_events(const struct chrome_split *s)
{
	return s->key.len == 11 && !memcmp(s->key.data, "traceEvents", 11);
}

static void open_bracket(struct chrome_split *s, char c)
{
	s->depth++;
	if (c == '[' && !s->has_array && (s->depth == 1 || (s->depth == 2 && is_named_events(s)))) {
		s->events_depth = s->depth;
		s->has_array = true;
	}
	if (c == '{' && s->events_depth && s->depth == s->events_depth + 1) {
		s->is_event = true;
		s->is_skipped = false;
		buf_reset(&s->event);
	}
}

static int close_bracket(struct chrome_split *s)
{
	bool is_end = s->is_event && s->depth == s->events_depth + 1;

	if (s->depth)
		s->depth--;
	if (s->depth < s->events_depth)
		s->events_depth = 0; /* no events follow the array */
	if (!is_end)
		return 0;
	s->is_event = false;
	if (s->is_skipped) {
		s->too_long++;
		return 0;
	}
	if (buf_error(&s->event))
		return -ENOMEM;
	return s->take(s->arg, s->event.data, s->event.len);
}

static void keep(struct chrome_split *s, char c)
{
	if (s->event.len >= PFW_LINE_BYTES_MAX) {
		s->is_skipped = true;
		buf_release(&s->event);
		buf_init(&s->event, 2 * PFW_LINE_BYTES_MAX);
	}
	/* Newlines between tokens are blanks; inside strings they are not valid JSON. */
	if (!s->is_skipped)
		buf_addc(&s->event, c == '\n' && !s->is_string ? ' ' : c);
}

static void take_in_string(struct chrome_split *s, char c)
{
	if (s->is_escaped)
		s->is_escaped = false;
	else if (c == '\\')
		s->is_escaped = true;
	else if (c == '"')
		s->is_string = false;
	if (s->is_string && !s->is_event && s->depth == 1 && s->key.len < KEY_BYTES)
		buf_addc(&s->key, c);
}

static int take_byte(struct chrome_split *s, char c)
{
	int rc = 0;

	if (s->is_string) {
		if (s->is_event)
			keep(s, c);
		take_in_string(s, c);
		return 0;
	}
	if (c == '{' || c == '[')
		open_bracket(s, c);
	if (s->is_event)
		keep(s, c);
	if (c == '"') {
		s->is_string = true;
		if (!s->is_event && s->depth == 1)
			buf_reset(&s->key);
	} else if (c == '}' || c == ']') {
		rc = close_bracket(s);
	}
	return rc;
}

int chrome_split_add(struct chrome_split *s, const char *bytes, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = take_byte(s, bytes[i]);
	return rc;
}
