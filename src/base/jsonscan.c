#include "base/jsonscan.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

const char *jsonscan_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

int jsonscan_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int jsonscan_hex4(const char *at, const char *end)
{
	int v = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = jsonscan_hex(at[i]);

		if (digit < 0)
			return -1;
		v = v << 4 | digit;
	}
	return v;
}

/*
 * The characters of more than one byte, by the last first byte of each group (RFC 3629, section 4). The range of the
 * second byte excludes overlong forms, surrogates and values above U+10FFFF.
 */
static const struct utf8_group {
	unsigned char last, length, from, to;
} utf8_groups[] = {
	{ 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 3, 0xa0, 0xbf },
	{ 0xec, 3, 0x80, 0xbf },
	{ 0xed, 3, 0x80, 0x9f },
	{ 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 4, 0x90, 0xbf },
	{ 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 4, 0x80, 0x8f },
};

size_t jsonscan_utf8(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	const struct utf8_group *g = utf8_groups;

	if (p[0] < 0x80)
		return n ? 1 : 0;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	while (p[0] > g->last)
		g++;
	if (n < g->length || p[1] < g->from || p[1] > g->to)
		return 0;
	for (size_t i = 2; i < g->length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return g->length;
}

/* From after the backslash to after the escape. */
static const char *skip_escape(const char *at, const char *end)
{
	if (at == end)
		return NULL;
	if (*at == 'u')
		return jsonscan_hex4(at + 1, end) < 0 ? NULL : at + 5;
	return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
}

/* Skips plain characters. */
static const char *skip_plain(const char *at, const char *end)
{
#ifdef __SSE2__
	for (; end - at >= 16; at += 16) {
		__m128i v = _mm_loadu_si128((const __m128i_u *)at);
		__m128i special = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
				_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
						_mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
		int mask = _mm_movemask_epi8(special);

		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
#endif
	return at;
}

const char *jsonscan_string(const char *at, const char *end, unsigned *flags)
{
	while (at && (at = skip_plain(at, end)) < end) {
		unsigned char c = (unsigned char)*at++;

		if (c == '"')
			return at;
		if (c == '\\') {
			*flags |= JSONSCAN_HAS_ESCAPE;
			at = skip_escape(at, end);
		} else if (c < 0x20 || c > 0x7f) {
			*flags |= c < 0x20 ? JSONSCAN_HAS_CONTROL : JSONSCAN_HAS_HIGH;
		}
	}
	return NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at > from ? at : NULL;
}

const char *jsonscan_number(const char *at, const char *end, enum jsonscan_kind *kind)
{
	*kind = JSONSCAN_INTEGER;
	if (at < end && *at == '-')
		at++;
	if (at < end && *at == '0')
		at++;
	else
		at = skip_digits(at, end);
	if (at && at < end && *at == '.') {
		*kind = JSONSCAN_REAL;
		at = skip_digits(at + 1, end);
	}
	if (at && at < end && (*at == 'e' || *at == 'E')) {
		*kind = JSONSCAN_REAL;
		at++;
		if (at < end && (*at == '+' || *at == '-'))
			at++;
		at = skip_digits(at, end);
	}
	return at;
}

static const char *skip_word(const char *at, const char *end)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - at) >= n && !memcmp(at, words[i], n))
			return at + n;
	}
	return NULL;
}

static const char *scan_scalar(const char *at, const char *end, enum jsonscan_kind *kind, unsigned *flags)
{
	if (*at == '"') {
		*kind = JSONSCAN_STRING;
		return jsonscan_string(at + 1, end, flags);
	}
	if (*at == '-' || (*at >= '0' && *at <= '9'))
		return jsonscan_number(at, end, kind);
	*kind = JSONSCAN_WORD;
	return skip_word(at, end);
}

static const char *skip_key(const char *at, const char *end, unsigned *flags)
{
	at = jsonscan_blanks(at, end);
	if (at == end || *at != '"')
		return NULL;
	at = jsonscan_string(at + 1, end, flags);
	at = at ? jsonscan_blanks(at, end) : NULL;
	return at && at < end && *at == ':' ? jsonscan_blanks(at + 1, end) : NULL;
}

/* The open brackets. */
struct nest {
	char close[JSONSCAN_DEPTH_MAX];
	unsigned depth;
	unsigned max; /* of depth */
};

/*
 * After a value: closes the brackets that end here and moves to the next value. NULL on a syntax error; nest.depth 0:
 * all are closed.
 */
static const char *after_value(struct nest *nest, const char *at, const char *end, unsigned *flags)
{
	while (nest->depth) {
		char close = nest->close[nest->depth - 1];

		at = jsonscan_blanks(at, end);
		if (at == end || (*at != ',' && *at != close))
			return NULL;
		if (*at == ',')
			return close == '}' ? skip_key(at + 1, end, flags) : jsonscan_blanks(at + 1, end);
		at++;
		nest->depth--;
	}
	return at;
}

/* At a bracket: moves to its first value, or, if it is empty, after it and the brackets that end with it. */
static const char *enter(struct nest *nest, const char *at, const char *end, unsigned *flags)
{
	char close = *at == '{' ? '}' : ']';
	const char *first = jsonscan_blanks(at + 1, end);

	if (nest->depth >= nest->max || first == end)
		return NULL;
	if (*first == close)
		return after_value(nest, first + 1, end, flags);
	nest->close[nest->depth++] = close;
	return close == '}' ? skip_key(first, end, flags) : first;
}

const char *jsonscan_value(const char *at, const char *end, unsigned depth, enum jsonscan_kind *kind, unsigned *flags)
{
	struct nest nest = { .max = depth < JSONSCAN_DEPTH_MAX ? JSONSCAN_DEPTH_MAX - depth : 0 };
	enum jsonscan_kind inner;

	if (at == end)
		return NULL;
	if (*at != '{' && *at != '[')
		return scan_scalar(at, end, kind, flags);
	*kind = *at == '{' ? JSONSCAN_OBJECT : JSONSCAN_ARRAY;
	do {
		if (at == end)
			return NULL;
		if (*at == '{' || *at == '[') {
			at = enter(&nest, at, end, flags);
		} else {
			at = scan_scalar(at, end, &inner, flags);
			at = at ? after_value(&nest, at, end, flags) : NULL;
		}
	} while (at && nest.depth);
	return at;
}

/* The whole text is one value, with blanks around it. */
static bool is_whole(const char *text, size_t n, unsigned depth, enum jsonscan_kind *kind, unsigned *flags)
{
	const char *end = text + n;
	const char *at = jsonscan_value(jsonscan_blanks(text, end), end, depth, kind, flags);

	return at && jsonscan_blanks(at, end) == end;
}

bool jsonscan_is_value(const char *text, size_t n)
{
	enum jsonscan_kind kind;
	unsigned flags = 0;

	for (size_t i = 0; i < n; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return is_whole(text, n, 1, &kind, &flags);
}

bool jsonscan_is_object(const char *text, size_t n)
{
	enum jsonscan_kind kind;
	unsigned flags = 0;

	if (!is_whole(text, n, 0, &kind, &flags) || kind != JSONSCAN_OBJECT)
		return false;
	/* A carriage return between tokens is a blank to the scanners, but another line to terminals. */
	if (flags & JSONSCAN_HAS_CONTROL || memchr(text, '\r', n))
		return false;
	for (size_t i = 0, bytes; flags & JSONSCAN_HAS_HIGH && i < n; i += bytes) {
		bytes = jsonscan_utf8(text + i, n - i);
		if (!bytes)
			return false;
	}
	return true;
}
