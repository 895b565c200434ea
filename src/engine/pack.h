/*
 * pack: serialize numbers, for partial aggregates.
 *
 * Writing appends to a buf. Input is untrusted: reading never passes the end, and the first invalid item sets is_bad,
 * after which every number is 0. Callers may read everything and check is_bad once.
 */
#ifndef SONDE_ENGINE_PACK_H
#define SONDE_ENGINE_PACK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 engine_wide;

void pack_uint(struct buf *out, uint64_t v); /* 7 bits per byte, lowest first */
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
/* Like unpack_uint, for the number of items that follow, each of at least `bytes` bytes. */
size_t unpack_count(struct unpack *u, size_t bytes);
/* Read a text; true if it equals `text`. */
bool unpack_is_text(struct unpack *u, const char *text);

#endif
