/*
 * pack: numbers to bytes and back, for partial aggregates.
 *
 * Writing appends to a buf. Reading is of hostile input: it never passes the
 * end, and the first thing that does not fit sets is_bad, after which every
 * number is 0. Callers may read freely and look once.
 */
#ifndef SONDE_ENGINE_PACK_H
#define SONDE_ENGINE_PACK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 engine_wide;

void pack_uint(struct buf *out, uint64_t v); /* 7 bits a byte, lowest first */
void pack_int(struct buf *out, int64_t v);
void pack_wide(struct buf *out, engine_wide v);
void pack_real(struct buf *out, double v);
void pack_text(struct buf *out, const char *text);

struct unpack {
	const uint8_t *at, *end;
	bool is_bad;
};

uint64_t unpack_uint(struct unpack *u);
int64_t unpack_int(struct unpack *u);
engine_wide unpack_wide(struct unpack *u);
double unpack_real(struct unpack *u);
/* As unpack_uint, for a count of things of at least `bytes` bytes each that follow. */
size_t unpack_count(struct unpack *u, size_t bytes);
/* Is it this text that comes next? */
bool unpack_is_text(struct unpack *u, const char *text);

#endif
