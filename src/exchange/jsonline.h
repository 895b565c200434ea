/*
 * jsonline: a fast JSON writer for exports.
 *
 * Unlike base/json it does not track the syntax: the caller writes keys, commas and braces as text. Values are always
 * valid: difficult ones (escapes, reals, bytes that are not UTF-8) are passed to base/json. They are also safe for
 * terminals: DEL and the C1 controls, which JSON allows, are escaped like the others. Out of memory drops bytes and
 * sets is_failed; check it once at the end.
 */
#ifndef SONDE_EXCHANGE_JSONLINE_H
#define SONDE_EXCHANGE_JSONLINE_H

#include "base/buf.h"
#include "store/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct jsonline {
	char *data; /* not NUL-terminated */
	size_t len;
	bool is_failed;
	/* private */
	size_t cap;
	struct buf scratch;
};

#define JSONLINE_INIT { .scratch = BUF_INIT }

void jsonline_release(struct jsonline *l);
/* Reserves n more bytes; NULL if out of memory. */
char *jsonline_grow(struct jsonline *l, size_t n);

static inline void jsonline_add(struct jsonline *l, const char *bytes, size_t n)
{
	char *at = n <= l->cap - l->len ? l->data + l->len : jsonline_grow(l, n);

	if (at) {
		memcpy(at, bytes, n);
		l->len += n;
	}
}

/* A string literal, verbatim. */
#define JSONLINE_ADD(l, literal) jsonline_add(l, "" literal, sizeof(literal) - 1)

void jsonline_int(struct jsonline *l, int64_t value); /* STORE_NULL: null */
void jsonline_real(struct jsonline *l, double value); /* not finite: null */
/* Nanoseconds as microseconds with three decimals. */
void jsonline_us(struct jsonline *l, int64_t ns);
void jsonline_text(struct jsonline *l, const struct store_text *text); /* NULL or null: null */
void jsonline_str(struct jsonline *l, const char *text);               /* NULL: null */
/* A text that should be a JSON object, verbatim; otherwise as a string. */
void jsonline_object(struct jsonline *l, const struct store_text *text);
/*
 * The members of such a text without its braces, after `before` if there are any. A text that is not an object becomes
 * the single member "args". Returns whether there were any.
 */
bool jsonline_members(struct jsonline *l, const struct store_text *text, const char *before);
/* A JSON text; control characters that JSON allows are escaped. */
void jsonline_json(struct jsonline *l, const char *text, size_t n);

#endif
