/* duet-html-plots: the plots of the HTML report. */
#include "duet/duet-html-private.h"
#include "duet/duet-report.h"
#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, HEIGHT = 220, LEFT = 72, NAMES = 240, BOTTOM = 24, ROW = 24, RUN_ROW = 52, TICKS = 8 };
enum { PAIRS_SHOWN = 4000, SPANS_SHOWN = 400, RUNS_SHOWN = 6, ORDER_SHOWN = 400, ORDER_IN_ROW = 50 };

/* A linear map of values to the screen. */
struct axis {
	double lo, hi, from, to;
};

static double place(const struct axis *a, double v)
{
	double share = (v - a->lo) / (a->hi - a->lo);

	return a->from + (share < 0 ? 0 : share > 1 ? 1 : share) * (a->to - a->from);
}

static void include(struct axis *a, double v)
{
	if (!isfinite(v))
		return;
	a->lo = fmin(a->lo, v);
	a->hi = fmax(a->hi, v);
}

static void widen(struct axis *a)
{
	double room = 0.05 * (a->hi - a->lo);

	if (!(room > 0))
		room = 0.001;
	a->lo -= room;
	a->hi += room;
}

static void start(struct buf *out, size_t height, const char *what)
{
	buf_addf(out, "<div class=\"plot\"><svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"%s\">", WIDTH, height,
			what);
}

static void end(struct buf *out)
{
	buf_adds(out, "</svg></div>");
}

static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

static void interval_row(struct buf *out, const struct html_row *row, const struct axis *x, double y)
{
	const struct stats_interval *i = row->ratio;
	double lo = 100 * (i->lo - 1), hi = 100 * (i->hi - 1), at = 100 * (i->estimate - 1);

	buf_addf(out, "<g class=\"%s\"><text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", row->style, NAMES - 8, y + 4);
	buf_add_html(out, row->name);
	buf_adds(out, "</text>");
	if (isfinite(at)) {
		double from = place(x, isfinite(lo) ? lo : x->lo), to = place(x, isfinite(hi) ? hi : x->hi);

		buf_addf(out,
				"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"currentColor\" "
				"stroke-width=\"3\"/><circle cx=\"%.1f\" cy=\"%.0f\" r=\"5\" "
				"fill=\"currentColor\"><title>",
				from, to, y, y, place(x, at), y);
		html_percent(out, i->estimate);
		buf_adds(out, " (");
		html_percent(out, i->lo);
		buf_adds(out, " to ");
		html_percent(out, i->hi);
		buf_adds(out, ")</title></circle>");
	}
	buf_adds(out, "</g>");
}

void html_intervals(struct buf *out, const struct html_row *rows, size_t count, double margin)
{
	struct axis x = { -100 * (margin - 1), 100 * (margin - 1), NAMES, WIDTH - 30 };
	double band_lo, band_hi, height = (double)count * ROW;
	struct duet_ticks ticks;

	for (size_t i = 0; i < count; i++) {
		include(&x, 100 * (rows[i].ratio->estimate - 1));
		include(&x, 100 * (rows[i].ratio->lo - 1));
		include(&x, fmin(100 * (rows[i].ratio->hi - 1), 1000));
	}
	widen(&x);
	start(out, count * ROW + 30, "intervals");
	band_lo = place(&x, 100 * (1 / margin - 1));
	band_hi = place(&x, 100 * (margin - 1));
	buf_addf(out, "<rect class=\"band\" x=\"%.1f\" width=\"%.1f\" y=\"0\" height=\"%.0f\"/>", band_lo,
			band_hi - band_lo, height);
	ticks = duet_ticks_for(x.lo, x.hi, TICKS);
	for (size_t i = 0; i < ticks.count; i++) {
		double at = place(&x, duet_tick(&ticks, i));
		char label[32];

		duet_tick_label(&ticks, i, label, sizeof(label));
		buf_addf(out,
				"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\" class=\"grid\"/><text "
				"x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>",
				at, at, height, at, height + 18, label);
	}
	buf_addf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\" stroke=\"currentColor\"/>", place(&x, 0),
			place(&x, 0), height);
	for (size_t i = 0; i < count; i++)
		interval_row(out, &rows[i], &x, ((double)i + 0.5) * ROW);
	end(out);
}

static void grid(struct buf *out, const struct axis *y)
{
	struct duet_ticks ticks = duet_ticks_for(y->lo, y->hi, TICKS);

	for (size_t i = 0; i < ticks.count; i++) {
		double at = place(y, duet_tick(&ticks, i));
		char label[32];

		duet_tick_label(&ticks, i, label, sizeof(label));
		buf_addf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>", LEFT, WIDTH, at,
				at);
		buf_addf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 4, at + 4, label);
	}
}

/*
 * The visible range: the whole interval, 0 and, with many pairs, the middle ones: a few outliers would compress the
 * rest. The interval of two or three runs may be far wider than all pairs.
 */
static bool scatter_axis(const struct duet_result *r, struct axis *y)
{
	enum { MANY = 25, WIDEST = 8 };

	const struct duet_pairs *p = &r->pairs;
	const struct stats_interval *i = &r->effect.log_ratio;
	double *x = calloc(p->count + 1, sizeof(*x)), tail = p->count >= MANY ? 0.02 : 0, room;

	if (!x)
		return false;
	memcpy(x, p->x, p->count * sizeof(*x));
	include(y, percent(stats_quantile(x, p->count, tail)));
	include(y, percent(stats_quantile(x, p->count, 1 - tail)));
	free(x);
	room = fmax(WIDEST * (y->hi - y->lo), 0.01);
	include(y, fmax(percent(i->lo), y->lo - room));
	include(y, fmin(percent(i->hi), y->hi + room));
	widen(y);
	return true;
}

static bool is_beyond(const struct axis *a, double v)
{
	return v < a->lo || v > a->hi;
}

static void dot(struct buf *out, const struct duet_pairs *p, size_t run, size_t k, double x, const struct axis *y)
{
	double change = percent(p->x[k]);

	buf_addf(out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" class=\"%s%s\"><title>run %zu, "
			"iterations %zu of A and %zu of B: %+.2f %%</title></circle>",
			x, place(y, change), run % 2 ? "odd" : "even", is_beyond(y, change) ? " far" : "", run + 1,
			p->a[k] + 1, p->b[k] + 1, change);
}

void html_scatter(struct buf *out, const struct duet_result *r)
{
	const struct duet_pairs *p = &r->pairs;
	const struct stats_interval *i = &r->effect.log_ratio;
	struct axis x = { 0, (double)(p->count ? p->count : 1), LEFT, WIDTH - 8 };
	struct axis y = { 0, 0, HEIGHT - BOTTOM, 8 };
	size_t step = p->count / PAIRS_SHOWN + 1, beyond = 0;

	if (!scatter_axis(r, &y))
		return;
	start(out, HEIGHT, "pairs");
	grid(out, &y);
	if (isfinite(i->lo) && isfinite(i->hi))
		buf_addf(out, "<rect x=\"%d\" width=\"%d\" y=\"%.1f\" height=\"%.1f\" class=\"interval\"/>", LEFT,
				WIDTH - LEFT, place(&y, percent(i->hi)),
				place(&y, percent(i->lo)) - place(&y, percent(i->hi)) + 1);
	for (size_t run = 0; run < p->runs; run++)
		for (size_t k = p->first[run]; k < p->first[run + 1]; k += step) {
			beyond += is_beyond(&y, percent(p->x[k]));
			dot(out, p, run, k, place(&x, (double)k + 0.5), &y);
		}
	buf_addf(out,
			"<text x=\"%d\" y=\"%d\">pairs in order of time, colours alternate by run; the band is the "
			"interval",
			LEFT, HEIGHT - 6);
	if (beyond)
		buf_addf(out, "; %zu at the edges, hollow, lie beyond", beyond);
	buf_adds(out, "</text>");
	end(out);
}

static void spans(struct buf *out, const struct duet_run *run, enum duet_side side, const struct axis *x, size_t y)
{
	const struct duet_samples *s = &run->sides[side];

	for (size_t i = 0; i < s->count && i < SPANS_SHOWN; i++) {
		double from = place(x, (double)s->items[i].start_ns), to = place(x, (double)s->items[i].end_ns);

		buf_addf(out,
				"<rect x=\"%.2f\" width=\"%.2f\" y=\"%zu\" height=\"14\" class=\"%s\"><title>%c, "
				"iteration %zu: %.3f ms from %.3f ms</title></rect>",
				from, to - from > 0.5 ? to - from : 0.5, y, side == DUET_A ? "even" : "odd", "AB"[side],
				i + 1, (double)(s->items[i].end_ns - s->items[i].start_ns) / 1e6,
				(double)(s->items[i].start_ns - run->start_ns) / 1e6);
	}
}

/* Draws the time that the two iterations of a pair shared, between the two rows. */
static void shared(struct buf *out, const struct duet_result *r, size_t run, const struct axis *x, size_t y)
{
	const struct duet_pairs *p = &r->pairs;

	for (size_t k = p->first[run]; k < p->first[run + 1] && k - p->first[run] < SPANS_SHOWN; k++) {
		const struct duet_iteration *a = &r->runs[run].sides[DUET_A].items[p->a[k]];
		const struct duet_iteration *b = &r->runs[run].sides[DUET_B].items[p->b[k]];
		int64_t from = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
		int64_t to = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

		if (to > from)
			buf_addf(out, "<rect x=\"%.2f\" width=\"%.2f\" y=\"%zu\" height=\"6\" class=\"overlap\"/>",
					place(x, (double)from), place(x, (double)to) - place(x, (double)from), y);
	}
}

static bool has_times(const struct duet_result *r)
{
	return r->run_count && r->runs[0].sides[DUET_A].count && r->runs[0].sides[DUET_A].items[0].end_ns;
}

void html_timeline(struct buf *out, const struct duet_result *r)
{
	size_t n = r->run_count < RUNS_SHOWN ? r->run_count : RUNS_SHOWN;

	if (!has_times(r))
		return;
	buf_addf(out,
			"<h3>When they ran</h3><p>The first %zu of %zu runs; green is time that both of a pair "
			"shared.</p>",
			n, r->run_count);
	start(out, n * RUN_ROW + 8, "timeline");
	for (size_t i = 0; i < n; i++) {
		const struct duet_run *run = &r->runs[i];
		struct axis x = { (double)run->start_ns, (double)run->end_ns, LEFT, WIDTH - 8 };
		size_t y = i * RUN_ROW + 8;

		if (!(x.hi > x.lo))
			continue;
		buf_addf(out, "<text x=\"4\" y=\"%zu\">run %zu A</text><text x=\"4\" y=\"%zu\">B</text>", y + 11, i + 1,
				y + 33);
		spans(out, run, DUET_A, &x, y);
		if (i < r->pairs.runs)
			shared(out, r, i, &x, y + 15);
		spans(out, run, DUET_B, &x, y + 22);
	}
	end(out);
}

void html_order(struct buf *out, const struct duet_result *r)
{
	size_t n = r->run_count < ORDER_SHOWN ? r->run_count : ORDER_SHOWN, first_b = 0, swapped = 0;

	for (size_t i = 0; i < r->run_count; i++) {
		first_b += r->runs[i].is_first_b;
		swapped += r->runs[i].is_swapped;
	}
	buf_addf(out,
			"<h3>Order of the runs</h3><p>A began %zu, B %zu of them; with the CPUs exchanged: %zu "
			"(marked).</p>",
			r->run_count - first_b, first_b, swapped);
	start(out, (n + ORDER_IN_ROW - 1) / ORDER_IN_ROW * 18 + 4, "order");
	for (size_t i = 0; i < n; i++) {
		const struct duet_run *run = &r->runs[i];
		size_t x = LEFT + i % ORDER_IN_ROW * 16, y = i / ORDER_IN_ROW * 18 + 2;

		buf_addf(out,
				"<rect x=\"%zu\" y=\"%zu\" width=\"14\" height=\"14\" class=\"%s\"%s><title>run %zu: "
				"%s%s</title></rect>",
				x, y, run->is_first_b ? "odd" : "even",
				run->is_swapped ? " stroke=\"currentColor\" stroke-width=\"2\"" : "", i + 1,
				run->is_first_b ? "BA" : "AB", run->is_swapped ? ", CPUs exchanged" : "");
	}
	end(out);
}

/*
 * duet-html-analysis: results of many benchmarks and designs, presented like a notebook: a question, its answer, the
 * figures.
 *
 * Spread is the standard deviation of a side's iterations divided by their mean, warm-up included; width is the
 * interval's; overlap is twice the time that pairs shared divided by the time of all iterations, as in duetbench;
 * "finds" is the change that this number of runs detects with power 0.8.
 */

static void cell(struct buf *out, double share)
{
	if (isfinite(share))
		buf_addf(out, "<td>%.2f %%</td>", 100 * share);
	else
		buf_adds(out, "<td>?</td>");
}

static double spread(const struct duet_result *r, enum duet_side side, enum duet_metric metric)
{
	struct stats_moments m;

	stats_moments_init(&m);
	for (size_t i = 0; i < r->run_count; i++)
		for (size_t k = 0; k < r->runs[i].sides[side].count; k++)
			if (isfinite(r->runs[i].sides[side].items[k].metrics[metric]))
				stats_moments_add(&m, r->runs[i].sides[side].items[k].metrics[metric]);
	return stats_sd(&m) / m.mean;
}

static double width(const struct duet_result *r)
{
	return r->effect.ratio.hi - r->effect.ratio.lo;
}

static double overlap_of(const struct duet_iteration *a, const struct duet_iteration *b)
{
	int64_t from = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
	int64_t to = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

	return to > from ? (double)(to - from) : 0;
}

static double overlap(const struct duet_result *r)
{
	double both = 0, all = 0;

	for (size_t run = 0; run < r->pairs.runs; run++) {
		const struct duet_samples *sides = r->runs[run].sides;

		for (size_t k = r->pairs.first[run]; k < r->pairs.first[run + 1]; k++)
			both += overlap_of(&sides[DUET_A].items[r->pairs.a[k]], &sides[DUET_B].items[r->pairs.b[k]]);
		for (int side = 0; side < DUET_SIDES; side++)
			for (size_t i = 0; i < sides[side].count; i++)
				all += (double)(sides[side].items[i].end_ns - sides[side].items[i].start_ns);
	}
	return all > 0 ? 2 * both / all : NAN;
}

static void answers(struct buf *out, const struct duet_report *r)
{
	struct html_row *rows = calloc(r->count + 1, sizeof(*rows));

	buf_adds(out, "<h2>What changed?</h2>");
	for (size_t i = 0; rows && i < r->count; i++)
		rows[i] = (struct html_row){ r->entries[i].name, stats_verdict_name(r->entries[i].result->verdict),
			&r->entries[i].result->effect.ratio };
	if (rows) {
		rows[r->count] = (struct html_row){ "geometric mean", "quiet", &r->mean };
		html_intervals(out, rows, r->count + 1, r->setup->margin);
	}
	free(rows);
	buf_adds(out,
			"<table><tr><th>benchmark</th><th>verdict</th><th>change</th><th>from</th><th>to</th>"
			"<th>runs</th>"
			"<th>p (Holm)</th></tr>");
	for (size_t i = 0; i < r->count; i++) {
		const struct duet_result *result = r->entries[i].result;
		const char *verdict = stats_verdict_name(result->verdict);

		buf_adds(out, "<tr><td>");
		buf_add_html(out, r->entries[i].name);
		buf_addf(out, "</td><td class=\"%s\">%s</td><td>", verdict, verdict);
		html_percent(out, result->effect.ratio.estimate);
		buf_adds(out, "</td><td>");
		html_percent(out, result->effect.ratio.lo);
		buf_adds(out, "</td><td>");
		html_percent(out, result->effect.ratio.hi);
		buf_addf(out, "</td><td>%zu</td><td>", result->run_count);
		if (isfinite(r->entries[i].p_adjusted))
			buf_addf(out, "%.3g", r->entries[i].p_adjusted);
		buf_adds(out, "</td></tr>");
	}
	buf_adds(out, "<tr><td>geometric mean</td><td></td><td>");
	html_percent(out, r->mean.estimate);
	buf_adds(out, "</td><td>");
	html_percent(out, r->mean.lo);
	buf_adds(out, "</td><td>");
	html_percent(out, r->mean.hi);
	buf_adds(out, "</td><td></td><td></td></tr></table><p>");
	duet_say_held_back(out, r);
	buf_adds(out, "</p>");
}

static void precision(struct buf *out, const struct duet_report *r)
{
	buf_adds(out,
			"<h2>How precise is it?</h2><p>Spread of the iterations of either side, the interval's width, "
			"the change that as many runs find in 8 of 10 cases, and the share of time that pairs had "
			"in common.</p>"
			"<table><tr><th>benchmark</th><th>spread A</th><th>spread B</th><th>width</th><th>finds</th>"
			"<th>overlap</th><th>pairs</th><th>seconds</th></tr>");
	for (size_t i = 0; i < r->count; i++) {
		const struct duet_result *result = r->entries[i].result;

		buf_adds(out, "<tr><td>");
		buf_add_html(out, r->entries[i].name);
		buf_adds(out, "</td>");
		for (int side = 0; side < DUET_SIDES; side++)
			cell(out, spread(result, (enum duet_side)side, r->setup->pairing.metric));
		cell(out, width(result));
		cell(out, result->detectable - 1);
		cell(out, overlap(result));
		buf_addf(out, "<td>%zu</td><td>%.1f</td></tr>", result->pairs.count, result->seconds);
	}
	buf_adds(out, "</table>");
}

/* Are these two designs of the same benchmark? Names are "suite/benchmark type". */
static bool is_same_benchmark(const char *a, const char *b)
{
	const char *end_a = strrchr(a, ' '), *end_b = strrchr(b, ' ');

	return end_a && end_b && end_a - a == end_b - b && !strncmp(a, b, (size_t)(end_a - a));
}

static void gain(struct buf *out, const struct duet_entry *one, const struct duet_entry *base)
{
	const struct duet_result *a = one->result, *b = base->result;

	buf_adds(out, "<tr><td>");
	buf_add_html(out, one->name);
	buf_adds(out, "</td><td>");
	if (isfinite(width(b) / width(a)))
		buf_addf(out, "%.2f", width(b) / width(a));
	buf_adds(out, "</td><td>");
	if (a->seconds > 0 && b->seconds > 0)
		buf_addf(out, "%.2f",
				b->seconds / (double)(b->pairs.count ? b->pairs.count : 1) /
						(a->seconds / (double)(a->pairs.count ? a->pairs.count : 1)));
	buf_adds(out, "</td></tr>");
}

static void designs(struct buf *out, const struct duet_report *r)
{
	bool has_head = false;

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->count; k++) {
			const struct duet_entry *one = &r->entries[i], *base = &r->entries[k];

			if (one->result->schedule.design == DUET_SEQ || base->result->schedule.design != DUET_SEQ ||
					!is_same_benchmark(one->name, base->name))
				continue;
			if (!has_head)
				buf_adds(out,
						"<h2>What does running side by side gain?</h2><table><tr><th>benchmark"
						"</th><th>width, one after the other / side by side</th><th>seconds a "
						"pair, the same</th></tr>");
			has_head = true;
			gain(out, one, base);
		}
	if (has_head)
		buf_adds(out, "</table>");
}

void html_analysis(struct buf *out, const struct duet_report *r)
{
	answers(out, r);
	precision(out, r);
	designs(out, r);
}
