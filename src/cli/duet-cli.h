/*
 * duet-cli: shared by the files of `sonde duet`: options, actions selected by the first word, interruption and text
 * output.
 */
#ifndef SONDE_CLI_DUET_CLI_H
#define SONDE_CLI_DUET_CLI_H

#include "cli/isolation-options.h"
#include "duet/duet-report.h"
#include "result/term.h"

#define DUET_SHELL "/bin/sh" /* of hooks, and of --shell without a value */

enum { DUET_CONFIRM_SESSIONS = 3 };

enum duet_cli_exit { DUET_EXIT_INCONCLUSIVE = 4 };

struct duet_options {
	/* what to compare */
	const char *commands[DUET_SIDES];
	const char *shell; /* command line of the shell for the commands; NULL: none */
	const char *input;
	struct cli_list setup, prepare, conclude, cleanup; /* one for all commands, or one for each */
	int64_t warmup, sessions;
	bool is_confirmed;
	/* how */
	int design; /* 0: auto, else 1 + enum duet_design */
	int metric;
	const char *counter; /* counter that is the metric, with its prefix */
	int better;
	double margin, level;
	int interval;
	int64_t budget_ns, timeout_ns;
	int64_t seed; /* -1: random */
	int64_t pairs, runs;
	int pin, priority;
	bool has_no_self_check, is_lenient, has_output;
	struct isolation_options place;
	struct cli_list fail_on;
	/* output */
	const char *json, *csv, *markdown, *html; /* file; "": standard output; NULL: not wanted */
	const char *exports[DUET_EXPORTS];
	bool has_samples;
	const char *outdir;
	bool is_forced, is_resumed, is_verbose;
	/* suites and results */
	const char *docker, *config, *regex;
	struct cli_list filter;
	int64_t unit_ns;
	/* iterations, revisions, history, explanation */
	int iterations;
	const char *step, *git, *history, *label;
	bool is_explained;
};

/* Actions: "sonde duet WORD ..."; without a word it compares or runs suites. */
int duet_run_compare(struct cli_context *ctx);
int duet_run_suites(struct cli_context *ctx);
int duet_run_process(struct cli_context *ctx);
int duet_run_overlaps(struct cli_context *ctx);
int duet_run_report(struct cli_context *ctx);
int duet_run_history(struct cli_context *ctx);
int duet_run_runs(struct cli_context *ctx);
int duet_run_images(struct cli_context *ctx);
int duet_run_preset(struct cli_context *ctx);

/* A command against each of several others; or a comparison repeated in several sessions. */
struct duet_several {
	bool is_ranking;
	struct duet_entry *entries;
	size_t count, now; /* comparisons, and the current one */
	struct duet_setup setup;
	struct duet_interference interference;
};

/* One comparison; if it is one of several, its result is kept there and not printed. */
int duet_run_session(struct cli_context *ctx, struct duet_several *several);
int duet_run_ranking(struct cli_context *ctx);
int duet_run_sessions(struct cli_context *ctx);
uint64_t duet_fresh_seed(void);
/* Describes this machine, from the arena. */
const char *duet_machine_words(struct arena *arena);

/* What an iteration is. */
enum { DUET_OF_COMMANDS, DUET_OF_FD, DUET_OF_STEPS };

/* The name of the counter that is the metric, without the prefix; NULL: another metric. */
const char *duet_counter_of(const struct duet_options *o);
/* Fills the setup from the options. */
int duet_setup_of(struct cli_context *ctx, struct duet_setup *setup);

/* SIGINT, SIGTERM and SIGHUP are written to a pipe; started commands do not inherit that. */
int duet_signals_open(struct sonde_err *err); /* the read end, or -errno */
int duet_signals_caught(void);                /* the first signal, 0: none */
void duet_signals_close(void);

/* Prints the report in the formats of the options. */
int duet_print(struct cli_context *ctx, const struct duet_report *report);
/* Also sets the exit code to the verdict, unless printing failed. */
int duet_print_verdict(struct cli_context *ctx, const struct duet_report *report);
/* A ranking, as text or in the formats of the options. */
int duet_print_ranking(struct cli_context *ctx, struct duet_report *report);
void duet_write_text(struct buf *out, const struct term *term, const struct duet_report *report);
/* The command line that repeats a comparison, in the arena; NULL when out of memory. */
const char *duet_repeat_line(const struct cli_context *ctx, const struct duet_setup *setup,
		const struct duet_result *result);
void duet_write_causes(struct buf *out, const struct term *term, const struct duet_explanation *e);

#endif
