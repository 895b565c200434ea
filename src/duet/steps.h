/*
 * steps: iterations that a recorded program announced with sonde_step.
 *
 * An iteration lasts from one step to the next of the same name and process; the first one is excluded, since its
 * start is unknown. The most frequent step name is used unless one is given.
 */
#ifndef SONDE_DUET_STEPS_H
#define SONDE_DUET_STEPS_H

#include "base/arena.h"
#include "base/fs.h"
#include "duet/duet.h"
#include "duet/run-commands.h"
#include "model/run-model.h"

/* Adds the iterations of a run directory; their value is the step's, or that of a counter. -ENODATA if it has none. */
int duet_steps_read(struct duet_samples *out, const char *bundle, const char *name, const char *counter,
		struct sonde_err *err);

/* Adds the whole execution as one iteration: time, CPU time and memory of all its processes, if known. */
int duet_steps_read_whole(struct duet_samples *out, const char *bundle, const char *counter, struct sonde_err *err);

/* The runner: each run is one recorded execution per side; its steps or the whole execution are the iterations. */
struct duet_steps {
	struct duet_exec *exec;
	const char *sonde;   /* path of the sonde program */
	const char *name;    /* of the step; NULL: the most frequent */
	const char *counter; /* counter that is the value of iterations; NULL: the step's */
	bool is_whole;
	const char *probes; /* probes to record; NULL: trace */
	/* private */
	struct tempdir dir;
	char **argv[DUET_SIDES];
};

/* Creates a temporary directory and prefixes the commands of the duet_exec with `sonde record`. Release in any case. */
int duet_steps_open(struct duet_steps *s, struct arena *arena, struct sonde_err *err);
void duet_steps_release(struct duet_steps *s);
struct duet_runner duet_steps_runner(struct duet_steps *s);
/* Records each side once, one after the other, and calls `read` with each run directory, which is then removed. */
int duet_steps_record(struct duet_steps *s, const struct duet_turn *turn,
		int (*read)(void *arg, enum duet_side side, const char *dir, struct sonde_err *err), void *arg,
		struct sonde_err *err);
/*
 * Records each side once and looks for what forbids to run two copies at once: a port, a lock, a written file. The
 * reason is NULL if there is none, else a sentence from the arena.
 */
int duet_conflict_find(struct duet_steps *s, struct arena *arena, const char **reason, struct sonde_err *err);

/*
 * A counter of a recorded run as the value of its iterations: for a monotonic counter (a probe's
 * total) its increase during the iteration, summed over all processes; for a level the mean of its samples during the
 * iteration, or the last one before it if there is none.
 */

/* Sets the value of the iterations from `first` on. -ENODATA if the run lacks the counter. */
int duet_counter_read(struct model_run *run, const char *name, struct duet_samples *s, size_t first,
		struct sonde_err *err);

#endif
