#include "pfw/line-write.h"

#include "base/jsonscan.h"
#include "pfw/name-hash.h"

#define EXEC_ARGS_MAX 6

const char line_pairs[201] =
		"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
		"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static char hex_digit(unsigned v)
{
	return (char)(v < 10 ? '0' + v : 'a' + v - 10);
}

char *put_hex(char *at, uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*at++ = hex_digit((unsigned)(v >> shift) & 15);
	return at;
}

static char *put_escape(char *at, const char *start, unsigned char c)
{
	at = put_text(at, start);
	*at++ = hex_digit(c >> 4);
	*at++ = hex_digit(c & 15);
	return at;
}

char *put_json(char *at, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + n;
	*at++ = '"';
	while (s < end) {
		size_t bytes;
		if (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\') {
			*at++ = (char)*s++;
		} else if (*s == '"' || *s == '\\') {
			*at++ = '\\';
			*at++ = (char)*s++;
		} else if (*s < 0x20 || *s == 0x7f) {
			at = put_escape(at, "\\u00", *s++);
		} else if ((bytes = jsonscan_utf8(s, (size_t)(end - s)))) {
			at = put_bytes(at, s, bytes);
			s += bytes;
		} else {
			at = put_escape(at, "\\udc", *s++);
		}
	}
	*at++ = '"';
	return at;
}

char *put_name(char *at, const char *text, size_t n, bool is_strict)
{
	char *from = at;
	at = put_json(at, text, n);
	for (char *p = from + 1; is_strict && p < at - 1; p++)
		if (strchr("()\\\"'|", *p))
			*p = ' ';
	return at;
}

char *put_hash(char *at, uint64_t hash, bool is_hex)
{
	if (!is_hex)
		return put_uint(at, hash);
	*at++ = '"';
	at = put_hex(at, hash);
	*at++ = '"';
	return at;
}

char *put_phase(char *at, char generation, char phase)
{
	if (generation == 'E') {
		at = PUT(at, ",\"ph\":");
		*at++ = phase == 'X' ? '1' : phase == 'C' ? '2' : phase == 'A' ? '3' : '4';
		return at;
	}
	at = PUT(at, ",\"ph\":\"");
	*at++ = phase;
	*at++ = '"';
	return at;
}

char *put_title(char *at, const char *name, size_t n, const char *category, size_t m, bool is_strict)
{
	at = put_name(PUT(at, ",\"name\":"), name, n, is_strict);
	return put_name(PUT(at, ",\"cat\":"), category, m, is_strict);
}

char *put_definition(char *at, const char *name, size_t n, const char *value, uint64_t hash, bool is_hex,
		bool is_strict)
{
	at = put_name(PUT(at, ",\"name\":"), name, n, is_strict);
	at = PUT(at, ",\"value\":");
	return value ? put_text(at, value) : put_hash(at, hash, is_hex);
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

void line_args_init(struct line_args *args, const char *names)
{
	*args = (struct line_args){ .has_count = false };
	for (unsigned i = 0; i < LINE_ARGS_MAX && *names; i++) {
		size_t n = 0;
		while (names[n] && names[n] != ',')
			n++;
		args->has_count |= is_word(names, n, "count");
		if (n > 0 && n < LINE_ARG_NAME_MAX) {
			char *at = PUT(args->text[i], ",\"");
			if (is_word(names, n, "fd") || is_word(names, n, "offset"))
				at = PUT(at, "arg_");
			at = put_bytes(at, names, n);
			at = PUT(at, "\":");
			args->bytes[i] = (uint8_t)(at - args->text[i]);
		}
		names += n + (names[n] == ',');
	}
}

bool line_next_text(const char **list, size_t *left, const char **text, size_t *n)
{
	const char *end = *left ? memchr(*list, 0, *left) : NULL;
	if (!end)
		return false;
	*text = *list;
	*n = (size_t)(end - *list);
	*list = end + 1;
	*left -= *n + 1;
	return true;
}

/* DFTracer writes up to six arguments of exec, arg0 to arg5; from generation D on, their hashes. */
static char *put_exec(char *at, const struct line_call *c)
{
	const char *list = c->text, *text;
	size_t left = c->text_bytes, n;
	if (!line_next_text(&list, &left, &text, &n))
		return at;
	if (n)
		at = put_name(PUT(at, ",\"file\":"), text, n, c->is_strict);
	for (unsigned i = 0; i < EXEC_ARGS_MAX && line_next_text(&list, &left, &text, &n); i++) {
		at = put_uint(PUT(at, ",\"arg"), i);
		at = PUT(at, "\":");
		at = c->is_hex ? put_hash(at, pfw_hash_d(text, n), true) : put_name(at, text, n, c->is_strict);
	}
	return at;
}

char *put_call(char *at, const struct line_call *c)
{
	if (c->parent != LINE_NONE)
		at = PUT_INT(at, "p_idx", c->parent);
	if (c->level != LINE_NONE)
		at = PUT_INT(at, "level", c->level);
	if (c->ret != LINE_NONE)
		at = PUT_INT(at, "ret", c->ret);
	if (c->size != LINE_NONE) {
		at = c->has_count ? PUT(at, ",\"size\":") : PUT(at, ",\"count\":");
		at = put_int(at, c->size);
	}
	if (c->offset != LINE_NONE)
		at = PUT_INT(at, "offset", c->offset);
	if (c->fd != LINE_NONE)
		at = PUT_INT(at, "fd", c->fd);
	if (c->file)
		at = put_hash(PUT(at, ",\"fhash\":"), *c->file, c->is_hex);
	else if (c->path)
		at = put_json(PUT(at, ",\"fname\":"), c->path, c->path_bytes);
	if (c->file2)
		at = put_hash(PUT(at, ",\"newpath\":"), *c->file2, c->is_hex);
	for (unsigned i = 0; i < c->count && i < LINE_ARGS_MAX; i++)
		if (c->names->bytes[i] && c->values[i] != LINE_NONE) {
			at = put_bytes(at, c->names->text[i], c->names->bytes[i]);
			at = put_int(at, c->values[i]);
		}
	if (c->text && c->is_exec) {
		at = put_exec(at, c);
	} else if (c->text) {
		at = PUT(at, ",\"");
		at = put_bytes(at, c->text_key, c->text_key_bytes);
		at = PUT(at, "\":");
		at = put_name(at, c->text, c->text_bytes, c->is_strict);
	}
	return c->errnum > 0 ? PUT_INT(at, "errno", c->errnum) : at;
}

char *put_start(char *at, const struct line_start *s)
{
	at = PUT(at, ",\"p_idx\":-1,\"level\":1");
	if (s->ppid != LINE_NONE)
		at = PUT_INT(at, "ppid", s->ppid);
	if (s->date)
		at = put_json(PUT(at, ",\"date\":"), s->date, strlen(s->date));
	if (s->cwd)
		at = put_hash(PUT(at, ",\"cwd\":"), *s->cwd, s->is_hex);
	if (s->command)
		at = put_hash(PUT(at, ",\"cmd_hash\":"), *s->command, s->is_hex);
	return s->exe ? put_hash(PUT(at, ",\"exec_hash\":"), *s->exe, s->is_hex) : at;
}
