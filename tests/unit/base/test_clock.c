/* clock: the one clock rises, and ticks are turned into it exactly, in order and without overflow. */
#include "../support.h"

#include "base/clock.h"

#include <errno.h>
#include <time.h>

static void clocks_rise(void **state)
{
	int64_t mono = clock_mono_ns(), cpu = clock_cpu_ns();
	uint64_t ticks = clock_ticks();

	for (int i = 0; i < 1000; i++) {
		int64_t now = clock_mono_ns();

		assert_true(now >= mono);
		mono = now;
	}
	assert_true(clock_cpu_ns() > cpu);
	assert_true(clock_ticks() > ticks);
}

static void wall_clock_agrees_with_time(void **state)
{
	int64_t seconds = clock_real_ns() / 1000000000;

	assert_in_range(time(NULL) - seconds + 1, 0, 3);
}

static void constant_is_a_stable_answer(void **state)
{
	assert_int_equal(clock_ticks_are_constant(), clock_ticks_are_constant());
}

static void without_pairs_ticks_are_ns(void **state)
{
	struct tick_line l = TICK_LINE_INIT;

	assert_int_equal(tick_line_ns(&l, 12345), 12345);
	assert_int_equal(tick_line_ns(&l, UINT64_MAX), INT64_MAX);
	assert_int_equal(tick_line_add(&l, 10, 20), 0);
	assert_int_equal(tick_line_ns(&l, 12345), 12345);
	tick_line_release(&l);
}

static void pieces_and_ends(void **state)
{
	struct tick_line l = TICK_LINE_INIT;

	tick_line_add(&l, 1000, 500);
	tick_line_add(&l, 2000, 600);  /* 10 ticks a ns */
	tick_line_add(&l, 3000, 1600); /* 1 tick a ns */
	assert_int_equal(tick_line_ns(&l, 1000), 500);
	assert_int_equal(tick_line_ns(&l, 1500), 550);
	assert_int_equal(tick_line_ns(&l, 2000), 600);
	assert_int_equal(tick_line_ns(&l, 2500), 1100);
	assert_int_equal(tick_line_ns(&l, 3000), 1600);
	assert_int_equal(tick_line_ns(&l, 4000), 2600);
	assert_int_equal(tick_line_ns(&l, 0), 400);
	assert_int_equal(tick_line_ns(&l, 1990), 599);
	tick_line_release(&l);
}

static void pairs_that_do_not_rise_are_ignored(void **state)
{
	struct tick_line l = TICK_LINE_INIT;

	tick_line_add(&l, 100, 100);
	assert_int_equal(tick_line_add(&l, 100, 200), 0);
	assert_int_equal(tick_line_add(&l, 200, 100), 0);
	assert_int_equal(tick_line_add(&l, 50, 300), 0);
	assert_int_equal(l.count, 1);
	tick_line_add(&l, 200, 200);
	assert_int_equal(l.count, 2);
	tick_line_release(&l);
}

/* At the largest times and slopes nothing overflows: hostile memory only gets a wrong time. */
static void extremes_saturate(void **state)
{
	struct tick_line l = TICK_LINE_INIT;

	tick_line_add(&l, 1, INT64_MIN + 1);
	tick_line_add(&l, 2, -1);
	tick_line_add(&l, 3, INT64_MAX - 1);
	assert_int_equal(tick_line_ns(&l, UINT64_MAX), INT64_MAX);
	assert_int_equal(tick_line_ns(&l, 0), INT64_MIN);
	assert_int_equal(tick_line_ns(&l, 2), -1);
	tick_line_release(&l);
}

static int64_t exact(const struct tick_pair *a, const struct tick_pair *b, uint64_t ticks)
{
	__extension__ typedef __int128 wide;
	wide d = (wide)(ticks - a->ticks) * (b->mono_ns - a->mono_ns);

	return a->mono_ns + (int64_t)(d / (wide)(b->ticks - a->ticks));
}

static void make_line(struct tick_line *l, size_t pairs)
{
	uint64_t ticks = random_u64() >> 8;
	int64_t ns = (int64_t)(random_u64() >> 8);

	for (size_t i = 0; i < pairs; i++) {
		assert_int_equal(tick_line_add(l, ticks, ns), 0);
		ticks += 200000000 + random_below(100000000);
		ns += 90000000 + (int64_t)random_below(20000000);
	}
}

static void random_ticks_match_exact_arithmetic(void **state)
{
	struct tick_line l = TICK_LINE_INIT;

	random_init();
	make_line(&l, 500);
	for (int i = 0; i < 20000; i++) {
		const struct tick_pair *a = &l.pairs[random_below(l.count - 1)];
		uint64_t ticks = a->ticks + random_below(a[1].ticks - a->ticks);
		int64_t off = tick_line_ns(&l, ticks) - exact(a, a + 1, ticks);

		assert_in_range(off + 1, 0, 2);
	}
	tick_line_release(&l);
}

static void order_is_kept(void **state)
{
	struct tick_line l = TICK_LINE_INIT;
	int64_t last = INT64_MIN;
	uint64_t end;

	random_init();
	make_line(&l, 50);
	end = l.pairs[49].ticks + 100000000;
	for (uint64_t t = l.pairs[0].ticks - 100000000; t < end; t += 1 + random_below(300000)) {
		int64_t ns = tick_line_ns(&l, t);

		assert_true(ns >= last);
		last = ns;
	}
	tick_line_release(&l);
}

static void sampled_line_tells_the_time(void **state)
{
	struct tick_line l = TICK_LINE_INIT;
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int i = 0; i < 4; i++) {
		assert_int_equal(tick_line_sample(&l), 0);
		nanosleep(&pause, NULL);
	}
	assert_int_equal(l.count, 4);
	assert_true(l.error_ns >= 0);
	for (int i = 0; i < 100; i++) {
		int64_t before = clock_mono_ns();
		int64_t told = tick_line_ns(&l, clock_ticks());
		int64_t after = clock_mono_ns();

		/* The slope's own error grows with the distance from the last pair: 1 ms is generous. */
		assert_true(told > before - 1000000 && told < after + 1000000);
	}
	tick_line_release(&l);
}

static void out_of_memory_keeps_the_line(void **state)
{
	struct tick_line l = TICK_LINE_INIT;
	int rc = 0;

	alloc_fail_after(1);
	for (int i = 1; rc == 0 && i < 1000; i++)
		rc = tick_line_add(&l, (uint64_t)i * 10, i);
	alloc_fail_never();
	assert_int_equal(rc, -ENOMEM);
	assert_int_equal(tick_line_ns(&l, 20), 2);
	tick_line_release(&l);
	assert_int_equal(l.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_rise),
		cmocka_unit_test(wall_clock_agrees_with_time),
		cmocka_unit_test(constant_is_a_stable_answer),
		cmocka_unit_test(without_pairs_ticks_are_ns),
		cmocka_unit_test(pieces_and_ends),
		cmocka_unit_test(pairs_that_do_not_rise_are_ignored),
		cmocka_unit_test(extremes_saturate),
		cmocka_unit_test(random_ticks_match_exact_arithmetic),
		cmocka_unit_test(order_is_kept),
		cmocka_unit_test(sampled_line_tells_the_time),
		cmocka_unit_test(out_of_memory_keeps_the_line),
	};

	return RUN_TESTS(tests);
}
