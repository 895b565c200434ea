/*
 * Tables: alignment, titles, wrapping, hostile cells, short memory.
 */
#include "result/term.h"

#include "../support.h"

#include <errno.h>

static const struct term plain = { .width = 40 };
static const struct term screen = { .is_terminal = true, .width = 40 };
static const struct term coloured = { .is_terminal = true, .has_colour = true, .width = 40 };

static const struct term_column titled[] = { { "CALL" }, { "COUNT", TERM_RIGHT }, { "PATH" } };

static void assert_table(struct term_table *t, const struct term *term, const char *text)
{
	struct buf out = BUF_INIT;

	assert_int_equal(term_table_write(t, &out, term), 0);
	assert_string_equal(out.data, text);
	buf_release(&out);
	term_table_release(t);
}

static void columns_align(void **state)
{
	struct term_table t;

	term_table_init(&t, titled, 3);
	term_table_cell(&t, TERM_PLAIN, "openat");
	term_table_cellf(&t, "%d", 7);
	term_table_cell(&t, TERM_PLAIN, "/größe");
	term_table_cell(&t, TERM_PLAIN, "größe");
	term_table_cellf(&t, "%d", 1234567);
	term_table_cell(&t, TERM_PLAIN, "");
	assert_table(&t, &plain,
			"CALL      COUNT  PATH\n"
			"openat        7  /größe\n"
			"größe   1234567\n");
}

static void titles_may_be_absent(void **state)
{
	static const struct term_column columns[2];
	struct term_table t;

	term_table_init(&t, columns, 2);
	assert_table(&t, &plain, "");
	term_table_cell(&t, TERM_PLAIN, "a");
	term_table_cell(&t, TERM_PLAIN, "b");
	assert_table(&t, &plain, "a  b\n");
}

static void an_empty_table_has_its_titles(void **state)
{
	struct term_table t;

	term_table_init(&t, titled, 3);
	assert_table(&t, &plain, "CALL  COUNT  PATH\n");
}

static void the_last_column_wraps_on_terminals(void **state)
{
	static const struct term_column columns[] = { { "A" }, { "TEXT", .is_wrapped = true } };
	static const char text[] = "some words that do not fit on a line of forty";
	struct term_table t;

	term_table_init(&t, columns, 2);
	term_table_cell(&t, TERM_PLAIN, "x");
	term_table_cell(&t, TERM_PLAIN, text);
	assert_table(&t, &screen, "A  TEXT\nx  some words that do not fit on a line\n   of forty\n");
	term_table_cell(&t, TERM_PLAIN, "x");
	term_table_cell(&t, TERM_PLAIN, text);
	assert_table(&t, &plain, "A  TEXT\nx  some words that do not fit on a line of forty\n");
}

static void colour_does_not_count_as_width(void **state)
{
	static const struct term_column columns[2];
	struct term_table t;

	term_table_init(&t, columns, 2);
	term_table_cell(&t, TERM_GREEN, "ok");
	term_table_cell(&t, TERM_PLAIN, "1");
	term_table_cell(&t, TERM_RED, "failed");
	term_table_cell(&t, TERM_PLAIN, "2");
	assert_table(&t, &coloured, "\033[32mok\033[0m      1\n\033[31mfailed\033[0m  2\n");
}

static void cells_cannot_drive_the_terminal(void **state)
{
	static const struct term_column columns[1];
	struct term_table t;

	term_table_init(&t, columns, 1);
	term_table_cell(&t, TERM_PLAIN, "\033]0;x\a\n");
	assert_table(&t, &plain, "?]0;x??\n");
}

static void memory_may_be_short(void **state)
{
	int rc = -ENOMEM;

	for (size_t good = 0; rc; good++) {
		struct buf out = BUF_INIT;
		struct term_table t;

		term_table_init(&t, titled, 3);
		alloc_fail_after(good);
		for (int i = 0; i < 300; i++)
			term_table_cellf(&t, "cell %d", i);
		rc = term_table_write(&t, &out, &plain);
		alloc_fail_never();
		buf_release(&out);
		term_table_release(&t);
		assert_true(good < 10000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_align),
		cmocka_unit_test(titles_may_be_absent),
		cmocka_unit_test(an_empty_table_has_its_titles),
		cmocka_unit_test(the_last_column_wraps_on_terminals),
		cmocka_unit_test(colour_does_not_count_as_width),
		cmocka_unit_test(cells_cannot_drive_the_terminal),
		cmocka_unit_test(memory_may_be_short),
	};

	return RUN_TESTS(tests);
}
