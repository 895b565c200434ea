#include "pfw/json-scan.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

const char *pfw_skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* From after the backslash to after the escape. */
static const char *skip_escape(const char *at, const char *end)
{
	if (at == end)
		return NULL;
	if (*at == 'u')
		return pfw_hex4(at + 1, end) < 0 ? NULL : at + 5;
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

const char *pfw_skip_string(const char *at, const char *end, unsigned *flags)
{
	while (at && (at = skip_plain(at, end)) < end) {
		unsigned char c = (unsigned char)*at++;

		if (c == '"')
			return at;
		if (c == '\\') {
			*flags |= PFW_HAS_ESCAPE;
			at = skip_escape(at, end);
		} else if (c < 0x20 || c > 0x7f) {
			*flags |= PFW_HAS_ODD;
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

const char *pfw_skip_number(const char *at, const char *end, enum pfw_kind *kind)
{
	*kind = PFW_INTEGER;
	if (at < end && *at == '-')
		at++;
	if (at < end && *at == '0')
		at++;
	else
		at = skip_digits(at, end);
	if (at && at < end && *at == '.') {
		*kind = PFW_REAL;
		at = skip_digits(at + 1, end);
	}
	if (at && at < end && (*at == 'e' || *at == 'E')) {
		*kind = PFW_REAL;
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

static const char *skip_scalar(const char *at, const char *end, enum pfw_kind *kind, unsigned *flags)
{
	if (*at == '"') {
		*kind = PFW_STRING;
		return pfw_skip_string(at + 1, end, flags);
	}
	if (*at == '-' || (*at >= '0' && *at <= '9'))
		return pfw_skip_number(at, end, kind);
	*kind = PFW_WORD;
	return skip_word(at, end);
}

static const char *skip_key(const char *at, const char *end, unsigned *flags)
{
	at = pfw_skip_blanks(at, end);
	if (at == end || *at != '"')
		return NULL;
	at = pfw_skip_string(at + 1, end, flags);
	at = at ? pfw_skip_blanks(at, end) : NULL;
	return at && at < end && *at == ':' ? pfw_skip_blanks(at + 1, end) : NULL;
}

/* The parser's state: the open brackets. */
struct nest {
	char close[PFW_DEPTH_MAX];
	unsigned depth;
};

/*
 * After a value: closes the brackets that end here and moves to the next value. NULL on a syntax error; nest.depth 0:
 * all are closed.
 */
static const char *after_value(struct nest *nest, const char *at, const char *end, unsigned *flags)
{
	while (nest->depth) {
		char close = nest->close[nest->depth - 1];

		at = pfw_skip_blanks(at, end);
		if (at == end || (*at != ',' && *at != close))
			return NULL;
		if (*at == ',')
			return close == '}' ? skip_key(at + 1, end, flags) : pfw_skip_blanks(at + 1, end);
		at++;
		nest->depth--;
	}
	return at;
}

/* At a bracket: moves to its first value, or, if it is empty, after it and the brackets that end with it. */
static const char *enter(struct nest *nest, const char *at, const char *end, unsigned *flags)
{
	char close = *at == '{' ? '}' : ']';
	const char *first = pfw_skip_blanks(at + 1, end);

	if (nest->depth == PFW_DEPTH_MAX || first == end)
		return NULL;
	if (*first == close)
		return after_value(nest, first + 1, end, flags);
	nest->close[nest->depth++] = close;
	return close == '}' ? skip_key(first, end, flags) : first;
}

const char *pfw_skip_value(const char *at, const char *end, enum pfw_kind *kind, unsigned *flags)
{
	struct nest nest = { .depth = 0 };
	enum pfw_kind inner;

	if (at == end)
		return NULL;
	if (*at != '{' && *at != '[')
		return skip_scalar(at, end, kind, flags);
	*kind = *at == '{' ? PFW_OBJECT : PFW_ARRAY;
	do {
		if (at == end)
			return NULL;
		if (*at == '{' || *at == '[') {
			at = enter(&nest, at, end, flags);
		} else {
			at = skip_scalar(at, end, &inner, flags);
			at = at ? after_value(&nest, at, end, flags) : NULL;
		}
	} while (at && nest.depth);
	return at;
}
