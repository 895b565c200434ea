/* Writes the profile as JSON, OpenMetrics and CSV. */
#include "base/json.h"
#include "session/profile.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#define PROFILE_VERSION 1

static void json_value(struct json *j, const struct session_profile *p, const struct session_value *v)
{
	struct stats_moments m = session_value_moments(p, v);

	json_object(j);
	json_kstr(j, "name", v->name);
	if (*v->of)
		json_kstr(j, v->label, v->of);
	json_kuint(j, "n", m.n);
	json_kreal(j, "min", m.min);
	json_kreal(j, "median", session_value_median(p, v));
	json_kreal(j, "mean", m.mean);
	json_kreal(j, "max", m.max);
	json_key(j, "each");
	json_array(j);
	for (size_t i = 0; i < p->repeat_count; i++)
		json_real(j, v->each[i]);
	json_end(j);
	json_end(j);
}

static void json_repeat(struct json *j, const struct session_repeat *r)
{
	json_object(j);
	json_kstr(j, "run", r->run);
	if (WIFEXITED(r->status))
		json_kint(j, "exit_code", WEXITSTATUS(r->status));
	else
		json_kint(j, "signal", WTERMSIG(r->status));
	json_kbool(j, "is_cut", r->is_cut);
	json_kbool(j, "has_timed_out", r->has_timed_out);
	json_kbool(j, "has_failed", session_repeat_failed(r));
	json_end(j);
}

static void json_bound(struct json *j, const char *key, double bound)
{
	if (!isinf(bound))
		json_kreal(j, key, bound);
}

static void json_breaches(struct json *j, const struct session_profile *p)
{
	struct session_breach breaches[SESSION_THRESHOLDS_MAX];
	size_t n = session_breaches(p, breaches);

	json_key(j, "breaches");
	json_array(j);
	for (size_t i = 0; i < n; i++) {
		json_object(j);
		json_kstr(j, "metric", breaches[i].threshold->metric);
		json_kreal(j, "value", breaches[i].value);
		json_bound(j, "min", breaches[i].threshold->min);
		json_bound(j, "max", breaches[i].threshold->max);
		json_end(j);
	}
	json_end(j);
}

static void json_recommended(struct json *j, const struct session_profile *p)
{
	double memory_bytes = session_recommended_memory_bytes(p);

	json_key(j, "recommended");
	json_object(j);
	json_kreal(j, "cpus", session_recommended_cpus(p));
	json_key(j, "memory_bytes");
	if (isnan(memory_bytes))
		json_null(j);
	else
		json_int(j, (int64_t)memory_bytes);
	json_kstr(j, "basis",
			p->spec->image ? "the most of all repeats and a fifth; of the container, as seen last"
				       : "the most of all repeats and a fifth; memory by the largest process, "
					 "cpus by the average");
	json_end(j);
}

static void json_sweep(struct json *j, const struct session_profile *p)
{
	const struct session_point *best = session_recommended_point(p);

	json_key(j, "sweep");
	json_object(j);
	json_kstr(j, "over", p->spec->sweep.over);
	json_kstr(j, "metric", p->spec->sweep.metric);
	json_key(j, "points");
	json_array(j);
	for (size_t i = 0; i < p->point_count; i++) {
		json_object(j);
		json_kstr(j, "value", p->points[i].text);
		json_kreal(j, "metric", p->points[i].metric);
		json_kbool(j, "has_failed", p->points[i].has_failed);
		json_kstr(j, "run", p->points[i].run);
		json_end(j);
	}
	json_end(j);
	json_kstr(j, "recommended", best ? best->text : NULL);
	json_kstr(j, "basis", "the least that is within the tolerance of the best");
	json_kreal(j, "tolerance", p->spec->sweep.tolerance);
	json_end(j);
}

static void json_dumps(struct json *j, const struct session_profile *p)
{
	json_key(j, "dumps");
	json_array(j);
	for (const struct session_dump *d = p->dumps; d < p->dumps + p->dump_count; d++) {
		json_object(j);
		json_kuint(j, "repeat", d->repeat);
		json_kstr(j, "tool", d->tool);
		json_kstr(j, "kind", d->kind);
		json_kuint(j, "files", d->files);
		json_kuint(j, "rows", d->rows);
		json_kstr(j, "reason", *d->reason ? d->reason : NULL);
		json_end(j);
	}
	json_end(j);
}

void session_write_json(struct buf *out, const struct session_profile *p)
{
	struct json j;

	json_init(&j, out, true);
	json_object(&j);
	json_kint(&j, "sonde_profile", PROFILE_VERSION);
	json_kstr(&j, "name", p->spec->name);
	json_kbool(&j, "has_failed", session_failed(p));
	if (p->dataset.path) {
		json_key(&j, "dataset");
		json_object(&j);
		json_kstr(&j, "source", p->spec->dataset.source);
		json_kstr(&j, "path", p->dataset.path);
		json_kstr(&j, "sha256", p->dataset.sha256);
		json_kbool(&j, "was_cached", p->dataset.was_cached);
		json_kint(&j, "resumed_bytes", p->dataset.resumed_bytes);
		json_end(&j);
	}
	json_key(&j, "repeats");
	json_array(&j);
	for (size_t i = 0; i < p->repeat_count; i++)
		json_repeat(&j, &p->repeats[i]);
	json_end(&j);
	json_key(&j, "values");
	json_array(&j);
	for (size_t i = 0; i < p->value_count; i++)
		json_value(&j, p, &p->values[i]);
	json_end(&j);
	json_kuint(&j, "dropped_values", p->dropped_values);
	json_dumps(&j, p);
	json_recommended(&j, p);
	if (p->point_count)
		json_sweep(&j, p);
	json_breaches(&j, p);
	json_end(&j);
	buf_addc(out, '\n');
}

/* Appends a label and its value, with backslash, quote and newline escaped. */
static void add_label(struct buf *out, const char *key, const char *text)
{
	buf_addf(out, "%s=\"", key);
	for (; *text; text++) {
		if (*text == '\n')
			buf_adds(out, "\\n");
		else if (*text == '"' || *text == '\\')
			buf_addf(out, "\\%c", *text);
		else
			buf_addc(out, *text);
	}
	buf_addc(out, '"');
}

/* OpenMetrics requires the samples of a family to be contiguous: all are written at its first value. */
static void add_family(struct buf *out, const struct session_profile *p, size_t first)
{
	const char *name = p->values[first].name;

	for (size_t i = 0; i < first; i++)
		if (strcmp(p->values[i].name, name) == 0)
			return;
	buf_addf(out, "# TYPE sonde_session_%s gauge\n# HELP sonde_session_%s %s (median of the repeats).\n", name,
			name, p->values[first].help);
	for (size_t i = first; i < p->value_count; i++) {
		double median = session_value_median(p, &p->values[i]);

		if (strcmp(p->values[i].name, name) != 0 || isnan(median))
			continue;
		buf_addf(out, "sonde_session_%s{", name);
		add_label(out, "session", p->spec->name);
		if (*p->values[i].of) {
			buf_addc(out, ',');
			add_label(out, p->values[i].label, p->values[i].of);
		}
		buf_addf(out, "} %.17g\n", median);
	}
}

void session_write_openmetrics(struct buf *out, const struct session_profile *p)
{
	for (size_t i = 0; i < p->value_count; i++)
		add_family(out, p, i);
	buf_adds(out, "# EOF\n");
}

static void add_csv_text(struct buf *out, const char *text)
{
	buf_addc(out, '"');
	for (; *text; text++)
		buf_addf(out, *text == '"' ? "\"\"" : "%c", *text);
	buf_addc(out, '"');
}

void session_write_csv(struct buf *out, const struct session_profile *p)
{
	buf_adds(out, "repeat,name,of,value\n");
	for (size_t r = 0; r < p->repeat_count; r++)
		for (size_t i = 0; i < p->value_count; i++) {
			const struct session_value *v = &p->values[i];

			buf_addf(out, "%zu,%s,", r + 1, v->name);
			add_csv_text(out, v->of);
			if (isnan(v->each[r]))
				buf_adds(out, ",\n");
			else
				buf_addf(out, ",%.17g\n", v->each[r]);
		}
}
