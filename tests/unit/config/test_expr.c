/* expr: precedence, spellings, nesting, texts and errors, with a language of numbers, letters and quoted words. */
#include "../support.h"

#include "config/expr.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena = ARENA_INIT;

static int operand(struct expr_parser *p, struct expr **out)
{
	size_t n = expr_name_length(p);
	struct expr *e = expr_new(p, n ? EXPR_NAME : EXPR_CONSTANT, EXPR_NUMBER);
	const char *from = p->at;
	char *end;

	*out = e;
	if (n) {
		e->name = arena_copy(p->arena, p->at, n);
		p->at += n;
	} else if (*p->at == '\'' || *p->at == '"') {
		e->kind = EXPR_STRING;
		if (expr_parse_quoted(p, &e->name) < 0)
			return -EINVAL;
	} else if (isdigit((unsigned char)*p->at)) {
		e->number = strtod(p->at, &end);
		p->at = end;
	} else {
		return expr_error(p, "no operand");
	}
	return expr_set_text(p, e, from);
}

static int check(struct expr_parser *p, struct expr *e)
{
	for (size_t i = 0; i < e->arg_count; i++)
		if (e->args[i]->kind == EXPR_STRING)
			return expr_error(p, "a word in %s", e->name);
	e->type = e->op <= EXPR_UNEQUAL ? EXPR_TRUTH : EXPR_NUMBER;
	return 0;
}

static int parse(const char *text, struct expr **e, struct sonde_err *err)
{
	static const struct expr_language language = { "_.", "_", operand, check };
	struct expr_parser p = { .language = &language, .text = text, .arena = &arena, .err = err };

	return expr_parse(&p, e);
}

/* "(+ 1 (* 2 3))" */
static size_t show(const struct expr *e, char *out, size_t n)
{
	size_t used;

	if (e->kind != EXPR_OPERATOR)
		return (size_t)snprintf(out, n, "%s", e->text);
	used = (size_t)snprintf(out, n, "(%s", e->name);
	for (size_t i = 0; i < e->arg_count; i++) {
		used += (size_t)snprintf(out + used, n - used, " ");
		used += show(e->args[i], out + used, n - used);
	}
	return used + (size_t)snprintf(out + used, n - used, ")");
}

static void assert_tree(const char *text, const char *want)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char have[1024];
	struct expr *e = NULL;

	if (parse(text, &e, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	show(e, have, sizeof(have));
	if (strcmp(have, want) != 0)
		fail_msg("%s is %s, not %s", text, have, want);
}

static void assert_refused(const char *text, const char *error)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct expr *e = NULL;

	assert_int_equal(parse(text, &e, &err), -EINVAL);
	assert_string_equal(err.text, error);
}

static void test_precedence(void **state)
{
	assert_tree("1", "1");
	assert_tree("1 + 2 * 3", "(+ 1 (* 2 3))");
	assert_tree("1 * 2 + 3", "(+ (* 1 2) 3)");
	assert_tree("1 - 2 - 3", "(- (- 1 2) 3)");
	assert_tree("1 / 2 % 3 * 4", "(* (% (/ 1 2) 3) 4)");
	assert_tree("a or b and c", "(or a (and b c))");
	assert_tree("a and b or c", "(or (and a b) c)");
	assert_tree("a || b && c", "(|| a (&& b c))");
	assert_tree("not a and b", "(and (not a) b)");
	assert_tree("not a < 1 + 2", "(not (< a (+ 1 2)))");
	assert_tree("!a == b", "(! (== a b))");
	assert_tree("a and not b or ! c", "(or (and a (not b)) (! c))");
	assert_tree("- a * b", "(* (- a) b)");
	assert_tree("a - -b", "(- a (- b))");
	assert_tree("--a", "(- (- a))");
	assert_tree("(1 + 2) * 3", "(* (+ 1 2) 3)");
	assert_tree("((a))", "a");
	assert_tree("(a < b) == (c > d)", "(== (< a b) (> c d))");
}

static void test_spellings(void **state)
{
	static const struct {
		const char *text, *tree;
		enum expr_op op;
	} ops[] = {
		{ "1<2", "(< 1 2)", EXPR_LESS },
		{ "1<=2", "(<= 1 2)", EXPR_LESS_EQUAL },
		{ "1>2", "(> 1 2)", EXPR_GREATER },
		{ "1>=2", "(>= 1 2)", EXPR_GREATER_EQUAL },
		{ "1==2", "(== 1 2)", EXPR_EQUAL },
		{ "1=2", "(= 1 2)", EXPR_EQUAL },
		{ "1!=2", "(!= 1 2)", EXPR_UNEQUAL },
		{ "1||2", "(|| 1 2)", EXPR_OR },
		{ "1or 2", "(or 1 2)", EXPR_OR },
		{ "1&&2", "(&& 1 2)", EXPR_AND },
		{ "1and 2", "(and 1 2)", EXPR_AND },
		{ "!1", "(! 1)", EXPR_NOT },
		{ "not 1", "(not 1)", EXPR_NOT },
		{ "1+2", "(+ 1 2)", EXPR_ADD },
		{ "1-2", "(- 1 2)", EXPR_SUBTRACT },
		{ "1*2", "(* 1 2)", EXPR_MULTIPLY },
		{ "1/2", "(/ 1 2)", EXPR_DIVIDE },
		{ "1%2", "(% 1 2)", EXPR_REMAINDER },
		{ "-1", "(- 1)", EXPR_NEGATE },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct expr *e = NULL;

		assert_tree(ops[i].text, ops[i].tree);
		assert_int_equal(parse(ops[i].text, &e, NULL), 0);
		assert_int_equal(e->op, ops[i].op);
		assert_int_equal(e->type, ops[i].op <= EXPR_UNEQUAL ? EXPR_TRUTH : EXPR_NUMBER);
		assert_int_equal(expr_is_comparison(e->op), ops[i].op >= EXPR_LESS && ops[i].op <= EXPR_UNEQUAL);
	}
	/* Keywords are whole words, and are names where an operator cannot stand. */
	assert_tree("order or android", "(or order android)");
	assert_tree("not_a", "not_a");
	assert_tree("or", "or");
	assert_tree("1 == not", "(== 1 not)");
}

static void test_texts(void **state)
{
	struct expr *e = NULL;

	assert_int_equal(parse("  ( a.b_1 +  2 ) * -c  ", &e, NULL), 0);
	assert_string_equal(e->text, "( a.b_1 +  2 ) * -c");
	assert_string_equal(e->args[0]->text, "a.b_1 +  2");
	assert_string_equal(e->args[0]->args[0]->text, "a.b_1");
	assert_string_equal(e->args[1]->text, "-c");
	assert_int_equal(e->arg_count, 2);
	assert_int_equal(e->args[1]->arg_count, 1);
	assert_int_equal(parse("'it is \"so\"'", &e, NULL), 0);
	assert_string_equal(e->name, "it is \"so\"");
	assert_int_equal(parse("\"\"", &e, NULL), 0);
	assert_string_equal(e->name, "");
}

static void test_errors(void **state)
{
	assert_refused("", "column 1: no operand");
	assert_refused("1 +", "column 4: no operand");
	assert_refused("1 + )", "column 5: no operand");
	assert_refused("(1", "column 3: missing ')'");
	assert_refused("1)", "column 2: expected an operator, not ')'");
	assert_refused("1 2", "column 3: expected an operator, not '2'");
	assert_refused("1 & 2", "column 3: expected an operator, not '&'");
	assert_refused("a < b < c", "column 7: comparisons cannot be chained (use 'and')");
	assert_refused("a == b != c", "column 8: comparisons cannot be chained (use 'and')");
	assert_refused("not a >= b = c", "column 12: comparisons cannot be chained (use 'and')");
	assert_refused("!= 1", "column 1: no operand");
	assert_refused("1 + not a", "column 9: expected an operator, not 'a'");
	assert_refused("1 + 'a'", "column 8: a word in +");
	assert_refused("- 'a'", "column 6: a word in -");
	assert_refused("1 < 'a", "column 5: missing closing quote");
	assert_refused("1 < 'a\"", "column 5: missing closing quote");
}

static void test_depth(void **state)
{
	char text[512];

	/* The whole is one level. */
	snprintf(text, sizeof(text), "%.*s1%.*s", 63,
			"(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", 63,
			")))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))");
	assert_tree(text, "1");
	assert_refused("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
			"column 65: nested too deeply (maximum 64)");
	assert_refused("----------------------------------------------------------------1",
			"column 65: nested too deeply (maximum 64)");
	/* What is beside another does not nest. */
	text[0] = '\0';
	for (int i = 0; i < 80; i++)
		strcat(text, "(1)+");
	strcat(text, "1");
	assert_int_equal(parse(text, &(struct expr *){ NULL }, NULL), 0);
}

static void test_compute(void **state)
{
	static const double truths[][8] = { /* a, b, <, <=, >, >=, ==, != */
		{ 1, 2, 1, 1, 0, 0, 0, 1 }, { 2, 2, 0, 1, 0, 1, 1, 0 }, { 3, 2, 0, 0, 1, 1, 0, 1 }
	};

	for (size_t i = 0; i < 3; i++)
		for (enum expr_op op = EXPR_LESS; op <= EXPR_UNEQUAL; op++)
			assert_true(expr_compute(op, truths[i][0], truths[i][1]) == truths[i][2 + op - EXPR_LESS]);
	assert_true(expr_compute(EXPR_OR, 0, 0) == 0 && expr_compute(EXPR_OR, 2, 0) == 1);
	assert_true(expr_compute(EXPR_OR, 0, 2) == 1 && expr_compute(EXPR_OR, 3, 2) == 1);
	assert_true(expr_compute(EXPR_AND, 0, 0) == 0 && expr_compute(EXPR_AND, 2, 0) == 0);
	assert_true(expr_compute(EXPR_AND, 0, 2) == 0 && expr_compute(EXPR_AND, 3, 2) == 1);
	assert_true(expr_compute(EXPR_NOT, 0, 1) == 1 && expr_compute(EXPR_NOT, 2, 0) == 0);
	assert_true(expr_compute(EXPR_ADD, 7, 3) == 10 && expr_compute(EXPR_SUBTRACT, 7, 3) == 4);
	assert_true(expr_compute(EXPR_MULTIPLY, 7, 3) == 21 && expr_compute(EXPR_DIVIDE, 7, 2) == 3.5);
	assert_true(expr_compute(EXPR_REMAINDER, 7, 4) == 3 && expr_compute(EXPR_NEGATE, 7, 3) == -7);
}

static void test_memory(void **state)
{
	struct arena small = ARENA_INIT;
	static const struct expr_language language = { "_.", "_", operand, check };
	struct sonde_err err = SONDE_ERR_INIT;
	struct expr_parser p = { .language = &language, .text = "- a", .arena = &small, .err = &err };
	struct expr *e = NULL;

	/* Fails at the operator's node: operands are the language's. */
	alloc_fail_after(0);
	assert_int_equal(expr_parse(&p, &e), -ENOMEM);
	alloc_fail_never();
	assert_non_null(strstr(err.text, "cannot parse the expression"));
	arena_release(&small);
}

static int tear_down(void **state)
{
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_compute),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
