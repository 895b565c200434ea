/* From bundles to values; see profile.h. */
#include "session/profile.h"

#include "base/map.h"
#include "model/dims.h"
#include "model/rows.h"
#include "model/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define MARGIN 1.2 /* of recommended limits, over the most that was seen */
#define MEBIBYTE 1048576.0

static struct session_value *value_of(struct session_profile *p, const char *name, const char *label, const char *of,
		const char *help)
{
	struct session_value *v = p->values;

	for (; v < p->values + p->value_count; v++)
		if (strcmp(v->name, name) == 0 && strncmp(v->of, of, sizeof(v->of) - 1) == 0)
			return v;
	if (p->value_count == SESSION_VALUES_MAX) {
		p->dropped_values++;
		return NULL;
	}
	p->value_count++;
	*v = (struct session_value){ .name = name, .help = help, .label = label };
	snprintf(v->of, sizeof(v->of), "%s", of);
	for (size_t i = 0; i < SESSION_REPEATS_MAX; i++)
		v->each[i] = NAN;
	return v;
}

static void put(struct session_profile *p, const char *name, const char *step, const char *help, double value)
{
	struct session_value *v = value_of(p, name, "step", step, help);

	if (v)
		v->each[p->repeat_count - 1] = value;
}

/* Add to what other processes of the repeat had; returns what it is now. */
static double add(struct session_profile *p, const char *name, const char *metric, const char *help, double value)
{
	struct session_value *v = value_of(p, name, "metric", metric, help);
	double *at = v ? &v->each[p->repeat_count - 1] : &value;

	if (v)
		*at = isnan(*at) ? value : *at + value;
	return *at;
}

static void take_histogram(struct session_profile *p, const char *name, const struct sonde_histogram *h)
{
	double sum = add(p, "metric_sum", name, "Sum of a histogram", live_real(h->sum));
	double count = add(p, "metric_count", name, "Values of a histogram", (double)h->count);
	struct session_value *mean = value_of(p, "metric_mean", "metric", name, "Mean of a histogram");

	if (mean)
		mean->each[p->repeat_count - 1] = count > 0 ? sum / count : NAN;
}

void session_profile_take_board(struct session_profile *p, struct live_board *board)
{
	for (size_t i = 0; i < board->metric_count; i++) {
		const struct sonde_metric *m = live_board_metric(board, i);
		const struct sonde_histogram *h = m ? live_board_histogram(board, m) : NULL;
		struct session_value *v;

		if (!m)
			continue;
		add(p, "metric_rejected", m->name, "Updates that were no finite numbers", (double)m->rejected);
		if (m->kind == SONDE_METRIC_COUNTER)
			add(p, "metric_total", m->name, "Sum of a counter", live_real(m->value));
		else if (m->kind == SONDE_METRIC_HISTOGRAM && h)
			take_histogram(p, m->name, h);
		else if (m->kind == SONDE_METRIC_GAUGE && m->count &&
				(v = value_of(p, "metric_last", "metric", m->name, "Last value of a gauge")))
			v->each[p->repeat_count - 1] = live_real(m->value);
	}
}

/* A number of run.json; NaN where it is not known. */
static double number(const struct model_run *run, const char *keys)
{
	int64_t n = model_run_int(run, keys);

	return n == STORE_NULL ? NAN : (double)n;
}

static void take_usage(struct session_profile *p, const struct model_run *run, double wall)
{
	double cpu = (number(run, "usage.user_ns") + number(run, "usage.system_ns")) / 1e9;

	put(p, "wall_seconds", "", "Time from start to end", wall);
	put(p, "cpu_seconds", "", "Processor time of all its processes", cpu);
	put(p, "cpus", "", "Processors that it kept busy on average", wall > 0 ? cpu / wall : NAN);
	put(p, "max_rss_bytes", "", "Most memory that a process of it had at once", number(run, "usage.max_rss_bytes"));
}

/* Steps of one name, of all processes. */
struct progress {
	uint64_t count;
	int64_t first_ns, last_ns;
};

#define NAMES_MAX (SESSION_VALUES_MAX / 2)

static int count_step(struct progress *all, struct map *names, const struct store_step *row)
{
	uint64_t *at = names->count < NAMES_MAX ? map_put_int(names, (uint64_t)row->name, NULL)
						: map_get_int(names, (uint64_t)row->name);
	struct progress *one;

	if (!at)
		return names->count < NAMES_MAX ? -ENOMEM : 0;
	if (!*at)
		*at = names->count;
	one = &all[*at - 1];
	if (!one->count++)
		one->first_ns = row->ts_ns;
	one->last_ns = row->ts_ns;
	return 0;
}

/* The rate counts the intervals between the first step and the last: a lone step has none. */
static void put_steps(struct session_profile *p, const struct model_run *run, const struct progress *all,
		const struct map *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct progress *one = &all[i];
		const char *step;
		size_t bytes;
		int64_t id;

		memcpy(&id, map_key(names, i, &bytes), sizeof(id));
		step = model_cname(run, id);
		put(p, "steps", step, "Steps announced after the warm-up", (double)one->count);
		put(p, "steps_per_second", step, "Steps a second after the warm-up",
				one->last_ns > one->first_ns ? (double)(one->count - 1) * 1e9 /
								(double)(one->last_ns - one->first_ns)
							     : NAN);
	}
}

static int take_steps(struct session_profile *p, struct model_run *run, struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = p->spec->warm_up_ns > 0,
		.from_ns = model_run_start_ns(run) + p->spec->warm_up_ns,
		.to_ns = INT64_MAX };
	struct progress all[NAMES_MAX] = { { 0 } };
	struct map names = MAP_INIT;
	struct model_rows *rows = NULL;
	const void *row = NULL;
	int rc = model_load(run, MODEL_NAMES, err);

	if (rc == 0)
		rc = model_rows_open(&rows, model_table(run, STORE_TABLE_STEP), &opts, err);
	while (rc == 0 && (rc = model_rows_next(rows, &row, err)) == 0 && row)
		if (count_step(all, &names, row) < 0)
			rc = err_sys(err, ENOMEM, "cannot count the steps");
	if (rc == 0)
		put_steps(p, run, all, &names);
	model_rows_free(rows);
	map_release(&names);
	return rc;
}

int session_profile_take(struct session_profile *p, const char *path, int64_t wall_ns, struct sonde_err *err)
{
	struct model_run *run;
	int rc = model_run_open(&run, path, err);

	if (rc < 0)
		return rc;
	take_usage(p, run, (double)wall_ns / 1e9);
	rc = take_steps(p, run, err);
	model_run_free(run);
	return rc;
}

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

/* "steps_per_second" is the first step's; "steps_per_second.frame" the frame's. */
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
