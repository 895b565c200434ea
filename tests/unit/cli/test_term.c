/*
 * Streams, colours, hostile text and wrapping.
 */
#include "result/term.h"

#include "../support.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void files_have_no_colour(void **state)
{
	FILE *file = tmpfile();
	struct term term;

	unsetenv("COLUMNS");
	term = term_of(file);
	assert_false(term.is_terminal);
	assert_false(term.has_colour);
	assert_int_equal(term.width, 80);
	setenv("COLUMNS", "132", 1);
	assert_int_equal(term_of(file).width, 132);
	setenv("COLUMNS", "nonsense", 1);
	assert_int_equal(term_of(file).width, 80);
	fclose(file);
}

static void terminals_have_colour_unless_told(void **state)
{
	struct winsize size = { .ws_row = 24, .ws_col = 101 };
	int master, slave;
	FILE *file;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	file = fdopen(slave, "w");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	assert_true(term_of(file).is_terminal);
	assert_true(term_of(file).has_colour);
	assert_int_equal(term_of(file).width, 101);
	setenv("NO_COLOR", "1", 1);
	assert_false(term_of(file).has_colour);
	setenv("NO_COLOR", "", 1);
	assert_true(term_of(file).has_colour);
	setenv("TERM", "dumb", 1);
	assert_false(term_of(file).has_colour);
	fclose(file);
	close(master);
}

static void styles_need_colour(void **state)
{
	struct term plain = { .has_colour = false }, colour = { .has_colour = true };
	struct buf out = BUF_INIT;

	term_add(&out, &plain, TERM_RED, "a");
	term_add(&out, &colour, TERM_RED, "b");
	term_add(&out, &colour, TERM_PLAIN, "c");
	assert_string_equal(out.data, "a\033[31mb\033[0mc");
	buf_release(&out);
}

static const struct {
	const char *text, *safe;
} hostile[] = {
	{ "plain", "plain" },
	{ "\033[2Jx", "?[2Jx" },
	{ "a\nb\tc\r", "a?b?c?" },
	{ "\x7f", "?" },
	{ "größe µs €😀", "größe µs €😀" },
	{ "\xc2\x9b"
	  "31m",
			"??31m" }, /* CSI as a C1 control */
	{ "\xff\xfe", "??" },
	{ "\xc3", "?" },
	{ "\xe2\x82", "??" },
	{ "\xc0\xaf", "??" },
};

static void control_characters_are_shown_not_sent(void **state)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct buf out = BUF_INIT;

		term_safe(&out, hostile[i].text);
		assert_string_equal(out.data, hostile[i].safe);
		buf_release(&out);
	}
}

static void columns_are_characters(void **state)
{
	assert_int_equal(term_columns(""), 0);
	assert_int_equal(term_columns("größe"), 5);
}

static void text_wraps_at_blanks(void **state)
{
	struct buf out = BUF_INIT;

	term_wrap(&out, "one two three four five six seven", 4, 4, 24);
	assert_string_equal(out.data, "one two three four\n    five six seven");
	buf_reset(&out);
	term_wrap(&out, "a-word-that-is-much-longer-than-the-line fits nowhere", 2, 2, 24);
	assert_string_equal(out.data, "a-word-that-is-much-longer-than-the-line\n  fits nowhere");
	buf_reset(&out);
	term_wrap(&out, "too narrow to wrap anything", 10, 10, 20);
	assert_string_equal(out.data, "too narrow to wrap anything");
	buf_release(&out);
}

/* stderr of the tests is no terminal, so nothing may appear. */
static void progress_is_for_terminals(void **state)
{
	struct term_progress p;

	if (isatty(STDERR_FILENO)) {
		print_message("# SKIP standard error is a terminal\n");
		return;
	}
	term_progress_init(&p);
	term_progress_show(&p, "%d of %d", 1, 2);
	assert_false(p.is_shown);
	term_progress_end(&p);
}

/* Two shows within a tenth of a second write once; a long line is cut to the width. */
static void progress_is_one_short_line(void **state)
{
	struct winsize size = { .ws_row = 24, .ws_col = 10 };
	int master, slave, saved = dup(STDERR_FILENO);
	struct term_progress p;
	char text[256] = "";
	size_t got = 0;

	setenv("TERM", "xterm", 1);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	dup2(slave, STDERR_FILENO);
	term_progress_init(&p);
	term_progress_show(&p, "%s", "0123456789abcdef\n");
	p.next_ns += 3600 * 1000000000ll; /* the tenth must not pass here, however slow the machine is */
	term_progress_show(&p, "again");
	term_progress_end(&p);
	dup2(saved, STDERR_FILENO);
	close(slave);
	for (ssize_t n; got < sizeof(text) - 1 && (n = read(master, text + got, sizeof(text) - 1 - got)) > 0;)
		got += (size_t)n; /* to the end: what was written at once may come in pieces */
	assert_string_equal(text, "\r012345678\033[K\r\033[K");
	close(master);
	close(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_have_no_colour),
		cmocka_unit_test(terminals_have_colour_unless_told),
		cmocka_unit_test(styles_need_colour),
		cmocka_unit_test(control_characters_are_shown_not_sent),
		cmocka_unit_test(columns_are_characters),
		cmocka_unit_test(text_wraps_at_blanks),
		cmocka_unit_test(progress_is_for_terminals),
		cmocka_unit_test(progress_is_one_short_line),
	};

	return RUN_TESTS(tests);
}
