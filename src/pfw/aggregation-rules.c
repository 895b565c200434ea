/* Recursive-descent parser and evaluator of the aggregation rules. */
#include "pfw/pfwlog.h"

#include <string.h>

#define DEPTH_MAX 32
#define NONE UINT16_MAX

enum kind { AND, OR, NOT, COMPARE };
enum op { EQUAL, UNEQUAL, LESS, LESS_EQUAL, MORE, MORE_EQUAL, LIKE };
enum field { NAME, CAT, DUR, TS, APP, RANK, ARG };

struct parser {
	struct aggregation_rules *r;
	const char *at;
	unsigned depth;
};

static uint16_t parse_or(struct parser *p);

static uint16_t node_new(struct parser *p, enum kind kind, uint16_t left, uint16_t right)
{
	struct aggregation_rules *r = p->r;
	if (r->node_count == RULES_NODES_MAX || left == NONE || right == NONE)
		return NONE;
	r->nodes[r->node_count] = (struct rule_node){ .kind = (uint8_t)kind, .left = left, .right = right };
	return (uint16_t)r->node_count++;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Not libc's tolower: it reads the thread's locale, and the helper thread has none. */
static int fold(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static int order_folded(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fold(a[i]) != fold(b[i]) || !a[i])
			return fold(a[i]) - fold(b[i]);
	return 0;
}

static void skip_space(struct parser *p)
{
	while (is_space(*p->at))
		p->at++;
}

/* Consumes the word if it is the next token. */
static bool parse_word(struct parser *p, const char *word)
{
	size_t n = strlen(word);
	skip_space(p);
	if (order_folded(p->at, word, n) != 0 || is_word_char(p->at[n]))
		return false;
	p->at += n;
	return true;
}

static bool parse_char(struct parser *p, char c)
{
	skip_space(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static bool parse_number(const char *text, size_t n, int64_t *number)
{
	size_t i = n && text[0] == '-';
	uint64_t v = 0;
	if (i == n)
		return false;
	for (; i < n; i++) {
		if (text[i] < '0' || text[i] > '9' || v > INT64_MAX / 10 - 1)
			return false;
		v = v * 10 + (uint64_t)(text[i] - '0');
	}
	*number = text[0] == '-' ? -(int64_t)v : (int64_t)v;
	return true;
}

/* Parses a value into the node; returns false if it is missing. */
static bool parse_value(struct parser *p, struct rule_node *node)
{
	const char *start, *end;
	skip_space(p);
	if (*p->at == '\'' || *p->at == '"') {
		start = p->at + 1;
		end = strchr(start, *p->at);
		if (!end)
			return false;
		p->at = end + 1;
	} else {
		start = end = p->at;
		while (*end && !is_space(*end) && !strchr(",})", *end))
			end++;
		p->at = end;
		if (start == end)
			return false;
	}
	node->value_at = (uint16_t)(start - p->r->text);
	node->value_bytes = (uint16_t)(end - start);
	node->is_number = parse_number(start, node->value_bytes, &node->number);
	return true;
}

static bool parse_op(struct parser *p, uint8_t *op)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = { { "==", EQUAL }, { "!=", UNEQUAL }, { "<=", LESS_EQUAL }, { ">=", MORE_EQUAL }, { "<", LESS },
		{ ">", MORE }, { "=", EQUAL } };
	skip_space(p);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strncmp(p->at, ops[i].text, strlen(ops[i].text))) {
			p->at += strlen(ops[i].text);
			*op = (uint8_t)ops[i].op;
			return true;
		}
	if (!parse_word(p, "LIKE"))
		return false;
	*op = LIKE;
	return true;
}

/* {a, b}: equal to one of the values. */
static uint16_t parse_set(struct parser *p, const struct rule_node *like)
{
	uint16_t any = NONE;
	if (!parse_char(p, '{'))
		return NONE;
	do {
		uint16_t one = node_new(p, COMPARE, 0, 0);
		if (one == NONE)
			return NONE;
		struct rule_node *node = &p->r->nodes[one];
		node->op = EQUAL;
		node->field = like->field;
		node->key_at = like->key_at;
		node->key_bytes = like->key_bytes;
		if (!parse_value(p, node))
			return NONE;
		any = any == NONE ? one : node_new(p, OR, any, one);
	} while (any != NONE && parse_char(p, ','));
	return parse_char(p, '}') ? any : NONE;
}

static uint16_t parse_comparison(struct parser *p)
{
	struct rule_node made = { .kind = COMPARE };
	skip_space(p);
	const char *word = p->at;
	while (is_word_char(*p->at))
		p->at++;
	if (p->at == word)
		return NONE;
	size_t n = (size_t)(p->at - word);
	static const char *const names[] = { "name", "cat", "dur", "ts", "app", "rank" };
	made.field = ARG;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (n == strlen(names[i]) && !memcmp(word, names[i], n))
			made.field = (uint8_t)i;
	if (n > 5 && !memcmp(word, "args.", 5))
		word += 5, n -= 5;
	made.key_at = (uint16_t)(word - p->r->text);
	made.key_bytes = (uint16_t)n;
	bool is_not = parse_word(p, "NOT");
	uint16_t node = NONE;
	if (parse_word(p, "IN")) {
		node = parse_set(p, &made);
	} else if (parse_op(p, &made.op) && parse_value(p, &made)) {
		node = node_new(p, COMPARE, 0, 0);
		if (node != NONE)
			p->r->nodes[node] = made;
	}
	return is_not ? node_new(p, NOT, node, 0) : node;
}

static uint16_t parse_not(struct parser *p)
{
	uint16_t node;
	if (++p->depth > DEPTH_MAX)
		return NONE;
	if (parse_word(p, "NOT")) {
		node = node_new(p, NOT, parse_not(p), 0);
	} else if (parse_char(p, '(')) {
		node = parse_or(p);
		if (!parse_char(p, ')'))
			node = NONE;
	} else {
		node = parse_comparison(p);
	}
	p->depth--;
	return node;
}

static uint16_t parse_and(struct parser *p)
{
	uint16_t node = parse_not(p);
	while (node != NONE && parse_word(p, "AND"))
		node = node_new(p, AND, node, parse_not(p));
	return node;
}

static uint16_t parse_or(struct parser *p)
{
	uint16_t node = parse_and(p);
	while (node != NONE && parse_word(p, "OR"))
		node = node_new(p, OR, node, parse_and(p));
	return node;
}

static void read_rule(struct aggregation_rules *r, char sign, const char *text)
{
	struct parser p = { .r = r, .at = text };
	uint32_t kept = r->node_count;
	uint16_t node = parse_or(&p);
	skip_space(&p);
	if (node == NONE || *p.at || r->rule_count == RULES_MAX) {
		r->node_count = kept;
		r->broken++;
		return;
	}
	r->rule[r->rule_count].node = node;
	r->rule[r->rule_count++].is_exclusion = sign == '-';
	*(sign == '-' ? &r->excluded : &r->included) += 1;
}

void rules_read(struct aggregation_rules *r, const char *lines)
{
	memset(r, 0, sizeof(*r));
	size_t n = strnlen(lines, sizeof(r->text) - 1);
	memcpy(r->text, lines, n);
	for (char *line = r->text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (*line == '+' || *line == '-')
			read_rule(r, *line, line + 1);
	}
}

/* Evaluation. */

/* Shell pattern with * and ? only; no recursion. */
static bool is_like(const char *text, size_t n, const char *pattern, size_t m)
{
	size_t i = 0, j = 0, star = SIZE_MAX, mark = 0;
	while (i < n) {
		if (j < m && (pattern[j] == '*' || pattern[j] == '%')) {
			star = j++;
			mark = i;
		} else if (j < m && (pattern[j] == '?' || pattern[j] == text[i])) {
			i++, j++;
		} else if (star != SIZE_MAX) {
			j = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (j < m && (pattern[j] == '*' || pattern[j] == '%'))
		j++;
	return j == m;
}

static int order_text(const struct rule_value *v, const char *text, size_t n, bool is_any_case)
{
	size_t least = v->bytes < n ? v->bytes : n;
	int rc = is_any_case ? order_folded(v->text, text, least) : memcmp(v->text, text, least);
	return rc ? rc : (v->bytes > n) - (v->bytes < n);
}

static bool find_value(const struct aggregation_rules *r, const struct rule_node *node, const struct rule_event *e,
		struct rule_value *v)
{
	switch ((enum field)node->field) {
	case NAME:
		*v = e->name;
		return true;
	case CAT:
		*v = e->cat;
		return true;
	case APP:
		*v = e->app;
		return true;
	case DUR:
		*v = (struct rule_value){ .number = e->dur };
		return true;
	case TS:
		*v = (struct rule_value){ .number = e->ts };
		return true;
	case RANK:
		*v = (struct rule_value){ .number = e->rank };
		return e->rank >= 0;
	case ARG:
		return e->arg && e->arg(e->of, r->text + node->key_at, node->key_bytes, v);
	}
	return false;
}

static bool compares(const struct aggregation_rules *r, const struct rule_node *node, const struct rule_event *e)
{
	struct rule_value v;
	const char *text = r->text + node->value_at;
	if (!find_value(r, node, e, &v) || (!v.text && !node->is_number))
		return false;
	if (node->op == LIKE)
		return v.text && is_like(v.text, v.bytes, text, node->value_bytes);
	int order = v.text ? order_text(&v, text, node->value_bytes, node->field == CAT)
			   : (v.number > node->number) - (v.number < node->number);
	static const struct {
		bool less, equal, more;
	} holds[] = { [EQUAL] = { false, true, false },
		[UNEQUAL] = { true, false, true },
		[LESS] = { true, false, false },
		[LESS_EQUAL] = { true, true, false },
		[MORE] = { false, false, true },
		[MORE_EQUAL] = { false, true, true } };
	return order < 0 ? holds[node->op].less : order > 0 ? holds[node->op].more : holds[node->op].equal;
}

static bool holds_at(const struct aggregation_rules *r, uint16_t at, const struct rule_event *e)
{
	const struct rule_node *node = &r->nodes[at];
	switch ((enum kind)node->kind) {
	case AND:
		return holds_at(r, node->left, e) && holds_at(r, node->right, e);
	case OR:
		return holds_at(r, node->left, e) || holds_at(r, node->right, e);
	case NOT:
		return !holds_at(r, node->left, e);
	case COMPARE:
		return compares(r, node, e);
	}
	return false;
}

bool rules_hold(const struct aggregation_rules *r, const struct rule_event *e)
{
	bool is_included = !r->included && r->excluded;
	for (uint32_t i = 0; i < r->rule_count; i++) {
		if (!r->rule[i].is_exclusion && is_included)
			continue;
		if (!holds_at(r, r->rule[i].node, e))
			continue;
		if (r->rule[i].is_exclusion)
			return false;
		is_included = true;
	}
	return is_included;
}
