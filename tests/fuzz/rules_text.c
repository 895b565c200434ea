/*
 * Fuzz target: any text as a condition, a measure, an action, a schedule of cron and a science rule. What compiles can
 * be evaluated over samples and over none, and be explained; what does not has a reason.
 */
#include "fuzz.h"

#include "config/cron.h"
#include "live/rules/action.h"
#include "live/rules/rule-expr.h"
#include "live/rules/waggle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000LL

static void fill(struct memory *m, const struct expr *e)
{
	static const struct memory_label labels[] = { { "app", "a" }, { "step", "frame" } };

	if (rule_expr_watch(e, m) < 0)
		return;
	for (size_t i = 0; i < m->watched.count; i++) {
		size_t bytes;
		const char *name = map_key(&m->watched, i, &bytes);

		for (int64_t k = 1; k <= 5; k++)
			memory_add(m, name, labels, 2, k * SECOND, (double)(k * k));
	}
}

static void evaluate(const struct expr *e, bool is_truth)
{
	const struct expr_now now = { .mono_ns = 6 * SECOND,
		.real_ns = 1700000000 * SECOND,
		.stale_ns = 5 * SECOND,
		.is_utc = true };
	struct memory m = MEMORY_INIT;
	struct buf text = BUF_INIT;
	struct expr_value v = rule_expr_eval(e, &m, &now);

	fill(&m, e);
	v = rule_expr_eval(e, &m, &now);
	if (v.is_known && (isnan(v.number) || (is_truth && v.number != 0 && v.number != 1)))
		abort();
	if (!v.is_known && !v.why[0])
		abort();
	rule_expr_explain(&text, e, &m, &now);
	rule_expr_why(&text, e, &m, &now);
	buf_release(&text);
	memory_release(&m);
}

static void compile(const char *text, enum expr_type type, struct arena *arena)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct expr *e = NULL;
	int rc = rule_expr_compile(&e, text, type, arena, &err);

	if (rc < 0 && !err.text[0])
		abort();
	if (rc == 0)
		evaluate(e, type == EXPR_TRUTH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena arena = ARENA_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct action action;
	struct cron cron;
	const struct waggle_options science = { .schedule = "exec start {}", .broker = "host:1883", .app = "a" };
	struct buf rules = BUF_INIT;
	char *text = malloc(n + 1);

	if (!text)
		return 0;
	memcpy(text, data, n);
	text[n] = '\0';
	compile(text, EXPR_TRUTH, &arena);
	compile(text, EXPR_NUMBER, &arena);
	if (action_parse(&action, text, false, &arena, &err) == 0 && action.kind >= ACTION_KINDS)
		abort();
	action_parse(&action, text, true, &arena, &err);
	cron_parse(&cron, text, &err);
	waggle_import(&rules, text, &science, &arena, &err);
	buf_release(&rules);
	arena_release(&arena);
	free(text);
	return 0;
}
