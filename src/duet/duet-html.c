/*
 * duet-html: a report as one HTML page: answers, the pairs, the timeline, A against itself, and how to reproduce it.
 * No script, no external resources; all external text is escaped.
 */
#include "duet/duet-html-private.h"
#include "duet/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
		"body{font:15px/1.5 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 "
		"1em;color:#222;background:#fff}"
		"h1{font-size:1.4em}h2{font-size:1.2em;margin-top:2em}h3{font-size:1em;margin:1.4em 0 .2em}"
		"table{border-collapse:collapse}p{margin:.4em 0}"
		"td,th{padding:.2em .8em;border-bottom:1px solid "
		"#ddd;text-align:right}td:first-child,th:first-child{text-align:left}"
		".slower{color:#b3261e}.faster{color:#146c2e}.equivalent{color:#00639b}.inconclusive{color:#7a5900}"
		".quiet{color:#777}"
		".plot{overflow-x:auto}table{display:block;overflow-x:auto}"
		"svg{width:100%;min-width:46em;height:auto;background:#fafafa}"
		"svg text{font-size:12px;fill:currentColor}"
		".grid{stroke:#8884}.band{fill:#8882}.interval{fill:#4a90d955}.even{fill:#00639b}.odd{fill:#b3261e}"
		"circle.far{fill:none;stroke:currentColor}.overlap{fill:#2e9c4b99}"
		"pre{background:#f3f3f3;padding:.6em;white-space:pre-wrap;overflow-wrap:anywhere}"
		".warning{border-left:4px solid #e0a800;padding-left:.6em}"
		"@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}svg{background:#1e1e1e}"
		"pre{background:#222}td,th{border-color:#444}.quiet{color:#999}.slower{color:#f28b82}"
		".faster{color:#81c995}.equivalent{color:#8ab4f8}.inconclusive{color:#fdd663}"
		".even{fill:#5ba8e0}.odd{fill:#f28b82}}";

void html_percent(struct buf *out, double ratio)
{
	if (isfinite(ratio))
		buf_addf(out, "%+.2f %%", 100 * (ratio - 1));
	else
		buf_addc(out, '?');
}

/* The answer, and A against itself if it was checked. */
static void effect(struct buf *out, const struct duet_report *r, const struct duet_result *result)
{
	struct html_row rows[3] = { { "B against A", stats_verdict_name(result->verdict), &result->effect.ratio } };
	size_t count = 1;

	if (isfinite(result->cpu.estimate))
		rows[count++] = (struct html_row){ "CPU time", "quiet", &result->cpu };
	if (result->self.runs)
		rows[count++] = (struct html_row){ "A against itself", "quiet", &result->self.ratio };
	html_intervals(out, rows, count, r->setup->margin);
	buf_addf(out, "<p class=\"quiet\">The band is the threshold of %g %%: what lies within is equivalent. ",
			100 * (r->setup->margin - 1));
	if (result->self.runs)
		buf_addf(out, "A against itself (%zu runs, a %g %% interval) should hold 0%s.", result->self.runs,
				100 * result->self.ratio.level,
				result->self.is_biased ? ", and does not: something favours a side" : ", and does");
	else
		buf_adds(out, "A was not compared with itself.");
	buf_adds(out, "</p>");
}

static void side_row(struct buf *out, const struct duet_result *result, enum duet_metric metric)
{
	double medians[DUET_SIDES];

	for (int side = 0; side < DUET_SIDES; side++)
		medians[side] = duet_metric_median(result->runs, result->run_count, (enum duet_side)side, metric);
	if (!isfinite(medians[DUET_A]) && !isfinite(medians[DUET_B]))
		return;
	buf_addf(out, "<tr><td>%s</td><td>", duet_metric_names[metric]);
	duet_say_value(out, metric, medians[DUET_A]);
	buf_adds(out, "</td><td>");
	duet_say_value(out, metric, medians[DUET_B]);
	buf_adds(out, "</td><td>");
	html_percent(out, medians[DUET_B] / medians[DUET_A]);
	buf_adds(out, "</td></tr>");
}

/* Medians of all metrics, whichever was compared. */
static void sides(struct buf *out, const struct duet_entry *e)
{
	buf_adds(out, "<h3>Medians</h3><table><tr><th></th><th>A</th><th>B</th><th>B / A</th></tr>");
	for (int m = 0; m < DUET_METRICS; m++)
		side_row(out, e->result, (enum duet_metric)m);
	buf_adds(out, "</table>");
	for (int side = 0; side < DUET_SIDES && e->commands[side]; side++) {
		buf_addf(out, "<p>%c: <code>", "AB"[side]);
		buf_add_html(out, e->commands[side]);
		buf_adds(out, "</code></p>");
	}
}

static void pilot(struct buf *out, const struct duet_result *r)
{
	if (!r->is_design_piloted)
		return;
	buf_adds(out, "; in a pilot of A against itself ");
	duet_say_pilot(out, r);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void method(struct buf *out, const struct duet_report *r, const struct duet_result *result)
{
	const char *words = result->effect.log_ratio.method;

	buf_adds(out, "<h3>Method</h3><p>Metric ");
	buf_add_html(out, duet_metric_name(&r->setup->pairing));
	buf_addf(out, "; design %s: %s", duet_design_names[result->schedule.design],
			duet_design_titles[result->schedule.design]);
	pilot(out, result);
	buf_addf(out, ". %s, level %g %%; %zu run%s of %zu pair%s, %zu look%s, stopped: %s.", words ? words : "",
			100 * r->setup->level, result->run_count, plural(result->run_count), result->pairs.count,
			plural(result->pairs.count), result->looks, plural(result->looks),
			duet_stop_names[result->stop]);
	if (isfinite(result->detectable))
		buf_addf(out, " These runs find a change of %.2f %% in 8 of 10 cases.", 100 * (result->detectable - 1));
	buf_adds(out, "</p>");
}

static void entry(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	buf_adds(out, "<section>");
	if (e->name) {
		buf_adds(out, "<h2>");
		buf_add_html(out, e->name);
		buf_adds(out, "</h2>");
	}
	buf_addf(out, "<p class=\"%s\"><strong>", stats_verdict_name(e->result->verdict));
	duet_say_answer(out, r, e);
	buf_adds(out, ".</strong></p>");
	effect(out, r, e->result);
	if (e->result->pairs.count) {
		buf_adds(out, "<h3>Every pair</h3>");
		html_scatter(out, e->result);
	}
	sides(out, e);
	html_timeline(out, e->result);
	html_order(out, e->result);
	method(out, r, e->result);
	buf_adds(out, "</section>");
}

static void causes(struct buf *out, const struct duet_explanation *e)
{
	enum { CAUSES_SHOWN = 30 };

	buf_addf(out,
			"<h2>What carries the difference</h2><p>Of %zu recordings of each side: ms a recording and how "
			"often. Rows are grey if the interval contains 0.</p>"
			"<table><tr><th>name</th><th>kind</th><th>B "
			"&minus; A</th><th>from</th><th>to</th><th>A</th><th>B</th></tr>",
			e->recordings);
	for (size_t i = 0; i < e->count && i < CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];
		bool is_sure = c->delta.lo > 0 || c->delta.hi < 0;

		buf_addf(out, "<tr%s><td>", is_sure ? "" : " class=\"quiet\"");
		buf_add_html(out, c->name);
		buf_addf(out,
				"</td><td>%s</td><td>%+.3f</td><td>%+.3f</td><td>%+.3f</td><td>%.3f / %.0f</td>"
				"<td>%.3f / %.0f</td></tr>",
				c->kind, c->delta.estimate / 1e6, c->delta.lo / 1e6, c->delta.hi / 1e6, c->a_ns / 1e6,
				c->a_calls, c->b_ns / 1e6, c->b_calls);
	}
	buf_adds(out, "</table>");
}

static void circumstances(struct buf *out, const struct duet_report *r)
{
	buf_addf(out, "<h2>To repeat it</h2><p>Seed %llu", (unsigned long long)r->setup->seed);
	if (r->setup->has_priority)
		buf_adds(out, ", ahead of other processes");
	if (isfinite(r->interference.steal_share))
		buf_addf(out, ", %.1f %% of the processor time stolen", 100 * r->interference.steal_share);
	if (isfinite(r->interference.pressure_share))
		buf_addf(out, ", tasks waited for a CPU %.0f %% of the time", 100 * r->interference.pressure_share);
	buf_adds(out, ".");
	if (r->machine) {
		buf_adds(out, " On ");
		buf_add_html(out, r->machine);
		buf_adds(out, ".");
	}
	buf_adds(out, "</p>");
	if (r->repeat) {
		buf_adds(out, "<pre>");
		buf_add_html(out, r->repeat);
		buf_adds(out, "</pre>");
	}
}

void duet_report_html(struct buf *out, const struct duet_report *r, bool is_growing)
{
	buf_adds(out,
			"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
			"<meta name=\"viewport\" content=\"width=device-width\">");
	if (is_growing)
		buf_adds(out, "<meta http-equiv=\"refresh\" content=\"2\">");
	buf_adds(out, "<title>sonde duet</title><style>");
	buf_adds(out, style);
	buf_adds(out, "</style></head><body><h1>sonde duet</h1>");
	if (is_growing)
		buf_adds(out, "<p class=\"quiet\">It has not come to its end: this is what there is so far.</p>");
	if (r->count != 1 || r->entries[0].name)
		html_analysis(out, r);
	for (size_t i = 0; i < r->count; i++)
		entry(out, r, &r->entries[i]);
	for (size_t i = 0; i < r->warning_count; i++) {
		buf_adds(out, "<p class=\"warning\">");
		buf_add_html(out, r->warnings[i]);
		buf_adds(out, ".</p>");
	}
	if (r->explanation)
		causes(out, r->explanation);
	circumstances(out, r);
	buf_adds(out, "</body></html>\n");
}
