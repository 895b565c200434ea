/* Overload resolution: selects a function or operator by its name and argument types. */
#include "live/rules/expr-private.h"

#include "base/shell-words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 64

bool expr_fits(enum expr_type want, enum expr_type have)
{
	return want == have || (want == EXPR_NUMBER && have == EXPR_SERIES);
}

static const struct expr_function *pick(const char *name, size_t n, int precedence, struct expr *const *args,
		size_t count)
{
	const struct expr_function *near = NULL;

	for (const struct expr_function *f = expr_functions; f->name; f++) {
		bool is_fit = f->arg_count == count, is_exact = is_fit;

		if (strlen(f->name) != n || strncmp(f->name, name, n) != 0 || (f->precedence > 0) != (precedence > 0))
			continue;
		for (size_t i = 0; is_fit && i < count; i++) {
			is_fit = args[i] && expr_fits(f->args[i], args[i]->type);
			is_exact = is_exact && is_fit && f->args[i] == args[i]->type;
		}
		if (is_fit && is_exact)
			return f;
		if (is_fit)
			near = f;
	}
	return near;
}

bool expr_is_function(const char *name, size_t n)
{
	for (const struct expr_function *f = expr_functions; f->name; f++)
		if (!f->precedence && strlen(f->name) == n && strncmp(f->name, name, n) == 0)
			return true;
	return false;
}

static int complain_types(struct expr_parser *p, const char *name, size_t n, struct expr *const *args, size_t count)
{
	char have[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof(have); i++)
		used += (size_t)snprintf(have + used, sizeof(have) - used, "%s%s", i ? ", " : "",
				args[i] ? expr_type_word(args[i]->type) : "?");
	expr_complain(p, "'%.*s' does not take (%s)", (int)n, name, have);
	for (const struct expr_function *f = expr_functions; f->name; f++)
		if (strlen(f->name) == n && strncmp(f->name, name, n) == 0 && f->help)
			err_hint(p->err, "%s", f->help);
	return -EINVAL;
}

int expr_apply(struct expr_parser *p, const char *name, size_t n, int precedence, struct expr *e, const char *from)
{
	int rc = 0;

	e->function = pick(name, n, precedence, e->args, e->arg_count);
	if (!e->function)
		return complain_types(p, name, n, e->args, e->arg_count);
	e->type = e->function->result;
	expr_set_text(p, e, from);
	if (strcmp(e->function->name, "cron") == 0) {
		rc = cron_parse(&e->cron, e->args[0]->name, p->err);
		if (rc < 0)
			err_prefix(p->err, "column %zu", (size_t)(from - p->text) + 1);
	}
	return rc;
}

int expr_complain_function(struct expr_parser *p, const char *name, size_t n)
{
	const char *names[NAMES_MAX];
	char typed[64];
	const char *nearest;
	size_t count = 0;

	for (const struct expr_function *f = expr_functions; f->name && count + 1 < NAMES_MAX; f++)
		if (!f->precedence)
			names[count++] = f->name;
	names[count] = NULL;
	snprintf(typed, sizeof(typed), "%.*s", (int)n, name);
	expr_complain(p, "there is no function '%s'", typed);
	nearest = words_nearest(typed, names);
	if (nearest)
		err_hint(p->err, "did you mean '%s'?", nearest);
	return -EINVAL;
}
