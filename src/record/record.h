/*
 * record: runs a command and writes a run directory.
 *
 * Recording never changes what the command does. A probe that cannot start is reported in run.json and the run
 * continues; a full disk costs rows, not the run.
 */
#ifndef SONDE_RECORD_RECORD_H
#define SONDE_RECORD_RECORD_H

#include "base/buf.h"
#include "base/err.h"
#include "launch/job.h"
#include "probe/probe.h"
#include "record/ringdir.h"

#include <stdbool.h>

#define RECORD_ENV_MAX 64

/* Highlighting for viewers: "keyword:colour" colours the names that contain the keyword. */
struct run_filters {
	const char *const *cpu, *const *gpu; /* functions; GPU commands. NULL-terminated; NULL: none */
};

struct record_options {
	char *const *argv;         /* NULL: observe `target`, which is already running */
	const char *dir;           /* run directory; NULL: a new one in the runs directory */
	bool is_forced;            /* replace an existing run in dir */
	const char *name;          /* of the run; NULL: the program's */
	const char *const *probes; /* names, as in probe_set_open; "trace" is the tracer */
	struct probe_options probe;
	struct probe_target target; /* without argv; with it PROBE_MACHINE or PROBE_COMMAND */
	int64_t duration_ns; /* without argv: stop after this time; 0: at the exit of the process or at a signal */
	bool is_following;   /* wait for every traced process, not only for the command */
	struct ring_options ring;
	const struct job_isolation *place; /* sandbox and limits of the command; NULL: none */
	int64_t timeout_ns;                /* then the process tree is stopped; 0: never */
	const struct job_ladder *ladder;   /* signals to stop it; NULL: the default of recorder.h */
	bool is_bound;                     /* the process tree exits with us, even on SIGKILL; else it continues */
	/*
	 * Called with the board (sonde/shm.h) of each process that has exited, before it is removed; NULL: not called.
	 */
	void (*board)(void *arg, int dirfd, const char *name);
	void *board_arg;
	/* Called once for each board that exists that long after the start; NULL: not called. */
	void (*look)(void *arg, int dirfd, const char *name);
	int64_t look_after_ns;
	const struct run_filters *filters; /* NULL: none */
	const char *const *env; /* NULL-terminated "NAME=value" strings to set, maximum RECORD_ENV_MAX; NULL: none */
};

struct record_result {
	int status; /* as returned by waitpid */
	bool has_timed_out;
	int64_t oom_kills;         /* processes killed by the OOM killer; -1: unknown */
	uint64_t memory_max_bytes; /* memory limit; 0: none */
	struct buf path;           /* run directory */
	uint64_t events, dropped, filtered, processes, untraced, lost_rows, bytes;
	const char *trace_state;                /* "ran", "off", "failed" */
	struct sonde_err trace_why;             /* why it failed or recorded no events */
	struct probe_status probes[PROBES_MAX]; /* the others */
	size_t probe_count;
	int64_t wall_ns;
	int64_t cpu_ns;           /* CPU time of the recorder */
	struct sonde_err trouble; /* first problem during the run, "" if none */
};

#define RECORD_RESULT_INIT { .path = BUF_INIT }

/*
 * Returns 0 if the command ran (or the observation took place), whatever its status, else -errno; launch_exit_code
 * distinguishes failures of the command from ours.
 */
int record_run(const struct record_options *o, struct record_result *result, struct sonde_err *err);
void record_result_release(struct record_result *r);

/*
 * Finish a run directory after a crash of its recorder: repair its tables, add the records left in its ring, and
 * remove the ring. The old tables are replaced only when the new ones are complete. A ring that a live process writes
 * to is refused with -EBUSY unless is_forced. A ring that does not belong to the run is left alone.
 */
struct recover_ring {     /* as run.json names it */
	const char *path; /* NULL: none */
	const char *id;
};
struct recover_result {
	uint64_t kept_rows;        /* rows that were on disk */
	uint64_t ring_events;      /* read from the ring */
	uint64_t lost_events;      /* removed from the ring but not written to disk */
	uint64_t dropped_events;   /* dropped because the ring was full and had no reader */
	bool is_lost_known;        /* the ring's control page exists */
	struct sonde_err ring_why; /* why the ring named in run.json was not used; "" if it was */
};
int record_recover(const char *bundle, const struct recover_ring *ring, bool is_forced, struct recover_result *result,
		struct sonde_err *err);
/* Convert a ring that was written without a recorder to a run directory `dir`; the ring is not changed. */
int record_import_ring(const char *ring, const char *dir, struct record_result *result, struct sonde_err *err);

#endif
