/*
 * line-parse: one line of a trace, split into its fields.
 *
 * A trace has one JSON object per line. Tracers and tools add text that is not part of the record and is skipped: array
 * brackets on their own line or before the object, a comma or bracket after it, blanks. This is the general parser,
 * correct for every line; line-template.h is the fast path for lines that resemble earlier ones.
 */
#ifndef SONDE_PFW_LINE_PARSE_H
#define SONDE_PFW_LINE_PARSE_H

#include "base/buf.h"
#include "base/jsonscan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers and strings of the JSON in traces (base/jsonscan.h), decoded and encoded.
 *
 * Cleaned and encoded text is strict JSON: control characters become \u00XX, and a byte XX that is not UTF-8 becomes
 * \udcXX (a lone surrogate, as in Python's surrogateescape), which decodes to that byte.
 */

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

/* Keys with a meaning: X(name as it is written). */
#define PFW_KEYS(X) \
	X(id) \
	X(fd) \
	X(ph) \
	X(ts) \
	X(pid) \
	X(tid) \
	X(cat) \
	X(dur) \
	X(ret) \
	X(cwd) \
	X(name) \
	X(args) \
	X(ppid) \
	X(size) \
	X(mode) \
	X(level) X(p_idx) X(count) X(hhash) X(fhash) X(fname) X(value) X(offset) X(hostname) X(cmd_hash) X(exec_hash)

enum pfw_key {
	PFW_KEY_other,
#define PFW_KEY(name) PFW_KEY_##name,
	PFW_KEYS(PFW_KEY)
#undef PFW_KEY
			PFW_KEY_COUNT
};

#define PFW_LINE_BYTES_MAX ((size_t)16 << 20) /* longer lines are counted and skipped */
#define PFW_LONG_BYTES ((size_t)1 << 20)      /* longer lines are processed one at a time, and their memory is freed */
#define PFW_TOO_LONG "longer than 16 MiB"
#define PFW_FIELDS_MAX 65536u /* lines with more are invalid */

/* "key":value; pointers into the line. */
struct pfw_field {
	const char *from;  /* opening quote of the key */
	const char *to;    /* after the value */
	const char *key;   /* without its quotes, escapes not decoded */
	const char *value; /* of a string: after its opening quote */
	uint32_t key_bytes;
	uint32_t bytes;       /* of the value; of a string: without its quotes */
	uint8_t id;           /* enum pfw_key */
	uint8_t kind;         /* enum jsonscan_kind */
	uint8_t flags;        /* enum jsonscan_flags, of key and value */
	bool is_arg;          /* inside "args" */
	uint8_t role, column; /* set by event-parse.c */
};

struct pfw_line {
	struct pfw_field *fields; /* fields of the object except "args", and those inside "args", in line order */
	size_t count;
	bool has_args;      /* "args" is an object */
	const char *reason; /* why the line is invalid */
	size_t where;       /* and at which byte */
	/* private */
	size_t cap;
	int32_t first[2][PFW_KEY_COUNT]; /* index of the first field with a key: of the object, of "args"; -1: none */
};

#define PFW_LINE_INIT { .fields = NULL }

enum pfw_line_kind { PFW_LINE_RECORD, PFW_LINE_BLANK, PFW_LINE_BRACKET, PFW_LINE_INVALID, PFW_LINE_NO_MEMORY };

void pfw_line_release(struct pfw_line *l);
/* at[0..n) is the line without its newline; n <= PFW_LINE_BYTES_MAX. */
enum pfw_line_kind pfw_line_scan(struct pfw_line *l, const char *at, size_t n);
/* The same for an object in which "args" is an ordinary field: the text of arguments. */
enum pfw_line_kind pfw_object_scan(struct pfw_line *l, const char *at, size_t n);

/* The first field with that key, of the object or of its arguments. NULL if not found. */
static inline struct pfw_field *pfw_line_get(const struct pfw_line *l, enum pfw_key key)
{
	return l->first[0][key] < 0 ? NULL : &l->fields[l->first[0][key]];
}

static inline struct pfw_field *pfw_line_arg(const struct pfw_line *l, enum pfw_key key)
{
	return l->first[1][key] < 0 ? NULL : &l->fields[l->first[1][key]];
}

/* The value as a number; it may be quoted. */
bool pfw_field_int(const struct pfw_field *f, int64_t *v);
/* A hash: an integer, or a string of 16 hexadecimal digits. */
bool pfw_field_hash(const struct pfw_field *f, uint64_t *v, bool *is_hex);
/* Appends the decoded string, or the text of another value. */
void pfw_field_text(const struct pfw_field *f, struct buf *out);

#endif
