/*
 * Computes the metrics of a run; see trial-run.h.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/vec.h"
#include "live/board-reader.h"
#include "record/annotation-listener.h"
#include "sonde/shm.h"
#include "tune/trial-run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/*
 * Knobs, steps and metrics of a program that uses libsonde; see trial-run.h.
 */

int tune_keep_step(struct tune_run *r, const struct tune_step *step)
{
	if (r->step_count == TUNE_STEPS_MAX)
		return 0;
	if (!VEC_GROW(r->steps, r->step_cap, r->step_count + 1, TUNE_STEPS_MAX))
		return -ENOMEM;
	r->steps[r->step_count++] = *step;
	return 0;
}

static void on_step(void *arg, int64_t ts_ns, int64_t index, double value)
{
	tune_keep_step(arg, &(struct tune_step){ .index = index, .at_ns = ts_ns, .value = value });
}

/* A metric of that name takes precedence over the steps of a loop. */
static void find_metric(struct tune_kept *kept, struct live_board *b, const char *name, const struct live_clock *clock)
{
	const struct sonde_metric *found = NULL;

	for (size_t i = 0; i < b->metric_count; i++) {
		const struct sonde_metric *m = live_board_metric(b, i);

		if (m && strcmp(m->name, name) == 0 && (!found || found->kind == SONDE_METRIC_STEP))
			found = m;
	}
	if (found) {
		const struct sonde_histogram *h = live_board_histogram(b, found);

		kept->kind = found->kind;
		if (found->kind == SONDE_METRIC_HISTOGRAM && h) {
			kept->sum += live_real(h->sum);
			kept->count += h->count;
		} else if (found->kind == SONDE_METRIC_COUNTER) {
			kept->sum += live_real(found->value);
		} else if (found->kind == SONDE_METRIC_RATE) {
			live_rate_add(&kept->rate, found, clock);
		} else if (found->ticks >= kept->ticks) {
			kept->last = live_real(found->value);
			kept->ticks = found->ticks;
		}
	}
}

/* Checks which knobs of the study the program has read, and whether it refused a value. */
static void check_knobs(struct tune_run *r, int dirfd, const char *name)
{
	const struct tune_space *space = &r->study->space;
	CLEANUP(cleanup_fd) int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const off_t at = SONDE_SEGMENT_HEAD_BYTES + (off_t)offsetof(struct sonde_board, knobs);

	for (uint32_t slot = 0; fd >= 0 && slot < SONDE_KNOBS_MAX; slot++) {
		struct sonde_knob k;

		if (pread(fd, &k, sizeof(k), at + (off_t)(slot * sizeof(k))) != (ssize_t)sizeof(k) || !k.kind)
			break;
		for (size_t i = 0; i < space->count; i++) {
			const char *wanted = space->params[i].knob;

			if (!wanted || strncmp(k.name, wanted, sizeof(k.name)) != 0)
				continue;
			r->knobs_asked |= (uint64_t)1 << i;
			if (k.refused && !*r->why)
				snprintf(r->why, sizeof(r->why), "knob '%s' of the program does not accept this value",
						wanted);
		}
	}
}

static void on_board(void *arg, int dirfd, const char *name)
{
	struct live_board *b = malloc(sizeof(*b));
	struct tune_run *r = arg;
	const struct tune_study *s = r->study;
	struct live_clock clock;

	live_clock_read(&clock, dirfd);
	live_clock_set(&clock);
	if (b && live_board_read(b, dirfd, name, NULL) == 0) {
		for (size_t k = 0; k < s->objective_count; k++)
			if (s->objectives[k].metric.source == TUNE_METRIC)
				find_metric(&r->kept[k], b, s->objectives[k].metric.kept, &clock);
		for (size_t k = 0; k < s->limit_count; k++)
			if (s->limits[k].metric.source == TUNE_METRIC)
				find_metric(&r->kept[TUNE_OBJECTIVES_MAX + k], b, s->limits[k].metric.kept, &clock);
	}
	free(b);
	check_knobs(r, dirfd, name);
}

/* Sets a number as both integer and real, since the program chooses the type; also a choice that is a number. */
static void fill_knob_init(struct sonde_knob_init *w, const struct tune_param *p, double value)
{
	double number = value;

	*w = (struct sonde_knob_init){ .whole = SONDE_NONE, .real = NAN };
	memcpy(w->name, p->knob, strlen(p->knob)); /* fits: study-params.c has checked the length */
	if (p->type == TUNE_ORDINAL || p->type == TUNE_CATEGORICAL) {
		number = p->choices[(size_t)value].number;
		memcpy(w->choice, p->choices[(size_t)value].text, strlen(p->choices[(size_t)value].text));
	} else {
		tune_param_format(p, value, w->choice, sizeof(w->choice));
	}
	w->real = number;
	if (isfinite(number) && number == round(number) && fabs(number) < 9e15)
		w->whole = (int64_t)number;
}

size_t tune_knob_inits(const struct tune_space *space, const double *point, struct sonde_knob_init *wishes)
{
	size_t n = 0;

	for (size_t i = 0; i < space->count && n < SONDE_KNOBS_MAX; i++)
		if (space->params[i].knob && !isnan(point[i]))
			fill_knob_init(&wishes[n++], &space->params[i], point[i]);
	return n;
}

int tune_knobs_watch_open(struct tune_run *r, struct sonde_err *err)
{
	struct sonde_knob_init wishes[SONDE_KNOBS_MAX];
	struct announce_options o = { .wishes = wishes,
		.knob_init_count = tune_knob_inits(&r->study->space, r->point, wishes),
		.step = r->study->step_name,
		.take_step = r->study->step_regex ? NULL : on_step,
		.take_board = on_board,
		.arg = r };
	int rc;

	r->announce = malloc(sizeof(*r->announce));
	if (!r->announce)
		return err_sys(err, ENOMEM, "cannot start a trial");
	rc = announce_open(r->announce, r->dir, &o, err);
	r->announce->o.wishes = NULL; /* on our stack, used during the start only */
	return rc;
}

void tune_knobs_watch_close(struct tune_run *r)
{
	if (r->announce)
		announce_release(r->announce);
	free(r->announce);
	r->announce = NULL;
}
