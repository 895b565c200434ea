/* buf: always a string, never longer than its maximum, whatever is appended. */
#include "../support.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void assert_is_string(const struct buf *b)
{
	assert_non_null(b->data);
	assert_int_equal(b->data[b->len], '\0');
	assert_true(b->len <= b->max);
}

static void empty_is_a_string(void **state)
{
	struct buf a = BUF_INIT, b;

	buf_init(&b, 0);
	assert_is_string(&a);
	assert_string_equal(a.data, "");
	assert_string_equal(b.data, "");
	assert_int_equal(a.max, b.max);
	buf_reset(&a);
	buf_release(&a);
	assert_string_equal(a.data, "");
}

static void all_ways_of_adding(void **state)
{
	struct buf b = BUF_INIT;

	buf_add(&b, "a\0b", 3);
	buf_addc(&b, '\0');
	buf_adds(&b, "cd");
	buf_addf(&b, "%s-%d", "ef", 42);
	buf_add(&b, NULL, 0);
	assert_int_equal(b.len, 11);
	assert_memory_equal(b.data, "a\0b\0cdef-42", 12);
	assert_int_equal(buf_error(&b), 0);
	buf_release(&b);
}

static void addf_longer_than_the_room(void **state)
{
	struct buf b = BUF_INIT;

	for (int width = 0; width < 300; width++) {
		size_t before = b.len;

		buf_addf(&b, "%0*d", width, 7);
		assert_int_equal(b.len - before, width ? width : 1);
		assert_is_string(&b);
	}
	assert_int_equal(buf_error(&b), 0);
	buf_release(&b);
}

static void addf_of_nothing(void **state)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "%s", "");
	assert_int_equal(b.len, 0);
	assert_string_equal(b.data, "");
	buf_release(&b);
}

static void max_is_exact(void **state)
{
	for (size_t max = 1; max < 200; max++) {
		struct buf b;

		buf_init(&b, max);
		for (size_t i = 0; i < max; i++)
			buf_addc(&b, 'x');
		assert_int_equal(buf_error(&b), 0);
		assert_int_equal(b.len, max);
		buf_addc(&b, 'y');
		assert_int_equal(buf_error(&b), -ENOMEM);
		assert_int_equal(b.len, max);
		assert_is_string(&b);
		buf_release(&b);
	}
}

static void nothing_follows_a_hole(void **state)
{
	struct buf b;

	buf_init(&b, 8);
	buf_adds(&b, "12345");
	buf_adds(&b, "6789");
	buf_adds(&b, "x");
	buf_addf(&b, "y");
	buf_addf(&b, "%s", "");
	assert_null(buf_room(&b, 1));
	assert_string_equal(b.data, "12345");
	assert_int_equal(buf_error(&b), -ENOMEM);
	buf_reset(&b);
	assert_int_equal(buf_error(&b), 0);
	buf_adds(&b, "12345678");
	assert_string_equal(b.data, "12345678");
	buf_release(&b);
}

static void absurd_sizes_are_refused(void **state)
{
	struct buf b;

	buf_init(&b, SIZE_MAX);
	buf_adds(&b, "x");
	assert_null(buf_room(&b, SIZE_MAX));
	assert_int_equal(buf_error(&b), -ENOMEM);
	assert_string_equal(b.data, "x");
	buf_release(&b);
}

static void take_hands_over(void **state)
{
	struct buf b = BUF_INIT;
	char *text, *empty;

	buf_adds(&b, "mine");
	text = buf_take(&b);
	empty = buf_take(&b);
	assert_string_equal(text, "mine");
	assert_string_equal(empty, "");
	assert_string_equal(b.data, "");
	free(text);
	free(empty);
	buf_adds(&b, "again");
	assert_string_equal(b.data, "again");
	buf_release(&b);
}

static void room_is_zeroed_and_counted_by_the_caller(void **state)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "a longer text that is reset");
	buf_reset(&b);
	memcpy(buf_room(&b, 10), "abc", 3);
	b.len += 3;
	assert_string_equal(b.data, "abc");
	assert_non_null(buf_room(&b, 0));
	assert_string_equal(b.data, "abc");
	buf_release(&b);
}

static void release_keeps_the_maximum(void **state)
{
	struct buf b;

	buf_init(&b, 2);
	buf_adds(&b, "ab");
	buf_release(&b);
	buf_adds(&b, "abc");
	assert_int_equal(buf_error(&b), -ENOMEM);
	buf_release(&b);
}

/* Against a plain array: any sequence of appends gives the concatenation, or its longest whole beginning. */
static void random_appends(void **state)
{
	enum { ROUNDS = 300, MODEL = 4096 };

	random_init();
	for (int round = 0; round < ROUNDS; round++) {
		char model[MODEL], piece[200];
		size_t max = 1 + random_below(MODEL - 1), len = 0;
		bool is_full = false;
		struct buf b;

		buf_init(&b, max);
		for (int i = 0; i < 60; i++) {
			size_t n = random_below(sizeof(piece));

			random_bytes(piece, n);
			buf_add(&b, piece, n);
			is_full |= n > max - len;
			if (is_full)
				continue;
			memcpy(model + len, piece, n);
			len += n;
		}
		assert_int_equal(b.len, len);
		assert_memory_equal(b.data, model, len);
		assert_int_equal(buf_error(&b), is_full ? -ENOMEM : 0);
		assert_is_string(&b);
		buf_release(&b);
	}
}

static void out_of_memory_at_every_step(void **state)
{
	for (size_t good = 0;; good++) {
		struct buf b = BUF_INIT;

		alloc_fail_after(good);
		for (int i = 0; i < 1000; i++)
			buf_addf(&b, "%d,", i);
		alloc_fail_never();
		assert_is_string(&b);
		assert_int_equal(buf_error(&b), alloc_has_failed() ? -ENOMEM : 0);
		buf_release(&b);
		if (!alloc_has_failed())
			break;
	}
}

static void take_when_out_of_memory(void **state)
{
	struct buf b = BUF_INIT;

	alloc_fail_after(0);
	assert_null(buf_take(&b));
	alloc_fail_never();
}

static void html_is_text(void **state)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_add_html(&b, "<a href=\"x\">\xc3\xa9 & 'b'");
	buf_add_html(&b, NULL);
	assert_string_equal(b.data, "&lt;a href=&quot;x&quot;&gt;\xc3\xa9 &amp; 'b'");
}

/* The vectors of RFC 4648. */
static void base64_is_padded(void **state)
{
	static const char *const want[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };

	for (size_t n = 0; n < sizeof(want) / sizeof(want[0]); n++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		buf_add_base64(&b, "foobar", n);
		assert_string_equal(b.data, want[n]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_is_a_string),
		cmocka_unit_test(all_ways_of_adding),
		cmocka_unit_test(addf_longer_than_the_room),
		cmocka_unit_test(addf_of_nothing),
		cmocka_unit_test(max_is_exact),
		cmocka_unit_test(nothing_follows_a_hole),
		cmocka_unit_test(absurd_sizes_are_refused),
		cmocka_unit_test(take_hands_over),
		cmocka_unit_test(room_is_zeroed_and_counted_by_the_caller),
		cmocka_unit_test(release_keeps_the_maximum),
		cmocka_unit_test(random_appends),
		cmocka_unit_test(out_of_memory_at_every_step),
		cmocka_unit_test(take_when_out_of_memory),
		cmocka_unit_test(html_is_text),
		cmocka_unit_test(base64_is_padded),
	};

	return RUN_TESTS(tests);
}
