/* The evenly spaced n-grams (pieces) of a stream, and the distance at which a loop repeats. */
#include "stats/loop-detect-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grouping equal n-grams. */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* Sorts by the upper half, stable: positions of an n-gram stay in order. */
static void sort_keys(struct work *w, size_t n)
{
	static const unsigned shifts[] = { 32, 43, 54 };

	for (size_t pass = 0; pass < 3; pass++) {
		size_t places[2048] = { 0 }, sum = 0;
		uint64_t *swap;

		for (size_t i = 0; i < n; i++)
			places[w->keys[i] >> shifts[pass] & 2047]++;
		for (size_t b = 0; b < 2048; b++) {
			size_t count = places[b];

			places[b] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			w->spare[places[w->keys[i] >> shifts[pass] & 2047]++] = w->keys[i];
		swap = w->keys;
		w->keys = w->spare;
		w->spare = swap;
	}
}

static size_t hash_pieces(struct work *w, unsigned width)
{
	size_t n = w->n >= width ? w->n - width + 1 : 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t h = width;

		for (unsigned k = 0; k < width; k++)
			h = mix(h ^ ((uint64_t)w->tokens[i + k] + 1) << 8);
		w->keys[i] = h << 32 | i;
	}
	return n;
}

/* Scoring an n-gram. */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Hoare's quickselect. */
uint32_t repeats_kth(uint32_t *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (hi > lo + 8) {
		uint32_t pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i > j)
				break;
			uint32_t t = v[i];
			v[i++] = v[j];
			v[j] = t;
			if (j == 0)
				break;
			j--;
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			return v[k];
	}
	qsort(v + lo, hi - lo + 1, sizeof(*v), by_value);
	return v[k];
}

static int add_piece(struct work *w, const struct piece *p)
{
	struct pieces *all = &w->pieces;

	if (all->count == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 1024;
		struct piece *items = reallocarray(all->items, cap, sizeof(*items));

		if (!items)
			return -ENOMEM;
		all->items = items;
		all->cap = cap;
	}
	all->items[all->count++] = *p;
	return 0;
}

/* Kullback-Leibler divergence from chance of g even distances among n. */
static double score_of(size_t g, size_t n)
{
	double share = (double)g / (double)n, rest = 1 - share;

	if (share <= CHANCE)
		return 0;
	return (double)n * (share * log(share / CHANCE) + (rest > 0 ? rest * log(rest / (1 - CHANCE)) : 0));
}

static int judge(struct work *w, unsigned which, size_t first, size_t count)
{
	const uint32_t *at = w->order[which] + first;
	struct piece p = { .width = width_of(which), .count = (uint32_t)count, .first = first };
	size_t even = 0;
	double slack;

	if (count <= FEW)
		w->of_count[count]++;
	for (size_t i = 0; i + 1 < count; i++)
		w->gaps[i] = at[i + 1] - at[i];
	p.distance = repeats_kth(w->gaps, count - 1, (count - 1) / 2);
	if (p.distance < 2)
		return 0; /* an immediate repetition is not an iteration */
	slack = p.distance * SPREAD;
	for (size_t i = 0; i + 1 < count; i++)
		even += fabs((double)(at[i + 1] - at[i]) - p.distance) <= slack;
	p.is_even = even == count - 1;
	p.score = score_of(even, count - 1);
	return even * 3 >= count ? add_piece(w, &p) : 0;
}

int repeats_gather(struct work *w, unsigned which)
{
	size_t n = hash_pieces(w, width_of(which));
	int rc = 0;

	w->order[which] = calloc(n + 1, sizeof(**w->order));
	if (!w->order[which])
		return -ENOMEM;
	sort_keys(w, n);
	for (size_t i = 0; i < n; i++)
		w->order[which][i] = (uint32_t)w->keys[i];
	for (size_t i = 0, end; i < n && rc == 0; i = end) {
		for (end = i + 1; end < n && w->keys[end] >> 32 == w->keys[i] >> 32; end++)
			;
		if (end - i >= COUNT_MIN)
			rc = judge(w, which, i, end - i);
	}
	return rc;
}

#define BIN 1.04         /* maximum ratio of distances in a bin */
#define BINS 600         /* 1.04^600 is above 2^31 */
#define OFTEN 5          /* minimum iterations of an outer loop to be preferred */
#define FEW_PIECES_MIN 8 /* minimum number of these */

static size_t bin_of(double distance)
{
	size_t bin = (size_t)(log(distance) / log(BIN));

	return bin < BINS ? bin : BINS - 1;
}

struct level {
	double score;
	size_t few[FEW + 1]; /* even, infrequent n-grams by count */
	size_t pieces;
	uint32_t most; /* count of the most frequent n-gram */
};

static bool has_few(const struct work *w, const struct level *l)
{
	for (size_t c = COUNT_MIN; c <= FEW; c++) {
		double expected = (double)w->of_count[c] * pow(CHANCE, (double)c - 1) / 4;

		if (l->few[c] >= FEW_PIECES_MIN && (double)l->few[c] > 4 * expected)
			return true;
	}
	return false;
}

/* Is this n-gram significant alone, for any number of n-grams? */
static bool is_proof(const struct work *w, const struct piece *p)
{
	return p->score > log((double)w->n * WIDTHS + 1) + 3;
}

static void sum_levels(const struct work *w, struct level *levels)
{
	for (size_t i = 0; i < w->pieces.count; i++) {
		const struct piece *p = &w->pieces.items[i];
		size_t bin = bin_of(p->distance);
		bool is_few = p->count <= FEW && p->is_even;

		if (!is_proof(w, p) && !is_few)
			continue;
		for (size_t b = bin ? bin - 1 : 0; b <= bin + 1 && b < BINS; b++) {
			levels[b].score += is_proof(w, p) ? p->score : 0;
			levels[b].few[is_few ? p->count : 0]++;
			levels[b].pieces += is_proof(w, p);
			if (is_proof(w, p) && p->count > levels[b].most)
				levels[b].most = p->count;
		}
	}
}

/* Returns 0 if no bin qualifies. */
static size_t choose(const struct work *w, struct level *levels)
{
	size_t chosen = 0;
	bool is_often = false;

	for (size_t b = 1; b + 1 < BINS; b++) {
		const struct level *l = &levels[b];
		bool is_real = l->pieces >= 2 || has_few(w, l), is_peak, is_more;
		size_t weight = l->pieces + l->few[3] + l->few[4] + l->few[5] + l->few[6] + l->few[7] + l->few[8];

		if (!is_real)
			continue;
		is_peak = l->score > levels[b - 1].score ||
				weight >= levels[b - 1].pieces + levels[b - 1].few[3]; /* of equals the later */
		is_more = l->most >= OFTEN ||
				(l->pieces == 0 &&
						(l->few[5] + l->few[6] + l->few[7] + l->few[8] + l->few[9] +
								l->few[10] + l->few[11] + l->few[12]) >=
								FEW_PIECES_MIN);
		if (is_peak && (is_more || !is_often)) {
			chosen = b;
			is_often = is_often || is_more;
		}
	}
	return chosen;
}

int repeats_choose(const struct work *w, size_t *bin)
{
	struct level *levels = calloc(BINS, sizeof(*levels));

	if (!levels)
		return -ENOMEM;
	sum_levels(w, levels);
	*bin = choose(w, levels);
	free(levels);
	return 0;
}

bool repeats_is_of(const struct work *w, const struct piece *p, size_t bin)
{
	size_t b = bin_of(p->distance);

	return b + 2 >= bin && b <= bin + 2 && (is_proof(w, p) || (p->count <= FEW && p->is_even));
}
