/*
 * Masson, Rim and Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees" (PVLDB
 * 12(12), 2019), in its linearly interpolated form and without collapsing.
 */
#include "stats/sketch.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { PAGE = 1 << STATS_SKETCH_BITS, PAGES = 2047, FRACTION_BITS = 52 - STATS_SKETCH_BITS };

/* Positions in ascending order: negatives from the largest magnitude down, zero, positives. */
enum { SIDE = PAGES * PAGE, ZERO = SIDE, PLACES = 2 * SIDE + 1 };

void stats_sketch_init(struct stats_sketch *s, struct arena *arena)
{
	*s = (struct stats_sketch){ .arena = arena, .min = NAN, .max = NAN };
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Bucket number within a side. */
static size_t bucket_of(double magnitude)
{
	return (size_t)(bits_of(magnitude) >> FRACTION_BITS);
}

static double bucket_start(size_t bucket)
{
	uint64_t bits = (uint64_t)bucket << FRACTION_BITS;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Returns the counter of a bucket and allocates its page if needed; NULL if out of memory. */
static uint64_t *counter(struct stats_sketch *s, bool is_positive, size_t bucket)
{
	uint64_t ***side = &s->pages[is_positive];

	if (!*side)
		*side = arena_alloc(s->arena, PAGES * sizeof(**side));
	if (!*side)
		return NULL;
	if (!(*side)[bucket / PAGE])
		(*side)[bucket / PAGE] = arena_alloc(s->arena, PAGE * sizeof(uint64_t));
	return (*side)[bucket / PAGE] ? &(*side)[bucket / PAGE][bucket % PAGE] : NULL;
}

static void widen(struct stats_sketch *s, double min, double max)
{
	s->min = s->count ? fmin(s->min, min) : min;
	s->max = s->count ? fmax(s->max, max) : max;
}

int stats_sketch_add(struct stats_sketch *s, double value, uint64_t times)
{
	uint64_t *at = &s->zero;

	if (!times)
		return 0;
	if (!isfinite(value)) {
		s->invalid += times;
		return 0;
	}
	if (fabs(value) >= DBL_MIN)
		at = counter(s, value > 0, bucket_of(fabs(value)));
	if (!at)
		return -ENOMEM;
	*at += times;
	widen(s, value, value);
	s->count += times;
	return 0;
}

static const uint64_t *page_of(const struct stats_sketch *s, int side, size_t page)
{
	return s->pages[side] ? s->pages[side][page] : NULL;
}

/* Allocates all pages that the merge needs, before anything is counted. */
static int make_pages(struct stats_sketch *s, const struct stats_sketch *other)
{
	for (int side = 0; side < 2; side++)
		for (size_t page = 0; page < PAGES; page++)
			if (page_of(other, side, page) && !counter(s, side, page * PAGE))
				return -ENOMEM;
	return 0;
}

int stats_sketch_merge(struct stats_sketch *s, const struct stats_sketch *other)
{
	if (make_pages(s, other) < 0)
		return -ENOMEM;
	for (int side = 0; side < 2; side++)
		for (size_t page = 0; page < PAGES; page++) {
			const uint64_t *from = page_of(other, side, page);

			for (size_t i = 0; from && i < PAGE; i++)
				s->pages[side][page][i] += from[i];
		}
	if (other->count)
		widen(s, other->min, other->max);
	s->zero += other->zero;
	s->count += other->count;
	s->invalid += other->invalid;
	return 0;
}

static uint64_t count_at(const struct stats_sketch *s, bool is_positive, size_t bucket)
{
	const uint64_t *page = page_of(s, is_positive, bucket / PAGE);

	return page ? page[bucket % PAGE] : 0;
}

/* The value with the same relative distance from both ends. */
static struct stats_bucket bucket_at(bool is_positive, size_t bucket, uint64_t count)
{
	double lo = bucket_start(bucket), hi = bucket_start(bucket + 1), sign = is_positive ? 1 : -1;
	double value = isinf(hi) ? lo * (1 + STATS_SKETCH_ERROR) : lo / (lo / 2 + hi / 2) * hi;

	return (struct stats_bucket){ .lo = sign * lo, .hi = sign * hi, .value = sign * value, .count = count };
}

bool stats_sketch_next(const struct stats_sketch *s, size_t *i, struct stats_bucket *bucket)
{
	for (; *i < PLACES; ++*i) {
		bool is_positive = *i > ZERO;
		size_t at = is_positive ? *i - ZERO - 1 : SIDE - 1 - *i;

		if (*i == ZERO && s->zero) {
			*bucket = (struct stats_bucket){ .count = s->zero };
			++*i;
			return true;
		}
		if (*i == ZERO)
			continue;
		if (!page_of(s, is_positive, at / PAGE)) {
			*i += is_positive ? PAGE - 1 - at % PAGE : at % PAGE;
			continue;
		}
		if (count_at(s, is_positive, at)) {
			*bucket = bucket_at(is_positive, at, count_at(s, is_positive, at));
			++*i;
			return true;
		}
	}
	return false;
}

double stats_sketch_quantile(const struct stats_sketch *s, double p)
{
	struct stats_bucket b = { 0 };
	double rank = floor(fmin(fmax(p, 0), 1) * (double)(s->count - 1));
	uint64_t below = 0;
	size_t i = 0;

	if (!s->count || isnan(p))
		return NAN;
	if (rank == 0 || rank == (double)(s->count - 1))
		return rank == 0 ? s->min : s->max;
	while (stats_sketch_next(s, &i, &b) && (double)(below + b.count) <= rank)
		below += b.count;
	return fmin(fmax(b.value, s->min), s->max);
}
