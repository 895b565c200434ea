/*
 * json-values: numbers and strings of the JSON in traces (base/jsonscan.h), decoded and encoded.
 *
 * Cleaned and encoded text is strict JSON: control characters become \u00XX, and a byte XX that is not UTF-8 becomes
 * \udcXX (a lone surrogate, as in Python's surrogateescape), which decodes to that byte.
 */
#ifndef SONDE_PFW_JSON_VALUES_H
#define SONDE_PFW_JSON_VALUES_H

#include "base/buf.h"
#include "base/jsonscan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses an integer that fits. Returns false for anything else, including "-0" and leading zeros. */
bool pfw_parse_int(const char *at, size_t n, int64_t *v);
bool pfw_parse_uint(const char *at, size_t n, uint64_t *v);
/*
 * Parses a number times `unit`, exactly; returns false if the result is not an int64_t. "1.5" with unit 1000 is 1500.
 */
bool pfw_parse_scaled(const char *at, size_t n, int64_t unit, int64_t *v);
/* Parses 16 lower-case hexadecimal digits. */
bool pfw_parse_hex(const char *at, size_t n, uint64_t *v);

/* Decodes the text between the quotes of a string that was already scanned. */
void pfw_decode(struct buf *out, const char *at, size_t n);
/* Appends a JSON string with its quotes. */
void pfw_encode(struct buf *out, const char *bytes, size_t n);
/* Copies JSON text, with strings made strict and without control characters between tokens. */
void pfw_clean(struct buf *out, const char *at, size_t n);

#endif
