/*
 * The HTML report: one file without scripts, plots as SVG.
 */
#include "tune/study-report-plots.h"

#include <inttypes.h>
#include <math.h>

static const char style[] =
		"<style>body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 "
		"1em;color:#1b1f24;"
		"background:#fff}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;"
		"font-variant-numeric:tabular-nums}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid "
		"#d8dee4}"
		"td:first-child,th:first-child{text-align:left}.failed{color:#8b949e}.best{background:#dafbe1}"
		".verdict{font-size:1.1em;padding:.7em 1em;background:#eef4ff;border-left:4px solid #0969da}"
		".warn{background:#fff8c5;border-left-color:#bf8700}figure{display:inline-block;margin:.5em 1em .5em 0}"
		"figcaption{font-weight:600}svg text{font:11px system-ui,sans-serif;fill:#57606a}"
		"@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}td,th{border-color:#30363d}"
		".best{background:#12331d}.verdict{background:#121d2f}.warn{background:#272115}svg "
		"text{fill:#9198a1}}</style>";

static void add_importance(struct buf *out, const struct tune_report *r)
{
	buf_adds(out,
			"<h2>Importance</h2><table><tr><th>parameter</th><th>share of the variance, "
			"alone</th><th></th></tr>");
	for (size_t k = 0; k < r->o->space->count; k++) {
		buf_adds(out, "<tr><td>");
		buf_add_html(out, r->o->space->params[k].name);
		buf_addf(out,
				"</td><td>%.0f %%</td><td style=\"text-align:left\"><svg width=\"200\" "
				"height=\"12\"><rect "
				"width=\"%.0f\" height=\"12\" fill=\"#0969da\"/></svg></td></tr>",
				100 * r->insight->importance[k], 200 * r->insight->importance[k]);
	}
	buf_adds(out, "</table>");
}

static void add_configurations(struct buf *out, const struct tune_report *r)
{
	const struct tune_trial *best = r->outcome->best.trial, *start = r->outcome->start;
	double fallback[TUNE_PARAMS_MAX];
	char text[TUNE_WHY];

	tune_point_default(r->o->space, fallback);
	buf_adds(out, "<h2>Best and default</h2><table><tr><th>parameter</th><th>default</th><th>best</th></tr>");
	for (size_t i = 0; i < r->o->space->count; i++) {
		const struct tune_param *p = &r->o->space->params[i];

		buf_adds(out, "<tr><td>");
		buf_add_html(out, p->name);
		buf_adds(out, "</td><td>");
		tune_param_format(p, start ? start->point[i] : fallback[i], text, sizeof(text));
		buf_add_html(out, text);
		buf_adds(out, "</td><td>");
		tune_param_format(p, best->point[i], text, sizeof(text));
		buf_add_html(out, text);
		buf_adds(out, "</td></tr>");
	}
	buf_addf(out, "<tr><td>expected value</td><td></td><td>%.6g [%.6g, %.6g]</td></tr></table>",
			r->outcome->best.value, r->outcome->best.lo, r->outcome->best.hi);
	report_gain(out, r);
}

static void add_trial_row(struct buf *out, const struct tune_report *r, const struct tune_trial *t)
{
	char text[TUNE_WHY];
	bool is_best = r->outcome->best.trial && t == r->outcome->best.trial;

	buf_addf(out, "<tr class=\"%s\"><td>%" PRIu64 "</td><td>%s</td>",
			is_best ? "best" : tune_state_word(t->result.state), t->id, tune_state_word(t->result.state));
	for (size_t k = 0; k < r->study->objective_count; k++) {
		if (report_has_value(t))
			buf_addf(out, "<td>%.6g</td>", t->result.values[k]);
		else
			buf_adds(out, "<td></td>");
	}
	for (size_t i = 0; i < r->o->space->count; i++) {
		tune_param_format(&r->o->space->params[i], t->point[i], text, sizeof(text));
		buf_adds(out, "<td>");
		buf_add_html(out, text);
		buf_adds(out, "</td>");
	}
	buf_adds(out, "</tr>\n");
}

static void add_trials(struct buf *out, const struct tune_report *r)
{
	buf_adds(out, "<h2>Trials</h2><table><tr><th>trial</th><th>state</th>");
	for (size_t k = 0; k < r->study->objective_count; k++) {
		buf_adds(out, "<th>");
		buf_add_html(out, r->study->objectives[k].metric.name);
		buf_adds(out, "</th>");
	}
	for (size_t i = 0; i < r->o->space->count; i++) {
		buf_adds(out, "<th>");
		buf_add_html(out, r->o->space->params[i].name);
		buf_adds(out, "</th>");
	}
	buf_adds(out, "</tr>\n");
	for (size_t t = 0; t < r->o->count; t++)
		add_trial_row(out, r, &r->o->trials[t]);
	buf_adds(out, "</table>");
}

static void add_summary(struct buf *out, const struct tune_report *r)
{
	struct buf text = BUF_INIT;

	buf_adds(out, "<h1>");
	buf_add_html(out, r->study->name);
	buf_addf(out,
			"</h1><p>%zu trials done, %zu cut, %zu failed; seed %" PRIu64
			", method %s%s.</p><p class=\"verdict\">",
			r->outcome->done, r->outcome->cut, r->outcome->failed, r->o->options.seed,
			r->o->options.method->name,
			r->is_paired ? ", each paired with the best so far: values are relative to the default" : "");
	tune_report_verdict(&text, r);
	buf_add_html(out, text.data);
	buf_adds(out, "</p>");
	buf_reset(&text);
	if (tune_report_losses(&text, r, "", ". ")) {
		buf_adds(out, "<p class=\"verdict warn\">");
		buf_add_html(out, text.data);
		buf_adds(out, "</p>");
	}
	buf_release(&text);
}

void tune_report_html(struct buf *out, const struct tune_report *r)
{
	struct arena arena = ARENA_INIT;

	buf_adds(out,
			"<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
			"content=\"width=device-width\"><title>");
	buf_add_html(out, r->study->name);
	buf_addf(out, "</title>%s</head><body>\n", style);
	add_summary(out, r);
	if (r->outcome->best.trial)
		add_configurations(out, r);
	if (r->o->count)
		report_convergence(out, r, &arena);
	report_front(out, r, &arena);
	report_losses_of_steps(out, r, &arena);
	if (r->insight->is_there) {
		add_importance(out, r);
		buf_adds(out, "<h2>Partial dependence</h2>");
		for (size_t k = 0; k < r->o->space->count; k++)
			report_dependence(out, r, k);
	}
	add_trials(out, r);
	buf_adds(out, "</body></html>\n");
	arena_release(&arena);
}
