#include "engine/pack.h"

#include <string.h>

void pack_uint(struct buf *out, uint64_t v)
{
	while (v >= 128) {
		buf_addc(out, (char)(v | 128));
		v >>= 7;
	}
	buf_addc(out, (char)v);
}

void pack_int(struct buf *out, int64_t v)
{
	pack_uint(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void pack_wide(struct buf *out, engine_wide v)
{
	pack_uint(out, (uint64_t)v);
	pack_int(out, (int64_t)(v >> 64));
}

void pack_real(struct buf *out, double v)
{
	buf_add(out, &v, sizeof(v));
}

void pack_text(struct buf *out, const char *text)
{
	size_t n = strlen(text);

	pack_uint(out, n);
	buf_add(out, text, n);
}

uint64_t unpack_uint(struct unpack *u)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && u->at < u->end && !u->is_bad; shift += 7) {
		uint8_t byte = *u->at++;

		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
	u->is_bad = true;
	return 0;
}

int64_t unpack_int(struct unpack *u)
{
	uint64_t v = unpack_uint(u);

	return (int64_t)(v >> 1 ^ -(v & 1));
}

engine_wide unpack_wide(struct unpack *u)
{
	uint64_t low = unpack_uint(u);

	/* A negative number may not be shifted: the high half is multiplied. */
	return (engine_wide)unpack_int(u) * ((engine_wide)1 << 64) + low;
}

double unpack_real(struct unpack *u)
{
	double v = 0;

	if (u->is_bad || (size_t)(u->end - u->at) < sizeof(v)) {
		u->is_bad = true;
		return 0;
	}
	memcpy(&v, u->at, sizeof(v));
	u->at += sizeof(v);
	return v;
}

size_t unpack_count(struct unpack *u, size_t bytes)
{
	uint64_t n = unpack_uint(u);

	if (n > (size_t)(u->end - u->at) / bytes) {
		u->is_bad = true;
		return 0;
	}
	return n;
}

bool unpack_is_text(struct unpack *u, const char *text)
{
	size_t n = unpack_count(u, 1);
	const uint8_t *at = u->at;

	if (u->is_bad)
		return false;
	u->at += n;
	return n == strlen(text) && memcmp(at, text, n) == 0;
}
