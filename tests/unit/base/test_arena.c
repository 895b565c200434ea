/* arena: pieces that are zeroed, aligned, apart from each other, and stay. */
#include "../support.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static void release_of_nothing(void **state)
{
	struct arena a = ARENA_INIT;

	arena_release(&a);
	arena_release(&a);
}

static void texts(void **state)
{
	struct arena a = ARENA_INIT;
	const char *copy = arena_copy(&a, "a\0b", 3);

	assert_memory_equal(copy, "a\0b", 4);
	assert_string_equal(arena_copy(&a, NULL, 0), "");
	assert_string_equal(arena_strdup(&a, "word"), "word");
	assert_string_equal(arena_printf(&a, "%s %d", "n", 5), "n 5");
	assert_string_equal(arena_printf(&a, "%s", ""), "");
	assert_int_equal(strlen(arena_printf(&a, "%0*d", 100000, 1)), 100000);
	arena_release(&a);
}

static void zero_bytes_is_a_place_of_its_own(void **state)
{
	struct arena a = ARENA_INIT;
	const void *one = arena_alloc(&a, 0), *two = arena_alloc(&a, 0);

	assert_non_null(one);
	assert_non_null(two);
	assert_ptr_not_equal(one, two);
	arena_release(&a);
}

static void absurd_sizes_are_refused(void **state)
{
	struct arena a = ARENA_INIT;

	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX - 15));
	assert_null(arena_alloc(&a, SIZE_MAX / 2));
	assert_null(arena_copy(&a, "", SIZE_MAX));
	assert_non_null(arena_alloc(&a, 1));
	arena_release(&a);
}

struct piece {
	unsigned char *at;
	size_t n;
	unsigned char fill;
};

static size_t random_size(void)
{
	switch (random_below(10)) {
	case 0:
		return random_below(200000);
	case 1:
		return random_below(5000);
	default:
		return random_below(100);
	}
}

static bool is_filled(const struct piece *p, unsigned char fill)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i] != fill)
			return false;
	return true;
}

/* Every piece is filled with its own byte; if two overlapped, or one moved, it would show. */
static void random_pieces_stay_apart(void **state)
{
	enum { COUNT = 2000 };
	struct piece *pieces = calloc(COUNT, sizeof(*pieces));
	struct arena a;

	random_init();
	arena_init(&a);
	assert_non_null(pieces);
	for (size_t i = 0; i < COUNT; i++) {
		size_t n = random_size();

		pieces[i] = (struct piece){ .at = arena_alloc(&a, n), .n = n, .fill = (unsigned char)random_u64() };
		assert_non_null(pieces[i].at);
		assert_int_equal((uintptr_t)pieces[i].at % 16, 0);
		assert_true(is_filled(&pieces[i], 0));
		memset(pieces[i].at, pieces[i].fill, n);
	}
	for (size_t i = 0; i < COUNT; i++)
		assert_true(is_filled(&pieces[i], pieces[i].fill));
	arena_release(&a);
	free(pieces);
}

static void a_large_piece_leaves_the_block_in_use(void **state)
{
	struct arena a = ARENA_INIT;
	const char *before = arena_alloc(&a, 16);

	assert_non_null(arena_alloc(&a, 1000000));
	assert_ptr_equal(arena_alloc(&a, 16), before + 16);
	arena_release(&a);
}

static void out_of_memory_leaves_it_usable(void **state)
{
	struct arena a = ARENA_INIT;

	alloc_fail_after(0);
	assert_null(arena_alloc(&a, 1));
	assert_null(arena_alloc(&a, 100000));
	assert_null(arena_strdup(&a, "x"));
	assert_null(arena_printf(&a, "x"));
	alloc_fail_never();
	assert_string_equal(arena_strdup(&a, "x"), "x");
	alloc_fail_after(0);
	assert_null(arena_alloc(&a, 100000));
	alloc_fail_never();
	assert_non_null(arena_alloc(&a, 100000));
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(release_of_nothing),
		cmocka_unit_test(texts),
		cmocka_unit_test(zero_bytes_is_a_place_of_its_own),
		cmocka_unit_test(absurd_sizes_are_refused),
		cmocka_unit_test(random_pieces_stay_apart),
		cmocka_unit_test(a_large_piece_leaves_the_block_in_use),
		cmocka_unit_test(out_of_memory_leaves_it_usable),
	};

	return RUN_TESTS(tests);
}
