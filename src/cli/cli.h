/*
 * cli: a command is one file `cmd-<name>.c` with one table, `const struct cli_command cmd_<name>`, and one row in
 * commands.def.
 *
 * The option rows of the table are the only description of an option: the parser, --help, the man page and the shell
 * completions are generated from them. The parser writes each value into the field of the command's options struct
 * that the row names; defaults are parsed from the row's default text in the same way. So a command gets a complete
 * struct and parses nothing itself.
 *
 * Syntax: exact long names only (no prefixes), `--name=value` or `--name value`, short clusters (`-jn5`), options
 * before, between and after arguments; `--` ends the options. Every usage error exits with 2 and explains what is
 * allowed.
 *
 * A command contains no logic that needs unit tests: it turns options into a call and the result into lines. It
 * writes data to stdout (stdio; cli_main checks for write errors) and messages with cli_message(). On failure it fills
 * ctx->err and returns -errno, and cli_main prints `sonde: text` and `hint: text`.
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

/* Several values of one option. The strings live until the process exits. */
struct cli_list {
	const char **items; /* count entries, then NULL; NULL if count is 0 */
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
	CLI_TYPE_DURATION, /* int64_t: nanoseconds; "10s", "5ms", "250us", "1.5m"; a unit is required except for 0 */
	CLI_TYPE_SECONDS,  /* the same, but a number without a unit is seconds: for run times */
	CLI_TYPE_CHOICE,   /* int: index of the word in .choices */
	CLI_TYPE_STRINGS,  /* struct cli_list: one value per occurrence, repeatable */
	CLI_TYPE_WORDS,    /* struct cli_list: comma-separated, repeatable; each must be one of .choices, if set */
	CLI_TYPE_PATHS,    /* struct cli_list: colon-separated paths, repeatable */
	CLI_TYPE_SETTER,   /* parsed by .set */
};

struct cli_option {
	char short_name;       /* 0: none */
	const char *long_name; /* without dashes */
	const char *metavar;   /* "DIR"; NULL for flags only; a choice shows its words instead; "[=DIR]": optional */
	enum cli_type type;    /* set type and offset by CLI_FLAG(...) and the other macros below */
	size_t offset;
	int (*set)(const struct cli_option *option, const char *value, void *options, struct sonde_err *err);
	const char *help;           /* one sentence, with capital letter and full stop */
	const char *default_text;   /* parsed as if typed, shown in the help; NULL: the field stays zero */
	const char *default_words;  /* shown instead of default_text if the default is computed ("half the CPUs") */
	const char *const *choices; /* NULL-terminated */
	int64_t min, max;           /* for numbers, sizes and durations; both 0: the limits of the type, not negative */
	const char *group;          /* heading in the help, NULL: "Options"; rows of a group must be contiguous */
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
/* clang-format off */
#define CLI_OPTIONS_END { .long_name = NULL }
/* clang-format on */

/* Describes the non-option arguments; name NULL: none. They are stored in ctx->args. */
struct cli_positional {
	const char *name;   /* "RUN" */
	size_t min, max;    /* number of arguments */
	enum cli_type type; /* STRING, PATH, RUN or CHOICE: used by completion and the parser */
	const char *const *choices;
	const char *help; /* one sentence */
};

struct cli_example {
	const char *command; /* a full command line, "sonde info" */
	const char *what;    /* one sentence */
};

struct cli_exit_code {
	const char *code; /* "125", "128+N" */
	const char *what;
};

enum cli_flags {
	/* Takes `-- PROGRAM [ARGUMENT...]`, in ctx->program. If the command has no positionals, the first non-option
	 * word starts it too. */
	CLI_TAKES_PROGRAM = 1 << 0,
	CLI_NEEDS_PROGRAM = 1 << 1, /* fails without a program */
};

struct cli_command {
	const char *name;  /* summary, group and program are in commands.def */
	const char *usage; /* after the name: "[-o DIR] [--probes LIST] -- PROGRAM [ARGUMENT...]" */
	struct cli_positional positional;
	const struct cli_option *options;       /* ends with CLI_OPTIONS_END; every command has --help; NULL: none */
	size_t options_size;                    /* sizeof the options struct */
	const struct cli_example *examples;     /* end with { NULL }; NULL: none */
	const struct cli_exit_code *exit_codes; /* complete list, ends with { NULL }; NULL: the default 0, 1 and 2 */
	unsigned flags;
	int fail_code; /* exit code when run returns an error; 0: CLI_EXIT_FAILED */
	/* Returns 0, with the exit code in ctx->exit_code; or -errno with ctx->err filled. */
	int (*run)(struct cli_context *ctx);
};

struct cli_context {
	const struct cli_command *command;
	void *options; /* the command's options struct, filled */
	char **args;   /* arg_count positionals, then NULL */
	size_t arg_count;
	char **words;        /* the command line as typed, the command's name first */
	char **program;      /* after `--`: ready for execvp; NULL if not given */
	struct arena *arena; /* freed after run has returned */
	struct sonde_err *err;
	int exit_code; /* exit code of the process; run may set it, with or without an error */
};

/* For run: reports a usage error such as conflicting options. Exit 2, with "sonde <command>: " before the sentence. */
int cli_usage(struct cli_context *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* argv[0] is the command's name, as passed by the front program. Fills a zeroed ctx that has err and arena set.
 * Returns 0, -EINVAL with ctx->err and ctx->exit_code, or CLI_HELP_ASKED: the caller prints the help. */
#define CLI_HELP_ASKED 1
int cli_parse(struct cli_context *ctx, const struct cli_command *command, char **argv);

/* Parses the text of an option into the field of its row. On failure the field is unchanged. */
int value_set(const struct cli_option *option, const char *text, void *options, struct arena *arena,
		struct sonde_err *err);
/* Returns the index of text in choices, or -EINVAL with the list and, for a typo, the nearest one as hint. */
int value_choice(const char *const *choices, const char *text, size_t len, struct sonde_err *err);

/* The path of sonde on another host: --remote, or the same path as here if that is NULL. Allocated in the arena. */
int cli_remote_path(struct cli_context *ctx, const char *remote, const char **path);

/* The main function of a program: argv is "sonde-look", "info", ... Returns the exit code. */
int cli_main(int argc, char **argv, const struct cli_command *const commands[]);

/* Parses and runs the command named by argv[0]; used by cli_main and the front program. */
int cli_run(const struct cli_command *command, char **argv);

/* dispatch.c: runs the command argv[0], of another program under libexec/sonde or of bin/sonde itself. Returns an exit
 * code; on failure err is filled. Does not return if another program was executed. */
int front_dispatch(char **argv, struct sonde_err *err);
/* Prints the list of commands, for `sonde` without arguments. */
void front_print_overview(void);

/* Prints a line "prefix: text" to stderr, or "text" if prefix is NULL. It may contain untrusted names: control
 * characters are replaced. */
void cli_message(const char *prefix, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error and its hint: "prefix: text", "hint: ...". */
void cli_print_error(const char *prefix, const struct sonde_err *err);

#endif
