#include "pfw/line-write.h"

#include "base/jsonscan.h"

#include <string.h>

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

/* MD5 by R. Rivest, written from RFC 1321. */

static const uint32_t sines[64] = { 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
	0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
	0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6,
	0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681,
	0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085,
	0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039,
	0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82,
	0xbd3af235, 0x2ad7d2bb, 0xeb86d391 };
static const uint8_t shifts[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round) {
	case 0:
		return (b & c) | (~b & d);
	case 1:
		return (d & b) | (~d & c);
	case 2:
		return b ^ c ^ d;
	default:
		return c ^ (b | ~d);
	}
}

static void add_block(uint32_t state[4], const uint8_t *block)
{
	static const uint8_t steps[4] = { 1, 5, 3, 7 }, starts[4] = { 0, 1, 5, 0 };
	uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];

	memcpy(words, block, sizeof(words));
	for (unsigned i = 0; i < 64; i++) {
		unsigned round = i / 16, shift = shifts[round][i % 4];
		uint32_t sum = a + mix(round, b, c, d) + words[(starts[round] + steps[round] * i) % 16] + sines[i];

		a = d;
		d = c;
		c = b;
		b += sum << shift | sum >> (32 - shift);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void pfw_md5(const void *bytes, size_t n, uint8_t digest[16])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	uint8_t tail[128] = { 0 };
	size_t whole = n & ~(size_t)63, left = n - whole, tail_bytes = left < 56 ? 64 : 128;
	uint64_t bits = (uint64_t)n * 8;

	for (size_t at = 0; at < whole; at += 64)
		add_block(state, (const uint8_t *)bytes + at);
	if (left)
		memcpy(tail, (const uint8_t *)bytes + whole, left);
	tail[left] = 0x80;
	memcpy(tail + tail_bytes - 8, &bits, sizeof(bits));
	for (size_t at = 0; at < tail_bytes; at += 64)
		add_block(state, tail + at);
	memcpy(digest, state, sizeof(state));
}

uint64_t pfw_hash_c(const void *bytes, size_t n)
{
	uint8_t digest[16];
	uint64_t hash = 0;

	pfw_md5(bytes, n, digest);
	for (unsigned i = 0; i < 16; i++)
		hash = hash << 4 | digest[i] >> 4;
	return hash;
}

uint64_t pfw_hash_d(const void *bytes, size_t n)
{
	uint8_t digest[16];
	uint64_t hash = 0;

	pfw_md5(bytes, n, digest);
	for (unsigned i = 0; i < 16; i += 2)
		hash = hash << 8 | digest[i];
	return hash;
}
