/* Iterations in a stream of tokens; repeats.h says how. */
#include "stats/repeats.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD 0.2       /* distances within this of their median are even */
#define CHANCE 0.2       /* share of the distances that are even by chance alone, at most */
#define BIN 1.04         /* distances in a bin differ by this factor at most */
#define BINS 600         /* 1.04^600 is above 2^31 */
#define PIECES_MAX 64    /* that vote */
#define COUNT_MIN 3      /* of a piece */
#define OFTEN 5          /* iterations that an outer loop must have to be preferred */
#define FEW 12           /* pieces that come less often are judged together: alone they prove nothing */
#define FEW_PIECES_MIN 8 /* of them */
#define VOTES_SHARE 0.25 /* of the pieces, that must agree on a beginning */

static const unsigned widths[] = { 1, 2, 4, 8 };
enum { WIDTHS = sizeof(widths) / sizeof(*widths) };

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

/* Grouping equal pieces. */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* By the upper half, stable: places of a piece stay in order. */
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

/* Judging a piece. */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The k-th smallest; moves them about (Hoare's find). */
static uint32_t kth(uint32_t *v, size_t n, size_t k)
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

/* Kullback-Leibler: what g even ones of n say against chance. */
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
	struct piece p = { .width = widths[which], .count = (uint32_t)count, .first = first };
	size_t even = 0;
	double slack;

	if (count <= FEW)
		w->of_count[count]++;
	for (size_t i = 0; i + 1 < count; i++)
		w->gaps[i] = at[i + 1] - at[i];
	p.distance = kth(w->gaps, count - 1, (count - 1) / 2);
	if (p.distance < 2)
		return 0; /* the same again and again is no iteration */
	slack = p.distance * SPREAD;
	for (size_t i = 0; i + 1 < count; i++)
		even += fabs((double)(at[i + 1] - at[i]) - p.distance) <= slack;
	p.is_even = even == count - 1;
	p.score = score_of(even, count - 1);
	return even * 3 >= count ? add_piece(w, &p) : 0;
}

static int gather(struct work *w, unsigned which)
{
	size_t n = hash_pieces(w, widths[which]);
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

/* Finding the distance. */

static size_t bin_of(double distance)
{
	size_t bin = (size_t)(log(distance) / log(BIN));

	return bin < BINS ? bin : BINS - 1;
}

struct level {
	double score;
	size_t few[FEW + 1]; /* even pieces that come seldom, by how often */
	size_t pieces;
	uint32_t most; /* how often a piece comes at most */
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

/* A piece that proves something by itself, whatever the number of pieces. */
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

/* The distance of the loop to take, 0 for none: that of the best piece in the bin. */
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
				weight >= levels[b - 1].pieces + levels[b - 1].few[3]; /* of neighbours the later */
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

/* Voting. */

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

	while (widths[which] != p->width)
		which++;
	return which;
}

static const uint32_t *places_of(const struct work *w, const struct piece *p)
{
	return w->order[which_of(p)] + p->first;
}

/* The pieces of the loop: the best first. */
static size_t take_voters(struct work *w, size_t bin)
{
	size_t count = 0;

	for (size_t i = 0; i < w->pieces.count; i++) {
		const struct piece *p = &w->pieces.items[i];
		size_t b = bin_of(p->distance);

		if (b + 2 >= bin && b <= bin + 2 && (is_proof(w, p) || (p->count <= FEW && p->is_even)))
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

/* Where a piece first comes evenly: before that it may be there by chance, outside the loop. */
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

/* Of those that come nearly as often as any the one that comes first: a loop begins with what it does first. */
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

/* How far a piece is behind the reference, the median. */
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
	return n ? kth(w->gaps, n, n / 2) : 0;
}

/* Votes into keys, sorted; the number of them. Places before the stream count as its beginning. */
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

/* Votes within `slack` of each other from i on. */
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
	size_t agreed = 0;

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
		agreed += most;
		i = best + most;
		while (i < votes && (double)(w->keys[i] - r->starts[r->count - 1]) < ref->distance / 2)
			i++;
	}
	r->confidence = votes ? (double)agreed / (double)votes : 0;
	return 0;
}

/* An iteration that noise took most votes from: a gap of two lengths with a vote in its middle. */
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

/* Does the piece vote for this beginning? */
static bool votes_for(const struct work *w, const struct piece *p, uint32_t offset, size_t start, double slack)
{
	const uint32_t *at = places_of(w, p);

	for (size_t i = 0; i < p->count; i++)
		if (fabs((double)at[i] - (double)offset - (double)start) <= slack)
			return true;
	return false;
}

/*
 * Where in its iteration a loop was cut: with the cut in the middle the first beginning has votes of the pieces
 * behind it only, and the last those of the pieces before it. Then all beginnings move, and there is one less.
 */
static void turn(struct work *w, size_t voters, const struct piece *ref, struct stats_repeats *r)
{
	uint32_t offsets[PIECES_MAX];
	int sides[PIECES_MAX], best = 0, all = 0;
	uint32_t cut = 0;
	double slack = (double)r->length / 8 + 1;

	for (size_t v = 0; v < voters; v++) {
		const struct piece *p = &w->pieces.items[v];

		offsets[v] = offset_of(w, p, ref);
		sides[v] = votes_for(w, p, offsets[v], r->starts[0], slack) -
				votes_for(w, p, offsets[v], r->starts[r->count - 1], slack);
	}
	for (size_t c = 0; c < voters; c++) {
		int sum = 0;

		for (size_t v = 0; v < voters; v++)
			sum += offsets[v] >= offsets[c] ? sides[v] : -sides[v];
		if (sum > best || (sum == best && best > 0 && offsets[c] < cut)) {
			best = sum;
			cut = offsets[c];
		}
		all += sides[c] != 0;
	}
	if (cut == 0 || best * 2 < (int)voters || best * 4 < all * 3)
		return;
	r->count--;
	for (size_t i = 0; i < r->count; i++)
		r->starts[i] += cut;
}

static void measure(struct work *w, struct stats_repeats *r)
{
	for (size_t i = 0; i + 1 < r->count; i++)
		w->gaps[i] = (uint32_t)(r->starts[i + 1] - r->starts[i]);
	r->length = r->count > 1 ? kth(w->gaps, r->count - 1, (r->count - 1) / 2) : 0;
}

static int find(struct work *w, struct stats_repeats *r)
{
	struct level *levels = calloc(BINS, sizeof(*levels));
	const struct piece *ref;
	size_t bin, voters, votes, sum = 0;
	uint64_t *room;
	int rc;

	if (!levels)
		return -ENOMEM;
	sum_levels(w, levels);
	bin = choose(w, levels);
	free(levels);
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
	if (rc == 0 && r->count > COUNT_MIN)
		turn(w, voters, ref, r);
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
		rc = gather(&w, which);
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
