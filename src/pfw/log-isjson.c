/* Checks that a text is one JSON value. For texts that arrive as JSON and are copied into lines; see log-line.h. */
#include "pfw/log-line.h"

#define DEPTH_MAX 16

struct reader {
	const char *at, *end;
	unsigned depth;
};

static bool take_value(struct reader *r);

static void skip_space(struct reader *r)
{
	while (r->at < r->end && *r->at == ' ')
		r->at++;
}

static bool take_char(struct reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool take_escape(struct reader *r)
{
	if (r->at == r->end)
		return false;
	char c = *r->at++;
	if (c != 'u')
		return c && strchr("\"\\/bfnrt", c);
	for (unsigned i = 0; i < 4; i++, r->at++)
		if (r->at == r->end || !is_hex(*r->at))
			return false;
	return true;
}

/* Plain ASCII only: the writers of these texts escape the rest. */
static bool take_string(struct reader *r)
{
	if (!take_char(r, '"'))
		return false;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;
		if (c < 0x20 || c == 0x7f || (c == '\\' && !take_escape(r)))
			return false;
	}
	return take_char(r, '"');
}

static bool take_digits(struct reader *r)
{
	const char *from = r->at;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > from;
}

static bool take_number(struct reader *r)
{
	if (r->at < r->end && *r->at == '-')
		r->at++;
	const char *from = r->at;
	if (!take_digits(r) || (*from == '0' && r->at - from > 1))
		return false;
	if (r->at < r->end && *r->at == '.') {
		r->at++;
		if (!take_digits(r))
			return false;
	}
	if (r->at == r->end || (*r->at != 'e' && *r->at != 'E'))
		return true;
	r->at++;
	if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
		r->at++;
	return take_digits(r);
}

static bool take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool take_all(struct reader *r, char close, bool is_object)
{
	bool is_fine = take_char(r, close);
	if (is_fine || ++r->depth > DEPTH_MAX)
		return is_fine;
	do
		is_fine = (!is_object || (take_string(r) && take_char(r, ':'))) && take_value(r);
	while (is_fine && take_char(r, ','));
	r->depth--;
	return is_fine && take_char(r, close);
}

static bool take_value(struct reader *r)
{
	skip_space(r);
	if (r->at == r->end)
		return false;
	switch (*r->at) {
	case '{':
		r->at++;
		return take_all(r, '}', true);
	case '[':
		r->at++;
		return take_all(r, ']', false);
	case '"':
		return take_string(r);
	case 't':
		return take_word(r, "true");
	case 'f':
		return take_word(r, "false");
	case 'n':
		return take_word(r, "null");
	default:
		return take_number(r);
	}
}

bool is_json(const char *text, size_t n)
{
	struct reader r = { .at = text, .end = text + n };
	bool is_fine = take_value(&r);
	skip_space(&r);
	return is_fine && r.at == r.end;
}
