/* The distance at which a loop repeats. */
#include "stats/loop-detect-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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
