#include "pfw/line-parse.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Numbers. */

/* Eight digits at once, as Johnny Lee and Daniel Lemire describe; returns false if a byte is not a digit. */
static bool parse_eight(const char *at, uint64_t *v)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	if (((word & 0xf0f0f0f0f0f0f0f0u) | ((word + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4) !=
			0x3333333333333333u)
		return false;
	word = (word & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
	word = (word & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
	*v = (word & 0x0000ffff0000ffffu) * 42949672960001 >> 32;
	return true;
}

bool pfw_parse_uint(const char *at, size_t n, uint64_t *v)
{
	const char *end = at + n;
	uint64_t sum = 0, eight;

	if (n == 0 || n > 20 || (n > 1 && *at == '0'))
		return false;
	/* 16 digits always fit. */
	for (; end - at >= 8 && n - (size_t)(end - at) <= 8; at += 8) {
		if (!parse_eight(at, &eight))
			return false;
		sum = sum * 100000000 + eight;
	}
	for (; at < end; at++) {
		unsigned digit = (unsigned char)*at - '0';

		if (digit > 9 || __builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	*v = sum;
	return true;
}

bool pfw_parse_int(const char *at, size_t n, int64_t *v)
{
	bool is_negative = n > 0 && *at == '-';
	uint64_t size;

	if (!pfw_parse_uint(at + is_negative, n - is_negative, &size) || size > INT64_MAX || (is_negative && !size))
		return false;
	*v = is_negative ? -(int64_t)size : (int64_t)size;
	return true;
}

bool pfw_parse_scaled(const char *at, size_t n, int64_t unit, int64_t *v)
{
	const char *point = memchr(at, '.', n), *end = at + n;
	int64_t whole;

	if (!pfw_parse_int(at, point ? (size_t)(point - at) : n, &whole) || __builtin_mul_overflow(whole, unit, v))
		return false;
	if (!point)
		return true;
	if (*at == '-' || point + 1 == end)
		return false;
	for (const char *digit = point + 1; digit < end; digit++) {
		unsigned value = (unsigned char)*digit - '0';

		unit /= 10;
		if (value > 9 || (unit == 0 && value) || __builtin_add_overflow(*v, (int64_t)value * unit, v))
			return false;
	}
	return true;
}

bool pfw_parse_hex(const char *at, size_t n, uint64_t *v)
{
	uint64_t sum = 0;

	if (n != 16)
		return false;
	for (size_t i = 0; i < n; i++) {
		int digit = jsonscan_hex(at[i]);

		if (digit < 0 || (at[i] >= 'A' && at[i] <= 'F'))
			return false;
		sum = sum << 4 | (unsigned)digit;
	}
	*v = sum;
	return true;
}

/* Strings. */

static void add_utf8(struct buf *out, unsigned code)
{
	if (code < 0x80) {
		buf_addc(out, (char)code);
		return;
	}
	if (code >= 0x10000) {
		buf_addc(out, (char)(0xf0 | code >> 18));
		buf_addc(out, (char)(0x80 | (code >> 12 & 0x3f)));
	} else if (code >= 0x800) {
		buf_addc(out, (char)(0xe0 | code >> 12));
	}
	if (code >= 0x800)
		buf_addc(out, (char)(0x80 | (code >> 6 & 0x3f)));
	else
		buf_addc(out, (char)(0xc0 | code >> 6));
	buf_addc(out, (char)(0x80 | (code & 0x3f)));
}

/* At the four digits of \uXXXX; returns the position after the escape, or after both of a surrogate pair. */
static const char *decode_unicode(struct buf *out, const char *at, const char *end)
{
	int code = jsonscan_hex4(at, end), low = -1;

	at += 4;
	if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u')
		low = jsonscan_hex4(at + 2, end);
	if (low >= 0xdc00 && low < 0xe000) {
		add_utf8(out, 0x10000u + ((unsigned)code - 0xd800u) * 0x400u + ((unsigned)low - 0xdc00u));
		return at + 6;
	}
	if (code >= 0xdc80 && code <= 0xdcff)
		buf_addc(out, (char)(code - 0xdc00));
	else
		add_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : (unsigned)code);
	return at;
}

static const char *decode_escape(struct buf *out, const char *at, const char *end)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";

	if (*at == 'u')
		return decode_unicode(out, at + 1, end);
	const char *hit = strchr(from, *at);
	buf_addc(out, hit ? to[hit - from] : *at);
	return at + 1;
}

void pfw_decode(struct buf *out, const char *at, size_t n)
{
	const char *end = at + n;

	while (at < end) {
		const char *slash = memchr(at, '\\', (size_t)(end - at));

		buf_add(out, at, (size_t)((slash ? slash : end) - at));
		at = slash ? decode_escape(out, slash + 1, end) : end;
	}
}

/* \uXXYY, with XX as text */
static void add_escape(struct buf *out, const char *high, unsigned char low)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[6] = { '\\', 'u', high[0], high[1], digits[low >> 4], digits[low & 15] };

	buf_add(out, escape, sizeof(escape));
}

/* Copies a character of a string that may need escaping; returns the position after it. */
static const char *clean_character(struct buf *out, const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at;
	size_t n = jsonscan_utf8(at, (size_t)(end - at));

	if (c < 0x20 || c == 0x7f)
		add_escape(out, "00", c);
	else if (n == 0)
		add_escape(out, "dc", c);
	else
		buf_add(out, at, n);
	return at + (n ? n : 1);
}

void pfw_encode(struct buf *out, const char *bytes, size_t n)
{
	const char *at = bytes, *end = bytes + n;

	buf_addc(out, '"');
	while (at < end) {
		const char *plain = at;

		while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f && *at != '"' && *at != '\\')
			at++;
		buf_add(out, plain, (size_t)(at - plain));
		if (at < end && (*at == '"' || *at == '\\'))
			buf_addc(out, '\\'), buf_addc(out, *at++);
		else if (at < end)
			at = clean_character(out, at, end);
	}
	buf_addc(out, '"');
}

void pfw_clean(struct buf *out, const char *at, size_t n)
{
	const char *end = at + n;
	bool is_inside = false;

	while (at < end) {
		unsigned char c = (unsigned char)*at;

		if (c == '\\' && end - at > 1) {
			buf_add(out, at, 2);
			at += 2;
		} else if (is_inside && (c < 0x20 || c > 0x7f)) {
			at = clean_character(out, at, end);
		} else {
			is_inside ^= c == '"';
			if (c >= 0x20)
				buf_addc(out, (char)c);
			at++;
		}
	}
}

void pfw_line_release(struct pfw_line *l)
{
	free(l->fields);
	*l = (struct pfw_line)PFW_LINE_INIT;
}

static struct pfw_field *add_field(struct pfw_line *l)
{
	if (!VEC_GROW(l->fields, l->cap, l->count + 1, VEC_MAX))
		return NULL;
	l->fields[l->count] = (struct pfw_field){ .role = 0 };
	return &l->fields[l->count++];
}

/* The known keys by length: the index of the first of n bytes. */
static const struct {
	char name[10];
	uint8_t bytes, id;
} keys[] = {
#define ROW(name) { #name, sizeof(#name) - 1, PFW_KEY_##name },
	PFW_KEYS(ROW)
#undef ROW
};

static const uint8_t keys_from[] = { 0, 0, 0, 4, 10, 15, 22, 23, 23, 25, 26 };

static uint8_t key_of(const char *key, size_t n)
{
	if (n + 1 >= sizeof(keys_from))
		return PFW_KEY_other;
	for (unsigned i = keys_from[n]; i < keys_from[n + 1]; i++)
		if (keys[i].name[0] == key[0] && !memcmp(keys[i].name, key, n))
			return keys[i].id;
	return PFW_KEY_other;
}

/* A scan in progress; an error sets the reason. */
struct scan {
	struct pfw_line *line;
	const char *begin, *end;
	enum pfw_line_kind kind;
};

static const char *fail(struct scan *s, const char *at, const char *reason)
{
	s->kind = PFW_LINE_INVALID;
	s->line->reason = reason;
	s->line->where = (size_t)(at - s->begin);
	return NULL;
}

/* "key": and blanks; returns the position of the value. */
static const char *scan_key(struct scan *s, const char *at, struct pfw_field *f)
{
	unsigned flags = 0;

	if (at == s->end || *at != '"')
		return fail(s, at, at == s->end ? "unexpected end of the object" : "expected a quoted key");
	const char *to = jsonscan_string(at + 1, s->end, &flags);
	if (!to)
		return fail(s, at, "unterminated key");
	f->from = at;
	f->key = at + 1;
	f->key_bytes = (uint32_t)(to - 1 - f->key);
	f->id = key_of(f->key, f->key_bytes);
	f->flags = (uint8_t)flags;
	at = jsonscan_blanks(to, s->end);
	if (at == s->end || *at != ':')
		return fail(s, at, "expected ':'");
	return jsonscan_blanks(at + 1, s->end);
}

/* Tabs and carriage returns between the tokens of a field need cleaning like those in strings. */
static bool has_odd_blanks(const struct pfw_field *f)
{
	const char *value = f->value - (f->kind == JSONSCAN_STRING);

	if (f->kind != JSONSCAN_OBJECT && f->kind != JSONSCAN_ARRAY && value == f->key + f->key_bytes + 2)
		return false;
	for (const char *at = f->from; at < f->to; at++)
		if ((unsigned char)*at < 0x20)
			return true;
	return false;
}

static const char *scan_object(struct scan *s, const char *at, bool is_args);

static const char *scan_field(struct scan *s, const char *at, bool is_arg)
{
	struct pfw_line *l = s->line;

	if (l->count == PFW_FIELDS_MAX)
		return fail(s, at, "more than 65536 fields");
	struct pfw_field *f = add_field(l);
	if (!f) {
		s->kind = PFW_LINE_NO_MEMORY;
		return NULL;
	}
	f->is_arg = is_arg;
	at = scan_key(s, at, f);
	if (!at)
		return NULL;
	if (!is_arg && !l->has_args && f->id == PFW_KEY_args && at < s->end && *at == '{') {
		l->has_args = true;
		l->count--;
		return scan_object(s, at, true);
	}
	if (l->first[is_arg][f->id] < 0)
		l->first[is_arg][f->id] = (int32_t)(l->count - 1);
	enum jsonscan_kind kind = JSONSCAN_WORD;
	unsigned flags = f->flags;
	const char *to = jsonscan_value(at, s->end, 1, &kind, &flags);
	if (!to)
		return fail(s, at,
				at < s->end && *at == '"' ? "unterminated string or invalid escape"
							  : "missing, invalid or too deeply nested value");
	f->kind = (uint8_t)kind;
	f->flags = (uint8_t)flags;
	f->value = at + (kind == JSONSCAN_STRING);
	f->to = to;
	f->bytes = (uint32_t)(to - f->value - (kind == JSONSCAN_STRING));
	if (has_odd_blanks(f))
		f->flags |= JSONSCAN_HAS_ODD;
	return to;
}

/* At the opening brace; returns the position after the closing one. The deepest call is for "args". */
static const char *scan_object(struct scan *s, const char *at, bool is_args)
{
	at = jsonscan_blanks(at + 1, s->end);
	if (at < s->end && *at == '}')
		return at + 1;
	for (;;) {
		at = scan_field(s, at, is_args);
		if (!at)
			return NULL;
		at = jsonscan_blanks(at, s->end);
		if (at < s->end && *at == '}')
			return at + 1;
		if (at == s->end || *at != ',')
			return fail(s, at, at == s->end ? "unexpected end of the object" : "expected ',' or '}'");
		at = jsonscan_blanks(at + 1, s->end);
	}
}

static const char *skip_frame(const char *at, const char *end)
{
	while (at < end && (*at == '[' || *at == ']' || *at == ',' || *at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

static enum pfw_line_kind scan_line(struct pfw_line *l, const char *at, size_t n, bool is_flat)
{
	struct scan s = { .line = l, .begin = at, .end = at + n, .kind = PFW_LINE_RECORD };

	l->count = 0;
	l->has_args = is_flat; /* only the first counts */
	memset(l->first, 0xff, sizeof(l->first));
	if (jsonscan_blanks(at, s.end) == s.end)
		return PFW_LINE_BLANK;
	at = skip_frame(at, s.end);
	if (at == s.end)
		return PFW_LINE_BRACKET;
	at = *at == '{' ? scan_object(&s, at, false) : fail(&s, at, "not a JSON object");
	if (at)
		at = skip_frame(at, s.end);
	if (at && at != s.end)
		fail(&s, at, "unexpected text after the object");
	return s.kind;
}

enum pfw_line_kind pfw_line_scan(struct pfw_line *l, const char *at, size_t n)
{
	return scan_line(l, at, n, false);
}

enum pfw_line_kind pfw_object_scan(struct pfw_line *l, const char *at, size_t n)
{
	return scan_line(l, at, n, true);
}

/* Fields. */

bool pfw_field_int(const struct pfw_field *f, int64_t *v)
{
	return (f->kind == JSONSCAN_INTEGER || f->kind == JSONSCAN_STRING) && pfw_parse_int(f->value, f->bytes, v);
}

bool pfw_field_hash(const struct pfw_field *f, uint64_t *v, bool *is_hex)
{
	*is_hex = f->kind == JSONSCAN_STRING;
	if (*is_hex)
		return pfw_parse_hex(f->value, f->bytes, v);
	return f->kind == JSONSCAN_INTEGER && pfw_parse_uint(f->value, f->bytes, v);
}

void pfw_field_text(const struct pfw_field *f, struct buf *out)
{
	if (f->kind == JSONSCAN_STRING)
		pfw_decode(out, f->value, f->bytes);
	else
		buf_add(out, f->value, f->bytes);
}
