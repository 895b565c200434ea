/* expr-private: shared by the compiler, the evaluator and explain. */
#ifndef SONDE_LIVE_RULES_EXPR_PRIVATE_H
#define SONDE_LIVE_RULES_EXPR_PRIVATE_H

#include "live/rules/cron.h"
#include "live/rules/expr.h"

#define EXPR_ARGS_MAX 3

struct expr_match {
	const char *key, *value;
	bool is_not;
};

struct expr_function;

enum expr_kind { EXPR_CONSTANT, EXPR_STRING, EXPR_SELECTOR, EXPR_CALL, EXPR_OPERATOR };

struct expr {
	enum expr_kind kind;
	enum expr_type type;
	const char *text; /* as it was written */
	double number;    /* CONSTANT */
	bool is_duration;
	/* SELECTOR; STRING has its text in `name` */
	const char *name;
	struct expr_match matches[MEMORY_LABELS_MAX];
	size_t match_count;
	int64_t window_ns; /* 0: the newest sample */
	/* CALL, OPERATOR */
	const struct expr_function *function;
	struct expr *args[EXPR_ARGS_MAX];
	size_t arg_count;
	struct cron cron; /* of cron(...), parsed at compile time */
};

struct expr_eval {
	const struct memory *memory;
	const struct expr_now *now;
};

typedef struct expr_value expr_evaluator(const struct expr *e, const struct expr_eval *x);

/* A function or operator; rows with the same name are overloads. */
struct expr_function {
	const char *name;
	enum expr_type result;
	size_t arg_count;
	enum expr_type args[EXPR_ARGS_MAX];
	expr_evaluator *eval;
	int precedence; /* of an operator; 0: a function */
	const char *help;
};

extern const struct expr_function expr_functions[]; /* ends with name NULL */
/* Functions of series: rows of the table. */
expr_evaluator expr_eval_selector, expr_eval_window_avg, expr_eval_window_min, expr_eval_window_max,
		expr_eval_window_count, expr_eval_rate, expr_eval_increase, expr_eval_delta, expr_eval_ewma,
		expr_eval_quantile, expr_eval_sum, expr_eval_avg, expr_eval_min, expr_eval_max, expr_eval_count,
		expr_eval_stale, expr_eval_after, expr_eval_present;

/* Parser state. */
struct expr_parser {
	const char *text, *at;
	struct arena *arena;
	struct sonde_err *err;
	int depth;
};

/* Reports a syntax error with its column. Returns -EINVAL. */
int expr_complain(struct expr_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the expression's text: the source from `from` on, without trailing blanks. */
void expr_set_text(struct expr_parser *p, struct expr *e, const char *from);
/* May a value of type `have` be used as `want`? A single series is a number. */
bool expr_fits(enum expr_type want, enum expr_type have);
bool expr_is_function(const char *name, size_t n);
/* Makes the expression a call of the function or operator that matches its arguments. */
int expr_apply(struct expr_parser *p, const char *name, size_t n, int precedence, struct expr *e, const char *from);
/* Reports an unknown function; the hint suggests the nearest name. */
int expr_complain_function(struct expr_parser *p, const char *name, size_t n);

struct expr_value expr_known(double number);
struct expr_value expr_unknown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct expr_value expr_part(const struct expr *e, const struct expr_eval *x);

#endif
