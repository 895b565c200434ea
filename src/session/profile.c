#include "session/profile.h"

#include "base/json.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#define MARGIN 1.2 /* of recommended limits, relative to the maximum */
#define MEBIBYTE 1048576.0

static size_t known(const struct session_profile *p, const struct session_value *v, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < p->repeat_count; i++)
		if (!isnan(v->each[i]))
			out[n++] = v->each[i];
	return n;
}

struct stats_moments session_value_moments(const struct session_profile *p, const struct session_value *v)
{
	double all[SESSION_REPEATS_MAX];
	size_t n = known(p, v, all);

	return stats_moments_of(all, n);
}

double session_value_median(const struct session_profile *p, const struct session_value *v)
{
	double all[SESSION_REPEATS_MAX];
	size_t n = known(p, v, all);

	return n ? stats_median(all, n) : NAN;
}

bool session_repeat_failed(const struct session_repeat *r)
{
	return r->has_timed_out || (!r->is_cut && r->status != 0);
}

bool session_failed(const struct session_profile *p)
{
	for (size_t i = 0; i < p->repeat_count; i++)
		if (session_repeat_failed(&p->repeats[i]))
			return true;
	return false;
}

/* "steps_per_second" is the value of the first step; "steps_per_second.frame" that of step "frame". */
static const struct session_value *find(const struct session_profile *p, const char *metric)
{
	for (size_t i = 0; i < p->value_count; i++) {
		const struct session_value *v = &p->values[i];
		size_t n = strlen(v->name);

		if (strncmp(metric, v->name, n) == 0 &&
				(!metric[n] || (metric[n] == '.' && strcmp(metric + n + 1, v->of) == 0)))
			return v;
	}
	return NULL;
}

size_t session_breaches(const struct session_profile *p, struct session_breach breaches[SESSION_THRESHOLDS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < p->spec->threshold_count; i++) {
		const struct session_threshold *t = &p->spec->thresholds[i];
		const struct session_value *v = find(p, t->metric);
		double value = v ? session_value_median(p, v) : NAN;

		if (!(value >= t->min && value <= t->max))
			breaches[n++] = (struct session_breach){ t, value };
	}
	return n;
}

double session_metric(const struct session_profile *p, const char *name)
{
	const struct session_value *v = find(p, name);

	return v ? session_value_median(p, v) : NAN;
}

const struct session_point *session_recommended_point(const struct session_profile *p)
{
	const struct session_point *least = NULL;
	double best = -INFINITY;

	for (size_t i = 0; i < p->point_count; i++)
		if (!p->points[i].has_failed && p->points[i].metric > best)
			best = p->points[i].metric;
	for (size_t i = 0; i < p->point_count; i++) {
		const struct session_point *one = &p->points[i];

		if (!one->has_failed && one->metric >= best * (1 - p->spec->sweep.tolerance) &&
				(!least || one->value < least->value))
			least = one;
	}
	return least;
}

static double most(const struct session_profile *p, const char *name)
{
	const struct session_value *v = find(p, name);

	return v ? session_value_moments(p, v).max : NAN;
}

double session_recommended_cpus(const struct session_profile *p)
{
	return ceil(most(p, "cpus") * MARGIN * 100) / 100;
}

double session_recommended_memory_bytes(const struct session_profile *p)
{
	return ceil(most(p, "max_rss_bytes") * MARGIN / MEBIBYTE) * MEBIBYTE;
}

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
	json_karray(j, "each");
	for (size_t i = 0; i < p->repeat_count; i++)
		json_real(j, v->each[i]);
	json_end(j);
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

	json_karray(j, "breaches");
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

	json_kobject(j, "recommended");
	json_kreal(j, "cpus", session_recommended_cpus(p));
	json_key(j, "memory_bytes");
	if (isnan(memory_bytes))
		json_null(j);
	else
		json_int(j, (int64_t)memory_bytes);
	json_kstr(j, "basis",
			p->spec->image ? "maximum of all repeats plus 20 %; of the container: last reading"
				       : "the most of all repeats and a fifth; memory by the largest process, "
					 "cpus by the average");
	json_end(j);
}

static void json_sweep(struct json *j, const struct session_profile *p)
{
	const struct session_point *best = session_recommended_point(p);

	json_kobject(j, "sweep");
	json_kstr(j, "over", p->spec->sweep.over);
	json_kstr(j, "metric", p->spec->sweep.metric);
	json_karray(j, "points");
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
	json_karray(j, "dumps");
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
		json_kobject(&j, "dataset");
		json_kstr(&j, "source", p->spec->dataset.source);
		json_kstr(&j, "path", p->dataset.path);
		json_kstr(&j, "sha256", p->dataset.sha256);
		json_kbool(&j, "was_cached", p->dataset.was_cached);
		json_kint(&j, "resumed_bytes", p->dataset.resumed_bytes);
		json_end(&j);
	}
	json_karray(&j, "repeats");
	for (size_t i = 0; i < p->repeat_count; i++) {
		json_object(&j);
		json_kstr(&j, "run", p->repeats[i].run);
		if (WIFEXITED(p->repeats[i].status))
			json_kint(&j, "exit_code", WEXITSTATUS(p->repeats[i].status));
		else
			json_kint(&j, "signal", WTERMSIG(p->repeats[i].status));
		json_kbool(&j, "is_cut", p->repeats[i].is_cut);
		json_kbool(&j, "has_timed_out", p->repeats[i].has_timed_out);
		json_kbool(&j, "has_failed", session_repeat_failed(&p->repeats[i]));
		json_end(&j);
	}
	json_end(&j);
	json_karray(&j, "values");
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
