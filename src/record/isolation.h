/* place: the recorded command's limits, walls and time, as launch/job.h has them. */
#ifndef SONDE_RECORD_ISOLATION_H
#define SONDE_RECORD_ISOLATION_H

#include "launch/launch.h"
#include "record/record.h"

/* How long each signal is given before the next, once the time is up. */
#define PLACE_INTERRUPT_NS 2000000000
#define PLACE_TERMINATE_NS 3000000000

struct placed { /* the place with what the tracer needs in it */
	struct job_isolation place;
	struct job_mount *mounts;
	char gpu_library[4096];
	struct buf hold;
};

/* The ring and the library are there under the same names. library NULL or "": no tracer. */
int placed_init(struct placed *p, const struct job_isolation *asked, const char *ring, const char *library,
		struct sonde_err *err);
void placed_release(struct placed *p);
/* Does the command count processes by itself? Then what it says about pids means nothing to us. */
bool isolation_has_own_pids(const struct job_isolation *place);
bool isolation_has_engine(const struct job_isolation *place);       /* what we start is its client */
bool isolation_has_own_programs(const struct job_isolation *place); /* argv[0] is not to be looked for here */

/* The ladder on which a command is asked to end, and then ended; one rung each time that it is due. */
struct ladder {
	int64_t due_ns; /* INT64_MAX: never */
	int rung;       /* 0: it has its time still */
	struct job_ladder how;
};

/* timeout_ns 0: no limit; how NULL: the usual times. */
void ladder_init(struct ladder *s, int64_t timeout_ns, const struct job_ladder *how);
void ladder_climb(struct ladder *s, struct launch *l);  /* when it is due */
void ladder_finish(struct ladder *s, struct launch *l); /* the command has ended: whatever is left has its turn */

#endif
