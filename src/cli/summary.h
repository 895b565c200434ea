/*
 * summary: a result of analyze/ on paper: what `sonde summary` and `sonde merge` print.
 */
#ifndef SONDE_CLI_SUMMARY_H
#define SONDE_CLI_SUMMARY_H

#include "analyze/analyze.h"
#include "cli/cli.h"
#include "cli/term.h"

#define SUMMARY_ROWS_TEXT 5
#define SUMMARY_ROWS_JSON 100

/* Rows of a list: what the user said, or what fits the form. top 0: not said. */
size_t summary_top(int64_t top, bool is_json);
/* For people: one screen. */
int summary_write_text(const struct analyze_result *r, struct buf *out, const struct term *term);
int summary_write_json(const struct analyze_result *r, struct buf *out);
/* Finish and print either to stdout. */
int summary_print(struct cli_context *ctx, struct analyze *a, bool is_json);

#endif
