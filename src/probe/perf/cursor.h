/*
 * cursor: reads numbers from untrusted bytes.
 *
 * A read beyond the end returns 0 and sets is_bad; callers check it once at the end.
 */
#ifndef SONDE_PROBE_PERF_CURSOR_H
#define SONDE_PROBE_PERF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool is_bad;
};

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_read(struct cursor *c, void *out, size_t n)
{
	if (cursor_left(c) < n) {
		c->is_bad = true;
		c->at = c->end;
		memset(out, 0, n);
		return;
	}
	memcpy(out, c->at, n);
	c->at += n;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (cursor_left(c) < n) {
		c->is_bad = true;
		c->at = c->end;
	} else {
		c->at += n;
	}
}

/* cursor_u8 to cursor_u64: the next number. */
#define CURSOR_NUMBER(bits) \
	static inline uint##bits##_t cursor_u##bits(struct cursor *c) \
	{ \
		uint##bits##_t v; \
		cursor_read(c, &v, sizeof(v)); \
		return v; \
	}
CURSOR_NUMBER(8)
CURSOR_NUMBER(16)
CURSOR_NUMBER(32)
CURSOR_NUMBER(64)

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 70 && !c->is_bad; shift += 7) {
		uint8_t b = cursor_u8(c);
		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (!(b & 0x80))
			return v;
	}
	c->is_bad = true;
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 70 && !c->is_bad; shift += 7) {
		uint8_t b = cursor_u8(c);
		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (!(b & 0x80)) {
			if (b & 0x40 && shift + 7 < 64)
				v |= ~(uint64_t)0 << (shift + 7);
			return (int64_t)v;
		}
	}
	c->is_bad = true;
	return 0;
}

#endif
