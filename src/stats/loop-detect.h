/*
 * repeats: the iterations of a loop in a stream of tokens, however many there are.
 *
 * Tokens are numbers that stand for what was done: a call, a function, a kernel.
 * Pieces of the stream of 1, 2, 4 and 8 tokens that come back at even distances,
 * more evenly than chance would have it, speak for a loop; pieces of the same
 * distance are one loop. Each piece then votes for where iterations begin, so
 * that tokens which are missing, doubled or foreign here and there cost a vote
 * and no more; where the loop begins and ends is seen by what its iterations have
 * in common. Of loops in loops the outermost with at least five iterations is
 * taken, else the outermost. O(n log n) time, O(n) memory, no random choices.
 */
#ifndef SONDE_STATS_LOOP_DETECT_H
#define SONDE_STATS_LOOP_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats_repeats {
	size_t count;      /* iterations; 0: no loop was found */
	size_t *starts;    /* the first token of each, rising */
	size_t length;     /* tokens of an iteration, the median; the last one is taken to be as long */
	size_t anchor;     /* a token (its place in the stream) that the first iteration is known by */
	size_t pieces;     /* that voted */
	double confidence; /* how much iterations have in common, 0 .. 1 */
};

/* 0 or -ENOMEM. At most 2^31 tokens. */
int stats_repeats_find(struct stats_repeats *r, const uint32_t *tokens, size_t n);
void stats_repeats_release(struct stats_repeats *r);

#endif
