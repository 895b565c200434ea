/*
 * json: a writer that cannot produce invalid JSON.
 *
 * It writes into a buf, places commas and quotes itself, and escapes every string: bytes that are not UTF-8 become
 * U+FFFD. NaN and infinities become null. A value inside an object needs a key before it; misuse is an assertion.
 * Several values at the top are JSON Lines. Small documents are read with jansson, traces by exchange/.
 */
#ifndef SONDE_BASE_JSON_H
#define SONDE_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * jansson exports these four names too; renaming ours lets one program link both. A file that uses this writer and
 * jansson includes jansson.h before this header.
 */
#define json_object sonde_json_object
#define json_array sonde_json_array
#define json_real sonde_json_real
#define json_null sonde_json_null

#define JSON_DEPTH_MAX 64

struct json {
	struct buf *out;
	bool is_pretty; /* newlines, and two spaces per level */
	/* private */
	unsigned depth;
	bool has_items[JSON_DEPTH_MAX];
	bool is_object[JSON_DEPTH_MAX];
	bool has_key;
};

void json_init(struct json *j, struct buf *out, bool is_pretty);
void json_object(struct json *j);
void json_array(struct json *j);
void json_end(struct json *j); /* closes the innermost object or array */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *text); /* NULL: null */
void json_strn(struct json *j, const char *text, size_t n);
void json_int(struct json *j, int64_t v);
void json_uint(struct json *j, uint64_t v);
void json_real(struct json *j, double v); /* shortest text that reads back as the same number */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_raw(struct json *j, const char *text, size_t n); /* text is one valid JSON value */

/* key and value in one call; json_end closes what the first two open */
void json_kobject(struct json *j, const char *key);
void json_karray(struct json *j, const char *key);
void json_kstr(struct json *j, const char *key, const char *text);
void json_kint(struct json *j, const char *key, int64_t v);
void json_kuint(struct json *j, const char *key, uint64_t v);
void json_kreal(struct json *j, const char *key, double v);
void json_kbool(struct json *j, const char *key, bool v);

#endif
