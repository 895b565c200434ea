/* A recursive descent recognizer. Each function returns the end of the element it is named after, or NULL. */
#include "model/jsontext.h"

#include <stddef.h>
#include <string.h>

#define DEPTH_MAX 32

static const char *value(const char *at, const char *end, unsigned depth);

static const char *blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static bool is_tail(const char *at, const char *end)
{
	return at < end && ((unsigned char)*at & 0xc0) == 0x80;
}

/* One UTF-8 character beyond ASCII: no overlong forms, no surrogates, at most U+10FFFF. */
static const char *character(const char *at, const char *end)
{
	unsigned char a = (unsigned char)at[0], b;
	size_t n = a >= 0xc2 && a < 0xe0 ? 2 : (a & 0xf0) == 0xe0 ? 3 : a >= 0xf0 && a < 0xf5 ? 4 : 0;

	if (!n || !is_tail(at + 1, end))
		return NULL;
	b = (unsigned char)at[1];
	if ((a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) || (a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f))
		return NULL;
	for (size_t i = 2; i < n; i++)
		if (!is_tail(at + i, end))
			return NULL;
	return at + n;
}

static const char *escape(const char *at, const char *end)
{
	if (++at == end || !*at || !strchr("\"\\/bfnrtu", *at))
		return NULL;
	if (*at != 'u')
		return at + 1;
	for (int i = 1; i <= 4; i++)
		if (at + i >= end || !at[i] || !strchr("0123456789abcdefABCDEF", at[i]))
			return NULL;
	return at + 5;
}

static const char *string(const char *at, const char *end)
{
	if (at == end || *at++ != '"')
		return NULL;
	while (at && at < end && *at != '"') {
		if (*at == '\\')
			at = escape(at, end);
		else if ((unsigned char)*at < 0x20)
			return NULL;
		else
			at = (unsigned char)*at < 0x80 ? at + 1 : character(at, end);
	}
	return at && at < end ? at + 1 : NULL;
}

static const char *digits(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at > from ? at : NULL;
}

static const char *number(const char *at, const char *end)
{
	const char *from;

	if (at < end && *at == '-')
		at++;
	from = at;
	at = digits(at, end);
	if (!at || (*from == '0' && at > from + 1))
		return NULL;
	if (at < end && *at == '.' && !(at = digits(at + 1, end)))
		return NULL;
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		if (at < end && (*at == '+' || *at == '-'))
			at++;
		return digits(at, end);
	}
	return at;
}

static const char *word(const char *at, const char *end)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - at) >= n && memcmp(at, words[i], n) == 0)
			return at + n;
	}
	return NULL;
}

static const char *member(const char *at, const char *end, unsigned depth, bool is_object)
{
	if (is_object) {
		at = string(at, end);
		at = at ? blanks(at, end) : NULL;
		if (!at || at == end || *at != ':')
			return NULL;
		at = blanks(at + 1, end);
	}
	return value(at, end, depth);
}

static const char *group(const char *at, const char *end, unsigned depth)
{
	bool is_object = *at == '{';
	char closing = is_object ? '}' : ']';

	at = blanks(at + 1, end);
	if (depth == DEPTH_MAX || (at < end && *at == closing))
		return depth == DEPTH_MAX ? NULL : at + 1;
	for (;;) {
		at = member(at, end, depth + 1, is_object);
		at = at ? blanks(at, end) : NULL;
		if (!at || at == end || (*at != ',' && *at != closing))
			return NULL;
		if (*at == closing)
			return at + 1;
		at = blanks(at + 1, end);
	}
}

static const char *value(const char *at, const char *end, unsigned depth)
{
	if (at == end)
		return NULL;
	if (*at == '{' || *at == '[')
		return group(at, end, depth);
	if (*at == '"')
		return string(at, end);
	return *at == '-' || (*at >= '0' && *at <= '9') ? number(at, end) : word(at, end);
}

bool model_is_json_object(const struct store_text *text)
{
	const char *end = text->data + text->bytes, *at = blanks(text->data, end);

	if (at == end || *at != '{')
		return false;
	at = value(at, end, 0);
	return at && blanks(at, end) == end;
}
