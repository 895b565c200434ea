/*
 * Where a loop begins and ends.
 *
 * Votes mark where iterations begin, but tokens before and after a loop may resemble a part of it, and noise may hide
 * its first and last iterations. So iterations are compared, as bags of tokens, with the typical one: the best range
 * of similar iterations is kept, and adjacent tokens outside of it that belong to an iteration are added.
 */
#include "stats/loop-detect-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0.5   /* share of common tokens: iterations with more count for the loop, others against it */
#define FOREIGN 2   /* tokens of the loop that one foreign token outweighs, when extending a loop */
#define NEARLY 0.75 /* share of an iteration that counts as one: noise hides the rest */
#define ADDED_MAX 4 /* on each side */

struct bag {
	uint32_t *kinds;  /* of each token of the stream, from 0 */
	double *usual;    /* mean count of each kind in an iteration */
	uint32_t *seen;   /* counts in the current range; all 0 between calls */
	double length;    /* tokens of the typical iteration */
	size_t n, median; /* of the stream; of iterations */
};

static void name_kinds(const struct work *w, uint32_t *kinds)
{
	const uint32_t *order = w->order[0];
	uint32_t kind = 0;

	for (size_t i = 0; i < w->n; i++) {
		kind += i && w->tokens[order[i]] != w->tokens[order[i - 1]];
		kinds[order[i]] = kind;
	}
}

static size_t end_of(const struct bag *b, const struct stats_repeats *r, size_t i)
{
	size_t end = i + 1 < r->count ? r->starts[i + 1] : r->starts[i] + r->length;

	return end < b->n ? end : b->n;
}

/* Anything much longer than the others is a gap, not an iteration. */
static void find_usual(struct bag *b, const struct stats_repeats *r)
{
	double of = 0;

	for (size_t i = 0; i + 1 < r->count; i++)
		of += end_of(b, r, i) - r->starts[i] <= r->length * 3 / 2;
	for (size_t i = 0; i + 1 < r->count; i++)
		for (size_t k = r->starts[i];
				k < end_of(b, r, i) && end_of(b, r, i) - r->starts[i] <= r->length * 3 / 2; k++) {
			b->usual[b->kinds[k]] += 1 / of;
			b->length += 1 / of;
		}
}

static void forget(struct bag *b, size_t from, size_t to)
{
	for (size_t k = from; k < to; k++)
		b->seen[b->kinds[k]] = 0;
}

/* How much of one more such token is missing. */
static double lacking(const struct bag *b, size_t k)
{
	double left = b->usual[b->kinds[k]] - b->seen[b->kinds[k]];

	return left < 0 ? 0 : left > 1 ? 1 : left;
}

static double alike(struct bag *b, size_t from, size_t to)
{
	double common = 0;

	for (size_t k = from; k < to; k++) {
		common += lacking(b, k);
		b->seen[b->kinds[k]]++;
	}
	forget(b, from, to);
	return common / ((double)(to - from) + b->length - common);
}

/* Keeps the range of iterations with the best score; gaps count by their length. */
static void keep_best(struct bag *b, struct stats_repeats *r)
{
	double sum = 0, most = 0;
	size_t first = 0, from = 0, to = 0;

	for (size_t i = 0; i < r->count; i++) {
		double tokens = (double)(end_of(b, r, i) - r->starts[i]), times = tokens / (double)r->length;

		sum += (alike(b, r->starts[i], end_of(b, r, i)) - ALIKE) * (times > 1 ? times : 1);
		if (sum <= 0) {
			sum = 0;
			first = i + 1;
		}
		if (sum > most) {
			most = sum;
			from = first;
			to = i + 1;
		}
	}
	r->count = to - from;
	memmove(r->starts, r->starts + from, r->count * sizeof(*r->starts));
}

/* Counts the tokens of one more iteration, from `at` on or, with step -1, before it. */
static size_t reach(struct bag *b, size_t at, int step)
{
	size_t room = step > 0 ? b->n - at : at, most = room < b->median ? room : b->median, best = 0;
	size_t from = step > 0 ? at : at - most;
	double sum = 0, highest = 0;

	for (size_t i = 0; i < most; i++) {
		size_t k = step > 0 ? at + i : at - 1 - i;

		sum += lacking(b, k) >= 0.5 ? 1 : -FOREIGN;
		b->seen[b->kinds[k]]++;
		if (sum > highest) {
			highest = sum;
			best = i + 1;
		}
	}
	forget(b, from, from + most);
	return best;
}

/*
 * Adds iterations that noise hid before the first and after the last. If the detected start is in the middle of the
 * loop body, the half before the first and the half after the last make one: then all start earlier.
 */
static void add_ends(struct bag *b, struct stats_repeats *r)
{
	size_t end = end_of(b, r, r->count - 1), nearly = (size_t)(NEARLY * (double)b->median), before, after;

	for (int added = 0; (before = reach(b, r->starts[0], -1)) >= nearly && added < ADDED_MAX; added++) {
		memmove(r->starts + 1, r->starts, r->count++ * sizeof(*r->starts));
		r->starts[0] -= before;
	}
	for (int added = 0; (after = reach(b, end, 1)) >= nearly && added < ADDED_MAX; added++) {
		r->starts[r->count++] = end;
		end += after;
	}
	if (before + after < nearly || !before || !after)
		return;
	r->starts[r->count++] = end;
	for (size_t i = 0; i < r->count; i++)
		r->starts[i] -= before;
}

int repeats_ends(const struct work *w, struct stats_repeats *r)
{
	struct bag b = { .n = w->n, .median = r->length };
	size_t *starts = reallocarray(r->starts, r->count + 2 * ADDED_MAX + 1, sizeof(*starts));

	if (starts)
		r->starts = starts;
	b.kinds = calloc(w->n, sizeof(*b.kinds));
	b.usual = calloc(w->n, sizeof(*b.usual));
	b.seen = calloc(w->n, sizeof(*b.seen));
	if (starts && b.kinds && b.usual && b.seen) {
		name_kinds(w, b.kinds);
		find_usual(&b, r);
		keep_best(&b, r);
		if (r->count)
			add_ends(&b, r);
		r->confidence = 0;
		for (size_t i = 0; i < r->count; i++)
			r->confidence += alike(&b, r->starts[i], end_of(&b, r, i)) / (double)r->count;
	}
	free(b.kinds);
	free(b.usual);
	free(b.seen);
	return starts && b.kinds && b.usual && b.seen ? 0 : -ENOMEM;
}
