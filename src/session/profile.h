/*
 * profile: what the repeats of a session have shown, as one table of values.
 *
 * A value has a name with its unit, where several of a kind exist a label (the
 * step's name), and one number a repeat; NaN: that repeat does not have it.
 */
#ifndef SONDE_SESSION_PROFILE_H
#define SONDE_SESSION_PROFILE_H

#include "base/buf.h"
#include "base/err.h"
#include "live/board-reader.h"
#include "live/rate.h"
#include "session/spec.h"
#include "stats/summary.h"

#define SESSION_VALUES_MAX 512
#define SESSION_LABEL_BYTES 128
#define SESSION_DUMPS_MAX 64

struct session_value {
	const char *name, *help;
	const char *label;            /* what `of` names: "step", "phase", "metric" */
	char of[SESSION_LABEL_BYTES]; /* "": it is of the application as a whole */
	double each[SESSION_REPEATS_MAX];
	struct live_rate rate; /* of a metric that counts, in repeat rate_repeat */
	size_t rate_repeat;
};

struct session_repeat {
	char run[512]; /* its bundle */
	int status;    /* as waitpid tells it */
	bool is_cut;   /* its duration was over and it was ended */
	bool has_timed_out;
};

struct session_breach {
	const struct session_threshold *threshold;
	double value; /* NaN: it was not measured, which breaches too */
};

struct session_point { /* of a sweep */
	const char *text;
	double value, metric; /* NaN: not known */
	bool has_failed;
	char run[512];
};

struct session_dump { /* what a tool left of a kind, as it was read */
	const char *tool, *kind;
	size_t repeat; /* from 1 */
	uint64_t files, rows;
	char reason[256]; /* why not all of it was read; "": it was */
};

struct session_profile {
	const struct session_spec *spec;
	struct dataset_file dataset;
	struct session_point points[SESSION_SWEEP_MAX]; /* of a sweep, in the profile of its first */
	size_t point_count;
	struct session_repeat repeats[SESSION_REPEATS_MAX];
	size_t repeat_count;
	struct session_value values[SESSION_VALUES_MAX];
	size_t value_count;
	uint64_t dropped_values; /* steps, phases, metrics of further names */
	struct session_dump dumps[SESSION_DUMPS_MAX];
	size_t dump_count;
};

/* What a process of the last repeat has left on its board. */
void session_profile_take_board(struct session_profile *p, struct live_board *board, const struct live_clock *clock);
/* The warm-up is over now: what a process of this repeat that runs has counted until now is no part of its rates. */
void session_profile_mark_board(struct session_profile *p, struct live_board *board, const struct live_clock *clock,
		double now_s);
/* What the bundle of the last repeat says. */
int session_profile_take(struct session_profile *p, const char *run, int64_t wall_ns, struct sonde_err *err);
/* Over the repeats that have it. n 0: none. */
struct stats_moments session_value_moments(const struct session_profile *p, const struct session_value *v);
double session_value_median(const struct session_profile *p, const struct session_value *v);
/* Did a repeat fail: an exit code, a signal that we did not send, a timeout? */
bool session_repeat_failed(const struct session_repeat *r);
bool session_failed(const struct session_profile *p);
/* Thresholds that the medians do not keep; returns how many. */
size_t session_breaches(const struct session_profile *p, struct session_breach breaches[SESSION_THRESHOLDS_MAX]);

/* Limits that leave a fifth above the most that was seen; NaN: not known. */
double session_recommended_cpus(const struct session_profile *p);
double session_recommended_memory_bytes(const struct session_profile *p);

void session_write_json(struct buf *out, const struct session_profile *p);
void session_write_openmetrics(struct buf *out, const struct session_profile *p);
/* The least of a sweep that is as good as the best within the tolerance; NULL: none is known. */
const struct session_point *session_recommended_point(const struct session_profile *p);
/* The median of a value by its name; NaN: it was not measured. */
double session_metric(const struct session_profile *p, const char *name);
void session_write_html(struct buf *out, const struct session_profile *p);
void session_write_csv(struct buf *out, const struct session_profile *p);

#endif
