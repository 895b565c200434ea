/*
 * expr: the conditions of rules: a small typed language over series of samples.
 *
 *	rate(sonde_steps_total{app="detector"}[5s]) < 30 and not stale(sonde_steps_total, 3s)
 *
 * A text is compiled once, with all names, types and arguments checked, and evaluated at any time against a history
 * of samples. Logic is three-valued: a value that was not measured is unknown, never zero and never false. A
 * selector is `name{label="text",...}`, also with != ; with a [window] it selects the samples of that time. Types:
 * number, truth, text, duration (a number of seconds), series, window.
 */
#ifndef SONDE_LIVE_RULES_EXPR_H
#define SONDE_LIVE_RULES_EXPR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "live/rules/sample-history.h"

#include <stdbool.h>
#include <stdint.h>

#define EXPR_DEPTH_MAX 64
#define EXPR_WINDOW_NS_MAX 3600000000000 /* one hour */

enum expr_type { EXPR_NUMBER, EXPR_TRUTH, EXPR_TEXT, EXPR_SERIES, EXPR_WINDOW, EXPR_TYPES };

struct expr;

struct expr_value {
	bool is_known;
	double number; /* a truth is 0 or 1 */
	char why[160]; /* reason, if unknown */
};

/* The time of an evaluation. */
struct expr_now {
	int64_t mono_ns, real_ns;
	int64_t stale_ns; /* older samples are unknown to a selector without a window */
	bool is_utc;      /* cron() uses UTC, not local time */
};

/* Compiles a text of the wanted type; the result lives in the arena. -EINVAL with the column and what was expected. */
int expr_compile(struct expr **out, const char *text, enum expr_type wanted, struct arena *arena,
		struct sonde_err *err);
struct expr_value expr_eval(const struct expr *e, const struct memory *m, const struct expr_now *now);
/* Registers the names and durations that the memory must keep for the expression. */
int expr_watch(const struct expr *e, struct memory *m);
/* Prints the expression with the value of each part, one per line, indented. */
void expr_explain(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now);
/* The same in one line, only with measured parts: "rate(...) = 15.2". */
void expr_why(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now);
const char *expr_type_word(enum expr_type type);

#endif
