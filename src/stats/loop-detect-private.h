/*
 * loop-detect-private: shared by the loop detection. loop-detect-ngrams.c groups equal n-grams (pieces) of the stream,
 * scores how evenly each is spaced and finds the distance of the loop; loop-detect.c counts their votes, and finds
 * where the loop begins and ends.
 */
#ifndef SONDE_STATS_LOOP_DETECT_PRIVATE_H
#define SONDE_STATS_LOOP_DETECT_PRIVATE_H

#include "stats/loop-detect.h"

#include <stdbool.h>

#define SPREAD 0.2  /* distances within this of their median are even */
#define CHANCE 0.2  /* maximum share of distances that are even by chance */
#define COUNT_MIN 3 /* of an n-gram */
#define FEW 12      /* n-grams with lower counts are judged jointly: alone they are not significant */

enum { WIDTHS = 4 }; /* of n-grams: 1, 2, 4 and 8 tokens */

/* An evenly spaced n-gram. Its positions are order[first .. first + count). */
struct piece {
	uint32_t width;
	uint32_t count;
	size_t first;
	double distance; /* the median */
	double score;    /* log-likelihood of its evenness against chance */
	bool is_even;    /* all distances are even */
};

struct pieces {
	struct piece *items;
	size_t count, cap;
};

struct work {
	const uint32_t *tokens;
	size_t n;
	uint64_t *keys, *spare; /* hash and position of each n-gram of a width */
	uint32_t *gaps;
	uint32_t *order[WIDTHS]; /* positions sorted by n-gram */
	struct pieces pieces;
	size_t of_count[FEW + 1]; /* number of n-grams by count */
};

static inline unsigned width_of(unsigned which)
{
	return 1u << which;
}

/* Collects all evenly spaced n-grams of one width. 0 or -ENOMEM. */
int repeats_gather(struct work *w, unsigned which);
/* Returns the k-th smallest; reorders v. */
uint32_t repeats_kth(uint32_t *v, size_t n, size_t k);

/* Finds the bin of distances of the loop; 0: none. Returns 0 or -ENOMEM. */
int repeats_choose(const struct work *w, size_t *bin);
/* Does this n-gram belong to the loop of that bin? */
bool repeats_is_of(const struct work *w, const struct piece *p, size_t bin);

/* Removes false iterations from the ends of the loop, and adds those that noise hid. 0 or -ENOMEM. */
int repeats_ends(const struct work *w, struct stats_repeats *r);

#endif
