/*
 * record: run a command and leave a run bundle.
 *
 * Nothing here may change what the command does: probes that cannot start say so
 * in run.json and the run goes on; a disk that fills up costs rows, not the run.
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

/* For whoever looks: what has a keyword in its name, in that colour. "keyword:colour" each. */
struct run_filters {
	const char *const *cpu, *const *gpu; /* functions; commands of devices. NULL-terminated; NULL: none */
};

struct record_options {
	char *const *argv;         /* NULL: observe `target`, which runs already */
	const char *dir;           /* the bundle; NULL: a new one among the runs */
	bool is_forced;            /* a run that is in dir is replaced */
	const char *name;          /* of the run; NULL: the program's */
	const char *const *probes; /* names, as probe_set_open takes them; "trace" is the tracer */
	struct probe_options probe;
	struct probe_target target; /* without argv; with it PROBE_MACHINE or PROBE_COMMAND */
	int64_t duration_ns; /* without argv: end after that long; 0: when the process ends or a signal says so */
	bool is_following;   /* wait for every traced process, not only for the command */
	struct ring_options ring;
	const struct job_isolation *place; /* where the command lives; NULL: here */
	int64_t timeout_ns;                /* then it is ended, with all its tree; 0: never */
	const struct job_ladder *ladder;   /* how it is asked to end then; NULL: as isolation.h has it */
	bool is_bound;                     /* its tree ends with us, even when we are killed; else what lives goes on */
	/* Told of the board (sonde/shm.h) of a process that has ended, before it is removed; NULL: nobody wants it. */
	void (*board)(void *arg, int dirfd, const char *name);
	void *board_arg;
	/* The same, once, for each board that is there so long after the start; NULL: nobody wants to look. */
	void (*look)(void *arg, int dirfd, const char *name);
	int64_t look_after_ns;
	const struct run_filters *filters; /* NULL: none */
	const char *const *env; /* "NAME=value" to set for it, NULL-terminated, at most RECORD_ENV_MAX; NULL: none */
};

struct record_result {
	int status; /* as waitpid tells it */
	bool has_timed_out;
	int64_t oom_kills;         /* processes that the kernel has killed for want of memory; -1: not known */
	uint64_t memory_max_bytes; /* that it may have; 0: no limit */
	struct buf path;           /* the bundle */
	uint64_t events, dropped, filtered, processes, untraced, lost_rows, bytes;
	const char *trace_state;                /* "ran", "off", "failed" */
	struct sonde_err trace_why;             /* why it failed or saw nothing */
	struct probe_status probes[PROBES_MAX]; /* the others */
	size_t probe_count;
	int64_t wall_ns;
	int64_t cpu_ns;           /* what recording cost us */
	struct sonde_err trouble; /* what went wrong on the way, "" when nothing */
};

#define RECORD_RESULT_INIT { .path = BUF_INIT }

/*
 * 0 when the command ran (or what runs already was observed), whatever became of it. Else a negative
 * errno; launch_exit_code tells whose failure.
 */
int record_run(const struct record_options *o, struct record_result *result, struct sonde_err *err);
void record_result_release(struct record_result *r);

/*
 * Finish a bundle whose recorder died: its tables are made whole, what is still in
 * its ring joins them, and the ring is removed. The old tables are replaced only when
 * the new ones are complete. A ring that a live process writes to is refused with
 * -EBUSY unless is_forced. A ring that does not belong to the run is left alone.
 */
struct recover_ring {     /* as run.json names it */
	const char *path; /* NULL: none */
	const char *id;
};
struct recover_result {
	uint64_t kept_rows;        /* rows that were on disk */
	uint64_t ring_events;      /* taken from the ring */
	uint64_t lost_events;      /* that the recorder had taken out but not written */
	uint64_t dropped_events;   /* that found no room in the ring, since nobody emptied it */
	bool is_lost_known;        /* the ring's control page was there to tell */
	struct sonde_err ring_why; /* why the ring that run.json names was left alone; "": it was not */
};
int record_recover(const char *bundle, const struct recover_ring *ring, bool is_forced, struct recover_result *result,
		struct sonde_err *err);
/* A ring that was written without a recorder becomes a bundle in `dir`; the ring stays as it is. */
int record_import_ring(const char *ring, const char *dir, struct record_result *result, struct sonde_err *err);

#endif
