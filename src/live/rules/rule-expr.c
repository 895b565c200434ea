/* The compiler of rule expressions: operands, overloads of functions, types of operators. */
#include "live/rules/rule-expr.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64 };

static const char *const type_words[EXPR_TYPES] = { "number", "boolean", "string", "series", "window" };

/* May a value of type `have` be used as `want`? A single series is a number. */
static bool fits(enum expr_type want, enum expr_type have)
{
	return want == have || (want == EXPR_NUMBER && have == EXPR_SERIES);
}

/* Parses a number, or with a time unit a duration in seconds. */
static int parse_number(struct expr_parser *p, double *value, bool *is_duration)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "ms", 1e-3 }, { "us", 1e-6 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	char *end;

	*value = strtod(p->at, &end);
	if (end == p->at || !isfinite(*value))
		return expr_error(p, "invalid number");
	p->at = end;
	*is_duration = false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && !*is_duration; i++) {
		size_t n = strlen(units[i].unit);

		if (strncmp(p->at, units[i].unit, n) == 0 && !isalnum((unsigned char)p->at[n])) {
			*value *= units[i].seconds;
			*is_duration = true;
			p->at += n;
		}
	}
	return isalpha((unsigned char)*p->at) ? expr_error(p, "invalid time unit (supported: us, ms, s, m, h, d)") : 0;
}

static int parse_label(struct expr_parser *p, struct rule_selector *s)
{
	size_t n;

	expr_skip_blanks(p);
	n = expr_name_length(p);
	if (!n)
		return expr_error(p, "expected a label name");
	if (s->label_count == MEMORY_LABELS_MAX)
		return expr_error(p, "too many labels (maximum %d)", MEMORY_LABELS_MAX);
	s->labels[s->label_count].key = arena_copy(p->arena, p->at, n);
	p->at += n;
	s->labels[s->label_count].is_not = expr_accept(p, "!=");
	if (!s->labels[s->label_count].is_not && !expr_accept(p, "="))
		return expr_error(p, "expected = or != after the label");
	expr_skip_blanks(p);
	if (*p->at != '"')
		return expr_error(p, "the value of a label must be in double quotes");
	return expr_parse_quoted(p, &s->labels[s->label_count++].value);
}

static int parse_window(struct expr_parser *p, struct expr *e, struct rule_selector *s)
{
	double seconds;
	bool is_duration;
	int rc;

	expr_skip_blanks(p);
	rc = parse_number(p, &seconds, &is_duration);
	if (rc < 0)
		return rc;
	if (!is_duration || !(seconds > 0) || seconds * 1e9 > (double)EXPR_WINDOW_NS_MAX)
		return expr_error(p, "invalid window: expected a duration of at most 1h, such as [10s]");
	s->window_ns = (int64_t)(seconds * 1e9);
	e->type = EXPR_WINDOW;
	return expr_accept(p, "]") ? 0 : expr_error(p, "missing ']'");
}

static int parse_selector(struct expr_parser *p, struct expr *e)
{
	struct rule_selector *s = arena_alloc(p->arena, sizeof(*s));
	int rc = 0;

	if (!s)
		return err_sys(p->err, ENOMEM, "cannot parse the expression");
	e->kind = EXPR_NAME;
	e->type = EXPR_SERIES;
	e->detail = s;
	if (expr_accept(p, "{") && !expr_accept(p, "}")) {
		do
			rc = parse_label(p, s);
		while (rc == 0 && expr_accept(p, ","));
		if (rc == 0 && !expr_accept(p, "}"))
			rc = expr_error(p, "missing '}'");
	}
	return rc == 0 && expr_accept(p, "[") ? parse_window(p, e, s) : rc;
}

static int unknown_function(struct expr_parser *p, const char *name)
{
	const char *names[NAMES_MAX], *nearest;
	size_t count = 0;

	for (const struct rule_function *f = rule_functions; f->name && count + 1 < NAMES_MAX; f++)
		names[count++] = f->name;
	names[count] = NULL;
	expr_error(p, "unknown function '%s'", name);
	nearest = words_nearest(name, names);
	if (nearest)
		err_hint(p->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

static int wrong_types(struct expr_parser *p, const struct expr *e)
{
	char have[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < e->arg_count; i++)
		used += (size_t)snprintf(have + used, sizeof(have) - used, "%s%s", i ? ", " : "",
				type_words[e->args[i]->type]);
	expr_error(p, "'%s' does not accept (%s)", e->name, have);
	for (const struct rule_function *f = rule_functions; e->kind == EXPR_CALL && f->name; f++)
		if (strcmp(f->name, e->name) == 0 && f->help)
			err_hint(p->err, "%s", f->help);
	return -EINVAL;
}

/* The overload that fits; max(series) wants the series itself, not its value. */
static const struct rule_function *find_overload(const struct expr *e)
{
	const struct rule_function *near = NULL;

	for (const struct rule_function *f = rule_functions; f->name; f++) {
		bool is_fit = strcmp(f->name, e->name) == 0 && f->arg_count == e->arg_count, is_exact = is_fit;

		for (size_t i = 0; is_fit && i < e->arg_count; i++) {
			is_fit = fits(f->args[i], e->args[i]->type);
			is_exact = is_exact && f->args[i] == e->args[i]->type;
		}
		if (is_fit && is_exact)
			return f;
		if (is_fit)
			near = f;
	}
	return near;
}

/* p->at is behind the opening parenthesis, or before the name if there is no such function. */
static int parse_call(struct expr_parser *p, struct expr *e, const char *from)
{
	struct rule_call *call = arena_alloc(p->arena, sizeof(*call));
	int rc = 0;

	if (!call)
		return err_sys(p->err, ENOMEM, "cannot parse the expression");
	e->kind = EXPR_CALL;
	e->detail = call;
	for (const struct rule_function *f = rule_functions; !call->function; f++) {
		if (!f->name) {
			p->at = from;
			return unknown_function(p, e->name);
		}
		if (strcmp(f->name, e->name) == 0)
			call->function = f;
	}
	if (!expr_accept(p, ")")) {
		do {
			if (e->arg_count == EXPR_ARGS_MAX)
				return expr_error(p, "too many arguments of '%s'", e->name);
			rc = expr_parse_nested(p, &e->args[e->arg_count]);
			e->arg_count += rc == 0;
		} while (rc == 0 && expr_accept(p, ","));
		if (rc == 0 && !expr_accept(p, ")"))
			rc = expr_error(p, "missing ')'");
	}
	if (rc < 0)
		return rc;
	call->function = find_overload(e);
	if (!call->function)
		return wrong_types(p, e);
	e->type = call->function->result;
	if (strcmp(e->name, "cron") == 0) {
		rc = cron_parse(&call->cron, e->args[0]->name, p->err);
		if (rc < 0)
			err_prefix(p->err, "column %zu", (size_t)(from - p->text) + 1);
	}
	return rc;
}

static int parse_name(struct expr_parser *p, struct expr *e)
{
	const char *from = p->at;
	size_t n = expr_name_length(p);

	if (!n)
		return *p->at ? expr_error(p, "expected a value, not '%c'", *p->at)
			      : expr_error(p, "expected a value at the end");
	e->name = arena_copy(p->arena, from, n);
	if (!e->name)
		return err_sys(p->err, ENOMEM, "cannot parse the expression");
	p->at += n;
	return expr_accept(p, "(") ? parse_call(p, e, from) : parse_selector(p, e);
}

static int operand(struct expr_parser *p, struct expr **out)
{
	struct expr *e = expr_new(p, EXPR_CONSTANT, EXPR_NUMBER);
	const char *from = p->at;
	bool is_duration;
	int rc;

	if (!e)
		return -ENOMEM;
	if (expr_accept(p, "true") || expr_accept(p, "false")) {
		e->type = EXPR_TRUTH;
		e->number = *from == 't';
		rc = 0;
	} else if (*p->at == '"') {
		e->kind = EXPR_STRING;
		e->type = EXPR_TEXT;
		rc = expr_parse_quoted(p, &e->name);
	} else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
		rc = parse_number(p, &e->number, &is_duration);
	} else {
		rc = parse_name(p, e);
	}
	*out = e;
	return rc < 0 ? rc : expr_set_text(p, e, from);
}

static int check(struct expr_parser *p, struct expr *e)
{
	enum expr_type want = e->op <= EXPR_NOT ? EXPR_TRUTH : EXPR_NUMBER;

	for (size_t i = 0; i < e->arg_count; i++)
		if (!fits(want, e->args[i]->type))
			return wrong_types(p, e);
	e->type = want == EXPR_TRUTH || expr_is_comparison(e->op) ? EXPR_TRUTH : EXPR_NUMBER;
	return 0;
}

int rule_expr_compile(struct expr **out, const char *text, enum expr_type wanted, struct arena *arena,
		struct sonde_err *err)
{
	static const struct expr_language language = { "_:.", "_", operand, check };
	struct expr_parser p = { .language = &language, .text = text, .arena = arena, .err = err };
	struct expr *e = NULL;
	int rc = expr_parse(&p, &e);

	if (rc == 0 && !fits(wanted, e->type)) {
		p.at = text;
		rc = expr_error(&p, "expected a %s, not a %s", type_words[wanted], type_words[e->type]);
	}
	if (rc == 0)
		*out = e;
	return rc;
}

int rule_expr_watch(const struct expr *e, struct memory *m)
{
	int rc = 0;

	if (e->kind == EXPR_NAME)
		rc = memory_watch(m, e->name, ((const struct rule_selector *)e->detail)->window_ns);
	for (size_t i = 0; i < e->arg_count && rc == 0; i++)
		rc = rule_expr_watch(e->args[i], m);
	return rc;
}

void memory_release(struct memory *m)
{
	for (size_t i = 0; i < m->series_count; i++) {
		free(m->series[i].name);
		free(m->series[i].samples);
	}
	free(m->series);
	map_release(&m->watched);
	map_release(&m->index);
	*m = (struct memory)MEMORY_INIT;
}

int memory_watch(struct memory *m, const char *name, int64_t keep_ns)
{
	uint64_t *at = map_put(&m->watched, name, strlen(name), NULL);

	if (!at)
		return -ENOMEM;
	if (*at < (uint64_t)keep_ns)
		*at = (uint64_t)keep_ns;
	return 0;
}

bool memory_wants(const struct memory *m, const char *name)
{
	return map_get(&m->watched, name, strlen(name)) != NULL;
}

const char *memory_label(const struct memory_series *s, const char *key)
{
	for (size_t i = 0; i < s->label_count; i++)
		if (strcmp(s->labels[i].key, key) == 0)
			return s->labels[i].value;
	return "";
}

static int new_series(struct memory *m, const struct buf *texts, size_t label_count, int64_t ns)
{
	struct memory_series *s;
	const char *at;

	if (m->series_count == MEMORY_SERIES_MAX) {
		m->dropped++;
		return -ENOSPC;
	}
	if (!VEC_GROW(m->series, m->series_cap, m->series_count + 1, MEMORY_SERIES_MAX))
		return -ENOMEM;
	s = &m->series[m->series_count];
	*s = (struct memory_series){ .name = malloc(texts->len), .first_ns = ns };
	if (!s->name)
		return -ENOMEM;
	memcpy(s->name, texts->data, texts->len);
	/* The name and the keys and values of its labels are in one allocation. */
	at = s->name;
	s->label_count = label_count;
	for (size_t i = 0; i < label_count; i++) {
		s->labels[i].key = at + strlen(at) + 1;
		s->labels[i].value = s->labels[i].key + strlen(s->labels[i].key) + 1;
		at = s->labels[i].value;
	}
	s->keep_ns = (int64_t)*map_get(&m->watched, s->name, strlen(s->name));
	m->series_count++;
	return 0;
}

static int find(struct memory *m, const char *name, const struct memory_label *labels, size_t count, int64_t ns,
		struct memory_series **out)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	uint64_t *at;
	int rc;

	buf_add(&key, name, strlen(name) + 1);
	for (size_t i = 0; i < count; i++) {
		buf_add(&key, labels[i].key, strlen(labels[i].key) + 1);
		buf_add(&key, labels[i].value, strlen(labels[i].value) + 1);
	}
	if (buf_error(&key) < 0)
		return -ENOMEM;
	at = map_get(&m->index, key.data, key.len);
	if (!at) {
		rc = new_series(m, &key, count, ns);
		at = rc < 0 ? NULL : map_put(&m->index, key.data, key.len, NULL);
		if (!at)
			return rc < 0 ? rc : -ENOMEM;
		*at = m->series_count - 1;
	}
	*out = &m->series[*at];
	return 0;
}

static int make_room(struct memory_series *s)
{
	size_t more = s->cap ? 2 * s->cap : 16;
	struct memory_sample *bigger;

	if (s->count < s->cap)
		return 0;
	bigger = malloc(more * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		bigger[i] = *memory_sample(s, i);
	free(s->samples);
	s->samples = bigger;
	s->cap = more;
	s->start = 0;
	return 0;
}

int memory_add(struct memory *m, const char *name, const struct memory_label *labels, size_t label_count, int64_t ns,
		double value)
{
	struct memory_series *s;
	int rc;

	if (!memory_wants(m, name) || !isfinite(value))
		return 0;
	if (label_count > MEMORY_LABELS_MAX)
		label_count = MEMORY_LABELS_MAX;
	rc = find(m, name, labels, label_count, ns, &s);
	if (rc < 0)
		return rc == -ENOSPC ? 0 : rc;
	if (s->count && memory_sample(s, s->count - 1)->ns > ns)
		return 0;
	/* Keeps one sample more than the window, because a rate needs the value before it. */
	while (s->count > 1 && memory_sample(s, 1)->ns <= ns - s->keep_ns) {
		s->start = (s->start + 1) & (s->cap - 1);
		s->count--;
	}
	if (s->count == MEMORY_SAMPLES_MAX) {
		s->start = (s->start + 1) & (s->cap - 1);
		s->count--;
	}
	rc = make_room(s);
	if (rc < 0)
		return rc;
	s->samples[(s->start + s->count++) & (s->cap - 1)] = (struct memory_sample){ ns, value };
	return 0;
}
