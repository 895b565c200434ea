/* vec: arrays grow by doubling, keep what they hold, and stop at their maximum. */
#include "../support.h"

#include "base/vec.h"

struct list {
	int *items;
	size_t count, cap;
};

static void appended_elements_stay(void **state)
{
	struct list l = { 0 };

	for (int i = 0; i < 1000; i++) {
		assert_true(VEC_GROW(l.items, l.cap, l.count + 1, 1000));
		l.items[l.count++] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(l.items[i], i);
	free(l.items);
}

static void the_maximum_is_reached_and_not_exceeded(void **state)
{
	struct list l = { 0 };

	for (size_t n = 1; n <= 100; n++)
		assert_true(VEC_GROW(l.items, l.cap, n, 100));
	assert_int_equal(l.cap, 100);
	int *before = l.items;
	assert_false(VEC_GROW(l.items, l.cap, 101, 100));
	assert_ptr_equal(l.items, before);
	assert_int_equal(l.cap, 100);
	free(l.items);
}

static void a_large_need_is_met_at_once(void **state)
{
	struct list l = { 0 };

	assert_true(VEC_GROW(l.items, l.cap, 5000, VEC_MAX));
	assert_true(l.cap >= 5000);
	free(l.items);
}

static void capacity_doubles(void **state)
{
	struct list l = { 0 };
	size_t moves = 0, cap = 0;

	for (size_t n = 1; n <= 1 << 16; n++) {
		assert_true(VEC_GROW(l.items, l.cap, n, VEC_MAX));
		moves += l.cap != cap;
		cap = l.cap;
	}
	assert_true(moves <= 13); /* 16 to 65536 */
	free(l.items);
}

static void no_memory_changes_nothing(void **state)
{
	struct list l = { 0 };

	assert_true(VEC_GROW(l.items, l.cap, 1, VEC_MAX));
	l.items[0] = 7;
	size_t cap = l.cap;
	alloc_fail_after(0);
	assert_false(VEC_GROW(l.items, l.cap, cap + 1, VEC_MAX));
	alloc_fail_never();
	assert_int_equal(l.cap, cap);
	assert_int_equal(l.items[0], 7);
	free(l.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appended_elements_stay),
		cmocka_unit_test(the_maximum_is_reached_and_not_exceeded),
		cmocka_unit_test(a_large_need_is_met_at_once),
		cmocka_unit_test(capacity_doubles),
		cmocka_unit_test(no_memory_changes_nothing),
	};

	return RUN_TESTS(tests);
}
