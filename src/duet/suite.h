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
#include <sys/types.h>

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

/*
 * Executes the steps of a configuration file, in containers.
 *
 * Every step has new containers. Both sides of a step have one deadline; when it passes, or a side fails, the
 * containers are removed immediately. Result files appear under their names only when complete, and those of a failed
 * run never do, so existing results are finished, and a step that has all of them is not repeated.
 */

enum duet_event { DUET_EVENT_INFO, DUET_EVENT_WARNING, DUET_EVENT_ERROR };

struct duet_suite_run {
	const struct duet_suite *suite;
	const char *outdir; /* must exist */
	const char *docker; /* NULL: as in the suite */
	int interrupt_fd;   /* -1: none */
	bool is_resumed;    /* skip steps that have results */
	bool has_output;    /* commands write to our stderr */
	void (*on_event)(void *arg, enum duet_event kind, const char *sentence);
	void *arg;
	/* results */
	size_t done, left_out, failed;
};

/* Creates the missing artifacts; a command that fails is a warning. */
int duet_suite_artifacts(struct duet_suite_run *r, struct sonde_err *err);
/* Executes all steps. A step that fails is reported and counted, and the next one is executed. Returns -EINTR, or an
 * internal error. */
int duet_suite_execute(struct duet_suite_run *r, const struct duet_step *steps, size_t count, struct sonde_err *err);

/*
 * The shared-memory barrier at which duetbench's JVM agent waits, under the agent's name for it.
 *
 * /dev/shm/java-ubench-agent<name> holds a process-shared pthread_barrier_t for two. The agent waits without a
 * timeout: if a side dies, the other would hang until its deadline, so the process that monitors the sides starts a
 * stand-in for the dead one. The layout is glibc's on this architecture, for which the agent was built too.
 */

#define DUET_BARRIER_PREFIX "java-ubench-agent"
#define DUET_BARRIER_SUITE "syncduet." /* name prefix of the barriers of suites, followed by a PID and a dot */

struct duet_barrier {
	char name[256]; /* as passed to the agent, without the prefix */
	/* private */
	void *memory;
	pid_t stand_in;
};

#define DUET_BARRIER_INIT { .memory = NULL }

/* Creates the barrier; -EEXIST if one of that name exists. */
int duet_barrier_open(struct duet_barrier *b, const char *name, struct sonde_err *err);
/* Starts a child process that arrives instead of a side that has exited. May be called twice. */
int duet_barrier_stand_in(struct duet_barrier *b, struct sonde_err *err);
/* Removes the barriers of suites after sonde was killed. */
void duet_barrier_remove_left(void);
/* Removes the barrier, its name and the stand-in. */
void duet_barrier_release(struct duet_barrier *b);

#endif
