/*
 * html: a report as one page: answers, the pairs, when they ran, and how to repeat it. No script, nothing fetched;
 * every text from outside is escaped.
 */
#include "duet/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, HEIGHT = 220, LEFT = 60, BOTTOM = 24, PAIRS_SHOWN = 4000, SPANS_SHOWN = 400, RUNS_SHOWN = 3 };

static const char style[] =
		"body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 "
		"1em;color:#222;background:#fff}"
		"h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse}"
		"td,th{padding:.2em .8em;border-bottom:1px solid "
		"#ddd;text-align:right}td:first-child,th:first-child{text-align:left}"
		".slower{color:#b3261e}.faster{color:#146c2e}.equivalent{color:#00639b}.inconclusive{color:#7a5900}"
		"svg{width:100%;height:auto;background:#fafafa}pre{background:#f3f3f3;padding:.6em;overflow:auto}"
		".warning{border-left:4px solid #e0a800;padding-left:.6em}"
		"@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}svg{background:#1e1e1e}"
		"pre{background:#222}"
		"td,th{border-color:#444}text{fill:#bbb}}";

static void text(struct buf *out, const char *s)
{
	for (; s && *s; s++) {
		switch (*s) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		default:
			buf_addc(out, *s);
		}
	}
}

/* A linear map of values to the screen. */
struct axis {
	double lo, hi, from, to;
};

static double place(const struct axis *a, double v)
{
	double share = (v - a->lo) / (a->hi - a->lo);

	return a->from + (share < 0 ? 0 : share > 1 ? 1 : share) * (a->to - a->from);
}

static void widen(struct axis *a)
{
	double room = 0.05 * (a->hi - a->lo);

	if (!(room > 0))
		room = 0.001;
	a->lo -= room;
	a->hi += room;
}

static void grid(struct buf *out, const struct axis *y, const char *unit)
{
	for (int i = 0; i <= 4; i++) {
		double v = y->lo + (y->hi - y->lo) * i / 4;

		buf_addf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#8884\"/>", LEFT, WIDTH,
				place(y, v), place(y, v));
		buf_addf(out, "<text x=\"%d\" y=\"%.1f\" font-size=\"11\" text-anchor=\"end\">%+.2f%s</text>", LEFT - 4,
				place(y, v) + 4, v, unit);
	}
}

static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* Each pair's change, run by run; the interval as a band. */
static void scatter(struct buf *out, const struct duet_result *r)
{
	const struct duet_pairs *p = &r->pairs;
	const struct stats_interval *i = &r->effect.log_ratio;
	struct axis x = { 0, (double)(p->count ? p->count : 1), LEFT, WIDTH - 8 };
	struct axis y = { 0, 0, HEIGHT - BOTTOM, 8 };
	size_t step = p->count / PAIRS_SHOWN + 1;

	for (size_t k = 0; k < p->count; k++) {
		y.lo = fmin(y.lo, percent(p->x[k]));
		y.hi = fmax(y.hi, percent(p->x[k]));
	}
	widen(&y);
	buf_addf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"pairs\">", WIDTH, HEIGHT);
	grid(out, &y, " %");
	if (isfinite(i->lo) && isfinite(i->hi))
		buf_addf(out, "<rect x=\"%d\" width=\"%d\" y=\"%.1f\" height=\"%.1f\" fill=\"#4a90d955\"/>", LEFT,
				WIDTH - LEFT, place(&y, percent(i->hi)),
				place(&y, percent(i->lo)) - place(&y, percent(i->hi)) + 1);
	for (size_t run = 0; run < p->runs; run++)
		for (size_t k = p->first[run]; k < p->first[run + 1]; k += step)
			buf_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\"/>",
					place(&x, (double)k + 0.5), place(&y, percent(p->x[k])),
					run % 2 ? "#b3261e" : "#00639b");
	buf_addf(out,
			"<text x=\"%d\" y=\"%d\" font-size=\"11\">pairs in order of time; colours alternate "
			"by run</text></svg>",
			LEFT, HEIGHT - 6);
}

static void spans(struct buf *out, const struct duet_samples *s, const struct axis *x, int y, const char *colour)
{
	for (size_t i = 0; i < s->count && i < SPANS_SHOWN; i++) {
		double from = place(x, (double)s->items[i].start_ns), to = place(x, (double)s->items[i].end_ns);

		buf_addf(out,
				"<rect x=\"%.2f\" width=\"%.2f\" y=\"%d\" height=\"14\" fill=\"%s\" "
				"stroke=\"#fff8\" stroke-width=\".5\"/>",
				from, to - from > 0.5 ? to - from : 0.5, y, colour);
	}
}

/* When the iterations of the first runs were, A above B. */
static void timeline(struct buf *out, const struct duet_result *r)
{
	size_t n = r->run_count < RUNS_SHOWN ? r->run_count : RUNS_SHOWN;

	if (!n || !r->runs[0].sides[DUET_A].count || !r->runs[0].sides[DUET_A].items[0].end_ns)
		return;
	buf_addf(out, "<h2>When they ran</h2><svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"timeline\">", WIDTH,
			n * 48 + 8);
	for (size_t i = 0; i < n; i++) {
		const struct duet_run *run = &r->runs[i];
		struct axis x = { (double)run->start_ns, (double)run->end_ns, LEFT, WIDTH - 8 };
		int y = (int)i * 48 + 8;

		if (!(x.hi > x.lo))
			continue;
		buf_addf(out,
				"<text x=\"4\" y=\"%d\" font-size=\"11\">run %zu A</text><text x=\"4\" "
				"y=\"%d\" font-size=\"11\">B</text>",
				y + 11, i + 1, y + 29);
		spans(out, &run->sides[DUET_A], &x, y, "#00639b");
		spans(out, &run->sides[DUET_B], &x, y + 18, "#b3261e");
	}
	buf_adds(out, "</svg>");
}

static void order(struct buf *out, const struct duet_result *r)
{
	buf_adds(out, "<p>Order of the runs:");
	for (size_t i = 0; i < r->run_count && i < SPANS_SHOWN; i++)
		buf_addf(out, " %s%s", r->runs[i].is_first_b ? "BA" : "AB", r->runs[i].is_swapped ? "'" : "");
	buf_adds(out, " (' with the CPUs exchanged).</p>");
}

static void details(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const struct duet_result *result = e->result;

	buf_adds(out, "<ul>");
	for (int side = 0; side < DUET_SIDES; side++) {
		buf_addf(out, "<li>%c: <code>", "AB"[side]);
		text(out, e->commands[side]);
		buf_adds(out, "</code>, median ");
		duet_say_value(out, r->setup->pairing.metric,
				duet_metric_median(result->runs, result->run_count, (enum duet_side)side,
						r->setup->pairing.metric));
		buf_adds(out, "</li>");
	}
	buf_addf(out, "<li>design %s, %s; stopped: %s; %zu looks</li>", duet_design_names[result->schedule.design],
			result->effect.log_ratio.method ? result->effect.log_ratio.method : "",
			duet_stop_name(result->stop), result->looks);
	if (result->self.runs)
		buf_addf(out, "<li>A against itself: %+.2f %% (%g %% interval %+.2f to %+.2f %%, %zu runs)</li>",
				100 * (result->self.ratio.estimate - 1), 100 * result->self.ratio.level,
				100 * (result->self.ratio.lo - 1), 100 * (result->self.ratio.hi - 1),
				result->self.runs);
	buf_adds(out, "</ul>");
}

static void entry(struct buf *out, const struct duet_report *r, const struct duet_entry *e)
{
	const char *verdict = stats_verdict_name(e->result->verdict);

	buf_adds(out, "<section>");
	if (e->name) {
		buf_adds(out, "<h2>");
		text(out, e->name);
		buf_adds(out, "</h2>");
	}
	buf_addf(out, "<p class=\"%s\"><strong>", verdict);
	duet_say_answer(out, r, e);
	buf_adds(out, ".</strong></p>");
	if (e->result->pairs.count)
		scatter(out, e->result);
	details(out, r, e);
	timeline(out, e->result);
	order(out, e->result);
	buf_adds(out, "</section>");
}

static void table_cell(struct buf *out, double ratio)
{
	if (isfinite(ratio))
		buf_addf(out, "<td>%+.2f %%</td>", 100 * (ratio - 1));
	else
		buf_adds(out, "<td>?</td>");
}

static void table(struct buf *out, const struct duet_report *r)
{
	buf_adds(out,
			"<table><tr><th>benchmark</th><th>verdict</th><th>change</th><th>from</th>"
			"<th>to</th><th>runs</th></tr>");
	for (size_t i = 0; i < r->count; i++) {
		const struct duet_result *result = r->entries[i].result;
		const char *verdict = stats_verdict_name(result->verdict);

		buf_adds(out, "<tr><td>");
		text(out, r->entries[i].name);
		buf_addf(out, "</td><td class=\"%s\">%s</td>", verdict, verdict);
		table_cell(out, result->effect.ratio.estimate);
		table_cell(out, result->effect.ratio.lo);
		table_cell(out, result->effect.ratio.hi);
		buf_addf(out, "<td>%zu</td></tr>", result->run_count);
	}
	buf_adds(out, "<tr><td>geometric mean</td><td></td>");
	table_cell(out, r->mean.estimate);
	table_cell(out, r->mean.lo);
	table_cell(out, r->mean.hi);
	buf_adds(out, "<td></td></tr></table>");
}

void duet_report_html(struct buf *out, const struct duet_report *r)
{
	buf_adds(out,
			"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>sonde "
			"duet</title><style>");
	buf_adds(out, style);
	buf_adds(out, "</style></head><body><h1>sonde duet</h1>");
	if (r->count > 1)
		table(out, r);
	for (size_t i = 0; i < r->count; i++)
		entry(out, r, &r->entries[i]);
	for (size_t i = 0; i < r->warning_count; i++) {
		buf_adds(out, "<p class=\"warning\">");
		text(out, r->warnings[i]);
		buf_adds(out, ".</p>");
	}
	buf_addf(out, "<h2>Circumstances</h2><p>Seed %llu", (unsigned long long)r->setup->seed);
	if (r->setup->has_priority)
		buf_adds(out, ", ahead of other processes");
	if (isfinite(r->around.steal_share))
		buf_addf(out, ", %.1f %% of the processor time stolen", 100 * r->around.steal_share);
	if (isfinite(r->around.pressure_share))
		buf_addf(out, ", somebody waited for a processor in %.0f %% of the time",
				100 * r->around.pressure_share);
	buf_adds(out, ".</p>");
	if (r->repeat) {
		buf_adds(out, "<pre>");
		text(out, r->repeat);
		buf_adds(out, "</pre>");
	}
	buf_adds(out, "</body></html>\n");
}
