/* warmup: found where it ends, not where there is none, and said when it does not end. */
#include "../support.h"

#include "near.h"
#include "stats/rng.h"
#include "stats/series.h"

#include <errno.h>
#include <stdlib.h>

static struct stats_warmup warmup_of(const double *x, size_t n)
{
	struct arena arena = ARENA_INIT;
	struct stats_warmup w;

	assert_int_equal(stats_warmup(x, n, &arena, &w, NULL), 0);
	arena_release(&arena);
	return w;
}

/* `from` iterations fall from twice the time to the steady one. */
static void make_series(struct stats_rng *r, double *x, size_t n, size_t from)
{
	for (size_t i = 0; i < n; i++)
		x[i] = 100 + (i < from ? 100.0 * (double)(from - i) / (double)from : 0) + stats_rng_normal(r);
}

static void end_is_found(void **state)
{
	double x[203];
	struct stats_rng r;

	stats_rng_init(&r, 81, 0);
	for (size_t from = 20; from <= 80; from += 20) {
		struct stats_warmup w;

		make_series(&r, x, 203, from);
		w = warmup_of(x, 203);
		assert_true(w.is_settled && is_within((double)w.first, (double)from, 12));
	}
}

static void steady_series_are_kept(void **state)
{
	struct stats_rng r;
	int cut = 0;

	stats_rng_init(&r, 82, 0);
	for (int k = 0; k < 300; k++) {
		double x[100];
		struct stats_warmup w;

		make_series(&r, x, 100, 0);
		x[1] = 1e6; /* one stray value is no warm-up */
		w = warmup_of(x, 100);
		assert_true(w.is_settled);
		cut += w.first > 0;
	}
	assert_true(cut <= 8);
}

static void long_series(void **state)
{
	enum { N = 20011 };
	double *x = malloc(N * sizeof(*x));
	struct stats_rng r;
	struct stats_warmup w;

	assert_non_null(x);
	stats_rng_init(&r, 83, 0);
	make_series(&r, x, N, 4000);
	w = warmup_of(x, N);
	assert_true(w.is_settled && is_within((double)w.first, 4000, 200));
	free(x);
}

static void never_settled(void **state)
{
	double x[100];
	struct stats_warmup w;

	for (size_t i = 0; i < 100; i++)
		x[i] = 1000 - (double)(i * i) / 10 + (double)(i % 3);
	w = warmup_of(x, 100);
	assert_true(!w.is_settled && w.first == 100);
}

static void scale_and_shift(void **state)
{
	double x[150], y[150];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	make_series(&r, x, 150, 30);
	for (size_t i = 0; i < 150; i++)
		y[i] = 1e-3 * x[i] - 7;
	assert_int_equal(warmup_of(x, 150).first, warmup_of(y, 150).first);
}

static void odd_series(void **state)
{
	double equal[40], nan[] = { NAN };
	struct arena arena = ARENA_INIT;
	struct stats_warmup w = warmup_of(NULL, 0);

	assert_true(!w.is_settled && w.first == 0);
	for (size_t i = 0; i < 40; i++)
		equal[i] = 3;
	w = warmup_of(equal, 9);
	assert_true(!w.is_settled && w.first == 0);
	w = warmup_of(equal, 40);
	assert_true(w.is_settled && w.first == 0);
	assert_int_equal(stats_warmup(nan, 1, &arena, &w, NULL), -EINVAL);
	alloc_fail_after(0);
	assert_int_equal(stats_warmup(equal, 40, &arena, &w, NULL), -ENOMEM);
	alloc_fail_never();
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_is_found),
		cmocka_unit_test(steady_series_are_kept),
		cmocka_unit_test(long_series),
		cmocka_unit_test(never_settled),
		cmocka_unit_test(scale_and_shift),
		cmocka_unit_test(odd_series),
	};

	return RUN_TESTS(tests);
}
