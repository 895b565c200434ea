/*
 * cli: a command is one file `cmd-<name>.c` with one table, `const struct
 * cli_command cmd_<name>`, and one row in commands.def.
 *
 * The table's option rows are the only place where an option is described: the
 * parser, --help, the man page and the shell completions are made from them.
 * The parser writes each value into the command's options struct, at the
 * field the row names, after the row's default text has gone the same way; so
 * a command finds a complete struct and parses nothing itself.
 *
 * Words: exact long names only (no prefixes), `--name=value` or `--name value`,
 * short clusters (`-jn5`), options before, between and after arguments; `--`
 * ends the options. Every usage error exits 2 and says what would be right.
 *
 * A command holds no logic worth testing: it turns options into a call and the
 * answer into lines. It writes data to stdout (stdio; cli_main checks that it
 * arrived), never to stderr: it fills ctx->err and returns a negative errno,
 * and cli_main prints `sonde: text` and `hint: text`.
 */
#ifndef SONDE_CLI_CLI_H
#define SONDE_CLI_CLI_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_exit {
	CLI_EXIT_FINE = 0,
	CLI_EXIT_FAILED = 1,
	CLI_EXIT_USAGE = 2,
	CLI_EXIT_VERDICT = 3, /* regression, threshold breached */
};

/* Several values of one option. The strings live as long as the process. */
struct cli_list {
	const char **items; /* count of them, then a NULL; NULL when count is 0 */
	size_t count;
};

bool cli_list_has(const struct cli_list *list, const char *word);

struct cli_context;
struct cli_option;

enum cli_type {
	CLI_TYPE_FLAG = 1, /* bool: present or not */
	CLI_TYPE_STRING,   /* const char *: any text */
	CLI_TYPE_PATH,     /* const char *: a file or directory, as typed */
	CLI_TYPE_RUN,      /* const char *: a run's name or directory, as typed */
	CLI_TYPE_INT,      /* int64_t: a decimal number between .min and .max */
	CLI_TYPE_SIZE,     /* uint64_t: bytes; "64", "64K", "64M", "1.5GiB": powers of 1024 */
	CLI_TYPE_DURATION, /* int64_t: nanoseconds; "10s", "5ms", "250us", "1.5m"; a unit is needed except for 0 */
	CLI_TYPE_SECONDS,  /* the same, and a number alone is seconds: for how long something goes on */
	CLI_TYPE_CHOICE,   /* int: index of the word in .choices */
	CLI_TYPE_STRINGS,  /* struct cli_list: one value an occurrence, repeatable */
	CLI_TYPE_WORDS,    /* struct cli_list: comma-separated, repeatable; each one of .choices if there are any */
	CLI_TYPE_PATHS,    /* struct cli_list: colon-separated paths, repeatable */
	CLI_TYPE_SETTER,   /* .set does it */
};

struct cli_option {
	char short_name;       /* 0: none */
	const char *long_name; /* without dashes */
	const char *metavar;   /* "DIR"; NULL for flags and only for them; a choice shows its words instead */
	enum cli_type type;    /* type and offset: write CLI_FLAG(...) and the like, below */
	size_t offset;
	int (*set)(const struct cli_option *option, const char *value, void *options, struct sonde_err *err);
	const char *help;           /* one sentence, capital letter to full stop */
	const char *default_text;   /* taken as if typed, shown in the help; NULL: the field stays zero */
	const char *default_words;  /* shown instead of default_text when the default is no value ("half the CPUs") */
	const char *const *choices; /* NULL-terminated */
	int64_t min, max;  /* for numbers, sizes and durations; both 0: the type's own limits, nothing negative */
	const char *group; /* heading it stands under, NULL: "Options"; rows of a group stand together */
};

/* The field's C type is checked against the option's at compile time. */
#define CLI_FIELD(S, field, T) \
	(offsetof(S, field) + 0 * sizeof(struct { \
		_Static_assert(__builtin_types_compatible_p(__typeof__(((S *)0)->field), T), \
				"the option's type wants the field to be: " #T); \
		char unused; \
	}))
#define CLI_FLAG(S, field) .type = CLI_TYPE_FLAG, .offset = CLI_FIELD(S, field, bool)
#define CLI_STRING(S, field) .type = CLI_TYPE_STRING, .offset = CLI_FIELD(S, field, const char *)
#define CLI_PATH(S, field) .type = CLI_TYPE_PATH, .offset = CLI_FIELD(S, field, const char *)
#define CLI_RUN(S, field) .type = CLI_TYPE_RUN, .offset = CLI_FIELD(S, field, const char *)
#define CLI_INT(S, field) .type = CLI_TYPE_INT, .offset = CLI_FIELD(S, field, int64_t)
#define CLI_SIZE(S, field) .type = CLI_TYPE_SIZE, .offset = CLI_FIELD(S, field, uint64_t)
#define CLI_SECONDS(S, field) .type = CLI_TYPE_SECONDS, .offset = CLI_FIELD(S, field, int64_t)
#define CLI_DURATION(S, field) .type = CLI_TYPE_DURATION, .offset = CLI_FIELD(S, field, int64_t)
#define CLI_CHOICE(S, field) .type = CLI_TYPE_CHOICE, .offset = CLI_FIELD(S, field, int)
#define CLI_STRINGS(S, field) .type = CLI_TYPE_STRINGS, .offset = CLI_FIELD(S, field, struct cli_list)
#define CLI_WORDS(S, field) .type = CLI_TYPE_WORDS, .offset = CLI_FIELD(S, field, struct cli_list)
#define CLI_PATHS(S, field) .type = CLI_TYPE_PATHS, .offset = CLI_FIELD(S, field, struct cli_list)
#define CLI_SETTER(function) .type = CLI_TYPE_SETTER, .set = function
#define CLI_OPTIONS_END { .long_name = NULL }

/* What the words that are no options are; name NULL: there are none. They go to ctx->args. */
struct cli_positional {
	const char *name;   /* "RUN" */
	size_t min, max;    /* how many */
	enum cli_type type; /* STRING, PATH, RUN or CHOICE: what completion offers and the parser checks */
	const char *const *choices;
	const char *help; /* one sentence */
};

struct cli_example {
	const char *command; /* a whole line, "sonde info" */
	const char *what;    /* one sentence */
};

struct cli_exit_code {
	const char *code; /* "125", "128+N" */
	const char *what;
};

enum cli_flags {
	/* Takes `-- PROGRAM [ARGUMENT...]`, in ctx->program. Where the command has no positionals the first word that
	 * is no option starts it too. */
	CLI_TAKES_PROGRAM = 1 << 0,
	CLI_NEEDS_PROGRAM = 1 << 1, /* and does nothing without */
};

struct cli_command {
	const char *name;  /* summary, group and program are in commands.def */
	const char *usage; /* what follows the name: "[-o DIR] [--probes LIST] -- PROGRAM [ARGUMENT...]" */
	struct cli_positional positional;
	const struct cli_option *options;       /* ends with CLI_OPTIONS_END; --help is everybody's; NULL: none */
	size_t options_size;                    /* sizeof the struct the rows point into */
	const struct cli_example *examples;     /* end with { NULL }; NULL: none */
	const struct cli_exit_code *exit_codes; /* all of them, end with { NULL }; NULL: 0, 1 and 2 as everywhere */
	unsigned flags;
	int fail_code; /* exit code when run returns an error; 0: CLI_EXIT_FAILED */
	/* 0, and the exit code is ctx->exit_code; or a negative errno with ctx->err filled. */
	int (*run)(struct cli_context *ctx);
};

struct cli_context {
	const struct cli_command *command;
	void *options; /* the command's options struct, filled */
	char **args;   /* positionals, arg_count of them, then a NULL */
	size_t arg_count;
	char **words;        /* all as they were typed, the command's name first */
	char **program;      /* after `--`: ready for execvp; NULL when not given */
	struct arena *arena; /* lives until run has returned */
	struct sonde_err *err;
	int exit_code; /* what the process returns; run may set it, with or without an error */
};

/* In run: these options do not go together. Exit 2, with "sonde <command>: " before the sentence. */
int cli_usage(struct cli_context *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* argv[0] is the command's name, as the front program passes it. Fills a zeroed ctx whose err and arena are set.
 * Returns 0, or -EINVAL with ctx->err and ctx->exit_code, or CLI_HELP_ASKED: the caller prints the help. */
#define CLI_HELP_ASKED 1
int cli_parse(struct cli_context *ctx, const struct cli_command *command, char **argv);

/* One value as an option row would take it; also for config files and environment variables. */
int cli_parse_size(const char *text, uint64_t *bytes, struct sonde_err *err);
int cli_parse_duration(const char *text, int64_t *ns, struct sonde_err *err);

/* The whole main of a program: argv is "sonde-look", "info", ... Returns the exit code. */
int cli_main(int argc, char **argv, const struct cli_command *const commands[]);

/* Parse and run one command whose name is argv[0]; what cli_main and the front program end in. */
int cli_run(const struct cli_command *command, char **argv);

/* "prefix: text" and "hint: ..." on stderr; for mains. */
void cli_print_error(const char *prefix, const struct sonde_err *err);

#endif
