/*
 * Sorting and joining intervals. Rows are stored as threads wrote them, in consecutive sorted sequences, so the sort
 * is a natural merge sort: it finds sorted sequences and merges them.
 */
#include "engine/interval-set-private.h"

#include <string.h>

/* The end of the ascending sequence that starts at `at`. */
static size_t stretch(const struct engine_interval *v, size_t at, size_t n)
{
	do
		at++;
	while (at < n && v[at - 1].from <= v[at].from);
	return at;
}

static void merge(const struct engine_interval *v, size_t start, size_t middle, size_t end, struct engine_interval *out)
{
	size_t left = start, right = middle, at = start;

	while (left < middle && right < end) {
		bool is_right = v[right].from < v[left].from;

		out[at++] = v[is_right ? right : left];
		right += is_right;
		left += !is_right;
	}
	memcpy(out + at, v + left, (middle - left) * sizeof(*v));
	memcpy(out + at + (middle - left), v + right, (end - right) * sizeof(*v));
}

void intervals_sort(struct engine_interval *intervals, struct engine_interval *spare, size_t n)
{
	struct engine_interval *from = intervals, *to = spare, *other;

	while (n && stretch(from, 0, n) < n) {
		for (size_t at = 0, middle, end; at < n; at = end) {
			middle = stretch(from, at, n);
			end = middle < n ? stretch(from, middle, n) : n;
			merge(from, at, middle, end, to);
		}
		other = from;
		from = to;
		to = other;
	}
	if (from != intervals)
		memcpy(intervals, from, n * sizeof(*from));
}

size_t intervals_join(struct engine_interval *intervals, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (intervals[i].to <= intervals[i].from)
			continue;
		if (!kept || intervals[i].from > intervals[kept - 1].to)
			intervals[kept++] = intervals[i];
		else if (intervals[i].to > intervals[kept - 1].to)
			intervals[kept - 1].to = intervals[i].to;
	}
	return kept;
}
