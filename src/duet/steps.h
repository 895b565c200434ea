/*
 * steps: iterations that a recorded program announced with sonde_step.
 *
 * An iteration lasts from one step to the next of the same name and process; the first one begins before anything is
 * known of it and is left out. Steps of the name that occurs most are taken unless one is given.
 */
#ifndef SONDE_DUET_STEPS_H
#define SONDE_DUET_STEPS_H

#include "base/arena.h"
#include "base/tempdir.h"
#include "duet/run-commands.h"

/* Add the iterations of a run bundle; their value is the step's, or that of a counter. -ENODATA: it has none. */
int duet_steps_read(struct duet_samples *out, const char *bundle, const char *name, const char *counter,
		struct sonde_err *err);

/* Add the whole execution as one iteration: time, processor time and memory of all its processes, where known. */
int duet_steps_read_whole(struct duet_samples *out, const char *bundle, const char *counter, struct sonde_err *err);

/* The runner: each run is one recorded execution a side, of which the steps or the whole are the iterations. */
struct duet_steps {
	struct duet_exec *exec;
	const char *sonde;   /* the program that records */
	const char *name;    /* of the step; NULL: the most frequent */
	const char *counter; /* whose value iterations have; NULL: the step's */
	bool is_whole;
	const char *probes; /* what is recorded; NULL: trace */
	/* private */
	struct tempdir dir;
	char **argv[DUET_SIDES];
};

/* Makes a temporary directory and puts `sonde record` before the commands of the exec. Release in any case. */
int duet_steps_open(struct duet_steps *s, struct arena *arena, struct sonde_err *err);
void duet_steps_release(struct duet_steps *s);
struct duet_runner duet_steps_runner(struct duet_steps *s);

#endif
