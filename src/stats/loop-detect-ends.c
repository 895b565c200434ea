/*
 * Where a loop begins and ends; see loop-detect-private.h.
 *
 * Votes say where iterations begin, but what comes before a loop and after it may look like a part of it, and noise may
 * hide its first and last ones. So iterations are compared, as bags of tokens, with the usual one of them: the stretch
 * of those that are like it is kept, and what follows each other outside of it and belongs to an iteration is added.
 */
#include "stats/loop-detect-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 0.5   /* common tokens of all tokens: iterations that have more speak for the loop, others against it */
#define FOREIGN 2   /* tokens of the loop that one of nobody's outweighs, where a loop is said to go on */
#define NEARLY 0.75 /* of an iteration, that is one: noise took the rest */
#define ADDED_MAX 4 /* on each side */

struct bag {
	uint32_t *kinds;  /* of each token of the stream, from 0 */
	double *usual;    /* how often each kind is in an iteration */
	uint32_t *seen;   /* in what is looked at; all 0 between looks */
	double length;    /* tokens of the usual iteration */
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

/* What is much longer than the others is a gap, and no iteration. */
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

/* How much of one more token is still lacking. */
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

/* Of all stretches of iterations the one that speaks most for a loop; gaps count for as many as they are long. */
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

/* How many tokens belong to one more iteration, from `at` on or, with step -1, before it. */
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
 * Iterations that noise hid before the first and after the last. Where a loop is said to begin in the middle of its
 * body the half before the first and the half after the last are one: then all begin earlier.
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
