/*
 * summary: options and output that `sonde summary` and `sonde merge` share.
 *
 * Three forms: one screen with thread time and issues, every section in full, or JSON.
 */
#ifndef SONDE_CLI_SUMMARY_H
#define SONDE_CLI_SUMMARY_H

#include "analyze/analyze.h"
#include "cli/cli.h"

#define SUMMARY_ROWS_TEXT 5
#define SUMMARY_ROWS_JSON 100

struct summary_opts {
	bool is_json;
	bool is_full;
	int64_t top; /* rows per list; 0: not given; else the full form is used */
};

/* Option rows for commands that print summaries; S is the struct of their options, with a member `summary`. */
#define SUMMARY_OPTIONS(S) \
	{ 0, "full", NULL, CLI_FLAG(S, summary.is_full), .help = "Print all sections in full, not one screen." }, \
			{ 'n', "top", "N", CLI_INT(S, summary.top), .min = 1, .max = INT64_MAX, \
				.default_words = "5, 100 with --json", \
				.help = "Maximum number of rows per list; implies --full." }, \
	{ \
		0, "json", NULL, CLI_FLAG(S, summary.is_json), .help = "Print one JSON object." \
	}

/* Rows per list that the passes keep. */
size_t summary_top(const struct summary_opts *o);
/* Finishes the analysis and prints it to stdout. */
int summary_print(struct cli_context *ctx, struct analyze *a, const struct summary_opts *o);

#endif
