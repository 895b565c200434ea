#include "pfw/log-line.h"

#include "tracer/raw-syscall.h"

#include <sys/mman.h>

#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
#endif

const char line_pairs[201] =
		"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
		"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

bool text_need(struct text *t, size_t bytes)
{
	if (t->len + bytes <= t->room)
		return true;
	size_t room = t->room ? t->room : 256u << 10;
	while (room < t->len + bytes)
		room *= 2;
	void *at = NULL;
	if (t->data) {
		long moved = sys4(SYS_mremap, t->data, t->room, room, MREMAP_MAYMOVE);
		at = sys_failed(moved) ? NULL : (void *)moved;
	} else {
		at = sys_map(room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	}
	if (!at)
		return false;
	sys3(SYS_madvise, at, room, MADV_DONTFORK);
	t->data = at;
	t->room = room;
	return true;
}

void text_release(struct text *t)
{
	if (t->data)
		sys2(SYS_munmap, t->data, t->room);
	*t = (struct text){ 0 };
}

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

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static bool is_tail(const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Length of the UTF-8 character here, or 0 if it is invalid. */
static size_t character_bytes(const unsigned char *s, size_t n)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] < 0xe0)
		return n > 1 && is_tail(s + 1, 1) ? 2 : 0;
	if (s[0] >= 0xe0 && s[0] < 0xf0) {
		bool is_short = s[0] == 0xe0 && n > 1 && s[1] < 0xa0,
		     is_surrogate = s[0] == 0xed && n > 1 && s[1] > 0x9f;
		return n > 2 && is_tail(s + 1, 2) && !is_short && !is_surrogate ? 3 : 0;
	}
	if (s[0] >= 0xf0 && s[0] < 0xf5) {
		bool is_short = s[0] == 0xf0 && n > 1 && s[1] < 0x90, is_beyond = s[0] == 0xf4 && n > 1 && s[1] > 0x8f;
		return n > 3 && is_tail(s + 1, 3) && !is_short && !is_beyond ? 4 : 0;
	}
	return 0;
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
		if (is_plain(*s)) {
			*at++ = (char)*s++;
			continue;
		}
		if (*s == '"' || *s == '\\') {
			*at++ = '\\';
			*at++ = (char)*s++;
		} else if (*s < 0x20 || *s == 0x7f) {
			at = put_escape(at, "\\u00", *s++);
		} else if ((bytes = character_bytes(s, (size_t)(end - s)))) {
			at = put_bytes(at, s, bytes);
			s += bytes;
		} else {
			at = put_escape(at, "\\udc", *s++);
		}
	}
	*at++ = '"';
	return at;
}
