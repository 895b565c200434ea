/*
 * spec: the contents of a session file: the application, its data and limits, duration and repeats, and the
 * thresholds of its profile.
 */
#ifndef SONDE_SESSION_SPEC_H
#define SONDE_SESSION_SPEC_H

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"
#include "config/config.h"
#include "launch/job.h"
#include "session/companions.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The data of a session as a local file.
 *
 *	file:PATH                      used in place
 *	http://..., https://...       downloaded
 *	s3://BUCKET/KEY               downloaded, signed with $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY if set;
 *	                              `endpoint` or $AWS_ENDPOINT_URL replaces Amazon's server
 *	sage://BUCKET/PATH            from the Sage object store, with $SAGE_TOKEN if it is set
 *
 * Downloads are cached by source in $XDG_CACHE_HOME/sonde/datasets. With a sha256, a valid cached copy is not
 * downloaded again, and an interrupted download is resumed; without one, the parts may not belong together, and it
 * restarts.
 */

struct session_dataset {
	const char *source;   /* NULL: no dataset */
	const char *sha256;   /* expected digest; NULL: any */
	const char *endpoint; /* of s3 and sage; NULL: the default */
};

struct dataset_file {
	char *path; /* absolute */
	char sha256[SHA256_TEXT_BYTES];
	bool was_cached;
	int64_t resumed_bytes; /* bytes that an earlier attempt had downloaded */
};

int dataset_check(const struct session_dataset *d, struct sonde_err *err); /* checks the syntax of the source */
int dataset_fetch(const struct session_dataset *d, struct dataset_file *f, struct arena *arena, struct sonde_err *err);

#define SESSION_KNOBS_MAX 16
#define SESSION_KNOB_PREFIX "knob." /* of the name of a swept knob */

struct session_knob {
	const char *name, *text;
};

struct session_knobs {
	struct sonde_knob_init wishes[SESSION_KNOBS_MAX];
	size_t count;
	uint32_t asked; /* one bit per knob */
};

/* A second value of the same name replaces the first. -E2BIG: too many. */
int session_knobs_add(struct session_knobs *k, const char *name, const char *text, struct sonde_err *err);
/* Marks the knobs that the program has declared on its board, a file in dirfd. The board is untrusted. */
void session_knobs_poll(struct session_knobs *k, int dirfd, const char *board);
/* -ENOENT: the program has declared no such knob; the error names it. */
int session_knobs_check(const struct session_knobs *k, struct sonde_err *err);

#define SESSION_REPEATS_MAX 100
#define SESSION_THRESHOLDS_MAX 32
#define SESSION_ENV_MAX 60

/* Formats of the profile; index of session_spec.outputs. JSON is always written. */
enum session_output { SESSION_JSON, SESSION_OPENMETRICS, SESSION_CSV, SESSION_HTML, SESSION_OUTPUTS };

struct session_threshold {
	const char *metric;
	double min, max; /* infinite: no bound */
};

#define SESSION_SWEEP_MAX 16
#define SESSION_MOUNTS_MAX 16
#define SESSION_PROBES_MAX 16

/* Runs the session at several limits, values of a knob, or values of {NAME} in its arguments and variables. */
struct session_sweep {
	const char *over; /* "cpus", "memory", "knob.NAME", or another name; NULL: no sweep */
	const char *texts[SESSION_SWEEP_MAX];
	double values[SESSION_SWEEP_MAX]; /* memory in bytes */
	size_t count;
	const char *metric; /* metric to maximize */
	double tolerance;   /* values within this of the best count as equal */
};

struct session_spec {
	const char *name;
	const char **command;     /* NULL: the command of the image */
	const char *image, *root; /* at most one of them; neither: an ordinary process */
	const char **args;        /* after the command; {dataset} is replaced by the path of the dataset */
	const char **engine_args; /* for the container engine's run command */
	const char *env[SESSION_ENV_MAX + 1];
	size_t env_count;
	struct session_dataset dataset;
	struct job_mount mounts[SESSION_MOUNTS_MAX];
	size_t mount_count;
	struct companion_spec companions[COMPANIONS_MAX], tools[COMPANIONS_MAX];
	size_t companion_count, tool_count;
	struct session_knob knobs[SESSION_KNOBS_MAX];
	size_t knob_count;
	const char *probes[SESSION_PROBES_MAX + 1]; /* recorded probes, including those that a profile needs */
	struct session_sweep sweep;
	struct job_limits limits;
	int64_t warm_up_ns;  /* steps before its end are not counted */
	int64_t duration_ns; /* after the warm-up; then it is stopped successfully; 0: until it exits */
	int64_t timeout_ns;  /* then it is stopped and the session fails; 0: no timeout */
	struct job_ladder ladder;
	int64_t repeats;
	bool outputs[SESSION_OUTPUTS];
	struct session_threshold thresholds[SESSION_THRESHOLDS_MAX];
	size_t threshold_count;
};

/* The arena owns the strings of the spec. */
int session_spec_load(struct session_spec *spec, const char *path, struct arena *arena, struct sonde_err *err);

/* Private: between spec.c and companions.c. For rows of a struct config_key; into is a struct session_spec. */

/* For rows of a struct config_key; into is a struct session_spec. */
int spec_parse_companions(struct config_reader *r, yaml_node_t *list, void *into);
int spec_parse_tools(struct config_reader *r, yaml_node_t *list, void *into);
int spec_parse_probes(struct config_reader *r, yaml_node_t *list, void *into);

#endif
