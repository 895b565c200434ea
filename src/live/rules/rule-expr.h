/*
 * rule-expr: the expressions of rules: config/expr.h over series of samples.
 *
 *	rate(sonde_steps_total{app="detector"}[5s]) < 30 and not stale(sonde_steps_total, 3s)
 *
 * A text is compiled once, with all names, types and arguments checked, and evaluated at any time against a history
 * of samples. Logic is three-valued: a value that was not measured is unknown, never zero and never false. A
 * selector is `name{label="text",...}`, also with != ; with a [window] it selects the samples of that time. Types:
 * number (a duration is a number of seconds), truth, text, series, window.
 */
#ifndef SONDE_LIVE_RULES_RULE_EXPR_H
#define SONDE_LIVE_RULES_RULE_EXPR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "config/cron.h"
#include "config/expr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The newest samples of the series that rules use.
 *
 * Only series registered by memory_watch are kept, for the registered duration, up to MEMORY_SAMPLES_MAX per series
 * and MEMORY_SERIES_MAX series; dropped ones are counted. The caller supplies the time: real, recorded or simulated,
 * in nondecreasing nanoseconds.
 */

#define MEMORY_SAMPLES_MAX 4096
#define MEMORY_SERIES_MAX 4096
#define MEMORY_LABELS_MAX 8

struct memory_label {
	const char *key, *value;
};

struct memory_sample {
	int64_t ns;
	double value;
};

struct memory_series {
	char *name;
	struct memory_label labels[MEMORY_LABELS_MAX];
	size_t label_count;
	int64_t first_ns;
	/* private: a ring of samples, oldest first */
	struct memory_sample *samples;
	size_t count, start, cap;
	int64_t keep_ns;
};

struct memory {
	struct memory_series *series;
	size_t series_count;
	uint64_t dropped;
	/* private */
	struct map watched; /* name -> duration */
	struct map index;
	size_t series_cap;
};

#define MEMORY_INIT { .watched = MAP_INIT, .index = MAP_INIT }

void memory_release(struct memory *m);
int memory_watch(struct memory *m, const char *name, int64_t keep_ns);
bool memory_wants(const struct memory *m, const char *name);
/* A value that is not finite is ignored. */
int memory_add(struct memory *m, const char *name, const struct memory_label *labels, size_t label_count, int64_t ns,
		double value);
/* Sample i, oldest first. */
static inline const struct memory_sample *memory_sample(const struct memory_series *s, size_t i)
{
	return &s->samples[(s->start + i) & (s->cap - 1)]; /* a power of two */
}
const char *memory_label(const struct memory_series *s, const char *key); /* "" if it has none */

#define EXPR_WINDOW_NS_MAX 3600000000000 /* one hour */

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
int rule_expr_compile(struct expr **out, const char *text, enum expr_type wanted, struct arena *arena,
		struct sonde_err *err);
struct expr_value rule_expr_eval(const struct expr *e, const struct memory *m, const struct expr_now *now);
/* Registers the names and durations that the memory must keep for the expression. */
int rule_expr_watch(const struct expr *e, struct memory *m);
/* Prints the expression with the value of each part, one per line, indented. */
void rule_expr_explain(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now);
/* The same in one line, only with measured parts: "rate(...) = 15.2". */
void rule_expr_why(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now);

/* Private: between the compiler (rule-expr.c) and the evaluation (rule-functions.c). */

/* Detail of a name. */
struct rule_selector {
	struct {
		const char *key, *value;
		bool is_not;
	} labels[MEMORY_LABELS_MAX];
	size_t label_count;
	int64_t window_ns; /* 0: the newest sample */
};

/* Detail of a call. */
struct rule_call {
	const struct rule_function *function;
	struct cron cron; /* of cron(...), parsed at compile time */
};

struct rule_context {
	const struct memory *memory;
	const struct expr_now *now;
};

enum rule_measure { MEASURE_NONE, MEASURE_SUM, MEASURE_AVG, MEASURE_MIN, MEASURE_MAX, MEASURE_COUNT };

/* A function; rows with the same name are overloads. */
struct rule_function {
	const char *name;
	enum expr_type result;
	size_t arg_count;
	enum expr_type args[EXPR_ARGS_MAX];
	struct expr_value (*eval)(const struct expr *e, const struct rule_context *x);
	enum rule_measure measure;
	const char *help;
};

extern const struct rule_function rule_functions[]; /* ends with name NULL */

#endif
