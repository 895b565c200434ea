/*
 * loop-detect: finds the iterations of a loop in a stream of tokens, without knowing their number.
 *
 * Tokens are numbers for events: a call, a function, a kernel. n-grams ("pieces") of 1, 2, 4 and 8 tokens that recur
 * at more even distances than chance explains indicate a loop; n-grams with the same distance belong to one loop.
 * Each n-gram then votes for the starts of iterations, so that occasional missing, duplicated or foreign tokens cost
 * only a vote. The ends of the loop are found by what its iterations have in common. Of nested loops the outermost
 * with at least five iterations is used, else the outermost. O(n log n) time, O(n) memory, deterministic.
 */
#ifndef SONDE_STATS_LOOP_DETECT_H
#define SONDE_STATS_LOOP_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats_repeats {
	size_t count;      /* iterations; 0: no loop found */
	size_t *starts;    /* the first token of each, ascending */
	size_t length;     /* median tokens of an iteration; the last one is assumed to be as long */
	size_t anchor;     /* index of a token that identifies the first iteration */
	size_t pieces;     /* number of voters */
	double confidence; /* similarity of the iterations, 0 .. 1 */
};

/* 0 or -ENOMEM. At most 2^31 tokens. */
int stats_repeats_find(struct stats_repeats *r, const uint32_t *tokens, size_t n);
void stats_repeats_release(struct stats_repeats *r);

#endif
