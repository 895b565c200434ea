#include "pfw/line-parse.h"

#include <stdlib.h>
#include <string.h>

void pfw_line_release(struct pfw_line *l)
{
	free(l->fields);
	*l = (struct pfw_line)PFW_LINE_INIT;
}

static struct pfw_field *add_field(struct pfw_line *l)
{
	if (l->count == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 32;
		struct pfw_field *fields = reallocarray(l->fields, cap, sizeof(*fields));

		if (!fields)
			return NULL;
		l->fields = fields;
		l->cap = cap;
	}
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
	const char *to;

	if (at == s->end || *at != '"')
		return fail(s, at, at == s->end ? "unexpected end of the object" : "expected a quoted key");
	to = jsonscan_string(at + 1, s->end, &flags);
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

static const char *scan_value(struct scan *s, const char *at, struct pfw_field *f)
{
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

static const char *scan_object(struct scan *s, const char *at, bool is_args);

static const char *scan_field(struct scan *s, const char *at, bool is_arg)
{
	struct pfw_line *l = s->line;
	struct pfw_field *f;

	if (l->count == PFW_FIELDS_MAX)
		return fail(s, at, "more than 65536 fields");
	f = add_field(l);
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
	return scan_value(s, at, f);
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
