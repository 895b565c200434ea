/* Diagnosis: findings of the rules, costliest first; see finding.h. */
#include "analyze/finding.h"
#include "base/cleanup.h"
#include "base/shell-words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct rule {
	const char *key;
	bool (*check)(struct analyze *a, struct finding *f);
} rules[] = {
#define X(name) { #name, diagnose_##name },
#include "analyze/diagnoses.def"
#undef X
};
enum { RULES = sizeof(rules) / sizeof(*rules) };

int64_t finding_int(const struct analyze *a, const char *section, const char *field)
{
	const struct analyze_value *v = analyze_find_field(analyze_find(&a->result, section), field);

	return v && !v->is_null ? v->integer : STORE_NULL;
}

int64_t finding_wall_ns(const struct analyze *a)
{
	return finding_int(a, "overview", "wall_ns");
}

bool finding_is_worth(const struct analyze *a, int64_t ns)
{
	int64_t wall_ns = finding_wall_ns(a);

	return ns >= 1000000 && wall_ns > 0 && ns >= wall_ns / 100;
}

void finding_range_of(struct analyze *a, enum call_kind kind, struct finding *f)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, io->by_bucket);
	int64_t first = STORE_NULL, last = STORE_NULL;

	for (size_t i = 0; i < g->count; i++) {
		int64_t bucket = engine_key(g, i, 0);

		bool is_network = call_kind_is_network(kind) && call_kind_is_network((unsigned)engine_key(g, i, 1));

		if (bucket == STORE_NULL || (engine_key(g, i, 1) != kind && !is_network))
			continue;
		first = first == STORE_NULL ? bucket : first;
		last = bucket;
	}
	if (first == STORE_NULL)
		return;
	f->from_ns = first * a->bucket_ns;
	f->to_ns = (last + 1) * a->bucket_ns < f->to_ns ? (last + 1) * a->bucket_ns : f->to_ns;
}

bool finding_next_path(struct analyze *a, enum call_kind kind, size_t *at, struct finding_path *p)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, io->by_path);

	for (; *at < g->count; ++*at) {
		if (engine_key(g, *at, 1) != kind || engine_key(g, *at, 0) == 0)
			continue;
		*p = (struct finding_path){ .path = model_path(a->run, (uint32_t)engine_key(g, *at, 0)),
			.count = engine_count(g, IO_Q_COUNT, *at),
			.dur_ns = engine_sum(g, IO_Q_DUR, *at),
			.bytes = engine_sum(g, IO_Q_BYTES, *at),
			.buffered = (uint64_t)engine_sum(g, IO_Q_BUFFERED, *at) };
		++*at;
		return true;
	}
	return false;
}

bool finding_fill(struct finding *f, int64_t recoverable_ns, const char *what, const char *evidence, ...)
{
	va_list args;

	f->recoverable_ns = recoverable_ns;
	if (what)
		snprintf(f->what, sizeof(f->what), "%s", what);
	va_start(args, evidence);
	vsnprintf(f->evidence, sizeof(f->evidence), evidence, args);
	va_end(args);
	return true;
}

void finding_try(const struct analyze *a, const char *text, struct finding *f)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *run = strstr(text, "%s");

	buf_add(&out, text, run ? (size_t)(run - text) : strlen(text));
	if (run) {
		words_quote(&out, model_run_path(a->run));
		buf_adds(&out, run + 2);
	}
	snprintf(f->next, sizeof(f->next), "%s", out.len < sizeof(f->next) ? out.data : "sonde summary --json");
}

void finding_try_path(const struct analyze *a, const struct store_text *path, struct finding *f)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "sonde events --table io --path ");
	words_quote(&text, path->data);
	buf_addc(&text, ' ');
	words_quote(&text, model_run_path(a->run));
	if (text.len >= sizeof(f->next)) { /* too long to paste; a truncated command is useless */
		buf_reset(&text);
		buf_adds(&text, "sonde summary --top 20 --json");
	}
	snprintf(f->next, sizeof(f->next), "%s", text.data);
}

static const struct analyze_column columns[] = {
	{ "rule", "RULE", ANALYZE_TEXT },
	{ "what", "WHAT", ANALYZE_TEXT },
	{ "evidence", "EVIDENCE", ANALYZE_TEXT },
	{ "from_ns", NULL, ANALYZE_NS },
	{ "to_ns", NULL, ANALYZE_NS },
	{ "recoverable_ns", "RECOVERABLE", ANALYZE_NS },
	{ "next", "NEXT", ANALYZE_TEXT },
};

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct finding *findings = arena_alloc(&a->arena, RULES * sizeof(*findings));
	struct analyze_rank ranks[RULES];
	struct analyze_table *t = analyze_table(s, "diagnosis", "Diagnosis", columns,
			sizeof(columns) / sizeof(*columns), 0);
	size_t count = 0;

	(void)state, (void)err;
	for (size_t i = 0; findings && i < RULES; i++) {
		findings[i] = (struct finding){ .to_ns = finding_wall_ns(a), .recoverable_ns = STORE_NULL };
		if (rules[i].check(a, &findings[i]))
			ranks[count++] = (struct analyze_rank){ findings[i].recoverable_ns, i };
	}
	analyze_rank(ranks, count);
	for (size_t i = 0; i < count; i++) {
		const struct finding *f = &findings[ranks[i].index];

		analyze_cell_text(t, rules[ranks[i].index].key);
		analyze_cell_text(t, f->what);
		analyze_cell_text(t, f->evidence);
		analyze_cell_int(t, f->from_ns);
		analyze_cell_int(t, f->to_ns);
		analyze_cell_int(t, f->recoverable_ns);
		analyze_cell_text(t, f->next);
	}
	return 0;
}

const struct analyze_pass analyze_pass_diagnosis = { .key = "diagnosis",
	.title = "Diagnosis",
	.is_list = true,
	.finish = finish };
