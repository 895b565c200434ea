/* overlap: every pair that overlaps and no other, as all against all finds them; the original's sweep missed some. */
#include "../support.h"

#include "near.h"
#include "stats/overlap.h"
#include "stats/rng.h"

#include <errno.h>
#include <stdlib.h>

enum { N_MAX = 60 };

static double overlap_of(struct stats_span a, struct stats_span b)
{
	int64_t start = a.start_ns > b.start_ns ? a.start_ns : b.start_ns,
		end = a.end_ns < b.end_ns ? a.end_ns : b.end_ns;

	return end > start && a.end_ns > a.start_ns && b.end_ns > b.start_ns ? (double)end - (double)start : 0;
}

static double length_of(struct stats_span s)
{
	return (double)s.end_ns - (double)s.start_ns;
}

/* The pairs found are those of all against all, in order. */
static void check(const struct stats_span *a, size_t na, const struct stats_span *b, size_t nb, double min_rate)
{
	struct arena arena = ARENA_INIT;
	struct stats_overlap *pairs;
	size_t count, at = 0;

	assert_int_equal(stats_overlaps(a, na, b, nb, min_rate, &arena, &pairs, &count, NULL), 0);
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++) {
			double overlap = overlap_of(a[i], b[j]),
			       rate = overlap / fmax(length_of(a[i]), length_of(b[j]));

			if (!(overlap > 0 && rate > min_rate))
				continue;
			assert_true(at < count && pairs[at].a == i && pairs[at].b == j);
			assert_true((double)pairs[at].overlap_ns == overlap && is_near(pairs[at].rate, rate, 1e-14));
			assert_true(is_within(pairs[at++].log_ratio, log(length_of(b[j]) / length_of(a[i])), 1e-13));
		}
	assert_int_equal(at, count);
	arena_release(&arena);
}

/* The example by which the original's sweep, which advances the earlier start, misses (0, 1). */
static void the_original_missed_this(void **state)
{
	const struct stats_span a[] = { { 0, 10 }, { 10, 20 } }, b[] = { { 2, 6 }, { 6, 12 } };
	struct arena arena = ARENA_INIT;
	struct stats_overlap *pairs;
	size_t count;

	assert_int_equal(stats_overlaps(a, 2, b, 2, 0, &arena, &pairs, &count, NULL), 0);
	assert_int_equal(count, 3);
	assert_true(pairs[1].a == 0 && pairs[1].b == 1 && pairs[1].overlap_ns == 4 && pairs[1].rate == 0.4);
	assert_true(pairs[0].overlap_ns == 4 && pairs[2].overlap_ns == 2);
	arena_release(&arena);
	check(a, 2, b, 2, 0);
	check(a, 2, b, 2, 0.39);
	check(a, 2, b, 2, 0.4);
}

/* Iterations that follow each other, as loops make them. */
static void make_loop(struct stats_rng *r, struct stats_span *s, size_t n, uint64_t length)
{
	int64_t now = (int64_t)stats_rng_below(r, 1000);

	for (size_t i = 0; i < n; i++) {
		s[i].start_ns = now;
		s[i].end_ns = now += (int64_t)(length - length / 10 + stats_rng_below(r, length / 5 + 1));
		now += (int64_t)stats_rng_below(r, 3);
	}
}

static void random_loops(void **state)
{
	struct stats_span a[N_MAX], b[N_MAX];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 500; round++) {
		size_t na = stats_rng_below(&r, N_MAX), nb = stats_rng_below(&r, N_MAX);

		make_loop(&r, a, na, 100 + stats_rng_below(&r, 100));
		make_loop(&r, b, nb, 20 + stats_rng_below(&r, 200));
		check(a, na, b, nb, 0);
		check(a, na, b, nb, STATS_OVERLAP_RATE);
	}
}

/* Unordered, overlapping on their own side, empty, backwards. */
static void random_spans(void **state)
{
	struct stats_span a[N_MAX], b[N_MAX];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 1000; round++) {
		size_t na = stats_rng_below(&r, N_MAX), nb = stats_rng_below(&r, N_MAX);

		for (size_t i = 0; i < N_MAX; i++) {
			a[i].start_ns = (int64_t)stats_rng_below(&r, 200) - 100;
			a[i].end_ns = a[i].start_ns + (int64_t)stats_rng_below(&r, 60) - 5;
			b[i].start_ns = (int64_t)stats_rng_below(&r, 200) - 100;
			b[i].end_ns = b[i].start_ns + (int64_t)stats_rng_below(&r, 60) - 5;
		}
		check(a, na, b, nb, round % 2 ? 0 : 0.3);
	}
}

static void sides_are_alike(void **state)
{
	struct stats_span a[N_MAX], b[N_MAX];
	struct arena arena = ARENA_INIT;
	struct stats_overlap *ab, *ba;
	size_t count, turned;
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	make_loop(&r, a, N_MAX, 100);
	make_loop(&r, b, N_MAX, 110);
	assert_int_equal(stats_overlaps(a, N_MAX, b, N_MAX, 0, &arena, &ab, &count, NULL), 0);
	assert_int_equal(stats_overlaps(b, N_MAX, a, N_MAX, 0, &arena, &ba, &turned, NULL), 0);
	assert_int_equal(count, turned);
	for (size_t i = 0; i < count; i++) /* both sides rise, so the order is the same */
		assert_true(ab[i].a == ba[i].b && ab[i].b == ba[i].a && ab[i].log_ratio == -ba[i].log_ratio);
	arena_release(&arena);
}

static void extreme_times(void **state)
{
	const struct stats_span a[] = { { INT64_MIN, INT64_MAX }, { 5, 5 }, { 9, 3 } };
	const struct stats_span b[] = { { INT64_MIN, INT64_MIN + 10 }, { INT64_MAX - 10, INT64_MAX } };
	struct arena arena = ARENA_INIT;
	struct stats_overlap *pairs;
	size_t count;

	assert_int_equal(stats_overlaps(a, 3, b, 2, 0, &arena, &pairs, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_true(pairs[0].overlap_ns == 10 && pairs[1].overlap_ns == 10 && pairs[0].rate > 0);
	assert_int_equal(stats_overlaps(a, 1, a, 1, 0, &arena, &pairs, &count, NULL), 0);
	assert_true(count == 1 && pairs[0].rate == 1 && pairs[0].overlap_ns == UINT64_MAX && pairs[0].log_ratio == 0);
	assert_int_equal(stats_overlaps(NULL, 0, NULL, 0, 0, &arena, &pairs, &count, NULL), 0);
	assert_int_equal(count, 0);
	arena_release(&arena);
}

static void many_iterations_take_no_time(void **state)
{
	enum { MANY = 100000 };
	struct stats_span *a = malloc(MANY * sizeof(*a)), *b = malloc(MANY * sizeof(*b));
	struct arena arena = ARENA_INIT;
	struct stats_overlap *pairs;
	struct stats_rng r;
	size_t count;

	assert_true(a && b);
	stats_rng_init(&r, 1, 0);
	make_loop(&r, a, MANY, 1000);
	make_loop(&r, b, MANY, 1010);
	stats_rng_shuffle(&r, a, MANY, sizeof(*a));
	assert_int_equal(stats_overlaps(a, MANY, b, MANY, 0, &arena, &pairs, &count, NULL), 0);
	assert_true(count > MANY && count < 2 * MANY);
	arena_release(&arena);
	free(a);
	free(b);
}

static void out_of_memory(void **state)
{
	struct stats_span a[N_MAX];
	struct stats_rng r;
	int rc = -ENOMEM;

	stats_rng_init(&r, 1, 0);
	make_loop(&r, a, N_MAX, 100);
	for (size_t good = 0; rc == -ENOMEM; good++) {
		struct arena arena = ARENA_INIT;
		struct stats_overlap *pairs;
		size_t count;

		assert_true(good < 20);
		alloc_fail_after(good);
		rc = stats_overlaps(a, N_MAX, a, N_MAX, 0, &arena, &pairs, &count, NULL);
		alloc_fail_never();
		arena_release(&arena);
	}
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_original_missed_this),
		cmocka_unit_test(random_loops),
		cmocka_unit_test(random_spans),
		cmocka_unit_test(sides_are_alike),
		cmocka_unit_test(extreme_times),
		cmocka_unit_test(many_iterations_take_no_time),
		cmocka_unit_test(out_of_memory),
	};

	return RUN_TESTS(tests);
}
