/*
 * expr: the core of the expressions that people write in files: lexer, typed tree and operators.
 *
 *	or ||  <  and &&  <  not !  <  comparisons  <  + -  <  * / %  <  unary -
 *
 * A language adds its operands (names, calls, constants) and the types of its operators; conditions of rules
 * (live/rules/rule-expr.h) and constraints of studies (tune/space.h) are such languages. Comparisons are <, <=, >,
 * >=, ==, = and !=, and do not chain. Errors have the column. Nodes live in the parser's arena; the core does not
 * evaluate, because languages treat unknown values in different ways.
 */
#ifndef SONDE_CONFIG_EXPR_H
#define SONDE_CONFIG_EXPR_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPR_DEPTH_MAX 64 /* of parentheses, calls and prefix operators */
#define EXPR_ARGS_MAX 3

enum expr_type { EXPR_NUMBER, EXPR_TRUTH, EXPR_TEXT, EXPR_SERIES, EXPR_WINDOW, EXPR_TYPES };
enum expr_kind { EXPR_CONSTANT, EXPR_STRING, EXPR_NAME, EXPR_CALL, EXPR_OPERATOR };

enum expr_op {
	EXPR_OR,
	EXPR_AND,
	EXPR_NOT,
	EXPR_LESS,
	EXPR_LESS_EQUAL,
	EXPR_GREATER,
	EXPR_GREATER_EQUAL,
	EXPR_EQUAL,
	EXPR_UNEQUAL,
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_REMAINDER,
	EXPR_NEGATE,
};

struct expr {
	enum expr_kind kind;
	enum expr_type type;
	const char *text; /* source text, without surrounding parentheses */
	double number;    /* CONSTANT */
	const char *name; /* NAME, CALL; content of a STRING; spelling of an OPERATOR */
	enum expr_op op;  /* OPERATOR */
	struct expr *args[EXPR_ARGS_MAX];
	size_t arg_count;
	/* the language's */
	size_t index;
	const void *detail;
};

struct expr_parser {
	const struct expr_language *language;
	const char *text, *at;
	struct arena *arena;
	struct sonde_err *err;
	const void *context; /* the language's */
	int depth;           /* private */
};

struct expr_language {
	const char *name_chars;    /* in names, besides letters and digits */
	const char *keyword_chars; /* a keyword followed by one of these is part of a name */
	/* Parses a constant, name or call at p->at, after blanks. */
	int (*operand)(struct expr_parser *p, struct expr **out);
	/* Checks the types of an operator's operands and sets e->type. */
	int (*check)(struct expr_parser *p, struct expr *e);
};

static inline bool expr_is_comparison(enum expr_op op)
{
	return op >= EXPR_LESS && op <= EXPR_UNEQUAL;
}

/* Parses p->text to its end. 0, -EINVAL or -ENOMEM. */
int expr_parse(struct expr_parser *p, struct expr **out);

/* For languages: parses an expression in parentheses or an argument. */
int expr_parse_nested(struct expr_parser *p, struct expr **out);
/* Sets the error "column N: ..." and returns -EINVAL. */
int expr_error(struct expr_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void expr_skip_blanks(struct expr_parser *p);
/* Skips blanks, then consumes the token if it is next; a token of letters must be a whole word. */
bool expr_accept(struct expr_parser *p, const char *token);
/* Length of the name at p->at; 0: none. */
size_t expr_name_length(const struct expr_parser *p);
/* Parses the text between the quote at p->at and the next one of its kind. */
int expr_parse_quoted(struct expr_parser *p, const char **out);
/* A node of this kind in the arena; NULL with the error set. */
struct expr *expr_new(struct expr_parser *p, enum expr_kind kind, enum expr_type type);
/* Sets the node's text: the source from `from` to p->at, without trailing blanks. */
int expr_set_text(struct expr_parser *p, struct expr *e, const char *from);

/* The operator's value; b is ignored by prefix operators. Truths are 0 and 1. */
double expr_compute(enum expr_op op, double a, double b);

#endif
