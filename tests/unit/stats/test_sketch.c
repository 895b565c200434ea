/* sketch: every quantile within its error, merges that do not care for order, and any value at all. */
#include "../support.h"

#include "near.h"
#include "sample.h"
#include "stats/sketch.h"
#include "stats/summary.h"

#include <errno.h>
#include <float.h>

enum { N = 3000 };

static double any_value(struct stats_rng *r, int kind)
{
	switch (kind % 4) {
	case 0:
		return exp(3 * stats_rng_normal(r));
	case 1:
		return stats_rng_normal(r);
	case 2:
		return sample_value(r, 2, 0);
	default:
		return (double)stats_rng_below(r, 5) - 2;
	}
}

static void quantiles_are_within_their_error(void **state)
{
	static double x[N];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int kind = 0; kind < 4; kind++) {
		struct arena arena = ARENA_INIT;
		struct stats_sketch s;

		stats_sketch_init(&s, &arena);
		for (size_t i = 0; i < N; i++) {
			x[i] = any_value(&r, kind);
			assert_int_equal(stats_sketch_add(&s, x[i], 1), 0);
		}
		stats_sort(x, N);
		assert_true(s.count == N && s.min == x[0] && s.max == x[N - 1]);
		for (double p = 0; p <= 1; p += 0.01) {
			double exact = x[(size_t)(p * (N - 1))], told = stats_sketch_quantile(&s, p);

			assert_true(fabs(told - exact) <= STATS_SKETCH_ERROR * fabs(exact) * (1 + 1e-12));
		}
		arena_release(&arena);
	}
}

static bool are_same(const struct stats_sketch *a, const struct stats_sketch *b)
{
	struct stats_bucket p, q;
	size_t i = 0, j = 0;
	bool has_p, has_q;

	if (a->count != b->count || a->invalid != b->invalid || a->min != b->min || a->max != b->max)
		return false;
	do {
		has_p = stats_sketch_next(a, &i, &p);
		has_q = stats_sketch_next(b, &j, &q);
		if (has_p != has_q || (has_p && (p.count != q.count || p.lo != q.lo || p.hi != q.hi)))
			return false;
	} while (has_p);
	return true;
}

/* (a + b) + c, c + (b + a) and all at once: the same to the last count. */
static void merges_in_any_order(void **state)
{
	struct arena arena = ARENA_INIT;
	struct stats_sketch part[3], left, right, whole;
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	stats_sketch_init(&left, &arena);
	stats_sketch_init(&right, &arena);
	stats_sketch_init(&whole, &arena);
	for (int k = 0; k < 3; k++) {
		stats_sketch_init(&part[k], &arena);
		for (int i = 0; i < 500; i++) {
			double v = i % 100 ? any_value(&r, i) : NAN;

			stats_sketch_add(&part[k], v, 1);
			stats_sketch_add(&whole, v, 1);
		}
	}
	for (int k = 0; k < 3; k++) {
		assert_int_equal(stats_sketch_merge(&left, &part[k]), 0);
		assert_int_equal(stats_sketch_merge(&right, &part[2 - k]), 0);
	}
	assert_true(are_same(&left, &right) && are_same(&left, &whole) && whole.invalid == 15);
	arena_release(&arena);
}

/* What was written down bucket by bucket is read back the same but for min and max. */
static void buckets_rebuild_it(void **state)
{
	struct arena arena = ARENA_INIT;
	struct stats_sketch s, copy;
	struct stats_bucket b;
	struct stats_rng r;
	double last = -INFINITY;
	uint64_t sum = 0;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	stats_sketch_init(&s, &arena);
	stats_sketch_init(&copy, &arena);
	for (int i = 0; i < 1000; i++)
		stats_sketch_add(&s, any_value(&r, i), 1 + stats_rng_below(&r, 3));
	for (size_t i = 0; stats_sketch_next(&s, &i, &b);) {
		assert_true(b.count > 0 && b.value > last && fabs(b.value) >= fabs(b.lo) &&
				fabs(b.value) <= fabs(b.hi));
		last = b.value;
		sum += b.count;
		stats_sketch_add(&copy, b.value, b.count);
	}
	assert_true(sum == s.count);
	copy.min = s.min;
	copy.max = s.max;
	assert_true(are_same(&s, &copy));
	arena_release(&arena);
}

static void extreme_values(void **state)
{
	static const double values[] = { -DBL_MAX, -1, -DBL_MIN, -4e-324, 0, 4e-324, DBL_MIN, 1, DBL_MAX };
	struct arena arena = ARENA_INIT;
	struct stats_sketch s;

	stats_sketch_init(&s, &arena);
	assert_true(isnan(s.min) && isnan(stats_sketch_quantile(&s, 0.5)));
	for (size_t i = 0; i < COUNT(values); i++)
		assert_int_equal(stats_sketch_add(&s, values[i], 1), 0);
	stats_sketch_add(&s, INFINITY, 2);
	stats_sketch_add(&s, NAN, 1);
	stats_sketch_add(&s, 5, 0);
	assert_true(s.count == COUNT(values) && s.invalid == 3 && s.min == -DBL_MAX && s.max == DBL_MAX);
	for (size_t i = 0; i < COUNT(values); i++) {
		double told = stats_sketch_quantile(&s, (double)i / (COUNT(values) - 1));

		assert_true(fabs(told - values[i]) <= STATS_SKETCH_ERROR * fabs(values[i]) + 5e-324);
	}
	assert_true(stats_sketch_quantile(&s, -3) == -DBL_MAX && stats_sketch_quantile(&s, 9) == DBL_MAX);
	assert_true(isnan(stats_sketch_quantile(&s, NAN)));
	arena_release(&arena);
}

static void out_of_memory_counts_nothing(void **state)
{
	struct arena arena = ARENA_INIT, other_arena = ARENA_INIT;
	struct stats_sketch s, other;

	stats_sketch_init(&s, &arena);
	stats_sketch_init(&other, &other_arena);
	stats_sketch_add(&other, 1, 1);
	stats_sketch_add(&other, 0, 1);
	alloc_fail_after(0);
	assert_int_equal(stats_sketch_add(&s, 1, 1), -ENOMEM);
	assert_int_equal(stats_sketch_merge(&s, &other), -ENOMEM);
	alloc_fail_never();
	assert_true(s.count == 0 && isnan(s.min));
	assert_int_equal(stats_sketch_merge(&s, &other), 0);
	assert_true(are_same(&s, &other));
	arena_release(&arena);
	arena_release(&other_arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_within_their_error),
		cmocka_unit_test(merges_in_any_order),
		cmocka_unit_test(buckets_rebuild_it),
		cmocka_unit_test(extreme_values),
		cmocka_unit_test(out_of_memory_counts_nothing),
	};

	return RUN_TESTS(tests);
}
