/*
 * exactsum: the exact sum of any doubles, in any order.
 *
 * A fixed-point number wide enough for every double (Kulisch): adding does not round, so the result is independent of
 * how the input was split, and only reading the sum rounds, once. NaN and infinities are counted separately.
 */
#ifndef SONDE_ENGINE_EXACTSUM_H
#define SONDE_ENGINE_EXACTSUM_H

#include "engine/pack.h"

#define EXACTSUM_LIMBS 68 /* of 32 bits: 2^-1074 .. 2^1024, and room for 2^30 carries */

/* All zero: empty. */
struct exactsum {
	uint64_t count;   /* finite values */
	uint64_t invalid; /* the others */
	/* private */
	uint32_t pending; /* additions since the limbs were last carried */
	int64_t limbs[EXACTSUM_LIMBS];
};

void exactsum_add(struct exactsum *s, double v);
void exactsum_merge(struct exactsum *s, const struct exactsum *other);
/* Within about an ulp, and deterministic for the same sum; 0 if empty. */
double exactsum_value(const struct exactsum *s);

void exactsum_save(struct buf *out, const struct exactsum *s);
void exactsum_load(struct unpack *u, struct exactsum *s);

#endif
