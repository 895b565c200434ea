/* The profile as one HTML page without scripts. */
#include "session/dumps.h"

#include <math.h>
#include <string.h>

static void add_cell(struct buf *out, double value)
{
	if (isnan(value))
		buf_adds(out, "<td class=n>not measured</td>");
	else
		buf_addf(out, "<td class=n>%.6g</td>", value);
}

static void add_values(struct buf *out, const struct session_profile *p)
{
	buf_adds(out,
			"<h2>Values</h2><table><tr><th>Name</th><th>Of</th><th>n</th><th>Min</th><th>Median</th>"
			"<th>Mean</th><th>Max</th><th>What</th></tr>\n");
	for (size_t i = 0; i < p->value_count; i++) {
		const struct session_value *v = &p->values[i];
		struct stats_moments m = session_value_moments(p, v);

		if (session_value_is_dumped(v))
			continue;
		buf_addf(out, "<tr><td>%s</td><td>", v->name);
		buf_add_html(out, v->of);
		buf_addf(out, "</td><td class=n>%zu</td>", (size_t)m.n);
		add_cell(out, m.n ? m.min : NAN);
		add_cell(out, session_value_median(p, v));
		add_cell(out, m.n ? m.mean : NAN);
		add_cell(out, m.n ? m.max : NAN);
		buf_addf(out, "<td>%s</td></tr>\n", v->help);
	}
	buf_adds(out, "</table>\n");
}

static bool is_first(const struct session_profile *p, const struct session_value *v, const char *name, const char *of)
{
	for (const struct session_value *w = p->values; w < v; w++)
		if (strcmp(w->label, v->label) == 0 && (!name || strcmp(w->name, name) == 0) &&
				(!of || strcmp(w->of, of) == 0))
			return false;
	return true;
}

static double find_cell(const struct session_profile *p, const char *name, const char *of)
{
	for (const struct session_value *v = p->values; v < p->values + p->value_count; v++)
		if (strcmp(v->name, name) == 0 && strcmp(v->of, of) == 0)
			return session_value_median(p, v);
	return NAN;
}

/* The values of one kind from a tool: one row per item, one column per value. */
static void add_dumped(struct buf *out, const struct session_profile *p, const char *label)
{
	const struct session_value *end = p->values + p->value_count;

	buf_addf(out, "<h2>By tools: %s</h2><div class=wide><table><tr><th>%s</th>", label, label);
	for (const struct session_value *v = p->values; v < end; v++)
		if (strcmp(v->label, label) == 0 && is_first(p, v, v->name, NULL))
			buf_addf(out, "<th class=n title=\"%s\">%s</th>", v->help, v->name);
	buf_adds(out, "</tr>\n");
	for (const struct session_value *row = p->values; row < end; row++) {
		if (strcmp(row->label, label) != 0 || !is_first(p, row, NULL, row->of))
			continue;
		buf_adds(out, "<tr><td>");
		buf_add_html(out, row->of);
		buf_adds(out, "</td>");
		for (const struct session_value *v = p->values; v < end; v++)
			if (strcmp(v->label, label) == 0 && is_first(p, v, v->name, NULL))
				add_cell(out, find_cell(p, v->name, row->of));
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</table></div>\n");
}

static void add_dumps(struct buf *out, const struct session_profile *p)
{
	for (const struct session_dump *d = p->dumps; d < p->dumps + p->dump_count; d++) {
		buf_addf(out, "<p>Repeat %zu, ", d->repeat);
		buf_add_html(out, d->tool);
		buf_addf(out, ": %s, files %llu, rows %llu", d->kind, (unsigned long long)d->files,
				(unsigned long long)d->rows);
		if (*d->reason) {
			buf_adds(out, "; <span class=bad>incomplete: ");
			buf_add_html(out, d->reason);
			buf_adds(out, "</span>");
		}
		buf_adds(out, "</p>\n");
	}
	for (const struct session_value *v = p->values; v < p->values + p->value_count; v++)
		if (session_value_is_dumped(v) && is_first(p, v, NULL, NULL))
			add_dumped(out, p, v->label);
}

static void add_sweep(struct buf *out, const struct session_profile *p)
{
	const struct session_point *best = session_recommended_point(p);
	double most = 0;

	for (size_t i = 0; i < p->point_count; i++)
		most = p->points[i].metric > most ? p->points[i].metric : most;
	buf_adds(out, "<h2>Sweep over ");
	buf_add_html(out, p->spec->sweep.over);
	buf_adds(out, "</h2><table>\n");
	for (size_t i = 0; i < p->point_count; i++) {
		const struct session_point *one = &p->points[i];
		double width = most > 0 && one->metric > 0 ? 100 * one->metric / most : 0;

		buf_adds(out, one == best ? "<tr class=best><td>" : "<tr><td>");
		buf_add_html(out, one->text);
		buf_adds(out, "</td>");
		add_cell(out, one->metric);
		buf_addf(out, "<td class=bar><div style=\"width:%.1f%%\"></div></td><td>%s</td></tr>\n", width,
				one->has_failed               ? "failed"
						: one == best ? "recommended"
							      : "");
	}
	buf_adds(out, "</table>\n");
}

void session_write_html(struct buf *out, const struct session_profile *p)
{
	double cpus = session_recommended_cpus(p), memory_bytes = session_recommended_memory_bytes(p);
	struct session_breach all[SESSION_THRESHOLDS_MAX];
	size_t n;

	buf_adds(out, "<!doctype html><html lang=en><meta charset=utf-8><title>");
	buf_add_html(out, p->spec->name);
	buf_adds(out,
			"</title><style>body{font:15px system-ui;margin:2em;max-width:70em}"
			"td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ccc}"
			".n{text-align:right;font-variant-numeric:tabular-nums}.bar{width:20em}"
			".bar div{background:#3572a5;height:.8em}.best{font-weight:bold}"
			".bad{color:#b00020}.wide{overflow-x:auto}"
			"</style><h1>");
	buf_add_html(out, p->spec->name);
	buf_addf(out, "</h1><p>%zu repeat%s%s</p>\n", p->repeat_count, p->repeat_count == 1 ? "" : "s",
			session_failed(p) ? ", <span class=bad>failed</span>" : "");
	if (!isnan(cpus) && !isnan(memory_bytes))
		buf_addf(out, "<p>Recommended limits: cpus %.2f, memory %.0fM</p>\n", cpus, memory_bytes / 1048576);
	n = session_breaches(p, all);
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, "<p class=bad>Threshold breached: ");
		buf_add_html(out, all[i].threshold->metric);
		buf_addf(out, " is %.6g</p>\n", all[i].value);
	}
	if (p->point_count)
		add_sweep(out, p);
	add_values(out, p);
	add_dumps(out, p);
	buf_adds(out, "</html>\n");
}
