/*
 * The parser: every way to write an option, every error and its words.
 */
#include "cli/cli.h"

#include "../support.h"
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct parsed {
	struct cli_context ctx;
	struct arena arena;
	struct sonde_err err;
	int rc;
	char *words[16];
};

/* Parse argv, a NULL-terminated list of words after the command's name. */
static struct parsed *parse(const struct cli_command *command, const char *const words[])
{
	static struct parsed p;
	static char texts[16][64];
	size_t n = 1;

	arena_release(&p.arena);
	memset(&p, 0, sizeof(p));
	p.ctx.arena = &p.arena;
	p.ctx.err = &p.err;
	p.words[0] = texts[0];
	for (; words[n - 1]; n++) {
		snprintf(texts[n], sizeof(texts[n]), "%s", words[n - 1]);
		p.words[n] = texts[n];
	}
	p.rc = cli_parse(&p.ctx, command, p.words);
	return &p;
}

#define PARSE(command, ...) parse(&(command), (const char *const[]){ __VA_ARGS__, NULL })
#define OPTIONS(p) ((const struct sample_options *)(p)->ctx.options)

static void assert_usage(const struct parsed *p, const char *text, const char *hint)
{
	assert_int_equal(p->rc, -EINVAL);
	assert_int_equal(p->ctx.exit_code, CLI_EXIT_USAGE);
	assert_string_equal(p->err.text, text);
	assert_string_equal(p->err.hint, hint);
}

static void defaults_fill_the_struct(void **state)
{
	struct parsed *p = parse(&sample_command, (const char *const[]){ NULL });
	const struct sample_options *o = OPTIONS(p);

	assert_int_equal(p->rc, 0);
	assert_false(o->is_json);
	assert_null(o->name);
	assert_null(o->output);
	assert_int_equal(o->limit, 10);
	assert_int_equal(o->size, 4 << 20);
	assert_int_equal(o->wait_ns, 0);
	assert_int_equal(o->table, 1);
	assert_int_equal(o->probes.count, 2);
	assert_string_equal(o->probes.items[1], "proc");
	assert_int_equal(o->filters.count, 0);
	assert_int_equal(p->ctx.arg_count, 0);
	assert_null(p->ctx.args[0]);
	assert_null(p->ctx.program);
}

static void long_options_take_values_both_ways(void **state)
{
	struct parsed *p = PARSE(sample_command, "--name=x=y", "--output", "dir", "--limit", "-1", "--json",
			"--wait=5ms");

	assert_int_equal(p->rc, 0);
	assert_string_equal(OPTIONS(p)->name, "x=y");
	assert_string_equal(OPTIONS(p)->output, "dir");
	assert_int_equal(OPTIONS(p)->limit, -1);
	assert_true(OPTIONS(p)->is_json);
	assert_int_equal(OPTIONS(p)->wait_ns, 5000000);
}

static void an_empty_value_is_a_value(void **state)
{
	assert_string_equal(OPTIONS(PARSE(sample_command, "--name="))->name, "");
	assert_string_equal(OPTIONS(PARSE(sample_command, "--name", ""))->name, "");
	assert_usage(PARSE(sample_command, "--output="), "option '--output': the name is empty",
			"see 'sonde sample --help'");
}

static void a_value_may_look_like_an_option(void **state)
{
	assert_string_equal(OPTIONS(PARSE(sample_command, "--name", "--json"))->name, "--json");
	assert_string_equal(OPTIONS(PARSE(sample_command, "--name", "--"))->name, "--");
}

static void short_options_cluster(void **state)
{
	struct parsed *p = PARSE(sample_command, "-jqn5", "-o", "dir", "-tstep", "-cx");

	assert_int_equal(p->rc, 0);
	assert_true(OPTIONS(p)->is_json);
	assert_true(OPTIONS(p)->is_quiet);
	assert_int_equal(OPTIONS(p)->limit, 5);
	assert_string_equal(OPTIONS(p)->output, "dir");
	assert_int_equal(OPTIONS(p)->table, 2);
	assert_int_equal(OPTIONS(p)->custom, 'x');
}

static void the_last_value_wins_and_lists_grow(void **state)
{
	struct parsed *p = PARSE(sample_command, "-n1", "-n2", "-fa", "--filter", "b", "--probes", "perf",
			"--probes=trace,proc", "--paths", "/a:/b", "--paths=/c");
	const struct sample_options *o = OPTIONS(p);

	assert_int_equal(p->rc, 0);
	assert_int_equal(o->limit, 2);
	assert_int_equal(o->filters.count, 2);
	assert_string_equal(o->filters.items[1], "b");
	assert_null(o->filters.items[2]);
	assert_int_equal(o->probes.count, 3); /* the default is replaced */
	assert_string_equal(o->probes.items[0], "perf");
	assert_string_equal(o->probes.items[2], "proc");
	assert_int_equal(o->paths.count, 3);
	assert_string_equal(o->paths.items[1], "/b");
}

static void options_and_arguments_mix(void **state)
{
	struct parsed *p = PARSE(sample_command, "first", "--json", "second", "-n3");

	assert_int_equal(p->rc, 0);
	assert_int_equal(p->ctx.arg_count, 2);
	assert_string_equal(p->ctx.args[0], "first");
	assert_string_equal(p->ctx.args[1], "second");
	assert_null(p->ctx.args[2]);
	assert_true(OPTIONS(p)->is_json);
	assert_int_equal(OPTIONS(p)->limit, 3);
}

static void two_dashes_end_the_options(void **state)
{
	struct parsed *p = PARSE(sample_command, "--", "--json", "-");

	assert_int_equal(p->rc, 0);
	assert_int_equal(p->ctx.arg_count, 2);
	assert_string_equal(p->ctx.args[0], "--json");
	assert_false(OPTIONS(p)->is_json);
}

static void a_single_dash_is_an_argument(void **state)
{
	assert_int_equal(PARSE(sample_command, "-")->ctx.arg_count, 1);
}

static void a_program_starts_after_two_dashes(void **state)
{
	struct parsed *p = PARSE(sample_program_command, "--json", "--", "ls", "--json", "--", "-x");

	assert_int_equal(p->rc, 0);
	assert_string_equal(p->ctx.program[0], "ls");
	assert_string_equal(p->ctx.program[1], "--json");
	assert_string_equal(p->ctx.program[2], "--");
	assert_string_equal(p->ctx.program[3], "-x");
	assert_null(p->ctx.program[4]);
}

static void a_program_starts_at_the_first_word(void **state)
{
	struct parsed *p = PARSE(sample_program_command, "-n", "4", "ls", "--unknown", "-n");

	assert_int_equal(p->rc, 0);
	assert_int_equal(OPTIONS(p)->limit, 4);
	assert_string_equal(p->ctx.program[0], "ls");
	assert_string_equal(p->ctx.program[1], "--unknown");
}

static void arguments_and_a_program(void **state)
{
	struct parsed *p = PARSE(sample_both_command, "run", "--", "ls");

	assert_int_equal(p->rc, 0);
	assert_string_equal(p->ctx.args[0], "run");
	assert_string_equal(p->ctx.program[0], "ls");
	p = PARSE(sample_both_command, "run", "--");
	assert_int_equal(p->rc, 0);
	assert_null(p->ctx.program);
}

static void a_program_can_be_required(void **state)
{
	assert_usage(PARSE(sample_program_command, "--json"), "missing program to run",
			"usage: sonde sample-run -- PROGRAM");
	assert_usage(PARSE(sample_program_command, "--"), "missing program to run",
			"usage: sonde sample-run -- PROGRAM");
}

static void help_is_asked_for_anywhere(void **state)
{
	assert_int_equal(PARSE(sample_command, "--help")->rc, CLI_HELP_ASKED);
	assert_int_equal(PARSE(sample_command, "-jh")->rc, CLI_HELP_ASKED);
	assert_int_equal(PARSE(sample_program_command, "-h")->rc, CLI_HELP_ASKED);
	assert_int_equal(PARSE(sample_bare_command, "--help")->rc, CLI_HELP_ASKED);
	assert_int_equal(PARSE(sample_program_command, "ls", "--help")->rc, 0);
	assert_usage(PARSE(sample_command, "--help=x"), "option '--help' takes no value", "see 'sonde sample --help'");
}

static void unknown_options_are_named(void **state)
{
	assert_usage(PARSE(sample_command, "--probez"), "unknown option '--probez'", "did you mean '--probes'?");
	assert_usage(PARSE(sample_command, "--tabel=io"), "unknown option '--tabel'", "did you mean '--table'?");
	assert_usage(PARSE(sample_command, "--hepl"), "unknown option '--hepl'", "did you mean '--help'?");
	assert_usage(PARSE(sample_command, "--zzzzzz"), "unknown option '--zzzzzz'", "see 'sonde sample --help'");
	assert_usage(PARSE(sample_command, "-jz"), "unknown option '-z'", "see 'sonde sample --help'");
	assert_usage(PARSE(sample_bare_command, "-j"), "unknown option '-j'", "see 'sonde bare --help'");
}

static void prefixes_are_not_options(void **state)
{
	assert_usage(PARSE(sample_command, "--js"), "unknown option '--js'", "did you mean '--json'?");
	assert_usage(PARSE(sample_command, "--limi=3"), "unknown option '--limi'", "did you mean '--limit'?");
}

static void values_are_demanded_and_refused(void **state)
{
	assert_usage(PARSE(sample_command, "--limit"), "option '--limit' requires a value: N",
			"see 'sonde sample --help'");
	assert_usage(PARSE(sample_command, "-jn"), "option '-n' requires a value: N", "see 'sonde sample --help'");
	assert_usage(PARSE(sample_command, "--json=yes"), "option '--json' takes no value",
			"see 'sonde sample --help'");
}

static void bad_values_say_what_is_allowed(void **state)
{
	const char *help = "see 'sonde sample --help'";

	assert_usage(PARSE(sample_command, "--table", "spam"), "option '--table': 'spam' is not one of: io, span, step",
			"did you mean 'span'?");
	assert_usage(PARSE(sample_command, "-t", "zzzz"), "option '-t': 'zzzz' is not one of: io, span, step", help);
	assert_usage(PARSE(sample_command, "-nx"), "option '-n': invalid number 'x'", help);
	assert_usage(PARSE(sample_command, "-n101"), "option '-n': '101' is out of range: must be -1 to 100", help);
	assert_usage(PARSE(sample_command, "--size=1K"),
			"option '--size': '1K' is out of range: must be 4.00 KiB to 1.00 GiB", help);
	assert_usage(PARSE(sample_command, "--probes=trace,prof"),
			"option '--probes': 'prof' is not one of: trace, perf, proc", "did you mean 'proc'?");
	assert_usage(PARSE(sample_command, "--custom", "xy"), "option '--custom': 'xy' is not one character", help);
}

static void arguments_are_counted(void **state)
{
	assert_usage(PARSE(sample_command, "a", "b", "c"), "unexpected argument 'c'", "see 'sonde sample --help'");
	assert_usage(PARSE(sample_command, "--", "a", "b", "c"), "unexpected argument 'c'",
			"see 'sonde sample --help'");
	assert_usage(PARSE(sample_bare_command, "a"), "unexpected argument 'a'", "see 'sonde bare --help'");
	assert_usage(parse(&sample_both_command, (const char *const[]){ NULL }), "missing argument RUN",
			"see 'sonde both --help'");
}

static void arguments_can_be_choices(void **state)
{
	assert_int_equal(PARSE(sample_shell_command, "zsh")->rc, 0);
	assert_usage(PARSE(sample_shell_command, "zhs"), "'zhs' is not one of: bash, zsh", "did you mean 'zsh'?");
}

static void commands_can_refuse_combinations(void **state)
{
	struct parsed *p = PARSE(sample_command, "--json");

	p->rc = cli_usage(&p->ctx, "--json and %s do not go together", "--quiet");
	assert_usage(p, "--json and --quiet do not go together", "see 'sonde sample --help'");
}

/* Every allocation fails in turn: an error each time, never a crash. */
static void memory_may_be_short(void **state)
{
	int rc = -ENOMEM;

	for (size_t good = 0; rc; good++) {
		alloc_fail_after(good);
		rc = PARSE(sample_command, "run", "-fa", "--probes", "perf,proc")->rc;
		alloc_fail_never();
		assert_true(good < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_fill_the_struct),
		cmocka_unit_test(long_options_take_values_both_ways),
		cmocka_unit_test(an_empty_value_is_a_value),
		cmocka_unit_test(a_value_may_look_like_an_option),
		cmocka_unit_test(short_options_cluster),
		cmocka_unit_test(the_last_value_wins_and_lists_grow),
		cmocka_unit_test(options_and_arguments_mix),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(a_single_dash_is_an_argument),
		cmocka_unit_test(a_program_starts_after_two_dashes),
		cmocka_unit_test(a_program_starts_at_the_first_word),
		cmocka_unit_test(arguments_and_a_program),
		cmocka_unit_test(a_program_can_be_required),
		cmocka_unit_test(help_is_asked_for_anywhere),
		cmocka_unit_test(unknown_options_are_named),
		cmocka_unit_test(prefixes_are_not_options),
		cmocka_unit_test(values_are_demanded_and_refused),
		cmocka_unit_test(bad_values_say_what_is_allowed),
		cmocka_unit_test(arguments_are_counted),
		cmocka_unit_test(arguments_can_be_choices),
		cmocka_unit_test(commands_can_refuse_combinations),
		cmocka_unit_test(memory_may_be_short),
	};

	return RUN_TESTS(tests);
}
