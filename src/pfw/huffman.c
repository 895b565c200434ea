/*
 * Length-limited minimum-redundancy codes. Code lengths by A. Moffat and J. Katajainen, "In-Place Calculation of
 * Minimum-Redundancy Codes" (1995); lengths above the limit are shortened and others grow in exchange.
 */
#include "pfw/huffman.h"

#define SYMBOLS_MAX 288u
#define LENGTHS_MAX (DEFLATE_LITERALS + DEFLATE_DISTANCES)
#define LENGTH_CODES 19u
#define LENGTH_BITS_MAX 7u
#define REPEAT_LAST 16u
#define ZEROS_FEW 17u
#define ZEROS_MANY 18u

struct use {
	uint32_t count;
	uint16_t symbol;
};

/* Sorts by count, ascending. There are few symbols, and most counts are small. */
static void sort(struct use *u, unsigned n)
{
	for (unsigned gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (unsigned i = gap; i < n; i++) {
			struct use moved = u[i];
			unsigned j = i;
			for (; j >= gap && u[j - gap].count > moved.count; j -= gap)
				u[j] = u[j - gap];
			u[j] = moved;
		}
}

/* Converts counts to code lengths, in place; n is at least 2. */
static void lengths_of(struct use *u, unsigned n)
{
	unsigned leaf = 2, root = 0;
	u[0].count += u[1].count;
	for (unsigned next = 1; next < n - 1; next++) { /* pairs: parents replace their children */
		if (leaf >= n || u[root].count < u[leaf].count) {
			u[next].count = u[root].count;
			u[root++].count = next;
		} else {
			u[next].count = u[leaf++].count;
		}
		if (leaf >= n || (root < next && u[root].count < u[leaf].count)) {
			u[next].count += u[root].count;
			u[root++].count = next;
		} else {
			u[next].count += u[leaf++].count;
		}
	}
	u[n - 2].count = 0; /* depths of inner nodes */
	for (unsigned i = n - 2; i-- > 0;)
		u[i].count = u[u[i].count].count + 1;
	unsigned free = 1, depth = 0, next = n;
	for (int at = (int)n - 2; free; depth++) { /* depths of leaves */
		unsigned used = 0;
		for (; at >= 0 && u[at].count == depth; at--)
			used++;
		for (; free > used; free--)
			u[--next].count = depth;
		free = 2 * used;
	}
}

/* Counts the codes of each length, with none above the limit. */
static void limit_lengths(const struct use *u, unsigned n, unsigned limit, unsigned *counts)
{
	uint32_t total = 0;
	for (unsigned i = 0; i < n; i++)
		counts[u[i].count < limit ? u[i].count : limit]++;
	for (unsigned i = 1; i <= limit; i++)
		total += counts[i] << (limit - i);
	for (; total > 1u << limit; total--) {
		unsigned i = limit - 1;
		while (!counts[i])
			i--;
		counts[limit]--;
		counts[i]--;
		counts[i + 1] += 2;
	}
}

static uint16_t reversed(unsigned bits, unsigned count)
{
	unsigned r = 0;
	for (unsigned i = 0; i < count; i++)
		r |= (bits >> i & 1) << (count - 1 - i);
	return (uint16_t)r;
}

/* Assigns canonical codes to the lengths. */
static void number_codes(struct deflate_code *codes, unsigned count, const unsigned *counts)
{
	unsigned next[HUFFMAN_BITS_MAX + 2] = { 0 };
	for (unsigned i = 1; i <= HUFFMAN_BITS_MAX; i++)
		next[i + 1] = (next[i] + counts[i]) << 1;
	for (unsigned i = 0; i < count; i++)
		if (codes[i].count)
			codes[i].bits = reversed(next[codes[i].count]++, codes[i].count);
}

void huffman_make(const uint32_t *uses, unsigned count, unsigned limit, struct deflate_code *codes)
{
	struct use used[SYMBOLS_MAX];
	unsigned n = 0, counts[HUFFMAN_BITS_MAX + 1] = { 0 };
	memset(codes, 0, count * sizeof(*codes));
	for (unsigned i = 0; i < count; i++)
		if (uses[i])
			used[n++] = (struct use){ .count = uses[i], .symbol = (uint16_t)i };
	if (n < 2) { /* one bit; one of its values is unused */
		codes[n ? used[0].symbol : 0].count = 1;
		return;
	}
	sort(used, n);
	lengths_of(used, n);
	limit_lengths(used, n, limit, counts);
	for (unsigned length = limit, i = 0; length; length--)
		for (unsigned k = counts[length]; k; k--)
			codes[used[i++].symbol].count = (uint8_t)length;
	number_codes(codes, count, counts);
}

/* Code lengths, run-length encoded. */

struct run {
	uint8_t symbol, extra, extra_bits;
};

/* The longest run that one symbol encodes, of `same` lengths: repeats of the previous length, or zeros. */
static struct run longest_run(uint8_t length, unsigned same, unsigned *taken)
{
	bool is_many = !length && same > 10;
	unsigned most = length ? 6 : is_many ? 138 : 10;
	*taken = same < most ? same : most;
	return (struct run){ .symbol = length ? REPEAT_LAST
				: is_many     ? ZEROS_MANY
					      : ZEROS_FEW,
		.extra = (uint8_t)(*taken - (is_many ? 11 : 3)),
		.extra_bits = length      ? 2
				: is_many ? 7
					  : 3 };
}

static unsigned put_runs(uint8_t length, unsigned same, struct run *runs)
{
	unsigned count = 0, taken;
	if (length) {
		runs[count++] = (struct run){ .symbol = length };
		same--;
	}
	for (; same >= 3; same -= taken)
		runs[count++] = longest_run(length, same, &taken);
	while (same--)
		runs[count++] = (struct run){ .symbol = length };
	return count;
}

static unsigned runs_of(const uint8_t *lengths, unsigned n, struct run *runs)
{
	unsigned count = 0;
	for (unsigned i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && lengths[i + same] == lengths[i];)
			same++;
		count += put_runs(lengths[i], same, runs + count);
	}
	return count;
}

static unsigned used_of(const struct deflate_code *codes, unsigned n, unsigned least)
{
	while (n > least && !codes[n - 1].count)
		n--;
	return n;
}

void huffman_put_codes(struct bits *b, const struct deflate_code *literals, unsigned literal_count,
		const struct deflate_code *distances, unsigned distance_count)
{
	static const uint8_t order[LENGTH_CODES] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[LENGTHS_MAX];
	struct run runs[LENGTHS_MAX];
	uint32_t uses[LENGTH_CODES] = { 0 };
	struct deflate_code codes[LENGTH_CODES];
	unsigned n = used_of(literals, literal_count, 257), m = used_of(distances, distance_count, 1);
	for (unsigned i = 0; i < n; i++)
		lengths[i] = literals[i].count;
	for (unsigned i = 0; i < m; i++)
		lengths[n + i] = distances[i].count;
	unsigned run_count = runs_of(lengths, n + m, runs), shown = LENGTH_CODES;
	for (unsigned i = 0; i < run_count; i++)
		uses[runs[i].symbol]++;
	huffman_make(uses, LENGTH_CODES, LENGTH_BITS_MAX, codes);
	while (shown > 4 && !codes[order[shown - 1]].count)
		shown--;
	bits_put(b, n - 257, 5);
	bits_put(b, m - 1, 5);
	bits_put(b, shown - 4, 4);
	for (unsigned i = 0; i < shown; i++) {
		bits_put(b, codes[order[i]].count, 3);
		bits_flush(b);
	}
	for (unsigned i = 0; i < run_count; i++) {
		bits_put(b, codes[runs[i].symbol].bits, codes[runs[i].symbol].count);
		bits_put(b, runs[i].extra, runs[i].extra_bits);
		bits_flush(b);
	}
}
