/*
 * Computes the metrics of a run; see trial-run.h.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "sonde/shm.h"
#include "tune/trial-run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { OUTPUT_MAX = 64 << 20 };

/* The first group of the last match. */
static double from_output(struct tune_run *r, const struct tune_metric *m)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path = tune_run_path(r, "out.txt"), *at;
	double value = NAN;
	regmatch_t group[2];
	regex_t regex;

	if (!path || fs_read_file(AT_FDCWD, path, OUTPUT_MAX, &text, NULL) < 0 ||
			regcomp(&regex, m->regex, REG_EXTENDED | REG_NEWLINE) != 0)
		return NAN;
	for (at = text.data; regexec(&regex, at, 2, group, at == text.data ? 0 : REG_NOTBOL) == 0;) {
		char *end;
		double found = group[1].rm_so >= 0 ? strtod(at + group[1].rm_so, &end) : NAN;

		if (group[1].rm_so >= 0 && end != at + group[1].rm_so)
			value = found;
		at += group[0].rm_eo > 0 ? group[0].rm_eo : 1;
		if (group[0].rm_eo == 0 && !at[-1])
			break;
	}
	regfree(&regex);
	return value;
}

static double size_of(struct tune_run *r, const struct tune_metric *m)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	const char *path = NULL;
	struct stat st;

	if (tune_expand(&name, m->file, r, NULL) == 0)
		path = tune_run_path(r, name.data);
	return path && stat(path, &st) == 0 ? (double)st.st_size : NAN;
}

static double known(int64_t value, double scale)
{
	return value < 0 ? NAN : (double)value * scale;
}

bool tune_steps_rise(const struct tune_study *study)
{
	const struct tune_objective *o = &study->objectives[0];

	return o->metric.source == TUNE_TARGET ? o->metric.is_rising : o->metric.source == TUNE_STEP && o->is_maximized;
}

double tune_time_to_target(const struct tune_run *r, const struct tune_metric *m)
{
	size_t mean_of = m->mean_of > 1 ? (size_t)m->mean_of : 1;
	double sum = 0;

	for (size_t i = 0; i < r->step_count; i++) {
		double mean;

		sum += r->steps[i].value;
		if (i >= mean_of)
			sum -= r->steps[i - mean_of].value;
		mean = sum / (double)mean_of;
		if (i + 1 >= mean_of && (m->is_rising ? mean >= m->target : mean <= m->target))
			return (double)(r->steps[i].at_ns - r->start_ns) * 1e-9;
	}
	return NAN;
}

double tune_rate(const struct tune_run *r, size_t from)
{
	size_t n = r->step_count;

	if (n <= from + 1)
		return NAN;
	return (double)(r->steps[n - 1].at_ns - r->steps[from].at_ns) * 1e-9 / (double)(n - 1 - from);
}

static double of_metric(const struct tune_kept *kept)
{
	switch (kept->kind) {
	case SONDE_METRIC_COUNTER:
		return kept->sum;
	case SONDE_METRIC_GAUGE:
	case SONDE_METRIC_STEP:
		return kept->last;
	case SONDE_METRIC_HISTOGRAM:
		return kept->count ? kept->sum / (double)kept->count : NAN;
	case SONDE_METRIC_RATE:
		return live_rate_per_second(&kept->rate);
	default:
		return NAN;
	}
}

static double measure(struct tune_run *r, const struct tune_metric *m, const struct tune_kept *kept,
		const struct job_usage *usage)
{
	switch (m->source) {
	case TUNE_WALL:
		return known(usage->wall_ns, 1e-9);
	case TUNE_CPU:
		return known(usage->user_ns, 1e-9) + known(usage->system_ns, 1e-9);
	case TUNE_MEMORY:
		return known(usage->max_rss_bytes, 1);
	case TUNE_SIZE:
		return size_of(r, m);
	case TUNE_OUTPUT:
		return from_output(r, m);
	case TUNE_STEP:
		return r->step_count ? r->steps[r->step_count - 1].value : NAN;
	case TUNE_TARGET:
		return tune_time_to_target(r, m);
	case TUNE_RATE:
		return tune_rate(r, 0);
	case TUNE_METRIC:
		return of_metric(kept);
	default:
		return NAN;
	}
}

void tune_measure(struct tune_run *r, const struct job_usage *usage)
{
	const struct tune_study *s = r->study;

	r->wall_s = known(usage->wall_ns, 1e-9);
	for (size_t k = 0; k < s->objective_count; k++)
		r->values[k] = measure(r, &s->objectives[k].metric, &r->kept[k], usage);
	for (size_t k = 0; k < s->limit_count; k++)
		r->limits[k] = measure(r, &s->limits[k].metric, &r->kept[TUNE_OBJECTIVES_MAX + k], usage);
}
