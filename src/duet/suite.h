/*
 * suite: a configuration file of duetbench, and the plan it describes.
 *
 * One mapping: `duetbench:` and one mapping for each name in its list `duets`. A value is searched in A or B, then in
 * the duet, then in duetbench; it overrides as a whole. A key that is unknown or at the wrong level is an error with
 * a correction. A duet without B compares A with itself.
 */
#ifndef SONDE_DUET_SUITE_H
#define SONDE_DUET_SUITE_H

#include "base/arena.h"
#include "base/err.h"
#include "duet/duet.h"

#include <stdint.h>

enum { DUET_SUITE_BYTES_MAX = 4 << 20 };

struct duet_suite_side {
	const char *image;
	const char *const *results; /* absolute paths in the container, NULL-terminated */
	const char *run;            /* the whole command: run_base and run */
	const char *sync_run;       /* the same for a synchronous duet; NULL if the suite has none */
};

struct duet_benchmark {
	const char *name, *suite;
	bool has_removal;                  /* remove containers after their run */
	int64_t repetitions[DUET_DESIGNS]; /* for async, sync and seq */
	int64_t timeout_ns;                /* 0: none */
	struct duet_suite_side sides[DUET_SIDES];
	bool is_aa;
	bool has_barrier; /* false: a synchronous command has no '$$' in it, so it is not synchronised */
};

struct duet_artifact {
	const char *name, *command;
};

struct duet_suite {
	const char *name, *path;
	const char *docker;
	bool is_verbose, is_shuffled, has_seed;
	uint64_t seed;
	struct duet_benchmark *benchmarks;
	size_t benchmark_count;
	struct duet_artifact *artifacts;
	size_t artifact_count;
};

/* All memory is in the arena. Messages are "path:line: sentence". */
int duet_suite_load(struct duet_suite *s, const char *path, struct arena *arena, struct sonde_err *err);
int duet_suite_parse(struct duet_suite *s, const char *path, const char *text, size_t bytes, struct arena *arena,
		struct sonde_err *err);

/* One entry of the plan: one execution of one side, or of both at once. */
struct duet_step {
	const struct duet_benchmark *benchmark;
	enum duet_design design;
	int64_t runid;
	bool is_first_b;     /* sync and async */
	enum duet_side side; /* seq */
};

/*
 * The plan: by benchmark, or all shuffled. Orders AB and BA are balanced for each benchmark and design. Memory from
 * the arena; -ENOMEM on failure.
 */
int duet_suite_plan(const struct duet_suite *s, const char *const *only, uint64_t seed, struct arena *arena,
		struct duet_step **steps, size_t *count, struct sonde_err *err);

/* The name of a result file: <suite>.<benchmark>.<runid>.<type>.<order>.<pair>.<base> */
struct duet_result_name {
	char suite[128], benchmark[128], type[16], order[8], pair;
	int64_t runid;
	const char *base; /* points into the parsed text */
};

extern const char *const duet_design_types[]; /* "seqn", NULL for rmit, "syncduet", "duet" */

char *duet_step_result_name(const struct duet_step *step, enum duet_side side, const char *path, struct arena *arena);
bool duet_result_name_parse(struct duet_result_name *out, const char *name);

#endif
