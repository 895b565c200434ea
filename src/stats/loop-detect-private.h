/*
 * repeats-private: what the parts of finding repeats share. loop-detect-pieces.c groups equal pieces of the stream and
 * judges how evenly each comes back; loop-detect-distance.c finds the distance of the loop; loop-detect.c lets them
 * vote; loop-detect-ends.c looks where the loop begins and ends.
 */
#ifndef SONDE_STATS_LOOP_DETECT_PRIVATE_H
#define SONDE_STATS_LOOP_DETECT_PRIVATE_H

#include "stats/loop-detect.h"

#include <stdbool.h>

#define SPREAD 0.2  /* distances within this of their median are even */
#define CHANCE 0.2  /* share of the distances that are even by chance alone, at most */
#define COUNT_MIN 3 /* of a piece */
#define FEW 12      /* pieces that come less often are judged together: alone they prove nothing */

enum { WIDTHS = 4 }; /* of pieces: 1, 2, 4 and 8 tokens */

/* A piece that comes back evenly. Its places are order[first .. first + count). */
struct piece {
	uint32_t width;
	uint32_t count;
	size_t first;
	double distance; /* the median */
	double score;    /* how much more even than by chance, as a logarithm */
	bool is_even;    /* all distances are */
};

struct pieces {
	struct piece *items;
	size_t count, cap;
};

struct work {
	const uint32_t *tokens;
	size_t n;
	uint64_t *keys, *spare; /* hash and place of each piece of a width */
	uint32_t *gaps;
	uint32_t *order[WIDTHS]; /* places sorted by piece */
	struct pieces pieces;
	size_t of_count[FEW + 1]; /* pieces by how often they come */
};

static inline unsigned width_of(unsigned which)
{
	return 1u << which;
}

/* All pieces of one width that come back evenly. 0 or -ENOMEM. */
int repeats_gather(struct work *w, unsigned which);
/* The k-th smallest; moves them about. */
uint32_t repeats_kth(uint32_t *v, size_t n, size_t k);

/* The bin of distances of the loop to take; 0: there is none. 0 or -ENOMEM. */
int repeats_choose(const struct work *w, size_t *bin);
/* Is this a piece of the loop of that bin? */
bool repeats_is_of(const struct work *w, const struct piece *p, size_t bin);

/* Takes what only looks like an iteration from the ends of the loop, and adds what noise hid. 0 or -ENOMEM. */
int repeats_ends(const struct work *w, struct stats_repeats *r);

#endif
