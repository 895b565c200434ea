/*
 * profile: the results of the repeats of a session, as one table of values.
 *
 * A value has a name with its unit, a label if there are several of a kind (the name of the step), and one number per
 * repeat; NaN: the repeat does not have it.
 */
#ifndef SONDE_SESSION_PROFILE_H
#define SONDE_SESSION_PROFILE_H

#include "base/buf.h"
#include "base/err.h"
#include "live/board-reader.h"
#include "session/spec.h"
#include "stats/summary.h"

#define SESSION_VALUES_MAX 512
#define SESSION_LABEL_BYTES 128
#define SESSION_DUMPS_MAX 64

struct session_value {
	const char *name, *help;
	const char *label;            /* kind of `of`: "step", "phase", "metric" */
	char of[SESSION_LABEL_BYTES]; /* "": value of the whole application */
	double each[SESSION_REPEATS_MAX];
	struct live_rate rate; /* of a counter metric, in repeat rate_repeat */
	size_t rate_repeat;
};

struct session_repeat {
	char run[512]; /* its run directory */
	int status;    /* as returned by waitpid */
	bool is_cut;   /* stopped because its duration was over */
	bool has_timed_out;
};

struct session_breach {
	const struct session_threshold *threshold;
	double value; /* NaN: not measured, which is a breach too */
};

struct session_point { /* of a sweep */
	const char *text;
	double value, metric; /* NaN: unknown */
	bool has_failed;
	char run[512];
};

struct session_dump { /* what was read from a dump of one kind */
	const char *tool, *kind;
	size_t repeat; /* from 1 */
	uint64_t files, rows;
	char reason[256]; /* why part of it was not read; "": all was read */
};

struct session_profile {
	const struct session_spec *spec;
	struct dataset_file dataset;
	struct session_point points[SESSION_SWEEP_MAX]; /* of a sweep, in the profile of its first point */
	size_t point_count;
	struct session_repeat repeats[SESSION_REPEATS_MAX];
	size_t repeat_count;
	struct session_value values[SESSION_VALUES_MAX];
	size_t value_count;
	uint64_t dropped_values; /* steps, phases and metrics that did not fit */
	struct session_dump dumps[SESSION_DUMPS_MAX];
	size_t dump_count;
};

/* Adds the final board of a process of the last repeat. */
void session_profile_add_board(struct session_profile *p, struct live_board *board, const struct live_clock *clock);
/* Marks the end of the warm-up: counts up to now of a running process of this repeat are excluded from its rates. */
void session_profile_mark_board(struct session_profile *p, struct live_board *board, const struct live_clock *clock,
		double now_s);
/* Adds the values of the run directory of the last repeat. */
int session_profile_add_run(struct session_profile *p, const char *run, int64_t wall_ns, struct sonde_err *err);
/* Over the repeats that have the value. n 0: none. */
struct stats_moments session_value_moments(const struct session_profile *p, const struct session_value *v);
double session_value_median(const struct session_profile *p, const struct session_value *v);
/* Whether a repeat failed: an exit code, a signal that sonde did not send, or a timeout. */
bool session_repeat_failed(const struct session_repeat *r);
bool session_failed(const struct session_profile *p);
/* Finds thresholds that the medians violate; returns how many. */
size_t session_breaches(const struct session_profile *p, struct session_breach breaches[SESSION_THRESHOLDS_MAX]);

/* Recommended limits: 20 % above the maximum; NaN: unknown. */
double session_recommended_cpus(const struct session_profile *p);
double session_recommended_memory_bytes(const struct session_profile *p);

void session_write_json(struct buf *out, const struct session_profile *p);
void session_write_openmetrics(struct buf *out, const struct session_profile *p);
/* The smallest value of a sweep that is within the tolerance of the best; NULL: unknown. */
const struct session_point *session_recommended_point(const struct session_profile *p);
/* The median of a value by its name; NaN: not measured. */
double session_metric(const struct session_profile *p, const char *name);
void session_write_html(struct buf *out, const struct session_profile *p);
void session_write_csv(struct buf *out, const struct session_profile *p);

/* Private: functions that add values to a profile. */

/* Sets the value of the last repeat; creates it if needed. All strings except `of` must outlive the profile. */
void session_put(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);
/* Adds to the value of the last repeat; returns the sum. */
double session_add(struct session_profile *p, const char *name, const char *label, const char *of, const char *help,
		double value);

#endif
