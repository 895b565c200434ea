#include "live/rules/expr-private.h"

static void add_value(struct buf *out, const struct expr *e, struct expr_value v)
{
	if (!v.is_known)
		buf_addf(out, "unknown (%s)", v.why);
	else if (e->type == EXPR_TRUTH)
		buf_adds(out, v.number != 0 ? "true" : "false");
	else
		buf_addf(out, "%.6g", v.number);
}

static void explain(struct buf *out, const struct expr *e, const struct expr_eval *x, int depth)
{
	if (e->kind == EXPR_CONSTANT || e->kind == EXPR_STRING || e->type == EXPR_WINDOW)
		return;
	buf_addf(out, "%*s%s = ", 2 * depth, "", e->text);
	add_value(out, e, expr_part(e, x));
	buf_addc(out, '\n');
	for (size_t i = 0; i < e->arg_count; i++)
		if (e->kind == EXPR_OPERATOR || e->args[i]->kind == EXPR_CALL)
			explain(out, e->args[i], x, depth + 1);
}

void expr_explain(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now)
{
	const struct expr_eval x = { m, now };

	explain(out, e, &x, 0);
}

/* Prints measured values: calls and selectors, not the results of operators. */
static void why(struct buf *out, const struct expr *e, const struct expr_eval *x)
{
	if (e->kind == EXPR_CALL || (e->kind == EXPR_SELECTOR && e->type == EXPR_SERIES)) {
		buf_addf(out, "%s%s = ", out->len ? ", " : "", e->text);
		add_value(out, e, expr_part(e, x));
		return;
	}
	for (size_t i = 0; i < e->arg_count; i++)
		why(out, e->args[i], x);
}

void expr_why(struct buf *out, const struct expr *e, const struct memory *m, const struct expr_now *now)
{
	const struct expr_eval x = { m, now };

	why(out, e, &x);
	if (!out->len)
		buf_adds(out, e->text);
}
