#include "live/push-receiver-text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void pushed_text_init(struct pushed_text *t)
{
	*t = (struct pushed_text){ .metric_count = 0 };
	buf_init(&t->text, 2 * PUSHED_MESSAGE_BYTES_MAX);
}

void pushed_text_release(struct pushed_text *t)
{
	buf_release(&t->text);
}

static void set_metric(struct pushed_text *t, const char *name, const json_t *value)
{
	double number = json_number_value(value);
	size_t i = 0;

	while (i < t->metric_count && strcmp(t->metrics[i].name, name) != 0)
		i++;
	if (!json_is_number(value) || !isfinite(number) || i == PUSHED_METRICS_MAX ||
			strlen(name) >= SONDE_NAME_BYTES) {
		t->rejected++;
		return;
	}
	if (i == t->metric_count) {
		snprintf(t->metrics[i].name, sizeof(t->metrics[i].name), "%s", name);
		t->metric_count++;
	}
	t->metrics[i].value = number;
}

static void take_message(struct pushed_text *t, const char *text, size_t bytes)
{
	json_t *root = json_loadb(text, bytes, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL), *value;
	const char *name;

	if (!json_is_object(root))
		t->rejected++;
	json_object_foreach(root, name, value)
		set_metric(t, name, json_object_get(value, "value"));
	json_decref(root);
}

/*
 * Splits the text into messages, independent of read boundaries. The first `known` bytes were searched before and
 * contain no end of a message, except that their last byte may start one.
 */
static void take_text(struct pushed_text *t, size_t known)
{
	char *from = t->text.data, *look = from + (known ? known - 1 : 0), *end;

	while ((end = strstr(look, "\n\n"))) {
		take_message(t, from, (size_t)(end - from));
		from = look = end + 2;
	}
	t->text.len -= (size_t)(from - t->text.data);
	memmove(t->text.data, from, t->text.len + 1);
}

bool pushed_text_add(struct pushed_text *t, const char *bytes, size_t n)
{
	size_t before = t->text.len;

	if (before + n > PUSHED_MESSAGE_BYTES_MAX)
		return false;
	buf_add(&t->text, bytes, n);
	for (size_t i = before; i < t->text.len; i++)
		if (!t->text.data[i])
			t->text.data[i] = '?'; /* a NUL is not valid JSON either */
	take_text(t, before);
	return true;
}
