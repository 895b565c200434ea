/*
 * The sum of doubles in fixed point. U. Kulisch, "Computer Arithmetic and Validity" (2013), chapter 8: the complete
 * register.
 */
#include "engine/exactsum.h"

#include <math.h>
#include <string.h>

#define PENDING_MAX ((uint32_t)1 << 29) /* additions of 33 bits that cannot overflow an int64_t limb */

/* Normalize limbs to 0 .. 2^32-1, except the highest, which has the sign. */
static void carry(struct exactsum *s)
{
	int64_t over = 0;

	for (size_t i = 0; i < EXACTSUM_LIMBS; i++) {
		int64_t limb = s->limbs[i] + over;

		over = i + 1 < EXACTSUM_LIMBS ? limb >> 32 : 0;
		s->limbs[i] = limb - over * ((int64_t)1 << 32);
	}
	s->pending = 0;
}

void exactsum_add(struct exactsum *s, double v)
{
	uint64_t bits, mantissa;
	unsigned exponent, limb, shift;
	int64_t sign;
	engine_wide wide;

	memcpy(&bits, &v, sizeof(bits));
	exponent = (unsigned)(bits >> 52) & 2047;
	if (exponent == 2047) {
		s->invalid++;
		return;
	}
	sign = bits >> 63 ? -1 : 1;
	mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (exponent ? (uint64_t)1 << 52 : 0);
	exponent = exponent ? exponent - 1 : 0; /* value = mantissa * 2^(exponent - 1074) */
	limb = exponent / 32;
	shift = exponent % 32;
	wide = (engine_wide)mantissa << shift;
	s->limbs[limb] += sign * (int64_t)(uint32_t)wide;
	s->limbs[limb + 1] += sign * (int64_t)(uint32_t)(wide >> 32);
	s->limbs[limb + 2] += sign * (int64_t)(uint32_t)(wide >> 64);
	s->count++;
	if (++s->pending >= PENDING_MAX)
		carry(s);
}

void exactsum_merge(struct exactsum *s, const struct exactsum *other)
{
	struct exactsum right = *other;

	carry(&right);
	carry(s);
	for (size_t i = 0; i < EXACTSUM_LIMBS; i++)
		s->limbs[i] += right.limbs[i];
	s->count += right.count;
	s->invalid += right.invalid;
	carry(s);
}

/* From the highest limb down: terms shrink by 2^32, so three or four determine the result. */
double exactsum_value(const struct exactsum *s)
{
	struct exactsum sum = *s;
	double value = 0, sign = 1;

	carry(&sum);
	if (sum.limbs[EXACTSUM_LIMBS - 1] < 0) { /* all terms have one sign: nothing cancels */
		sign = -1;
		for (size_t i = 0; i < EXACTSUM_LIMBS; i++)
			sum.limbs[i] = -sum.limbs[i];
		carry(&sum);
	}
	for (size_t i = 0; i < EXACTSUM_LIMBS; i++)
		value += ldexp((double)sum.limbs[i], (int)i * 32 - 1074);
	return sign * value;
}

void exactsum_save(struct buf *out, const struct exactsum *s)
{
	struct exactsum sum = *s;

	carry(&sum);
	pack_uint(out, sum.count);
	pack_uint(out, sum.invalid);
	for (size_t i = 0; i < EXACTSUM_LIMBS; i++)
		pack_int(out, sum.limbs[i]);
}

void exactsum_load(struct unpack *u, struct exactsum *s)
{
	*s = (struct exactsum){ .count = unpack_uint(u) };
	s->invalid = unpack_uint(u);
	for (size_t i = 0; i < EXACTSUM_LIMBS; i++) {
		int64_t limb = unpack_int(u);

		if (limb < INT32_MIN || limb > UINT32_MAX)
			u->is_bad = true;
		s->limbs[i] = u->is_bad ? 0 : limb;
	}
}
