/*
 * `cap` counts the bytes that fit before the '\0', so cap + 1 bytes are allocated. cap 0 means that data is the
 * shared buf_empty, which is never written. Capacity doubles, so appending is linear in the bytes appended.
 */
#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 64 };

char buf_empty[1];

void buf_init(struct buf *b, size_t max)
{
	if (!max)
		max = BUF_MAX_DEFAULT;
	if (max > PTRDIFF_MAX - 1)
		max = PTRDIFF_MAX - 1;
	*b = (struct buf){ .data = buf_empty, .max = max };
}

void buf_release(struct buf *b)
{
	if (b->cap)
		free(b->data);
	buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->is_failed = false;
	if (b->cap)
		b->data[0] = '\0';
}

char *buf_take(struct buf *b)
{
	char *text = b->cap ? b->data : calloc(1, 1);

	buf_init(b, b->max);
	return text;
}

int buf_error(const struct buf *b)
{
	return b->is_failed ? -ENOMEM : 0;
}

static size_t next_cap(const struct buf *b, size_t need)
{
	size_t cap = b->cap < CAP_MIN ? CAP_MIN : b->cap;

	while (cap < need)
		cap = cap > b->max / 2 ? b->max : cap * 2;
	return cap < b->max ? cap : b->max;
}

/* Appends after the first failure are dropped too, so that the text has no holes. */
bool buf_reserve(struct buf *b, size_t n)
{
	char *data;
	size_t cap;

	if (b->is_failed || n > b->max - b->len)
		return !(b->is_failed = true);
	if (n <= b->cap - b->len)
		return true;
	cap = next_cap(b, b->len + n);
	data = realloc(b->cap ? b->data : NULL, cap + 1);
	if (!data)
		return !(b->is_failed = true);
	data[b->len] = '\0';
	b->data = data;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (!n || !buf_reserve(b, n))
		return;
	memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_add_html(struct buf *b, const char *text)
{
	static const char *const entities[] = { ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;" };

	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < sizeof(entities) / sizeof(*entities) && entities[c])
			buf_adds(b, entities[c]);
		else
			buf_addc(b, *text);
	}
}

void buf_add_base64(struct buf *b, const void *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i < 3 ? n - i : 3;
		uint32_t three = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
				(left > 2 ? at[i + 2] : 0u);
		char four[4] = { digits[three >> 18], digits[three >> 12 & 63],
			left > 1 ? digits[three >> 6 & 63] : '=', left > 2 ? digits[three & 63] : '=' };

		buf_add(b, four, sizeof(four));
	}
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	/* The text usually fits in the available capacity and is formatted once. */
	va_copy(again, ap);
	n = vsnprintf(b->cap ? b->data + b->len : NULL, b->cap ? b->cap - b->len + 1 : 0, fmt, again);
	va_end(again);
	if (n > 0 && ((size_t)n > b->cap - b->len || b->is_failed))
		n = buf_reserve(b, (size_t)n) ? vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap) : 0;
	if (n < 0)
		b->is_failed = true;
	else
		b->len += (size_t)n;
	if (b->cap)
		b->data[b->len] = '\0';
}

char *buf_room(struct buf *b, size_t n)
{
	if (!buf_reserve(b, n ? n : 1))
		return NULL;
	memset(b->data + b->len, 0, n + 1);
	return b->data + b->len;
}

void buf_set_end(struct buf *b, char *end)
{
	b->len = (size_t)(end - b->data);
	*end = '\0';
}
