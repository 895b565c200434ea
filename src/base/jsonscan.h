/*
 * jsonscan: scans JSON text in place, without memory of its own.
 *
 * RFC 8259 with two extensions that traces need: strings may contain control characters and bytes that are not UTF-8;
 * the flags report them. Scanners read only [at, end), which holds one line, and return the position after what they
 * scanned, or NULL if it is invalid. All readers of JSON text share the limit JSONSCAN_DEPTH_MAX, so what one of them
 * accepts the others accept too. Also compiled into libdftracer: needs nothing but libc's string functions.
 */
#ifndef SONDE_BASE_JSONSCAN_H
#define SONDE_BASE_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONSCAN_DEPTH_MAX 32 /* nested objects and arrays */

enum jsonscan_kind {
	JSONSCAN_STRING = 1,
	JSONSCAN_INTEGER,
	JSONSCAN_REAL,
	JSONSCAN_WORD,
	JSONSCAN_OBJECT,
	JSONSCAN_ARRAY
};

/* Properties of strings besides plain ASCII. */
enum jsonscan_flags {
	JSONSCAN_HAS_ESCAPE = 1 << 0,
	JSONSCAN_HAS_CONTROL = 1 << 1,
	JSONSCAN_HAS_HIGH = 1 << 2, /* bytes above 0x7f */
	JSONSCAN_HAS_ODD = JSONSCAN_HAS_CONTROL | JSONSCAN_HAS_HIGH
};

const char *jsonscan_blanks(const char *at, const char *end); /* never NULL */
/* From after the opening quote to after the closing one; sets bits in flags. */
const char *jsonscan_string(const char *at, const char *end, unsigned *flags);
const char *jsonscan_number(const char *at, const char *end, enum jsonscan_kind *kind);
/* Any value, without leading blanks. It is inside `depth` objects and arrays, which count towards the limit. */
const char *jsonscan_value(const char *at, const char *end, unsigned depth, enum jsonscan_kind *kind, unsigned *flags);

/* The value of the four digits of \uXXXX, or -1 if they are invalid. */
int jsonscan_hex4(const char *at, const char *end);
/* Value of a hexadecimal digit, or -1. */
int jsonscan_hex(char c);
/* Length of the UTF-8 character at p, where n bytes are left; 0 if it is invalid (RFC 3629). */
size_t jsonscan_utf8(const void *p, size_t n);

/* Returns whether the text is one value of printable ASCII that may be put into an object. */
bool jsonscan_is_value(const char *text, size_t n);
/* Returns whether the text is one object, on one line, of strict JSON in UTF-8. */
bool jsonscan_is_object(const char *text, size_t n);

#endif
