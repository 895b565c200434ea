/* markdown: a report as a comment on a pull request. */
#include "base/cleanup.h"
#include "duet/duet-report.h"
#include "duet/explain.h"

#include <math.h>
#include <string.h>

/* Escapes a cell: no bar, no newline, no Markdown markup. */
static void cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]#", *text))
			buf_addc(out, '\\');
		buf_addc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
	}
}

static void percent(struct buf *out, double ratio)
{
	if (isfinite(ratio))
		buf_addf(out, "%+.2f %%", 100 * (ratio - 1));
	else
		buf_adds(out, "?");
}

/* A single comparison is titled by its commands or revisions. */
static void title(struct buf *out, const struct duet_entry *e)
{
	if (e->name) {
		cell(out, e->name);
	} else if (e->commands[DUET_A] && e->commands[DUET_B]) {
		cell(out, e->commands[DUET_A]);
		buf_adds(out, " → ");
		cell(out, e->commands[DUET_B]);
	}
}

static void row(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	static const char *const marks[] = { [STATS_INCONCLUSIVE] = "❔",
		[STATS_FASTER] = "🟢",
		[STATS_SLOWER] = "🔴",
		[STATS_EQUIVALENT] = "⚪" };
	const struct duet_result *result = e->result;
	enum duet_metric metric = r->setup->pairing.metric;

	buf_addf(out, "| %s %s | ", marks[result->verdict], stats_verdict_name(result->verdict));
	title(out, e);
	buf_adds(out, " | ");
	for (int side = 0; side < DUET_SIDES; side++) {
		duet_say_value(out, metric,
				duet_metric_median(result->runs, result->run_count, (enum duet_side)side, metric));
		buf_adds(out, " | ");
	}
	percent(out, result->effect.ratio.estimate);
	buf_adds(out, " | ");
	percent(out, result->effect.ratio.lo);
	buf_adds(out, " to ");
	percent(out, result->effect.ratio.hi);
	buf_addf(out, " | %zu |\n", result->run_count);
}

static void causes(struct buf *out, const struct duet_explanation *e)
{
	enum { CAUSES_SHOWN = 10 };

	buf_addf(out,
			"\n<details><summary>What carries the difference, of %zu recordings of each</summary>\n\n"
			"| kind | name | B - A (ms) | interval |\n|---|---|---:|---:|\n",
			e->recordings);
	for (size_t i = 0; i < e->count && i < CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];

		buf_addf(out, "| %s | ", c->kind);
		cell(out, c->name);
		buf_addf(out, " | %+.3f | %+.3f to %+.3f |\n", c->delta.estimate / 1e6, c->delta.lo / 1e6,
				c->delta.hi / 1e6);
	}
	buf_adds(out, "\n</details>\n");
}

void duet_report_markdown(struct buf *out, const struct duet_report *r)
{
	CLEANUP(buf_release) struct buf need = BUF_INIT;

	if (r->count == 1) {
		buf_adds(out, "**");
		duet_say_answer(out, r, &r->entries[0]);
		buf_adds(out, "**\n\n");
		duet_say_need(&need, r, &r->entries[0]);
		if (need.len)
			buf_addf(out, "%s\n\n", need.data);
	}
	buf_addf(out, "| verdict | benchmark | A (%1$s) | B (%1$s) | change | %2$g %% interval | runs |\n",
			duet_metric_name(&r->setup->pairing), 100 * r->setup->level);
	buf_adds(out, "|---|---|---:|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < r->count; i++)
		row(out, r, &r->entries[i]);
	if (r->count > 1) {
		buf_adds(out, "| | geometric mean | | | ");
		percent(out, r->mean.estimate);
		buf_adds(out, " | ");
		percent(out, r->mean.lo);
		buf_adds(out, " to ");
		percent(out, r->mean.hi);
		buf_adds(out, " | |\n");
	}
	if (r->count > 1) {
		CLEANUP(buf_release) struct buf held = BUF_INIT;

		duet_say_held_back(&held, r);
		if (held.len)
			buf_addf(out, "\n> %s.\n", held.data);
	}
	for (size_t i = 0; i < r->warning_count; i++)
		buf_addf(out, "\n> ⚠ %s.\n", r->warnings[i]);
	if (r->explanation)
		causes(out, r->explanation);
	if (r->repeat)
		buf_addf(out, "\n<details><summary>Repeat it</summary>\n\n    %s\n\n</details>\n", r->repeat);
}
