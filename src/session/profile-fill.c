/* Fills the profile from boards and run directories. */
#include "base/map.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/run-model.h"
#include "session/profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the value of that name and label; creates it with NaN for each repeat. NULL: the profile is full, and the
 * dropped value is counted. */
static struct session_value *value_make(struct session_profile *p, const char *name, const char *label, const char *of,
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

void session_put(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value)
{
	struct session_value *v = value_make(p, name, label, of, help);

	if (v)
		v->each[p->repeat_count - 1] = value;
}

double session_add(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value)
{
	struct session_value *v = value_make(p, name, label, of, help);
	double *at = v ? &v->each[p->repeat_count - 1] : &value;

	if (v)
		*at = isnan(*at) ? value : *at + value;
	return *at;
}

/* Increase per second of a counter or a rate, with the rate state of this repeat. */
static struct session_value *per_second(struct session_profile *p, const char *metric)
{
	struct session_value *v = value_make(p, "metric_per_second", "metric", metric,
			"Increase of a counter or rate per second after the warm-up");

	if (v && v->rate_repeat != p->repeat_count) {
		v->rate = (struct live_rate){ 0 };
		v->rate_repeat = p->repeat_count;
	}
	return v;
}

static bool counts(const struct sonde_metric *m)
{
	return m->kind == SONDE_METRIC_COUNTER || m->kind == SONDE_METRIC_RATE;
}

static void add_counter(struct session_profile *p, const struct sonde_metric *m, const struct live_clock *clock)
{
	struct session_value *v;

	session_add(p, "metric_total", "metric", m->name, "Sum of a counter or a rate", live_real(m->value));
	v = per_second(p, m->name);
	if (!v)
		return;
	live_rate_add(&v->rate, m, clock);
	v->each[p->repeat_count - 1] = live_rate_per_second(&v->rate);
}

void session_profile_add_board(struct session_profile *p, struct live_board *board, const struct live_clock *clock)
{
	for (size_t i = 0; i < board->metric_count; i++) {
		const struct sonde_metric *m = live_board_metric(board, i);
		const struct sonde_histogram *h = m ? live_board_histogram(board, m) : NULL;

		if (!m)
			continue;
		session_add(p, "metric_rejected", "metric", m->name, "Rejected updates (not finite)",
				(double)m->rejected);
		if (counts(m))
			add_counter(p, m, clock);
		else if (m->kind == SONDE_METRIC_HISTOGRAM && h) {
			double sum = session_add(p, "metric_sum", "metric", m->name, "Sum of a histogram",
					live_real(h->sum));
			double count = session_add(p, "metric_count", "metric", m->name,
					"Number of values of a histogram", (double)h->count);

			session_put(p, "metric_mean", "metric", m->name, "Mean of a histogram",
					count > 0 ? sum / count : NAN);
		} else if (m->kind == SONDE_METRIC_GAUGE && m->count)
			session_put(p, "metric_last", "metric", m->name, "Last value of a gauge", live_real(m->value));
	}
}

void session_profile_mark_board(struct session_profile *p, struct live_board *board, const struct live_clock *clock,
		double now_s)
{
	for (size_t i = 0; i < board->metric_count; i++) {
		const struct sonde_metric *m = live_board_metric(board, i);
		struct session_value *v = m && counts(m) ? per_second(p, m->name) : NULL;

		if (v)
			live_rate_mark(&v->rate, m, clock, now_s);
	}
}

/* Returns a number of run.json; NaN if unknown. */
static double number(const struct model_run *run, const char *keys)
{
	int64_t n = model_run_int(run, keys);

	return n == STORE_NULL ? NAN : (double)n;
}

static void add_usage(struct session_profile *p, const struct model_run *run, double wall)
{
	double cpu = (number(run, "usage.user_ns") + number(run, "usage.system_ns")) / 1e9;

	session_put(p, "wall_seconds", "", "", "Elapsed time", wall);
	session_put(p, "cpu_seconds", "", "", "CPU time of all processes", cpu);
	session_put(p, "cpus", "", "", "CPUs used on average", wall > 0 ? cpu / wall : NAN);
	session_put(p, "max_rss_bytes", "", "", "Peak resident memory of a process",
			number(run, "usage.max_rss_bytes"));
}

/* Steps or spans by name, of all processes. */
#define NAMES_MAX 32

struct tally {
	uint64_t count;
	int64_t first_ns, last_ns, dur_ns;
};

struct tallies {
	struct tally all[NAMES_MAX];
	struct map names;
	bool has_more; /* more names than NAMES_MAX */
};

static int tally(struct tallies *t, int64_t name, int64_t ts_ns, int64_t dur_ns)
{
	uint64_t *at = t->names.count < NAMES_MAX ? map_put_int(&t->names, (uint64_t)name, NULL)
						  : map_get_int(&t->names, (uint64_t)name);
	struct tally *one;

	if (!at && t->names.count < NAMES_MAX)
		return -ENOMEM;
	t->has_more |= !at;
	if (!at)
		return 0;
	if (!*at)
		*at = t->names.count;
	one = &t->all[*at - 1];
	if (!one->count++)
		one->first_ns = ts_ns;
	one->last_ns = ts_ns;
	one->dur_ns += dur_ns;
	return 0;
}

static int tally_step(struct tallies *t, const void *row)
{
	const struct store_step *step = row;

	return tally(t, step->name, step->ts_ns, 0);
}

static int tally_span(struct tallies *t, const void *row)
{
	const struct store_span *span = row;

	return tally(t, span->name, span->ts_ns, span->dur_ns > 0 ? span->dur_ns : 0);
}

/* The rate counts intervals between the first and the last step: a single step has no rate. */
static void put_step(struct session_profile *p, const char *step, const struct tally *one)
{
	session_put(p, "steps", "step", step, "Steps announced after the warm-up", (double)one->count);
	session_put(p, "steps_per_second", "step", step, "Steps per second after the warm-up",
			one->last_ns > one->first_ns
					? (double)(one->count - 1) * 1e9 / (double)(one->last_ns - one->first_ns)
					: NAN);
}

static void put_phase(struct session_profile *p, const char *phase, const struct tally *one)
{
	session_put(p, "phase_count", "phase", phase, "Number of spans of the phase after the warm-up",
			(double)one->count);
	session_put(p, "phase_seconds", "phase", phase, "Time in the phase, summed over threads",
			(double)one->dur_ns / 1e9);
	session_put(p, "phase_mean_seconds", "phase", phase, "Mean duration of the phase",
			(double)one->dur_ns / 1e9 / (double)one->count);
}

static const struct source {
	enum store_table_id table;
	int (*tally)(struct tallies *t, const void *row);
	void (*put)(struct session_profile *p, const char *of, const struct tally *one);
} sources[] = {
	{ STORE_TABLE_STEP, tally_step, put_step },
	{ STORE_TABLE_SPAN, tally_span, put_phase },
};

static int tally_rows(struct tallies *t, const struct source *s, struct model_run *run, int64_t warm_up_ns,
		struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = warm_up_ns > 0,
		.from_ns = model_run_start_ns(run) + warm_up_ns,
		.to_ns = INT64_MAX };
	struct model_rows *rows = NULL;
	const void *row = NULL;
	int rc = model_rows_open(&rows, model_table(run, s->table), &opts, err);

	while (rc == 0 && (rc = model_rows_next(rows, &row, err)) == 0 && row)
		if (s->tally(t, row) < 0)
			rc = err_sys(err, ENOMEM, "cannot summarize the run");
	model_rows_free(rows);
	return rc;
}

static int add_rows(struct session_profile *p, const struct source *s, struct model_run *run, struct sonde_err *err)
{
	struct tallies t = { .names = MAP_INIT };
	int rc = tally_rows(&t, s, run, p->spec->warm_up_ns, err);

	for (size_t i = 0; i < t.names.count && rc == 0; i++) {
		size_t bytes;
		int64_t id;

		memcpy(&id, map_key(&t.names, i, &bytes), sizeof(id));
		s->put(p, model_cname(run, id), &t.all[i]);
	}
	p->dropped_values += t.has_more;
	map_release(&t.names);
	return rc;
}

int session_profile_add_run(struct session_profile *p, const char *path, int64_t wall_ns, struct sonde_err *err)
{
	struct model_run *run;
	int rc = model_run_open(&run, path, err);

	if (rc < 0)
		return rc;
	add_usage(p, run, (double)wall_ns / 1e9);
	if (p->spec->warm_up_ns) {
		/* No rate without a mark at the end of the warm-up: counts before and after cannot be separated. */
		for (struct session_value *v = p->values; v < p->values + p->value_count; v++)
			if (v->rate_repeat == p->repeat_count && !v->rate.is_marked &&
					v->rate.first_s * 1e9 < (double)(model_run_start_ns(run) + p->spec->warm_up_ns))
				v->each[p->repeat_count - 1] = NAN;
	}
	rc = model_load(run, MODEL_NAMES, err);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && rc == 0; i++)
		rc = add_rows(p, &sources[i], run, err);
	model_run_free(run);
	return rc;
}
