/* What compiling, evaluating and explaining an expression share. */
#ifndef SONDE_RULES_EXPR_PRIVATE_H
#define SONDE_RULES_EXPR_PRIVATE_H

#include "rules/cron.h"
#include "rules/expr.h"

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
	struct cron cron; /* of cron(...), made when it was compiled */
};

struct expr_eval {
	const struct memory *memory;
	const struct expr_now *now;
};

typedef struct expr_value expr_evaluator(const struct expr *e, const struct expr_eval *x);

/* A function or operator; several rows of one name differ by their arguments. */
struct expr_function {
	const char *name;
	enum expr_type result;
	size_t arg_count;
	enum expr_type args[EXPR_ARGS_MAX];
	expr_evaluator *eval;
	int precedence; /* of an operator, 0: a function */
	const char *help;
};

extern const struct expr_function expr_functions[]; /* ends with name NULL */

struct expr_value expr_known(double number);
struct expr_value expr_unknown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct expr_value expr_part(const struct expr *e, const struct expr_eval *x);
/* Does the series belong to the selector, and has it told anything lately? */
bool expr_selects(const struct expr *e, const struct memory_series *s);

#endif
