/*
 * markdown: a report as a comment on a pull request.
 */
#include "duet/report.h"

#include <math.h>
#include <string.h>

/* A cell: no bar, no line end, and nothing that Markdown would act on. */
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

static void row(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	static const char *const marks[] = { [STATS_INCONCLUSIVE] = "❔",
		[STATS_FASTER] = "🟢",
		[STATS_SLOWER] = "🔴",
		[STATS_EQUIVALENT] = "⚪" };
	const struct duet_result *result = e->result;
	enum duet_metric metric = r->setup->pairing.metric;

	buf_addf(out, "| %s %s | ", marks[result->verdict], stats_verdict_name(result->verdict));
	cell(out, e->name ? e->name : "");
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

void duet_report_markdown(struct buf *out, const struct duet_report *r)
{
	if (r->count == 1) {
		buf_adds(out, "**");
		duet_say_answer(out, r, &r->entries[0]);
		buf_adds(out, "**\n\n");
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
	for (size_t i = 0; i < r->warning_count; i++)
		buf_addf(out, "\n> ⚠ %s.\n", r->warnings[i]);
	if (r->repeat)
		buf_addf(out, "\n<details><summary>Repeat it</summary>\n\n    %s\n\n</details>\n", r->repeat);
}
