/*
 * Every value passes through value_begin, which handles commas, newlines and the key rule. Level 0 is the top, where
 * further values start a new line (JSON Lines). Real numbers rely on the C locale's decimal point; no main changes
 * the locale.
 */
#include "base/json.h"

#include "base/jsonscan.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_init(struct json *j, struct buf *out, bool is_pretty)
{
	*j = (struct json){ .out = out, .is_pretty = is_pretty };
}

static void new_line(struct json *j)
{
	buf_addc(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buf_add(j->out, "  ", 2);
}

/* Writes the separator between this item and the previous one. */
static void item_begin(struct json *j)
{
	bool has_items = j->has_items[j->depth];

	j->has_items[j->depth] = true;
	if (j->depth == 0) {
		if (has_items)
			buf_addc(j->out, '\n');
		return;
	}
	if (has_items)
		buf_addc(j->out, ',');
	if (j->is_pretty)
		new_line(j);
}

static void value_begin(struct json *j)
{
	assert(j->is_object[j->depth] == j->has_key);
	if (!j->has_key)
		item_begin(j);
	j->has_key = false;
}

static void open_level(struct json *j, bool is_object)
{
	value_begin(j);
	assert(j->depth + 1 < JSON_DEPTH_MAX);
	j->depth++;
	j->is_object[j->depth] = is_object;
	j->has_items[j->depth] = false;
	buf_addc(j->out, is_object ? '{' : '[');
}

void json_object(struct json *j)
{
	open_level(j, true);
}

void json_array(struct json *j)
{
	open_level(j, false);
}

void json_end(struct json *j)
{
	bool is_object = j->is_object[j->depth];
	bool has_items = j->has_items[j->depth];

	assert(j->depth > 0 && !j->has_key);
	j->depth--;
	if (j->is_pretty && has_items)
		new_line(j);
	buf_addc(j->out, is_object ? '}' : ']');
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void escape(struct buf *out, unsigned char c)
{
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *s = short_forms; *s; s += 2) {
		if ((unsigned char)*s == c) {
			buf_addc(out, '\\');
			buf_addc(out, s[1]);
			return;
		}
	}
	buf_addf(out, "\\u%04x", c);
}

static void add_quoted(struct buf *out, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i = 0;

	buf_addc(out, '"');
	while (i < n) {
		size_t len, from = i;

		while (i < n && is_plain(p[i]))
			i++;
		buf_add(out, text + from, i - from);
		if (i == n)
			break;
		len = jsonscan_utf8(p + i, n - i);
		if (len == 1)
			escape(out, p[i]);
		else if (len)
			buf_add(out, text + i, len);
		else
			buf_adds(out, "\xef\xbf\xbd");
		i += len ? len : 1;
	}
	buf_addc(out, '"');
}

void json_key(struct json *j, const char *key)
{
	assert(j->is_object[j->depth] && !j->has_key);
	item_begin(j);
	add_quoted(j->out, key, strlen(key));
	buf_adds(j->out, j->is_pretty ? ": " : ":");
	j->has_key = true;
}

void json_str(struct json *j, const char *text)
{
	if (text)
		json_strn(j, text, strlen(text));
	else
		json_null(j);
}

void json_strn(struct json *j, const char *text, size_t n)
{
	value_begin(j);
	add_quoted(j->out, text, n);
}

/* Event listings are mostly integers, and printf is several times slower. */
static void add_number(struct buf *out, uint64_t v, bool is_negative)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	if (is_negative)
		digits[--at] = '-';
	buf_add(out, digits + at, sizeof(digits) - at);
}

void json_int(struct json *j, int64_t v)
{
	value_begin(j);
	add_number(j->out, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

void json_uint(struct json *j, uint64_t v)
{
	value_begin(j);
	add_number(j->out, v, false);
}

void json_real(struct json *j, double v)
{
	char text[40];

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	value_begin(j);
	buf_adds(j->out, text);
}

void json_bool(struct json *j, bool v)
{
	value_begin(j);
	buf_adds(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
	value_begin(j);
	buf_adds(j->out, "null");
}

void json_raw(struct json *j, const char *text, size_t n)
{
	value_begin(j);
	buf_add(j->out, text, n);
}

void json_kobject(struct json *j, const char *key)
{
	json_key(j, key);
	json_object(j);
}

void json_karray(struct json *j, const char *key)
{
	json_key(j, key);
	json_array(j);
}

/* json_k<kind>: a key and its value. */
#define KEYED(kind, type) \
	void json_k##kind(struct json *j, const char *key, type v) \
	{ \
		json_key(j, key); \
		json_##kind(j, v); \
	}
KEYED(str, const char *)
KEYED(int, int64_t)
KEYED(uint, uint64_t)
KEYED(real, double)
KEYED(bool, bool)
