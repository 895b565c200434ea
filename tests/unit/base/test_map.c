/* map: finds what was put, and only that, in the order it was put. */
#include "../support.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void empty(void **state)
{
	struct map m = MAP_INIT;

	assert_null(map_get(&m, "x", 1));
	assert_null(map_get_int(&m, 0));
	assert_int_equal(m.count, 0);
	map_release(&m);
}

static void put_makes_then_finds(void **state)
{
	struct map m = MAP_INIT;
	bool is_new;

	*map_put(&m, "one", 3, &is_new) = 1;
	assert_true(is_new);
	assert_int_equal(*map_put(&m, "one", 3, &is_new), 1);
	assert_false(is_new);
	assert_int_equal(*map_put(&m, "two", 3, NULL), 0);
	assert_int_equal(m.count, 2);
	assert_null(map_get(&m, "on", 2));
	assert_null(map_get(&m, "one\0", 4));
	map_release(&m);
}

static void keys_are_bytes(void **state)
{
	struct map m = MAP_INIT;
	size_t len;

	*map_put(&m, "", 0, NULL) = 1;
	*map_put(&m, "\0", 1, NULL) = 2;
	*map_put(&m, "\0\0", 2, NULL) = 3;
	assert_int_equal(*map_get(&m, NULL, 0), 1);
	assert_int_equal(*map_get(&m, "\0", 1), 2);
	assert_int_equal(*map_get(&m, "\0\0", 2), 3);
	map_key(&m, 2, &len);
	assert_int_equal(len, 2);
	map_release(&m);
}

static void keys_of_every_length(void **state)
{
	struct map m = MAP_INIT;
	char text[200];

	memset(text, 'k', sizeof(text));
	for (size_t n = 0; n <= sizeof(text); n++)
		*map_put(&m, text, n, NULL) = n;
	assert_int_equal(m.count, sizeof(text) + 1);
	for (size_t n = 0; n <= sizeof(text); n++)
		assert_int_equal(*map_get(&m, text, n), n);
	map_release(&m);
}

static void an_integer_key_is_its_bytes(void **state)
{
	struct map m = MAP_INIT;
	uint64_t key = 0x0102030405060708;

	*map_put_int(&m, key, NULL) = 5;
	assert_int_equal(*map_get(&m, &key, sizeof(key)), 5);
	map_release(&m);
}

static void keys_are_copied_and_stay(void **state)
{
	struct map m = MAP_INIT;
	char word[] = "first";
	const char *kept;

	map_put(&m, word, 5, NULL);
	kept = map_key(&m, 0, NULL);
	memset(word, 'x', 5);
	for (uint64_t i = 0; i < 10000; i++)
		map_put_int(&m, i, NULL);
	assert_string_equal(kept, "first");
	assert_ptr_equal(kept, map_key(&m, 0, NULL));
	map_release(&m);
}

/* Small numbers, multiples of powers of two, high bits only: what real ids and addresses look like. */
static void regular_integers(void **state)
{
	for (unsigned shift = 0; shift < 48; shift += 6) {
		struct map m = MAP_INIT;

		for (uint64_t i = 0; i < 3000; i++)
			*map_put_int(&m, i << shift, NULL) = i;
		assert_int_equal(m.count, 3000);
		for (uint64_t i = 0; i < 3000; i++)
			assert_int_equal(*map_get_int(&m, i << shift), i);
		assert_null(map_get_int(&m, 3000ull << shift));
		map_release(&m);
	}
}

static size_t model_find(char (*keys)[24], size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i], key))
			return i;
	return count;
}

/* Against a list searched from its start: same values, same order, same answers for absent keys. */
static void random_words_match_a_list(void **state)
{
	enum { STEPS = 3000, RANGE = 1200 };
	static char keys[RANGE][24];
	static uint64_t values[RANGE];
	struct map m = MAP_INIT;
	size_t count = 0;

	random_init();
	for (int step = 0; step < STEPS; step++) {
		char key[24];
		size_t at, len;
		uint64_t value = random_u64();
		bool is_new;

		snprintf(key, sizeof(key), "%.*s%zu", (int)random_below(16), "/usr/lib/python/", random_below(300));
		len = strlen(key);
		at = model_find(keys, count, key);
		if (at == RANGE)
			continue;
		assert_int_equal(map_get(&m, key, len) == NULL, at == count);
		*map_put(&m, key, len, &is_new) = value;
		assert_int_equal(is_new, at == count);
		memcpy(keys[at], key, sizeof(key));
		values[at] = value;
		count += is_new;
	}
	assert_int_equal(m.count, count);
	for (size_t i = 0; i < count; i++) {
		size_t len;

		assert_string_equal(map_key(&m, i, &len), keys[i]);
		assert_int_equal(len, strlen(keys[i]));
		assert_int_equal(map_value(&m, i), values[i]);
	}
	map_release(&m);
}

static void out_of_memory_at_every_step(void **state)
{
	for (size_t good = 0;; good++) {
		struct map m = MAP_INIT;
		uint64_t put = 0;

		alloc_fail_after(good);
		while (put < 2000 && map_put_int(&m, put, NULL))
			put++;
		alloc_fail_never();
		assert_int_equal(m.count, put);
		for (uint64_t i = 0; i < put; i++)
			assert_non_null(map_get_int(&m, i));
		assert_null(map_get_int(&m, put));
		assert_non_null(map_put_int(&m, put, NULL));
		map_release(&m);
		if (!alloc_has_failed())
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(put_makes_then_finds),
		cmocka_unit_test(keys_are_bytes),
		cmocka_unit_test(keys_of_every_length),
		cmocka_unit_test(an_integer_key_is_its_bytes),
		cmocka_unit_test(keys_are_copied_and_stay),
		cmocka_unit_test(regular_integers),
		cmocka_unit_test(random_words_match_a_list),
		cmocka_unit_test(out_of_memory_at_every_step),
	};

	return RUN_TESTS(tests);
}
