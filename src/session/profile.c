#include "session/profile.h"

#include <math.h>
#include <string.h>

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
