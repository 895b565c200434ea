/* How much of a stack is copied: less where little is needed, all again where it was not enough. */
#include "probe/perf/perf-private.h"
#include "support.h"

/* So many stacks that each need `needed` bytes; how often another size was asked for. */
static unsigned see(struct depth *d, unsigned count, uint64_t needed)
{
	unsigned changes = 0;
	for (unsigned i = 0; i < count; i++) {
		uint32_t room = d->bytes[d->on];
		changes += depth_add(d, room, needed, needed > room);
	}
	return changes;
}

static void test_sizes(void **state)
{
	(void)state;
	struct depth d;
	depth_init(&d, 199, false);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.bytes[0], 32768);
	depth_init(&d, 999, true);
	assert_int_equal(d.count, 1);
	depth_init(&d, 999, false);
	assert_int_equal(d.count, 3);
	assert_int_equal(d.bytes[0], 16384);
	assert_int_equal(d.bytes[1], 4096);
	assert_int_equal(d.bytes[2], 1024);
	depth_init(&d, 20000, false);
	assert_int_equal(d.count, 2);
	assert_int_equal(d.on, 0);
}

static void test_fixed(void **state)
{
	(void)state;
	struct depth d;
	depth_init(&d, 199, false);
	assert_int_equal(see(&d, 100000, 100), 0);
	assert_int_equal(d.on, 0);
}

static void test_smallest_that_fits(void **state)
{
	(void)state;
	static const struct {
		uint64_t needed;
		uint32_t bytes;
	} cases[] = { { 0, 1024 }, { 1024, 1024 }, { 1025, 4096 }, { 4096, 4096 }, { 4097, 16384 }, { 16384, 16384 },
		{ 70000, 16384 }, { (uint64_t)-8, 16384 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct depth d;
		depth_init(&d, 999, false);
		see(&d, 10000, cases[i].needed);
		assert_int_equal(d.bytes[d.on], cases[i].bytes);
	}
}

/* One deep stack among the shallow ones is enough to keep the large size. */
static void test_the_deepest_counts(void **state)
{
	(void)state;
	struct depth d;
	depth_init(&d, 999, false);
	for (int i = 0; i < 100; i++) {
		see(&d, 50, 300);
		see(&d, 1, 9000);
	}
	assert_int_equal(d.on, 0);
}

/* Phases of both kinds: every return to a small size takes longer, so that few stacks are cut. */
static void test_cut_ones_are_few(void **state)
{
	(void)state;
	struct depth d;
	unsigned cut = 0;
	depth_init(&d, 999, false);
	for (unsigned i = 0; i < 1000000; i++) {
		uint64_t needed = i / 1000 % 2 ? 9000 : 300;
		uint32_t room = d.bytes[d.on];
		cut += needed > room;
		depth_add(&d, room, needed, needed > room);
	}
	assert_true(cut >= 1);
	assert_true(cut <= 4);
	assert_int_equal(d.on, 0);
}

/* What was sampled before the size changed says nothing about the new one. */
static void test_late_ones(void **state)
{
	(void)state;
	struct depth d;
	depth_init(&d, 999, false);
	see(&d, 10000, 300);
	assert_int_equal(d.on, 2);
	for (int i = 0; i < 1000; i++)
		assert_false(depth_add(&d, 16384, 300, true));
	assert_int_equal(d.on, 2);
	assert_true(depth_add(&d, 1024, 900, true));
	assert_int_equal(d.on, 0);
	for (int i = 0; i < 1000; i++)
		assert_false(depth_add(&d, 1024, 900, true));
	assert_int_equal(d.on, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_smallest_that_fits),
		cmocka_unit_test(test_the_deepest_counts),
		cmocka_unit_test(test_cut_ones_are_few),
		cmocka_unit_test(test_late_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
