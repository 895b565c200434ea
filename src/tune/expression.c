/*
 * A recursive descent parser. The depth is bounded by the length of the text, which is limited. Evaluation is in
 * expression-value.c.
 */
#include "base/shell-words.h"
#include "tune/expression-private.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1000, DEPTH_MAX = 50 };

struct parser {
	const struct tune_space *space;
	const char *text, *at;
	struct arena *arena;
	struct sonde_err *err;
	int depth;
};

static struct node *parse_or(struct parser *p);
static struct node *arithmetic(struct parser *p, enum op op, struct node *a, struct node *b);

static struct node *fail(struct parser *p, const char *what)
{
	err_set(p->err, EINVAL, "the constraint '%s' is not understood at column %d: %s", p->text,
			(int)(p->at - p->text) + 1, what);
	return NULL;
}

static struct node *make(struct parser *p, enum op op, struct node *a, struct node *b)
{
	struct node *n = arena_alloc(p->arena, sizeof(*n));

	if (!n) {
		err_sys(p->err, ENOMEM, "cannot read the constraint '%s'", p->text);
		return NULL;
	}
	n->op = op;
	n->a = a;
	n->b = b;
	return n;
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

/* Consumes `token` if it is next; a token of letters must be a whole word. */
static bool take(struct parser *p, const char *token)
{
	size_t len = strlen(token);

	skip_blanks(p);
	if (strncmp(p->at, token, len) != 0)
		return false;
	if (isalpha((unsigned char)*token) && is_word_char(p->at[len]))
		return false;
	p->at += len;
	return true;
}

static struct node *parse_number(struct parser *p)
{
	char *end;
	struct node *n = make(p, NUMBER, NULL, NULL);

	if (n) {
		n->number = strtod(p->at, &end);
		p->at = end;
	}
	return n;
}

static struct node *parse_quoted(struct parser *p)
{
	char quote = *p->at++;
	const char *end = strchr(p->at, quote);
	struct node *n;

	if (!end)
		return fail(p, "the quote has no end");
	n = make(p, WORD, NULL, NULL);
	if (n)
		n->word = arena_copy(p->arena, p->at, (size_t)(end - p->at));
	p->at = end + 1;
	return n && n->word ? n : NULL;
}

/* A name of letters, digits, _ and .; also - if the result is a known name. */
static struct node *parse_name(struct parser *p)
{
	const char *start = p->at;
	struct node *n = make(p, WORD, NULL, NULL);
	const struct tune_param *param;

	while (is_word_char(*p->at))
		p->at++;
	if (!n || !(n->word = arena_copy(p->arena, start, (size_t)(p->at - start))))
		return NULL;
	param = tune_space_find(p->space, n->word);
	if (param) {
		n->op = PARAM;
		n->param = (size_t)(param - p->space->params);
	}
	return n;
}

static struct node *parse_primary(struct parser *p)
{
	struct node *n;

	skip_blanks(p);
	if (take(p, "(")) {
		n = parse_or(p);
		if (n && !take(p, ")"))
			return fail(p, "a ')' is missing");
		return n;
	}
	if (take(p, "-"))
		return (n = parse_primary(p)) ? arithmetic(p, NEGATE, n, n) : NULL;
	if (*p->at == '\'' || *p->at == '"')
		return parse_quoted(p);
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		return parse_number(p);
	if (isalpha((unsigned char)*p->at) || *p->at == '_')
		return parse_name(p);
	return fail(p, *p->at ? "a number, a parameter or a choice is expected" : "it ends too early");
}

static bool is_numeric(const struct parser *p, const struct node *n)
{
	if (n->op == WORD)
		return false;
	if (n->op != PARAM)
		return true;
	return expression_is_numeric(&p->space->params[n->param]);
}

static struct node *unknown(struct parser *p, const struct node *n)
{
	const char *names[TUNE_PARAMS_MAX + 1], *nearest;

	for (size_t i = 0; i < p->space->count; i++)
		names[i] = p->space->params[i].name;
	names[p->space->count] = NULL;
	nearest = words_nearest(n->word, names);
	err_set(p->err, EINVAL, "the constraint '%s' speaks of '%s', which is no parameter", p->text, n->word);
	if (nearest)
		err_hint(p->err, "did you mean '%s'?", nearest);
	return NULL;
}

static struct node *arithmetic(struct parser *p, enum op op, struct node *a, struct node *b)
{
	if (!b)
		return NULL;
	for (int i = 0; i < 2; i++) {
		struct node *side = i ? b : a;

		if (side->op == WORD)
			return unknown(p, side);
		if (!is_numeric(p, side))
			return fail(p, "there is no arithmetic with choices");
	}
	return make(p, op, a, b);
}

static struct node *parse_product(struct parser *p)
{
	struct node *n = parse_primary(p);

	while (n) {
		if (take(p, "*"))
			n = arithmetic(p, MUL, n, parse_primary(p));
		else if (take(p, "/"))
			n = arithmetic(p, DIV, n, parse_primary(p));
		else
			break;
	}
	return n;
}

static struct node *parse_sum(struct parser *p)
{
	struct node *n = parse_product(p);

	while (n) {
		if (take(p, "+"))
			n = arithmetic(p, ADD, n, parse_product(p));
		else if (take(p, "-"))
			n = arithmetic(p, SUB, n, parse_product(p));
		else
			break;
	}
	return n;
}

/* A word compared with a parameter is one of its choices. */
static struct node *settle_choice(struct parser *p, struct node *word, const struct node *other)
{
	const struct tune_param *q;

	if (other->op != PARAM)
		return unknown(p, word);
	q = &p->space->params[other->param];
	if (q->type < TUNE_ORDINAL)
		return unknown(p, word);
	if (tune_param_parse(q, word->word, &word->number, p->err) < 0) {
		err_prefix(p->err, "the constraint '%s'", p->text);
		return NULL;
	}
	if (is_numeric(p, other))
		word->number = q->choices[(size_t)word->number].number;
	word->op = NUMBER;
	return word;
}

static struct node *compare(struct parser *p, enum op op, struct node *a, struct node *b)
{
	if (!b || (a->op == WORD && !settle_choice(p, a, b)) || (b->op == WORD && !settle_choice(p, b, a)))
		return NULL;
	for (int i = 0; i < 2; i++) {
		struct node *side = i ? b : a;

		if (side->op == PARAM && op != EQ && op != NE && tune_param_is_category(&p->space->params[side->param]))
			return fail(p, "choices of a categorical parameter have no order; make it ordinal");
	}
	return make(p, op, a, b);
}

static struct node *parse_comparison(struct parser *p)
{
	static const struct {
		const char *token;
		enum op op;
	} ops[] = { { "<=", LE }, { ">=", GE }, { "==", EQ }, { "!=", NE }, { "<", LT }, { ">", GT }, { "=", EQ } };
	struct node *n = parse_sum(p);

	for (size_t i = 0; n && i < sizeof(ops) / sizeof(ops[0]); i++)
		if (take(p, ops[i].token))
			return compare(p, ops[i].op, n, parse_sum(p));
	if (n && n->op == WORD)
		return unknown(p, n);
	return n;
}

static struct node *parse_not(struct parser *p)
{
	struct node *n;

	if (++p->depth > DEPTH_MAX)
		return fail(p, "it is nested too deeply");
	if (take(p, "not") || (p->at[0] == '!' && p->at[1] != '=' && take(p, "!")))
		n = (n = parse_not(p)) ? make(p, NOT, n, NULL) : NULL;
	else
		n = parse_comparison(p);
	p->depth--;
	return n;
}

static struct node *parse_and(struct parser *p)
{
	struct node *n = parse_not(p), *b;

	while (n && (take(p, "and") || take(p, "&&")))
		n = (b = parse_not(p)) ? make(p, AND, n, b) : NULL;
	return n;
}

static struct node *parse_or(struct parser *p)
{
	struct node *n = parse_and(p), *b;

	while (n && (take(p, "or") || take(p, "||")))
		n = (b = parse_and(p)) ? make(p, OR, n, b) : NULL;
	return n;
}

int tune_expression_parse(const struct tune_expression **out, const struct tune_space *space, const char *text,
		struct arena *arena, struct sonde_err *err)
{
	struct sonde_err ignored;
	struct parser p = { .space = space, .text = text, .at = text, .arena = arena, .err = err ? err : &ignored };
	struct tune_expression *e = arena_alloc(arena, sizeof(*e));

	if (!e)
		return err_sys(err, ENOMEM, "cannot read the constraint");
	if (strlen(text) > TEXT_MAX)
		return err_set(err, EINVAL, "a constraint is longer than %d characters", TEXT_MAX);
	e->text = text;
	e->root = parse_or(&p);
	if (!e->root)
		return -EINVAL;
	skip_blanks(&p);
	if (*p.at) {
		fail(&p, "nothing more was expected");
		return -EINVAL;
	}
	*out = e;
	return 0;
}

const char *tune_expression_text(const struct tune_expression *e)
{
	return e->text;
}
