/* isolation: limits, sandbox and timeout of the recorded command; see launch/job.h. */
#ifndef SONDE_RECORD_ISOLATION_H
#define SONDE_RECORD_ISOLATION_H

#include "launch/launch.h"
#include "record/record.h"

/* Time between the signals of the ladder, after the timeout. */
#define PLACE_INTERRUPT_NS 2000000000
#define PLACE_TERMINATE_NS 3000000000

struct placed { /* the isolation, extended by what the tracer needs */
	struct job_isolation place;
	struct job_mount *mounts;
	char gpu_library[4096];
	struct buf hold;
};

/* Make the ring and the library visible under the same names. library NULL or "": no tracer. */
int placed_init(struct placed *p, const struct job_isolation *asked, const char *ring, const char *library,
		struct sonde_err *err);
void placed_release(struct placed *p);
/* Does the command have a PID namespace? Then the pids in its records are not ours. */
bool isolation_has_own_pids(const struct job_isolation *place);
bool isolation_has_engine(const struct job_isolation *place);       /* the process that we start is its client */
bool isolation_has_own_programs(const struct job_isolation *place); /* argv[0] is not resolved on this host */

/* The sequence of signals that stops a command after its timeout; each call sends the next one that is due. */
struct ladder {
	int64_t due_ns; /* INT64_MAX: never */
	int rung;       /* 0: before the timeout */
	struct job_ladder how;
};

/* timeout_ns 0: no limit; how NULL: default times. */
void ladder_init(struct ladder *s, int64_t timeout_ns, const struct job_ladder *how);
void ladder_climb(struct ladder *s, struct launch *l);  /* if the next signal is due */
void ladder_finish(struct ladder *s, struct launch *l); /* the command has exited: signal the rest of its tree */

#endif
