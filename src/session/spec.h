/*
 * spec: what a session file says: which application, with which data and limits, how
 * long and how often, and what its profile must keep to.
 */
#ifndef SONDE_SESSION_SPEC_H
#define SONDE_SESSION_SPEC_H

#include "base/arena.h"
#include "base/err.h"
#include "launch/job.h"
#include "session/companions.h"
#include "session/dataset.h"
#include "session/session-knobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_REPEATS_MAX 100
#define SESSION_THRESHOLDS_MAX 32
#define SESSION_ENV_MAX 60

/* Formats of the profile; bits of session_spec.outputs. JSON is always written. */
enum session_output { SESSION_JSON, SESSION_OPENMETRICS, SESSION_CSV, SESSION_HTML, SESSION_OUTPUTS };

struct session_threshold {
	const char *metric;
	double min, max; /* infinities: no such bound */
};

#define SESSION_SWEEP_MAX 16
#define SESSION_MOUNTS_MAX 16
#define SESSION_PROBES_MAX 16

/* The session at several limits, values of a knob, or of {NAME} in its arguments and variables. */
struct session_sweep {
	const char *over; /* "cpus", "memory", "knob.NAME", else a name; NULL: none */
	const char *texts[SESSION_SWEEP_MAX];
	double values[SESSION_SWEEP_MAX]; /* memory in bytes */
	size_t count;
	const char *metric; /* that is to be high */
	double tolerance;   /* what is within this of the best is as good */
};

struct session_spec {
	const char *name;
	const char **command;     /* NULL: the image's own */
	const char *image, *root; /* at most one of them; neither: a process here */
	const char **args;        /* behind the command; {dataset} stands for the dataset's path */
	const char **engine_args; /* of the container engine's run */
	const char *env[SESSION_ENV_MAX + 1];
	size_t env_count;
	struct session_dataset dataset;
	struct job_mount mounts[SESSION_MOUNTS_MAX];
	size_t mount_count;
	struct companion_spec companions[COMPANIONS_MAX], tools[COMPANIONS_MAX];
	size_t companion_count, tool_count;
	struct session_knob knobs[SESSION_KNOBS_MAX];
	size_t knob_count;
	const char *probes[SESSION_PROBES_MAX + 1]; /* what is recorded: at least what a profile is made from */
	struct session_sweep sweep;
	struct job_limits limits;
	int64_t warm_up_ns;  /* steps before that are not counted */
	int64_t duration_ns; /* behind the warm-up; then it is ended and all is well; 0: when it ends by itself */
	int64_t timeout_ns;  /* then it is ended and the session has failed; 0: never */
	struct job_ladder ladder;
	int64_t repeats;
	bool outputs[SESSION_OUTPUTS];
	struct session_threshold thresholds[SESSION_THRESHOLDS_MAX];
	size_t threshold_count;
};

/* What it points to is in the arena. */
int session_spec_load(struct session_spec *spec, const char *path, struct arena *arena, struct sonde_err *err);

#endif
