/*
 * line-write: the lines of DFTracer's format, for the log in the traced program and for the exporter.
 *
 * What a line looks like in each generation is decided here and nowhere else. Functions write at `at` and return the
 * end; nothing is allocated and no locale is used. The caller has reserved LINE_ROOM for a line, and LINE_JSON_ROOM
 * more for each text of the program. Fields start with a comma. Numbers that are LINE_NONE are unknown: not written.
 */
#ifndef SONDE_PFW_LINE_WRITE_H
#define SONDE_PFW_LINE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINE_ROOM 8192u      /* for everything in a line except the program's texts */
#define LINE_NONE INT64_MIN  /* as SONDE_NONE and STORE_NULL */
#define LINE_ARGS_MAX 4      /* plain arguments of a call */
#define LINE_ARG_NAME_MAX 32 /* bytes of an argument's name, with a NUL */

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

/* ,"key":v with a constant key */
#define PUT_INT(at, key, v) put_int(PUT(at, ",\"" key "\":"), v)

char *put_hex(char *at, uint64_t v); /* 16 digits */

/* Writes a JSON string; needs at most LINE_JSON_ROOM(n). Bytes that are not UTF-8 become \udcXX. */
#define LINE_JSON_ROOM(n) (6 * (n) + 2)
char *put_json(char *at, const char *text, size_t n);
/* is_strict: as DFTracer writes it, with spaces for the characters that it does not escape. */
char *put_name(char *at, const char *text, size_t n, bool is_strict);
/* A hash: hexadecimal in quotes from generation D on, else a number. */
char *put_hash(char *at, uint64_t hash, bool is_hex);

/* ,"ph":"X" or its number; X event, C counter, A aggregate, M metadata */
char *put_phase(char *at, char generation, char phase);
/* ,"name":..,"cat":.. */
char *put_title(char *at, const char *name, size_t n, const char *category, size_t m, bool is_strict);
/* ,"name":..,"value":.. of a metadata record: the hash, or `value` if it is not NULL (JSON text) */
char *put_definition(char *at, const char *name, size_t n, const char *value, uint64_t hash, bool is_hex,
		bool is_strict);

/* Names of a call's plain arguments, ready to be written: ,"name": */
struct line_args {
	bool has_count; /* one is called "count" */
	uint8_t bytes[LINE_ARGS_MAX];
	char text[LINE_ARGS_MAX][LINE_ARG_NAME_MAX + 8];
};
/* `names` with commas between them; a name that a line already has is prefixed. */
void line_args_init(struct line_args *args, const char *names);

/* The arguments of a call's line. */
struct line_call {
	int64_t parent, level; /* id of the enclosing event, -1: none; nesting from 1 */
	int64_t ret, size, offset, fd, errnum;
	const uint64_t *file, *file2; /* hashes; NULL: none */
	const char *path;             /* instead of the hash, in generation A; NULL: none */
	size_t path_bytes;
	bool has_count; /* "count" is an argument, and the size is called "size" */
	const struct line_args *names;
	const int64_t *values;
	unsigned count; /* of values */
	const char *text_key, *text;
	size_t text_key_bytes, text_bytes;
	bool is_exec; /* the text is a list: file name and arguments, each terminated by NUL */
	bool is_hex, is_strict;
};
char *put_call(char *at, const struct line_call *c);
/* Gets the next text of such a list, and removes it; returns false at the end. */
bool line_next_text(const char **list, size_t *left, const char **text, size_t *n);

/* The arguments of the record `start`; hashes that are NULL are not written. */
struct line_start {
	int64_t ppid;
	const char *date; /* NULL: unknown */
	const uint64_t *cwd, *command, *exe;
	bool is_hex;
};
char *put_start(char *at, const struct line_start *s);

/*
 * The hashes with which DFTracer refers to hosts, files and strings.
 *
 * Both are taken from the MD5 digest (RFC 1321) of the bytes. Up to generation C the number consists of the high halves
 * of the digest's 16 bytes: a bug in the tracer that became the format. From generation D on it consists of the bytes
 * 0, 2 .. 14, written as 16 hexadecimal digits.
 */

void pfw_md5(const void *bytes, size_t n, uint8_t digest[16]);
uint64_t pfw_hash_c(const void *bytes, size_t n);
uint64_t pfw_hash_d(const void *bytes, size_t n);

#endif
