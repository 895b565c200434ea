/*
 * The help text: every row is in it, under its heading, within the width.
 */
#include "cli/help.h"

#include "../support.h"
#include "command.h"

#include <string.h>

static void help_of(struct buf *out, const struct cli_command *command, size_t width, bool has_colour)
{
	struct term term = { .is_terminal = true, .has_colour = has_colour, .width = width };

	help_write(out, command, &term);
}

static void the_whole_text(void **state)
{
	struct buf out = BUF_INIT;

	help_of(&out, &sample_command, 80, false);
	assert_string_equal(out.data,
			"Usage: sonde sample [RUN...]\n"
			"\n"
			"Arguments\n"
			"  RUN                The runs.\n"
			"\n"
			"Options\n"
			"  -j, --json         Print JSON.\n"
			"  -q, --quiet        Say nothing.\n"
			"      --name NAME    Call it so.\n"
			"  -o, --output DIR   Put it there. Default: the current directory.\n"
			"      --base RUN     Compare with this.\n"
			"\n"
			"Limits\n"
			"  -n, --limit N      At most so many. Default: 10.\n"
			"      --size SIZE    So large. Default: 4M.\n"
			"  -w, --wait TIME    So long.\n"
			"\n"
			"Selection\n"
			"  -t, --table TABLE  This table. One of: io, span, step. Default: span.\n"
			"  -f, --filter TEXT  Only with this text.\n"
			"      --probes LIST  With these. Any of: trace, perf, proc. Default: trace,proc.\n"
			"      --paths PATHS  Below these.\n"
			"  -c, --custom C     One character.\n"
			"\n"
			"Help\n"
			"  -h, --help         Print this help.\n"
			"\n"
			"Examples\n"
			"  sonde sample latest\n"
			"      An example.\n"
			"\n"
			"Exit codes\n"
			"  0         Success.\n"
			"  1         Failure; the reason is on standard error.\n"
			"  2         Usage error.\n");
	buf_release(&out);
}

static void a_command_may_have_its_own_exit_codes(void **state)
{
	struct buf out = BUF_INIT;

	help_of(&out, &sample_program_command, 80, false);
	assert_non_null(strstr(out.data, "  125       It broke.\n"));
	assert_null(strstr(out.data, "All went well"));
	buf_release(&out);
}

static void a_bare_command_has_help_too(void **state)
{
	struct buf out = BUF_INIT;

	help_of(&out, &sample_bare_command, 80, false);
	assert_non_null(strstr(out.data, "Usage: sonde bare\n"));
	assert_non_null(strstr(out.data, "Options\n  -h, --help  Print this help.\n"));
	buf_release(&out);
}

static void lines_fit_the_width(void **state)
{
	for (size_t width = 50; width <= 120; width += 7) {
		struct buf out = BUF_INIT;

		help_of(&out, &sample_command, width, false);
		for (char *rest = out.data, *line; (line = strsep(&rest, "\n"));)
			assert_true(term_columns(line) <= width);
		buf_release(&out);
	}
}

static void headings_are_coloured_on_terminals_only(void **state)
{
	struct buf out = BUF_INIT;

	help_of(&out, &sample_command, 80, true);
	assert_non_null(strstr(out.data, "\033[1mOptions\033[0m\n"));
	buf_reset(&out);
	help_of(&out, &sample_command, 80, false);
	assert_null(strchr(out.data, '\033'));
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_text),
		cmocka_unit_test(a_command_may_have_its_own_exit_codes),
		cmocka_unit_test(a_bare_command_has_help_too),
		cmocka_unit_test(lines_fit_the_width),
		cmocka_unit_test(headings_are_coloured_on_terminals_only),
	};

	return RUN_TESTS(tests);
}
