/*
 * pfw-json: JSON as traces have it, scanned in place.
 *
 * RFC 8259, with two liberties that tracers take and readers must forgive:
 * control characters and bytes that are no UTF-8 may stand inside strings.
 * Scanners read [at, end) and nothing beyond; they answer NULL for what is no
 * JSON. Cleaned and encoded text is strict JSON: control characters become
 * \u00XX, and a byte XX that is no UTF-8 becomes \udcXX (a lone surrogate, as
 * Python's surrogateescape has it), which decoding turns back into that byte.
 */
#ifndef SONDE_PFW_JSON_SCAN_H
#define SONDE_PFW_JSON_SCAN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFW_DEPTH_MAX 28 /* of nested values; what prints arguments refuses a little more than this */

enum pfw_kind { PFW_STRING = 1, PFW_INTEGER, PFW_REAL, PFW_WORD, PFW_OBJECT, PFW_ARRAY };

/* What a string has besides plain ASCII. */
enum pfw_flags {
	PFW_HAS_ESCAPE = 1 << 0,
	PFW_HAS_ODD = 1 << 1 /* control characters, or bytes above 0x7f */
};

const char *pfw_skip_blanks(const char *at, const char *end);
/* From behind the opening quote to behind the closing one; flags are added to. */
const char *pfw_skip_string(const char *at, const char *end, unsigned *flags);
const char *pfw_skip_number(const char *at, const char *end, enum pfw_kind *kind);
/* Any value, blanks before it not included. */
const char *pfw_skip_value(const char *at, const char *end, enum pfw_kind *kind, unsigned *flags);

/* An integer that fits. False for anything else, "-0" and leading zeros too. */
bool pfw_parse_int(const char *at, size_t n, int64_t *v);
bool pfw_parse_uint(const char *at, size_t n, uint64_t *v);
/* A number times `unit`, exactly; false when that is no int64_t. "1.5" with unit 1000 is 1500. */
bool pfw_parse_scaled(const char *at, size_t n, int64_t unit, int64_t *v);
/* The four digits of \uXXXX; -1: there are none. */
int pfw_hex4(const char *at, const char *end);
/* 16 hexadecimal digits in lower case. */
bool pfw_parse_hex(const char *at, size_t n, uint64_t *v);

/* The bytes that a string's inside stands for; what was scanned before is valid. */
void pfw_decode(struct buf *out, const char *at, size_t n);
/* A JSON string with its quotes. */
void pfw_encode(struct buf *out, const char *bytes, size_t n);
/* JSON text with what is odd in its strings made strict, and without control characters between them. */
void pfw_clean(struct buf *out, const char *at, size_t n);

#endif
