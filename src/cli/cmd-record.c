/* sonde record: run a program and record what it does. */
#include "base/fs.h"
#include "base/words.h"
#include "cli/cli.h"
#include "cli/term.h"
#include "launch/launch.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_OWN_FAILURE 125

struct options {
	const char *dir;
	const char *name;
	struct cli_list probes;
	struct cli_list include;
	struct cli_list exclude;
	struct cli_list only;
	struct cli_list without;
	int64_t min_dur_ns;
	int overflow;
	uint64_t memory;
	uint64_t process_memory;
	const char *ring;
	bool follow;
	bool is_shell;
	bool is_verbose;
	bool is_quiet;
};

static const char *const probe_words[] = { "trace", "all", "none", NULL };
static const char *const overflow_words[] = { "drop", "block", NULL };
static const char *const category_words[] = { "data", "open", "meta", "dir", "sync", "map", "stdio", "net", "process",
	"aio", "libc", "span", "function", NULL };

static const struct cli_option option_rows[] = {
	{ 'o', "output", "DIR", CLI_PATH(struct options, dir),
			.help = "Make the run bundle here; it must not exist or be empty.",
			.default_words = "a new one in ./sonde-runs or $SONDE_RUNS" },
	{ 0, "name", "NAME", CLI_STRING(struct options, name), .help = "Name of the run.",
			.default_words = "the program's" },
	{ 0, "probes", "LIST", CLI_WORDS(struct options, probes), .choices = probe_words, .default_text = "all",
			.help = "Probes to switch on; trace is the tracer of calls and annotations." },
	{ 0, "shell", NULL, CLI_FLAG(struct options, is_shell),
			.help = "Let /bin/sh run the command, given as one string." },
	{ 0, "follow", NULL, CLI_FLAG(struct options, follow),
			.help = "Go on until every traced process has ended, not only the program." },
	{ 'v', "verbose", NULL, CLI_FLAG(struct options, is_verbose),
			.help = "Say what was recorded even when stderr is no terminal." },
	{ 'q', "quiet", NULL, CLI_FLAG(struct options, is_quiet), .help = "Say nothing at the end." },
	{ 0, "include", "PATHS", CLI_PATHS(struct options, include), .group = "Filters",
			.help = "Record calls on files below these directories only." },
	{ 0, "exclude", "PATHS", CLI_PATHS(struct options, exclude), .group = "Filters",
			.help = "Leave out calls on files below these directories." },
	{ 0, "only", "LIST", CLI_WORDS(struct options, only), .choices = category_words, .group = "Filters",
			.help = "Record these categories of calls only." },
	{ 0, "without", "LIST", CLI_WORDS(struct options, without), .choices = category_words, .group = "Filters",
			.help = "Leave these categories of calls out." },
	{ 0, "min-duration", "TIME", CLI_DURATION(struct options, min_dur_ns), .group = "Filters", .default_text = "0",
			.help = "Leave out calls shorter than this." },
	{ 0, "overflow", "WHAT", CLI_CHOICE(struct options, overflow), .choices = overflow_words, .group = "Limits",
			.default_text = "drop",
			.help = "When events come faster than they can be drained: drop and count them, or block." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct options, memory), .group = "Limits", .default_text = "256M",
			.help = "Memory for events not yet written, all processes together." },
	{ 0, "process-memory", "SIZE", CLI_SIZE(struct options, process_memory), .group = "Limits",
			.default_text = "64M", .help = "Memory for events not yet written, one process." },
	{ 0, "ring", "DIR", CLI_PATH(struct options, ring), .group = "Limits",
			.default_words = "/dev/shm, else the bundle",
			.help = "Where that memory is: a directory on tmpfs or a local disk." },
	CLI_OPTIONS_END,
};

static bool list_has(const struct cli_list *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], word))
			return true;
	return false;
}

static uint32_t categories_of(const struct options *o)
{
	uint32_t bits = 0;
	for (unsigned i = 0; category_words[i]; i++)
		if ((!o->only.count || list_has(&o->only, category_words[i])) &&
				!list_has(&o->without, category_words[i]))
			bits |= 1u << i;
	return bits;
}

/* Filters compare absolute paths. */
static const char *const *absolute(struct cli_context *ctx, const struct cli_list *list)
{
	const char **out = arena_alloc(ctx->arena, (list->count + 1) * sizeof(*out));
	char cwd[4096];
	if (!out || !getcwd(cwd, sizeof(cwd)))
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		const char *p = list->items[i];
		while (!strncmp(p, "./", 2))
			p += 2;
		out[i] = *p == '/'                ? p
				: !strcmp(p, ".") ? arena_strdup(ctx->arena, cwd)
						  : arena_printf(ctx->arena, "%s/%s", cwd, p);
	}
	return out;
}

static void say(const struct record_result *r)
{
	char events[TERM_TEXT], bytes[TERM_TEXT];
	fprintf(stderr, "sonde: recorded %s events of %llu process%s in %s (%s)\n", term_count(events, r->events),
			(unsigned long long)r->processes, r->processes == 1 ? "" : "es", r->path.data,
			term_bytes(bytes, r->bytes));
	if (r->dropped)
		fprintf(stderr, "sonde: %llu events were dropped\nhint: try more --memory and --process-memory, or --overflow block\n",
				(unsigned long long)r->dropped);
	if (r->filtered)
		fprintf(stderr, "sonde: %llu events were filtered\n", (unsigned long long)r->filtered);
	if (r->blind)
		fprintf(stderr, "sonde: %llu processes could not be traced\nhint: sonde info says which\n",
				(unsigned long long)r->blind);
}

/* One string with blanks in it is a whole command line, unless there is a program of that name. */
static int take_command(struct cli_context *ctx, bool is_shell)
{
	static char sh[] = "/bin/sh", option[] = "-c";
	if (is_shell) {
		if (ctx->program[1])
			return cli_usage(ctx, "--shell takes the command as one string");
		char **argv = arena_alloc(ctx->arena, 4 * sizeof(*argv));
		if (!argv)
			return err_sys(ctx->err, ENOMEM, "cannot take the command");
		argv[0] = sh;
		argv[1] = option;
		argv[2] = ctx->program[0];
		ctx->program = argv;
		return 0;
	}
	if (ctx->program[1] || !strchr(ctx->program[0], ' ') || !launch_check(ctx->program[0], NULL))
		return 0;
	struct sonde_err why = SONDE_ERR_INIT;
	if (!words_split(ctx->program[0], ctx->arena, &ctx->program, &why))
		return 0;
	int rc = cli_usage(ctx, "%s", why.text);
	err_hint(ctx->err, "%s", why.hint);
	return rc;
}

static int run(struct cli_context *ctx)
{
	struct options *o = ctx->options;
	struct record_result result = RECORD_RESULT_INIT;
	struct record_options ro = { .argv = ctx->program,
		.dir = o->dir,
		.name = o->name,
		.has_trace = !list_has(&o->probes, "none"),
		.is_following = o->follow,
		.ring = { .categories = categories_of(o),
				.overflow = o->overflow ? SONDE_OVERFLOW_BLOCK : SONDE_OVERFLOW_DROP,
				.min_dur_ns = o->min_dur_ns,
				.run_bytes_max = o->memory,
				.process_bytes_max = o->process_memory,
				.place = o->ring,
				.includes = absolute(ctx, &o->include),
				.excludes = absolute(ctx, &o->exclude) } };
	int split = take_command(ctx, o->is_shell);
	if (split)
		return split;
	ro.argv = ctx->program;
	int rc = record_run(&ro, &result, ctx->err);
	if (rc) {
		int code = launch_exit_code(rc);
		ctx->exit_code = code ? code : EXIT_OWN_FAILURE;
		return rc;
	}
	if (result.trouble.text[0])
		cli_print_error("sonde", &result.trouble);
	if (!o->is_quiet && (o->is_verbose || isatty(STDERR_FILENO)))
		say(&result);
	int status = result.status;
	record_result_release(&result);
	fflush(NULL);
	launch_mirror(status);
}

static const struct cli_example examples[] = {
	{ "sonde record -- python3 train.py", "Record a training script with all its processes." },
	{ "sonde record --probes trace --include ./data -- ./load",
			"Only the tracer, only calls on files below ./data." },
	{ "sonde record \"tar -cf out.tar src\"",
			"A command given as one string is split as a shell would, and never expanded." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "the program's", "The program ran: its own exit code; when a signal killed it, sonde dies of the same." },
	{ "2", "The command line is wrong." },
	{ "125", "sonde itself failed." },
	{ "126", "The program was found but could not be executed." },
	{ "127", "The program was not found." },
	{ NULL, NULL },
};

const struct cli_command cmd_record = {
	.name = "record",
	.usage = "[-o DIR] [--name NAME] [--probes LIST] -- PROGRAM [ARGUMENT...]",
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.flags = CLI_TAKES_PROGRAM | CLI_NEEDS_PROGRAM,
	.fail_code = EXIT_OWN_FAILURE,
	.run = run,
};
