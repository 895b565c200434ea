/*
 * Flajolet, Fusy, Gandouet and Meunier, "HyperLogLog: the analysis of a near-optimal cardinality estimation
 * algorithm" (AofA 2007), with 64-bit hashes and linear counting for small counts.
 */
#include "engine/distinct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_FIRST 16u
#define REGISTER_BITS 12

/* A bijection: different values have different hashes (splitmix64's finaliser). */
static uint64_t hash(int64_t value)
{
	uint64_t h = (uint64_t)value + 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

void distinct_release(struct distinct *d)
{
	free(d->values);
	free(d->registers);
	*d = (struct distinct){ .count = 0 };
}

static void mark(struct distinct *d, uint64_t h)
{
	size_t at = h >> (64 - REGISTER_BITS);
	uint8_t rank = (uint8_t)(__builtin_clzll(h << REGISTER_BITS | (uint64_t)1 << (REGISTER_BITS - 1)) + 1);

	if (d->registers[at] < rank)
		d->registers[at] = rank;
}

/* Too many values to store: switch to registers. */
static int estimate(struct distinct *d)
{
	if (d->registers)
		return 0;
	d->registers = calloc(DISTINCT_REGISTERS, 1);
	if (!d->registers)
		return -ENOMEM;
	for (size_t i = 0; d->values && i < d->places; i++)
		if (d->values[i])
			mark(d, d->values[i]);
	free(d->values);
	d->values = NULL;
	d->places = 0;
	return 0;
}

static uint64_t *place_of(const struct distinct *d, uint64_t h)
{
	size_t at = h & (d->places - 1);

	while (d->values[at] && d->values[at] != h)
		at = (at + 1) & (d->places - 1);
	return &d->values[at];
}

/* Double the hash table. */
static int grow(struct distinct *d)
{
	struct distinct old = *d;

	d->places = old.places ? 2 * old.places : PLACES_FIRST;
	d->values = calloc(d->places, sizeof(*d->values));
	if (!d->values) {
		*d = old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < old.places; i++)
		if (old.values[i])
			*place_of(d, old.values[i]) = old.values[i];
	free(old.values);
	return 0;
}

static int add_hash(struct distinct *d, uint64_t h)
{
	uint64_t *place;

	h += h == 0; /* 0 marks an empty entry: two of 2^64 values share one */
	if (d->registers) {
		mark(d, h);
		return 0;
	}
	if (2 * d->count >= d->places && d->count < DISTINCT_EXACT && grow(d) < 0)
		return -ENOMEM;
	place = place_of(d, h);
	if (*place)
		return 0;
	if (d->count == DISTINCT_EXACT)
		return estimate(d) < 0 ? -ENOMEM : add_hash(d, h);
	*place = h;
	d->count++;
	return 0;
}

int distinct_add(struct distinct *d, int64_t value)
{
	return add_hash(d, hash(value));
}

int distinct_merge(struct distinct *d, const struct distinct *other)
{
	if (other->registers && estimate(d) < 0)
		return -ENOMEM;
	for (size_t i = 0; other->registers && i < DISTINCT_REGISTERS; i++)
		if (d->registers[i] < other->registers[i])
			d->registers[i] = other->registers[i];
	for (size_t i = 0; other->values && i < other->places; i++)
		if (other->values[i] && add_hash(d, other->values[i]) < 0)
			return -ENOMEM;
	return 0;
}

bool distinct_is_exact(const struct distinct *d)
{
	return !d->registers;
}

uint64_t distinct_count(const struct distinct *d)
{
	double m = DISTINCT_REGISTERS, alpha = 0.7213 / (1 + 1.079 / m), sum = 0, estimated;
	size_t zeros = 0;

	if (!d->registers)
		return d->count;
	for (size_t i = 0; i < DISTINCT_REGISTERS; i++) {
		sum += ldexp(1, -d->registers[i]);
		zeros += d->registers[i] == 0;
	}
	estimated = alpha * m * m / sum;
	if (zeros && estimated < 2.5 * m)
		estimated = m * log(m / (double)zeros);
	return (uint64_t)(estimated + 0.5);
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

int distinct_save(struct buf *out, const struct distinct *d)
{
	uint64_t *values = calloc((size_t)d->count + 1, sizeof(*values));
	size_t count = 0;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; d->values && i < d->places; i++)
		if (d->values[i])
			values[count++] = d->values[i];
	qsort(values, count, sizeof(*values), by_value);
	pack_uint(out, d->registers ? DISTINCT_EXACT + 1 : count);
	for (size_t i = 0; i < count; i++)
		buf_add(out, &values[i], sizeof(*values));
	if (d->registers)
		buf_add(out, d->registers, DISTINCT_REGISTERS);
	free(values);
	return 0;
}

int distinct_load(struct unpack *u, struct distinct *d)
{
	uint64_t count = unpack_uint(u);

	if (count > DISTINCT_EXACT) {
		if (u->end - u->at < DISTINCT_REGISTERS)
			u->is_bad = true;
		if (u->is_bad || estimate(d) < 0)
			return u->is_bad ? 0 : -ENOMEM;
		for (size_t i = 0; i < DISTINCT_REGISTERS; i++)
			d->registers[i] = u->at[i] <= 64 ? u->at[i] : 64;
		u->at += DISTINCT_REGISTERS;
		return 0;
	}
	u->is_bad |= count > (size_t)(u->end - u->at) / sizeof(uint64_t);
	for (uint64_t i = 0, h; i < count && !u->is_bad; i++, u->at += sizeof(h)) {
		memcpy(&h, u->at, sizeof(h));
		if (add_hash(d, h) < 0)
			return -ENOMEM;
	}
	return 0;
}
