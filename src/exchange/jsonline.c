#include "exchange/jsonline.h"

#include "base/json.h"
#include "base/jsonscan.h"

#include <stdio.h>
#include <stdlib.h>

#define NUMBER_BYTES_MAX 24

void jsonline_release(struct jsonline *l)
{
	free(l->data);
	buf_release(&l->scratch);
	*l = (struct jsonline)JSONLINE_INIT;
}

char *jsonline_grow(struct jsonline *l, size_t n)
{
	size_t cap = 2 * l->cap + n + 1024;
	char *data = realloc(l->data, cap);

	if (!data) {
		l->is_failed = true;
		return NULL;
	}
	l->data = data;
	l->cap = cap;
	return data + l->len;
}

static void add_digits(struct jsonline *l, uint64_t value, bool is_negative)
{
	char digits[NUMBER_BYTES_MAX];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (is_negative)
		digits[--at] = '-';
	jsonline_add(l, digits + at, sizeof(digits) - at);
}

static uint64_t size_of(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void jsonline_int(struct jsonline *l, int64_t value)
{
	if (value == STORE_NULL)
		JSONLINE_ADD(l, "null");
	else
		add_digits(l, size_of(value), value < 0);
}

void jsonline_us(struct jsonline *l, int64_t ns)
{
	unsigned rest = (unsigned)(size_of(ns) % 1000);
	char decimals[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };

	add_digits(l, size_of(ns) / 1000, ns < 0);
	jsonline_add(l, decimals, sizeof(decimals));
}

/*
 * Returns the code of DEL or of U+0080 to U+009F and its length in bytes, or 0. In JSON these occur only inside
 * strings.
 */
static unsigned control_at(const char *at, const char *end, size_t *bytes)
{
	bool is_c1 = end - at > 1 && at[0] == '\xc2' && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] < 0xa0;

	*bytes = is_c1 ? 2 : 1;
	return is_c1 ? (unsigned char)at[1] : *at == 0x7f ? 0x7f : 0;
}

void jsonline_json(struct jsonline *l, const char *text, size_t n)
{
	const char *end = text + n, *from = text;
	size_t bytes;

	for (const char *at = text; at < end; at += bytes) {
		unsigned control = control_at(at, end, &bytes);
		char escape[8];

		if (!control)
			continue;
		jsonline_add(l, from, (size_t)(at - from));
		jsonline_add(l, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", control));
		from = at + bytes;
	}
	jsonline_add(l, from, (size_t)(end - from));
}

static struct json start_json(struct jsonline *l)
{
	struct json j;

	buf_reset(&l->scratch);
	json_init(&j, &l->scratch, false);
	return j;
}

static void add_json(struct jsonline *l)
{
	l->is_failed |= buf_error(&l->scratch) < 0;
	jsonline_json(l, l->scratch.data, l->scratch.len);
}

void jsonline_real(struct jsonline *l, double value)
{
	struct json j = start_json(l);

	json_real(&j, value);
	add_json(l);
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void jsonline_text(struct jsonline *l, const struct store_text *text)
{
	size_t n = text && text->data ? text->bytes : 0, i = 0;

	if (!text || !text->data) {
		JSONLINE_ADD(l, "null");
		return;
	}
	char *at = n + 2 <= l->cap - l->len ? l->data + l->len : jsonline_grow(l, n + 2);
	if (!at)
		return;
	*at++ = '"';
	for (; i < n && is_plain(text->data[i]); i++)
		at[i] = text->data[i];
	at[i] = '"';
	if (i == n) {
		l->len += n + 2;
	} else {
		struct json j = start_json(l);

		json_strn(&j, text->data, n);
		add_json(l);
	}
}

void jsonline_str(struct jsonline *l, const char *text)
{
	struct store_text whole = { .data = text, .bytes = text ? strlen(text) : 0 };

	jsonline_text(l, &whole);
}

void jsonline_object(struct jsonline *l, const struct store_text *text)
{
	if (text && text->data && jsonscan_is_object(text->data, text->bytes))
		jsonline_json(l, text->data, text->bytes);
	else
		jsonline_text(l, text);
}

/* The text between the braces, without leading blanks. */
static struct store_text inside(const struct store_text *object)
{
	const char *from = object->data, *end = from + object->bytes;

	while (*from != '{')
		from++;
	while (end[-1] != '}')
		end--;
	for (from++, end--; from < end && (*from == ' ' || *from == '\t');)
		from++;
	return (struct store_text){ .data = from, .bytes = (size_t)(end - from) };
}

bool jsonline_members(struct jsonline *l, const struct store_text *text, const char *before)
{
	bool is_object = text && text->data && jsonscan_is_object(text->data, text->bytes);
	struct store_text members = is_object ? inside(text) : (struct store_text){ .data = NULL };

	if (!text || !text->data || (is_object && !members.bytes))
		return false;
	jsonline_add(l, before, strlen(before));
	if (is_object) {
		jsonline_json(l, members.data, members.bytes);
	} else {
		JSONLINE_ADD(l, "\"args\":");
		jsonline_text(l, text);
	}
	return true;
}
