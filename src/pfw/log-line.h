/*
 * log-line: a text buffer, and functions that write the parts of a line.
 *
 * A text has room for a line of ordinary length before the line starts, so its parts are written without checks;
 * reserve room with text_need before writing a long text.
 */
#ifndef SONDE_PFW_LOG_LINE_H
#define SONDE_PFW_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINE_ROOM 8192u /* for everything in a line except the program's texts */

struct text {
	char *data;
	size_t len, room;
};

/* Reserves `bytes` more; returns false if out of memory. */
bool text_need(struct text *t, size_t bytes);
void text_release(struct text *t);

static inline char *put_bytes(char *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* Writes a string constant. */
#define PUT(at, constant) put_bytes(at, constant, sizeof(constant) - 1)

static inline char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

extern const char line_pairs[201]; /* "00" to "99" */

static inline char *put_uint(char *at, uint64_t v)
{
	char digits[20];
	unsigned n = sizeof(digits);
	while (v >= 100) {
		unsigned pair = (unsigned)(v % 100) * 2;
		v /= 100;
		digits[--n] = line_pairs[pair + 1];
		digits[--n] = line_pairs[pair];
	}
	if (v >= 10) {
		digits[--n] = line_pairs[2 * v + 1];
		digits[--n] = line_pairs[2 * v];
	} else {
		digits[--n] = (char)('0' + v);
	}
	return put_bytes(at, digits + n, sizeof(digits) - n);
}

static inline char *put_int(char *at, int64_t v)
{
	if (v < 0)
		*at++ = '-';
	return put_uint(at, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

char *put_hex(char *at, uint64_t v); /* 16 digits */

/* Writes a JSON string; needs at most LINE_JSON_ROOM(n). Bytes that are not UTF-8 become \udcXX. */
#define LINE_JSON_ROOM(n) (6 * (n) + 2)
char *put_json(char *at, const char *text, size_t n);

/* Returns whether the text is one JSON value, on one line, of plain ASCII. */
bool is_json(const char *text, size_t n);

#endif
