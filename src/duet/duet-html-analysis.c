/*
 * duet-html-analysis: results of many benchmarks and designs, presented like a notebook: a question, its answer, the
 * figures.
 *
 * Spread is the standard deviation of a side's iterations divided by their mean, warm-up included; width is the
 * interval's; overlap is twice the time that pairs shared divided by the time of all iterations, as in duetbench;
 * "finds" is the change that this number of runs detects with power 0.8.
 */
#include "duet/duet-html-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
