/*
 * Iterations in a stream of tokens, by votes of its n-grams.
 *
 * Votes mark where iterations begin, but tokens before and after a loop may resemble a part of it, and noise may hide
 * its first and last iterations. So iterations are compared, as bags of tokens, with the typical one: the best range
 * of similar iterations is kept, and adjacent tokens outside of it that belong to an iteration are added.
 */
#include "stats/loop-detect-private.h"

#include <errno.h>
#include <math.h>
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

#define PIECES_MAX 64    /* maximum voters */
#define VOTES_SHARE 0.25 /* minimum share of the voters that agree on a start */

static int by_score(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	if (x->width != y->width)
		return x->width < y->width ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static unsigned which_of(const struct piece *p)
{
	unsigned which = 0;

	while (width_of(which) != p->width)
		which++;
	return which;
}

static const uint32_t *places_of(const struct work *w, const struct piece *p)
{
	return w->order[which_of(p)] + p->first;
}

/* Selects the n-grams of the loop, best first. */
static size_t take_voters(struct work *w, size_t bin)
{
	size_t count = 0;

	for (size_t i = 0; i < w->pieces.count; i++) {
		const struct piece *p = &w->pieces.items[i];

		if (repeats_is_of(w, p, bin))
			w->pieces.items[count++] = *p;
	}
	if (count)
		qsort(w->pieces.items, count, sizeof(*w->pieces.items), by_score);
	return count < PIECES_MAX ? count : PIECES_MAX;
}

static bool is_near(double gap, double distance)
{
	return fabs(gap - distance) <= distance * SPREAD;
}

/* Returns where an n-gram is first evenly spaced: earlier occurrences may be chance, outside the loop. */
static uint32_t first_even(const struct work *w, const struct piece *p)
{
	const uint32_t *at = places_of(w, p);

	for (size_t i = 0; i + 2 < p->count; i++) {
		double next = at[i + 2] - at[i + 1];

		if (is_near(at[i + 1] - at[i], p->distance) &&
				(is_near(next, p->distance) || is_near(next / 2, p->distance)))
			return at[i];
	}
	return at[0];
}

/* Of those nearly as frequent as any, the earliest: a loop begins with its first action. */
static const struct piece *reference(const struct work *w, size_t voters)
{
	const struct piece *best = NULL;
	uint32_t most = 0, first = 0;

	for (size_t i = 0; i < voters; i++)
		most = w->pieces.items[i].count > most ? w->pieces.items[i].count : most;
	for (size_t i = 0; i < voters; i++) {
		const struct piece *p = &w->pieces.items[i];

		if (p->count * 10 < most * 7 || (best && first_even(w, p) >= first))
			continue;
		best = p;
		first = first_even(w, p);
	}
	return best;
}

/* Median distance of an n-gram from the reference. */
static uint32_t offset_of(struct work *w, const struct piece *p, const struct piece *ref)
{
	const uint32_t *at = places_of(w, p), *from = places_of(w, ref);
	size_t k = 0, n = 0;

	for (size_t i = 0; i < p->count; i++) {
		while (k + 1 < ref->count && from[k + 1] <= at[i])
			k++;
		if (from[k] <= at[i] && at[i] - from[k] < 1.5 * ref->distance)
			w->gaps[n++] = at[i] - from[k];
	}
	return n ? repeats_kth(w->gaps, n, n / 2) : 0;
}

/* Writes sorted votes into keys; returns their number. Positions before the stream count as its start. */
static size_t vote(struct work *w, size_t voters, const struct piece *ref)
{
	size_t count = 0;

	for (size_t v = 0; v < voters; v++) {
		const struct piece *p = &w->pieces.items[v];
		const uint32_t *at = places_of(w, p);
		uint32_t offset = offset_of(w, p, ref);

		for (size_t i = 0; i < p->count; i++)
			w->keys[count++] = at[i] > offset ? at[i] - offset : 0;
	}
	return count;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Counts the votes within `slack` of each other from i on. */
static size_t crowd(const uint64_t *votes, size_t count, size_t i, double slack)
{
	size_t end = i;

	while (end < count && (double)(votes[end] - votes[i]) <= slack)
		end++;
	return end - i;
}

static int elect(struct work *w, size_t votes, const struct piece *ref, double enough, struct stats_repeats *r)
{
	double slack = ref->distance / 8 < 1 ? 1 : ref->distance / 8;

	r->starts = calloc(votes + 1, sizeof(*r->starts));
	if (!r->starts)
		return -ENOMEM;
	for (size_t i = 0; i < votes;) {
		size_t best = i, most = 0, k = i;

		for (; k < votes && (double)(w->keys[k] - w->keys[i]) <= ref->distance / 2; k++) {
			size_t n = crowd(w->keys, votes, k, slack);

			if (n > most) {
				most = n;
				best = k;
			}
		}
		if ((double)most < enough) {
			i++;
			continue;
		}
		r->starts[r->count++] = (size_t)w->keys[best + most / 2];
		i = best + most;
		while (i < votes && (double)(w->keys[i] - r->starts[r->count - 1]) < ref->distance / 2)
			i++;
	}
	return 0;
}

/* Adds iterations that lost most votes to noise: a gap of two lengths with a vote in its middle. */
static int fill_gaps(const struct work *w, size_t votes, struct stats_repeats *r)
{
	size_t *starts = calloc(2 * r->count + 1, sizeof(*starts)), count = 0, at = 0;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < r->count; i++) {
		double gap = i + 1 < r->count ? (double)(r->starts[i + 1] - r->starts[i]) : 0;
		double lo = (double)r->starts[i] + gap / 2 - (double)r->length / 4, hi = lo + (double)r->length / 2;

		starts[count++] = r->starts[i];
		if (gap < 1.6 * (double)r->length || gap > 2.4 * (double)r->length)
			continue;
		while (at < votes && (double)w->keys[at] < lo)
			at++;
		if (at < votes && (double)w->keys[at] <= hi)
			starts[count++] = (size_t)w->keys[at];
	}
	free(r->starts);
	r->starts = starts;
	r->count = count;
	return 0;
}

static void measure(struct work *w, struct stats_repeats *r)
{
	for (size_t i = 0; i + 1 < r->count; i++)
		w->gaps[i] = (uint32_t)(r->starts[i + 1] - r->starts[i]);
	r->length = r->count > 1 ? repeats_kth(w->gaps, r->count - 1, (r->count - 1) / 2) : 0;
}

static int find(struct work *w, struct stats_repeats *r)
{
	const struct piece *ref;
	size_t bin, voters, votes, sum = 0;
	uint64_t *room;
	int rc = repeats_choose(w, &bin);

	if (rc < 0)
		return rc;
	voters = bin ? take_voters(w, bin) : 0;
	ref = voters ? reference(w, voters) : NULL;
	if (!ref)
		return 0;
	for (size_t v = 0; v < voters; v++)
		sum += w->pieces.items[v].count;
	room = reallocarray(w->keys, sum + w->n + 1, sizeof(*room));
	if (!room)
		return -ENOMEM;
	w->keys = room;
	votes = vote(w, voters, ref);
	qsort(w->keys, votes, sizeof(*w->keys), by_key);
	rc = elect(w, votes, ref, VOTES_SHARE * (double)sum / (double)ref->count, r);
	measure(w, r);
	if (rc == 0 && r->count >= COUNT_MIN)
		rc = fill_gaps(w, votes, r);
	if (rc == 0 && r->count >= COUNT_MIN)
		rc = repeats_ends(w, r);
	measure(w, r);
	r->anchor = first_even(w, ref);
	r->pieces = voters;
	if (r->count < COUNT_MIN)
		r->count = 0;
	return rc;
}

int stats_repeats_find(struct stats_repeats *r, const uint32_t *tokens, size_t n)
{
	struct work w = { .tokens = tokens, .n = n };
	int rc = 0;

	*r = (struct stats_repeats){ .count = 0 };
	if (n < 2 * COUNT_MIN)
		return 0;
	w.keys = calloc(n + 1, sizeof(*w.keys));
	w.spare = calloc(n + 1, sizeof(*w.spare));
	w.gaps = calloc(n + 1, sizeof(*w.gaps));
	if (!w.keys || !w.spare || !w.gaps)
		rc = -ENOMEM;
	for (unsigned which = 0; which < WIDTHS && rc == 0; which++)
		rc = repeats_gather(&w, which);
	if (rc == 0)
		rc = find(&w, r);
	if (rc < 0)
		stats_repeats_release(r);
	for (unsigned which = 0; which < WIDTHS; which++)
		free(w.order[which]);
	free(w.keys);
	free(w.spare);
	free(w.gaps);
	free(w.pieces.items);
	return rc;
}

void stats_repeats_release(struct stats_repeats *r)
{
	free(r->starts);
	*r = (struct stats_repeats){ .count = 0 };
}
