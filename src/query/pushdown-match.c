/* Recognize a statement that the engine can answer, and rewrite it; see pushdown.h. */
#include "query/pushdown.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 512
#define ALIASES_MAX 64

/* Tokens. */

enum token_kind { WORD, QUOTED, NUMBER, STRING, OPERATOR, END };

struct token {
	enum token_kind kind;
	const char *text; /* in the statement, with its quotes */
	size_t bytes;
};

/* Lengths of the tokens at `at`, by their kinds; 0: it is not one that this has use for. */

static size_t word_bytes(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static size_t number_bytes(const char *at)
{
	char *end;
	size_t n;

	strtod(at, &end);
	n = (size_t)(end - at);
	/* hexadecimal numbers, and what only looks like a number */
	return strspn(at, "0123456789.eE+-") < n || word_bytes(end) ? 0 : n;
}

/* The closing quote must not be doubled inside. */
static size_t quoted_bytes(const char *at)
{
	const char *end = strchr(at + 1, *at);

	return end && end[1] != *at ? (size_t)(end - at) + 1 : 0;
}

static size_t operator_bytes(const char *at)
{
	static const char *const pairs[] = { "<=", ">=", "<>", "!=", "==", "||" };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (strncmp(at, pairs[i], 2) == 0)
			return 2;
	return strchr("+-*/%(),<>=;", *at) ? 1 : 0;
}

static const char *skip_blanks(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n\f");
		if (at[0] == '-' && at[1] == '-')
			at += strcspn(at, "\n");
		else if (at[0] == '/' && at[1] == '*' && strstr(at + 2, "*/"))
			at = strstr(at + 2, "*/") + 2;
		else
			return at;
	}
}

/* False at a character that this has no use for. */
static bool next_token(const char **at, struct token *t)
{
	const char *s = *at = skip_blanks(*at);

	*t = (struct token){ .kind = END, .text = s };
	if (!*s)
		return true;
	if (isdigit((unsigned char)*s)) {
		t->kind = NUMBER;
		t->bytes = number_bytes(s);
	} else if (word_bytes(s)) {
		t->kind = WORD;
		t->bytes = word_bytes(s);
	} else if (*s == '\'' || *s == '"') {
		t->kind = *s == '"' ? QUOTED : STRING;
		t->bytes = quoted_bytes(s);
	} else {
		t->kind = OPERATOR;
		t->bytes = operator_bytes(s);
	}
	*at = s + t->bytes;
	return t->bytes > 0;
}

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == WORD && t->bytes == strlen(word) && sqlite3_strnicmp(t->text, word, (int)t->bytes) == 0;
}

static bool is_operator(const struct token *t, const char *text)
{
	return t->kind == OPERATOR && t->bytes == strlen(text) && memcmp(t->text, text, t->bytes) == 0;
}

static bool is_among(const struct token *t, const char *const *words)
{
	for (; *words; words++)
		if (is_word(t, *words))
			return true;
	return false;
}

/* Clauses. */

enum clause { SELECT, FROM, WHERE, GROUP, HAVING, ORDER, LIMIT, CLAUSES };

struct match {
	struct pushdown *p;
	struct token tokens[TOKENS_MAX];
	struct {
		const struct token *at, *end; /* the tokens after its keywords; at NULL: there is none */
	} clauses[CLAUSES];
	const struct token *aliases[ALIASES_MAX];
	unsigned alias_count;
	bool has_aggregate;
};

/* Returns the token END after those of the statement; NULL if there are too many, or a character is of no use. */
static const struct token *take_tokens(struct match *m, const char *sql)
{
	for (size_t n = 0; n < TOKENS_MAX && next_token(&sql, &m->tokens[n]); n++)
		if (m->tokens[n].kind == END)
			return &m->tokens[n];
	return NULL;
}

/* The clause from `first` on that starts with this keyword; CLAUSES: none. */
static int clause_of(const struct token *t, int first)
{
	static const char *const keywords[CLAUSES] = { "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT" };
	int c = first;

	while (c < CLAUSES && !is_word(t, keywords[c]))
		c++;
	return c;
}

/* Split the statement at its keywords outside of parentheses, each at most once and in order. */
static bool find_clauses(struct match *m, const char *sql)
{
	const struct token *end = take_tokens(m, sql);
	int depth = 0, current = SELECT;

	if (!end || !is_word(m->tokens, "SELECT"))
		return false;
	m->clauses[SELECT].at = &m->tokens[1];
	for (const struct token *t = m->clauses[SELECT].at; t < end; t++) {
		int c;

		depth += is_operator(t, "(") ? 1 : is_operator(t, ")") ? -1 : 0;
		c = depth == 0 ? clause_of(t, current + 1) : CLAUSES;
		if (c == CLAUSES)
			continue;
		m->clauses[current].end = t;
		if ((c == GROUP || c == ORDER) && !is_word(++t, "BY"))
			return false;
		m->clauses[c].at = t + 1;
		current = c;
	}
	while (is_operator(end - 1, ";"))
		end--;
	m->clauses[current].end = end;
	return m->clauses[FROM].at != NULL;
}

/* Columns and constants. */

#define NAME_BYTES 64

/* The name in a word or a quoted name; "", which is the name of nothing, if it is something else or too long. */
static const char *name_in(const struct token *t, char name[NAME_BYTES])
{
	size_t quotes = t->kind == QUOTED, bytes = t->kind <= QUOTED ? t->bytes - 2 * quotes : 0;

	bytes = bytes < NAME_BYTES ? bytes : 0;
	memcpy(name, t->text + quotes, bytes);
	name[bytes] = '\0';
	return name;
}

static const struct query_column *column_of(const struct match *m, const struct token *t)
{
	return query_column_find(m->p->t, name_in(t, (char[NAME_BYTES]){ 0 }));
}

static bool is_integer(const struct query_column *c)
{
	return c && (c->how == HOW_INT || c->how == HOW_BYTES);
}

static bool take_table(struct match *m)
{
	const struct token *t = m->clauses[FROM].at;

	if (m->clauses[FROM].end != t + 1)
		return false;
	m->p->t = query_table_find(m->p->q, name_in(t, (char[NAME_BYTES]){ 0 }));
	return m->p->t && m->p->t->table;
}

/* The constant at *at as a value of the column; *at is moved behind it. */
static bool take_constant(struct match *m, const struct query_column *c, const struct token **at,
		const struct token *end, int64_t *v)
{
	bool is_negative = *at < end && is_operator(*at, "-");
	const struct token *t = *at + is_negative;
	double real;

	if (t >= end)
		return false;
	*at = t + 1;
	if (t->kind == STRING && !is_negative && c->how == HOW_STRING)
		return query_string_id(m->p->q, t->text + 1, t->bytes - 2, v);
	if (t->kind == STRING && !is_negative && c->how == HOW_KIND) {
		*v = STORE_NULL; /* no kind has this name: nothing matches */
		for (unsigned kind = 0; kind < CALL_KIND_COUNT; kind++)
			if (strlen(call_kind_word(kind)) == t->bytes - 2 &&
					memcmp(call_kind_word(kind), t->text + 1, t->bytes - 2) == 0)
				*v = kind;
		return true;
	}
	if (t->kind != NUMBER || !is_integer(c))
		return false;
	errno = 0;
	real = strtod(t->text, NULL);
	/* Beyond 2^53 a real constant is not what it looks like; an integer one is. */
	if (strspn(t->text, "0123456789") >= t->bytes)
		*v = strtoll(t->text, NULL, 10);
	else if (real < 9e15 && real == floor(real))
		*v = (int64_t)real;
	else
		return false;
	*v = is_negative ? -*v : *v;
	return errno == 0;
}

static bool add_range(struct pushdown_condition *k, int64_t lo, int64_t hi)
{
	if (k->range_count == PUSHDOWN_RANGES_MAX)
		return false;
	k->ranges[k->range_count].lo = lo;
	k->ranges[k->range_count++].hi = hi;
	return true;
}

static bool take_comparison(struct match *m, struct pushdown_condition *k, const struct token *op,
		const struct token **at, const struct token *end)
{
	int64_t v;

	if (!take_constant(m, k->column, at, end, &v))
		return false;
	k->is_not = is_operator(op, "<>") || is_operator(op, "!=");
	if (k->is_not || is_operator(op, "=") || is_operator(op, "=="))
		return add_range(k, v, v);
	if (!is_integer(k->column)) /* texts are compared by their bytes, not by their numbers */
		return false;
	if (is_operator(op, "<") || is_operator(op, "<="))
		return add_range(k, INT64_MIN, is_operator(op, "<=") ? v : v - 1);
	if (is_operator(op, ">") || is_operator(op, ">="))
		return (v < INT64_MAX || is_operator(op, ">=")) &&
				add_range(k, is_operator(op, ">=") ? v : v + 1, INT64_MAX);
	return false;
}

static bool take_list(struct match *m, struct pushdown_condition *k, const struct token **at, const struct token *end)
{
	if (*at >= end || !is_operator(*at, "("))
		return false;
	do {
		int64_t v;

		++*at;
		if (!take_constant(m, k->column, at, end, &v) || !add_range(k, v, v))
			return false;
	} while (*at < end && is_operator(*at, ","));
	if (*at >= end || !is_operator(*at, ")"))
		return false;
	++*at;
	return true;
}

static bool take_condition(struct match *m, const struct token **at, const struct token *end)
{
	struct pushdown_condition *k = &m->p->conditions[m->p->condition_count];
	const struct token *op;
	int64_t lo, hi;

	if (m->p->condition_count++ == PUSHDOWN_CONDITIONS_MAX || *at + 1 >= end)
		return false;
	k->column = column_of(m, (*at)++);
	if (!k->column)
		return false;
	op = (*at)++;
	if (is_word(op, "IS")) {
		k->is_null_test = true;
		k->is_not = *at < end && is_word(*at, "NOT");
		*at += k->is_not;
		return *at < end && is_word((*at)++, "NULL");
	}
	if (is_word(op, "BETWEEN")) {
		if (!is_integer(k->column) || !take_constant(m, k->column, at, end, &lo) || *at >= end ||
				!is_word((*at)++, "AND") || !take_constant(m, k->column, at, end, &hi))
			return false;
		return add_range(k, lo, hi);
	}
	if (is_word(op, "NOT") && *at < end) {
		k->is_not = true;
		op = (*at)++;
		return is_word(op, "IN") && take_list(m, k, at, end);
	}
	return is_word(op, "IN") ? take_list(m, k, at, end) : take_comparison(m, k, op, at, end);
}

static bool take_conditions(struct match *m)
{
	const struct token *at = m->clauses[WHERE].at, *end = m->clauses[WHERE].end;

	while (at) {
		if (!take_condition(m, &at, end))
			return false;
		if (at == end)
			return true;
		if (!is_word(at++, "AND"))
			return false;
	}
	return true;
}

/* Expressions. */

/* A key in the rewritten text; its column has the affinity that the key's column has. */
static bool put_key(struct match *m, const struct query_column *c)
{
	for (unsigned k = 0; k < m->p->key_count; k++)
		if (m->p->keys[k].column == c) {
			buf_addf(&m->p->sql, " \"sonde %c%u\"", is_integer(c) ? 'i' : 't', k);
			return true;
		}
	return false;
}

/* count(*), or a function of a column of integers, at *at; false if it is not. */
static bool put_aggregate(struct match *m, const struct token **at, const struct token *end)
{
	static const char *const words[] = { [PUSHDOWN_COUNT] = "count",
		[PUSHDOWN_SUM] = "sum",
		[PUSHDOWN_MIN] = "min",
		[PUSHDOWN_MAX] = "max",
		[PUSHDOWN_AVG] = "avg" };
	struct pushdown_aggregate a = { .function = PUSHDOWN_COUNT };
	const struct token *t = *at;
	unsigned number = 0;

	if (end - t < 4 || !is_operator(&t[1], "(") || !is_operator(&t[3], ")"))
		return false;
	while (a.function <= PUSHDOWN_AVG && !is_word(t, words[a.function]))
		a.function++;
	if (a.function > PUSHDOWN_AVG)
		return false;
	if (a.function == PUSHDOWN_COUNT && is_operator(&t[2], "*"))
		a.function = PUSHDOWN_ROWS;
	else if (!is_integer(a.column = column_of(m, &t[2])))
		return false;
	for (; number < m->p->aggregate_count; number++)
		if (m->p->aggregates[number].function == a.function && m->p->aggregates[number].column == a.column)
			break;
	if (number == ENGINE_AGGREGATES_MAX)
		return false;
	if (number == m->p->aggregate_count)
		m->p->aggregates[m->p->aggregate_count++] = a;
	buf_addf(&m->p->sql, " \"sonde a%u\"", number);
	m->has_aggregate = true;
	*at = t + 4;
	return true;
}

static bool is_alias(const struct match *m, const struct token *t)
{
	for (unsigned i = 0; i < m->alias_count; i++)
		if (m->aliases[i]->bytes == t->bytes &&
				sqlite3_strnicmp(m->aliases[i]->text, t->text, (int)t->bytes) == 0)
			return true;
	return false;
}

/* Functions and words of expressions that mean the same of a group's values as of a row's. */
static const char *const functions[] = { "round", "abs", "coalesce", "ifnull", "nullif", "iif", "printf", "format",
	"substr", "upper", "lower", "length", NULL };
static const char *const words[] = { "AND", "OR", "NOT", "IS", "NULL", "BETWEEN", "IN", "LIKE", "CASE", "WHEN", "THEN",
	"ELSE", "END", NULL };
static const char *const order_words[] = { "ASC", "DESC", "NULLS", "FIRST", "LAST", NULL };

/* Copy the tokens with keys and aggregates replaced. more: further words that are copied. */
static bool put_expression(struct match *m, const struct token *at, const struct token *end, const char *const *more)
{
	while (at < end) {
		bool is_call = at + 1 < end && is_operator(&at[1], "(");

		if (put_aggregate(m, &at, end))
			continue;
		if (at->kind == WORD || at->kind == QUOTED) {
			bool is_known = is_call
					? is_among(at, functions) || is_word(at, "IN")
					: is_among(at, words) || (more && (is_among(at, more) || is_alias(m, at)));

			if (!is_known && !is_call && put_key(m, column_of(m, at))) {
				at++;
				continue;
			}
			/* A word that is a column too could mean either. */
			if (!is_known || (!is_call && column_of(m, at)))
				return false;
		}
		buf_addf(&m->p->sql, " %.*s", (int)at->bytes, at->text);
		at++;
	}
	return true;
}

/* One result column: an expression, and its alias, which must not look like a column of the table. */
static bool take_item(struct match *m, const struct token *at, const struct token *end)
{
	const struct token *alias = NULL;

	if (at == end || is_operator(at, "*"))
		return false;
	if (end - at >= 3 && is_word(end - 2, "AS"))
		alias = end - 1;
	else if (end - at >= 2 && end[-1].kind <= QUOTED && !is_among(end - 1, words) &&
			(end[-2].kind != OPERATOR || is_operator(end - 2, ")")))
		alias = end - 1; /* without AS */
	if (alias && (alias->kind > QUOTED || column_of(m, alias) || m->alias_count == ALIASES_MAX))
		return false;
	if (alias)
		m->aliases[m->alias_count++] = alias;
	if (!put_expression(m, at, alias ? alias - is_word(alias - 1, "AS") : end, NULL))
		return false;
	if (alias)
		buf_addf(&m->p->sql, " AS %.*s", (int)alias->bytes, alias->text);
	return true;
}

/* The end of an element of a list: the next comma outside of parentheses, or the end. */
static const struct token *element_end(const struct token *at, const struct token *end)
{
	for (int depth = 0; at < end; at++) {
		depth += is_operator(at, "(") ? 1 : is_operator(at, ")") ? -1 : 0;
		if (depth == 0 && is_operator(at, ","))
			return at;
	}
	return end;
}

/* The column that is the n-th result column, from 1, or the one with this alias; NULL if it is something else. */
static const struct query_column *item_column(const struct match *m, long n, const struct token *alias)
{
	const struct token *at = m->clauses[SELECT].at, *end = m->clauses[SELECT].end, *stop;

	for (long i = 1; at < end; i++, at = stop + 1) {
		bool is_plain;

		stop = element_end(at, end);
		is_plain = stop - at == 1 || (stop - at == 2 && at[1].kind <= QUOTED) ||
				(stop - at == 3 && is_word(&at[1], "AS"));
		if (is_plain &&
				(alias ? stop[-1].bytes == alias->bytes &&
										memcmp(stop[-1].text, alias->text,
												alias->bytes) == 0
				       : i == n))
			return column_of(m, at);
	}
	return NULL;
}

static bool take_keys(struct match *m)
{
	const struct token *at = m->clauses[GROUP].at, *end = m->clauses[GROUP].end;

	for (; at && at < end; at += 2) {
		const struct query_column *c = at->kind == NUMBER ? item_column(m, strtol(at->text, NULL, 10), NULL)
								  : column_of(m, at);

		if (!c && at->kind == WORD)
			c = item_column(m, 0, at);

		if (!c || m->p->key_count == ENGINE_KEYS_MAX || (at + 1 < end && !is_operator(&at[1], ",")))
			return false;
		if (!is_integer(c) && c->how != HOW_STRING && c->how != HOW_KIND && c->how != HOW_PATH)
			return false;
		m->p->keys[m->p->key_count++].column = c;
	}
	return true;
}

static bool take_items(struct match *m)
{
	const struct token *at = m->clauses[SELECT].at, *end = m->clauses[SELECT].end;

	buf_adds(&m->p->sql, "SELECT");
	for (;;) {
		const struct token *stop = element_end(at, end);

		if (!take_item(m, at, stop))
			return false;
		if (stop == end)
			return m->has_aggregate || m->clauses[GROUP].at;
		buf_addc(&m->p->sql, ',');
		at = stop + 1;
	}
}

static bool put_clause(struct match *m, enum clause clause, const char *word, const char *const *more)
{
	if (!m->clauses[clause].at)
		return true;
	buf_addf(&m->p->sql, " %s", word);
	return put_expression(m, m->clauses[clause].at, m->clauses[clause].end, more);
}

static bool match(struct match *m, const char *sql)
{
	static const char *const none[] = { NULL }, *const limit[] = { "OFFSET", NULL };

	if (!find_clauses(m, sql) || !take_table(m) || !take_keys(m) || !take_conditions(m) || !take_items(m))
		return false;
	buf_adds(&m->p->sql, " FROM " PUSHDOWN_GROUPS);
	return put_clause(m, HAVING, "WHERE", none) && put_clause(m, ORDER, "ORDER BY", order_words) &&
			put_clause(m, LIMIT, "LIMIT", limit) && buf_error(&m->p->sql) == 0;
}

bool pushdown_match(struct pushdown *p, struct query *q, const char *sql)
{
	struct match *m = calloc(1, sizeof(*m));
	bool is_matched;

	*p = (struct pushdown){ .q = q, .sql = BUF_INIT };
	if (!m)
		return false;
	m->p = p;
	is_matched = match(m, sql);
	free(m);
	return is_matched;
}
