/*
 * json-scan: scans the JSON of traces in place.
 *
 * RFC 8259, with two extensions that traces need: strings may contain control characters and bytes that are not UTF-8.
 * Scanners read only [at, end) and return NULL on invalid JSON. Cleaned and encoded text is strict JSON: control
 * characters become \u00XX, and a byte XX that is not UTF-8 becomes \udcXX (a lone surrogate, as in Python's
 * surrogateescape), which decodes to that byte.
 */
#ifndef SONDE_PFW_JSON_SCAN_H
#define SONDE_PFW_JSON_SCAN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFW_DEPTH_MAX 28 /* of nested values; the writer of arguments has a slightly higher limit */

enum pfw_kind { PFW_STRING = 1, PFW_INTEGER, PFW_REAL, PFW_WORD, PFW_OBJECT, PFW_ARRAY };

/* Properties of a string besides plain ASCII. */
enum pfw_flags {
	PFW_HAS_ESCAPE = 1 << 0,
	PFW_HAS_ODD = 1 << 1 /* control characters, or bytes above 0x7f */
};

const char *pfw_skip_blanks(const char *at, const char *end);
/* From after the opening quote to after the closing one; sets bits in flags. */
const char *pfw_skip_string(const char *at, const char *end, unsigned *flags);
const char *pfw_skip_number(const char *at, const char *end, enum pfw_kind *kind);
/* Skips any value, without leading blanks. */
const char *pfw_skip_value(const char *at, const char *end, enum pfw_kind *kind, unsigned *flags);

/* Parses an integer that fits. Returns false for anything else, including "-0" and leading zeros. */
bool pfw_parse_int(const char *at, size_t n, int64_t *v);
bool pfw_parse_uint(const char *at, size_t n, uint64_t *v);
/*
 * Parses a number times `unit`, exactly; returns false if the result is not an int64_t. "1.5" with unit 1000 is 1500.
 */
bool pfw_parse_scaled(const char *at, size_t n, int64_t unit, int64_t *v);
/* The value of the four digits of \uXXXX, or -1 if they are invalid. */
int pfw_hex4(const char *at, const char *end);
/* Parses 16 lower-case hexadecimal digits. */
bool pfw_parse_hex(const char *at, size_t n, uint64_t *v);

/* Decodes the text between the quotes of a string that was already scanned. */
void pfw_decode(struct buf *out, const char *at, size_t n);
/* Appends a JSON string with its quotes. */
void pfw_encode(struct buf *out, const char *bytes, size_t n);
/* Copies JSON text, with strings made strict and without control characters between tokens. */
void pfw_clean(struct buf *out, const char *at, size_t n);

#endif
