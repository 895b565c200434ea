/* expression-private: the syntax tree of a constraint, built by expression.c and evaluated by expression-value.c. */
#ifndef SONDE_TUNE_EXPRESSION_PRIVATE_H
#define SONDE_TUNE_EXPRESSION_PRIVATE_H

#include "tune/expression.h"

enum op { OR, AND, NOT, LE, GE, EQ, NE, LT, GT, ADD, SUB, MUL, DIV, NEGATE, NUMBER, PARAM, WORD };

struct node {
	enum op op;
	double number;    /* NUMBER */
	size_t param;     /* PARAM */
	const char *word; /* WORD: a choice, until it is resolved with its parameter */
	struct node *a, *b;
};

struct tune_expression {
	const char *text;
	struct node *root;
};

/* Are the parameter's values numbers? A choice counts as its index, unless all choices are numbers in order. */
bool expression_is_numeric(const struct tune_param *p);

#endif
