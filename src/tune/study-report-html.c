/*
 * The HTML report: one file without scripts, plots as SVG.
 */
#include "tune/study-report.h"

#include <inttypes.h>
#include <math.h>

/*
 * The plots of a study's HTML report, as SVG without scripts.
 */

enum { WIDTH = 640, HEIGHT = 220, SMALL_WIDTH = 300, SMALL_HEIGHT = 150, MARGIN = 46, CURVES_MAX = 40 };

/* The coordinate system of a plot. */
struct frame {
	double width, height, x0, x1, y0, y1;
	bool is_log;
};

static double px(const struct frame *f, double x)
{
	double share = f->x1 > f->x0 ? (x - f->x0) / (f->x1 - f->x0) : 0.5;

	return MARGIN + share * (f->width - MARGIN - 10);
}

static double py(const struct frame *f, double y)
{
	double share;

	y = fmin(fmax(y, f->y0), f->y1);
	share = f->is_log ? log(y / f->y0) / log(f->y1 / f->y0) : (y - f->y0) / (f->y1 - f->y0);
	return f->height - 24 - share * (f->height - 36);
}

/* Fits it to the finite values; the axis is logarithmic if they span more than a factor of 20. */
static void fit_frame(struct frame *f, const double *values, size_t n)
{
	f->y0 = INFINITY;
	f->y1 = -INFINITY;
	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i])) {
			f->y0 = fmin(f->y0, values[i]);
			f->y1 = fmax(f->y1, values[i]);
		}
	f->is_log = f->y0 > 0 && f->y1 > 20 * f->y0;
	if (!(f->y1 > f->y0)) {
		f->y1 = isfinite(f->y0) ? f->y0 + fabs(f->y0) * 0.1 + 1e-9 : 1;
		f->y0 = isfinite(f->y0) ? f->y0 - fabs(f->y0) * 0.1 - 1e-9 : 0;
	}
}

static void open_svg(struct buf *out, const struct frame *f, const char *title)
{
	buf_addf(out, "<svg role=\"img\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\"><title>", f->width,
			f->height, f->width, f->height);
	buf_add_html(out, title);
	buf_adds(out, "</title>");
	for (int i = 0; i <= 2; i++) {
		double y = f->is_log ? f->y0 * pow(f->y1 / f->y0, i / 2.0) : f->y0 + (f->y1 - f->y0) * i / 2;

		buf_addf(out,
				"<line x1=\"%d\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#8b949e\" "
				"stroke-opacity=\".35\"/>"
				"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>",
				MARGIN, f->width - 10, py(f, y), py(f, y), MARGIN - 4, py(f, y) + 4, y);
	}
}

static bool has_value(const struct tune_trial *t)
{
	return t->result.state == TUNE_DONE || t->result.state == TUNE_CUT;
}

static void plot_convergence(struct buf *out, const struct tune_report *r, struct arena *arena)
{
	struct frame f = { .width = WIDTH, .height = HEIGHT, .x0 = 1, .x1 = (double)r->o->count };
	double *values = arena_alloc(arena, (r->o->count + 1) * sizeof(*values)), best = NAN;

	if (!values)
		return;
	for (size_t t = 0; t < r->o->count; t++)
		values[t] = has_value(&r->o->trials[t]) ? r->o->trials[t].result.values[0] : NAN;
	fit_frame(&f, values, r->o->count);
	buf_adds(out, "<h2>Convergence</h2><figure>");
	open_svg(out, &f, "value of each trial, and the best so far");
	buf_adds(out, "<polyline fill=\"none\" stroke=\"#1a7f37\" stroke-width=\"2\" points=\"");
	for (size_t t = 0; t < r->o->count; t++) {
		const struct tune_trial *trial = &r->o->trials[t];

		if (tune_trial_is_good(r->o, trial) &&
				(isnan(best) || (r->o->options.is_maximized[0] ? values[t] > best : values[t] < best)))
			best = values[t];
		if (!isnan(best))
			buf_addf(out, "%.1f,%.1f ", px(&f, (double)t + 1), py(&f, best));
	}
	buf_adds(out, "\"/>");
	for (size_t t = 0; t < r->o->count; t++)
		if (!isnan(values[t]))
			buf_addf(out,
					"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>trial %" PRIu64
					": %.6g</title></circle>",
					px(&f, (double)t + 1), py(&f, values[t]),
					r->o->trials[t].result.state == TUNE_CUT ? "#bf8700" : "#0969da",
					r->o->trials[t].id, values[t]);
	buf_addf(out,
			"<text x=\"%d\" y=\"%.0f\">trial 1</text><text x=\"%.0f\" y=\"%.0f\" "
			"text-anchor=\"end\">%zu</text></svg>"
			"<figcaption>value of each trial, and the best so far</figcaption></figure>",
			MARGIN, f.height - 6, f.width - 10, f.height - 6, r->o->count);
}

static void plot_dependence(struct buf *out, const struct tune_report *r, size_t k)
{
	const struct tune_curve *c = &r->insight->curves[k];
	const struct tune_param *p = &r->o->space->params[k];
	struct frame f = { .width = SMALL_WIDTH, .height = SMALL_HEIGHT, .x0 = 0, .x1 = (double)c->count - 1 };
	double all[3 * TUNE_CURVE_POINTS];
	char text[TUNE_WHY];

	for (size_t i = 0; i < c->count; i++) {
		all[3 * i] = c->value[i];
		all[3 * i + 1] = c->lo[i];
		all[3 * i + 2] = c->hi[i];
	}
	fit_frame(&f, all, 3 * c->count);
	buf_adds(out, "<figure>");
	open_svg(out, &f, p->name);
	/* The interval as a band, the expectation as a line. */
	buf_adds(out, "<polygon fill=\"#0969da\" fill-opacity=\".15\" points=\"");
	for (size_t i = 0; i < c->count; i++)
		buf_addf(out, "%.1f,%.1f ", px(&f, (double)i), py(&f, c->hi[i]));
	for (size_t i = c->count; i-- > 0;)
		buf_addf(out, "%.1f,%.1f ", px(&f, (double)i), py(&f, c->lo[i]));
	buf_adds(out, "\"/><polyline fill=\"none\" stroke=\"#0969da\" stroke-width=\"2\" points=\"");
	for (size_t i = 0; i < c->count; i++)
		buf_addf(out, "%.1f,%.1f ", px(&f, (double)i), py(&f, c->value[i]));
	buf_adds(out, "\"/>");
	tune_param_format(p, c->at[0], text, sizeof(text));
	buf_addf(out, "<text x=\"%d\" y=\"%.0f\">", MARGIN, f.height - 6);
	buf_add_html(out, text);
	tune_param_format(p, c->at[c->count - 1], text, sizeof(text));
	buf_addf(out, "</text><text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">", f.width - 10, f.height - 6);
	buf_add_html(out, text);
	buf_adds(out, "</text></svg><figcaption>");
	buf_add_html(out, p->name);
	buf_adds(out, "</figcaption></figure>");
}

/* One dot per trial of two objectives; the Pareto front is connected. */
static void add_front(struct buf *out, const struct tune_report *r, size_t x, size_t y, double *values)
{
	struct frame f = { .width = WIDTH, .height = HEIGHT, .x0 = INFINITY, .x1 = -INFINITY };
	size_t n = r->o->count;

	for (size_t t = 0; t < n; t++) {
		const struct tune_trial *trial = &r->o->trials[t];

		values[t] = has_value(trial) ? trial->result.values[y] : NAN;
		if (isnan(values[t]))
			continue;
		f.x0 = fmin(f.x0, trial->result.values[x]);
		f.x1 = fmax(f.x1, trial->result.values[x]);
	}
	fit_frame(&f, values, n);
	buf_adds(out, "<figure>");
	open_svg(out, &f, "trials by two objectives");
	for (size_t t = 0; t < n; t++) {
		const struct tune_trial *trial = &r->o->trials[t];
		bool is_on = report_is_on_front(r, trial);

		if (!isnan(values[t]))
			buf_addf(out,
					"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"><title>trial %" PRIu64
					": %.6g, %.6g</title></circle>",
					px(&f, trial->result.values[x]), py(&f, values[t]), is_on ? 5 : 3,
					is_on ? "#1a7f37" : "#8b949e", trial->id, trial->result.values[x], values[t]);
	}
	buf_addf(out,
			"<text x=\"%d\" y=\"%.0f\">%.3g</text><text x=\"%.0f\" y=\"%.0f\" "
			"text-anchor=\"end\">%.3g</text>",
			MARGIN, f.height - 6, f.x0, f.width - 10, f.height - 6, f.x1);
	buf_adds(out, "</svg><figcaption>");
	buf_add_html(out, r->study->objectives[y].metric.name);
	buf_adds(out, " by ");
	buf_add_html(out, r->study->objectives[x].metric.name);
	buf_adds(out, "; green: nothing is better in everything</figcaption></figure>");
}

static void plot_front(struct buf *out, const struct tune_report *r, struct arena *arena)
{
	double *values = arena_alloc(arena, (r->o->count + 1) * sizeof(*values));

	if (r->study->objective_count < 2 || !values)
		return;
	buf_adds(out, "<h2>Front</h2>");
	for (size_t x = 0; x < r->study->objective_count; x++)
		for (size_t y = x + 1; y < r->study->objective_count; y++)
			add_front(out, r, x, y, values);
}

static void plot_losses_of_steps(struct buf *out, const struct tune_report *r, struct arena *arena)
{
	struct frame f = { .width = WIDTH, .height = HEIGHT, .x0 = 0, .x1 = 1 };
	double *all = arena_alloc(arena, (r->o->count + 1) * TUNE_RUNGS_MAX * sizeof(*all));
	size_t n = 0, shown = 0;

	for (size_t t = 0; all && t < r->o->count; t++)
		for (size_t k = 0; k < r->o->trials[t].result.rung_count; k++) {
			all[n++] = r->o->trials[t].result.rungs[k];
			f.x1 = fmax(f.x1, (double)k);
		}
	if (!n)
		return;
	fit_frame(&f, all, n);
	buf_adds(out, "<h2>Steps</h2><figure>");
	open_svg(out, &f, "best value of each trial by step");
	for (size_t t = r->o->count; t-- > 0 && shown < CURVES_MAX;) {
		const struct tune_trial *trial = &r->o->trials[t];
		bool is_best = trial == r->outcome->best.trial, is_cut = trial->result.state == TUNE_CUT;

		if (!trial->result.rung_count)
			continue;
		shown++;
		buf_addf(out,
				"<polyline fill=\"none\" stroke=\"%s\" stroke-opacity=\"%s\" stroke-width=\"%s\" "
				"points=\"",
				is_best                  ? "#1a7f37"
						: is_cut ? "#bf8700"
							 : "#0969da",
				is_best ? "1" : ".45", is_best ? "2.5" : "1.2");
		for (size_t k = 0; k < trial->result.rung_count; k++)
			if (isfinite(trial->result.rungs[k]))
				buf_addf(out, "%.1f,%.1f ", px(&f, (double)k), py(&f, trial->result.rungs[k]));
		buf_addf(out, "\"><title>trial %" PRIu64 "</title></polyline>", trial->id);
	}
	buf_addf(out,
			"<text x=\"%d\" y=\"%.0f\">step 1</text><text x=\"%.0f\" y=\"%.0f\" "
			"text-anchor=\"end\">%.0f</text>"
			"</svg><figcaption>best value after 1, 2, 4, 8, ... steps; green: "
			"the best trial, brown: cut</figcaption></figure>",
			MARGIN, f.height - 6, f.width - 10, f.height - 6, exp2(f.x1));
}

static void plot_gain(struct buf *out, const struct tune_report *r)
{
	const struct stats_interval *i = &r->outcome->ratio;
	struct frame f = { .width = WIDTH, .height = 70 };
	double middle = f.height / 2 - 6;

	if (!isfinite(i->estimate) || !isfinite(i->lo) || !isfinite(i->hi))
		return;
	f.x0 = fmin(i->lo, 1) - 0.1 * fabs(1 - i->estimate) - 0.01;
	f.x1 = fmax(i->hi, 1) + 0.1 * fabs(1 - i->estimate) + 0.01;
	buf_addf(out,
			"<figure><svg role=\"img\" width=\"%.0f\" height=\"%.0f\"><title>best "
			"by default</title><line x1=\"%.1f\" "
			"x2=\"%.1f\" y1=\"6\" y2=\"%.0f\" stroke=\"#8b949e\" stroke-dasharray=\"3 "
			"3\"/><line x1=\"%.1f\" x2=\"%.1f\" "
			"y1=\"%.1f\" y2=\"%.1f\" stroke=\"#0969da\" stroke-width=\"4\"/><circle "
			"cx=\"%.1f\" cy=\"%.1f\" r=\"6\" "
			"fill=\"#0969da\"/>",
			f.width, f.height, px(&f, 1), px(&f, 1), f.height - 24, px(&f, i->lo), px(&f, i->hi), middle,
			middle, px(&f, i->estimate), middle);
	buf_addf(out,
			"<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">default</text><text x=\"%.1f\" y=\"%.0f\" "
			"text-anchor=\"middle\">%.3f [%.3f, %.3f]</text></svg><figcaption>best "
			"by default, 95 %% of %zu pairs"
			"</figcaption></figure>",
			px(&f, 1), f.height - 8, px(&f, i->estimate), f.height - 8, i->estimate, i->lo, i->hi,
			r->outcome->pairs);
}

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
	plot_gain(out, r);
}

static void add_trial_row(struct buf *out, const struct tune_report *r, const struct tune_trial *t)
{
	char text[TUNE_WHY];
	bool is_best = r->outcome->best.trial && t == r->outcome->best.trial;

	buf_addf(out, "<tr class=\"%s\"><td>%" PRIu64 "</td><td>%s</td>",
			is_best ? "best" : tune_state_word(t->result.state), t->id, tune_state_word(t->result.state));
	for (size_t k = 0; k < r->study->objective_count; k++) {
		if (has_value(t))
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
		plot_convergence(out, r, &arena);
	plot_front(out, r, &arena);
	plot_losses_of_steps(out, r, &arena);
	if (r->insight->is_there) {
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
		buf_adds(out, "<h2>Partial dependence</h2>");
		for (size_t k = 0; k < r->o->space->count; k++)
			plot_dependence(out, r, k);
	}
	add_trials(out, r);
	buf_adds(out, "</body></html>\n");
	arena_release(&arena);
}
