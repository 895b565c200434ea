/*
 * annotation-listener: receives the annotations (steps, metrics) of a running program and sets its knobs, without
 * recording a run.
 *
 * It creates a private ring directory, which announce_pass drains; only annotations are written to it. The command
 * gets the two variables of announce_env. Boards are untrusted input: the callback must validate what it reads.
 */
#ifndef SONDE_RECORD_ANNOTATION_LISTENER_H
#define SONDE_RECORD_ANNOTATION_LISTENER_H

#include "record/drain.h"

struct announce_options {
	const struct sonde_knob_init *wishes; /* initial knob values */
	size_t knob_init_count;               /* maximum SONDE_KNOBS_MAX */
	const char *step;                     /* the loop to report; NULL: the first that annotates a step */
	/* Called for each step of that loop, in the order of its thread. */
	void (*take_step)(void *arg, int64_t ts_ns, int64_t index, double value);
	/* Called with the board of each process that has exited; NULL: not called. */
	void (*take_board)(void *arg, int dirfd, const char *name);
	void *arg;
};

struct announce {
	/* private */
	struct announce_options o;
	struct ring_dir ring;
	struct store_sink sink;
	struct drain drain;
	struct buf preload, place;
	int64_t step_name; /* STORE_NULL until known */
	int tables_fd;
	bool has_sink, has_drain;
	const char *env[3];
};

/* `dir` holds the ring if /dev/shm is full. */
int announce_open(struct announce *a, const char *dir, const struct announce_options *o, struct sonde_err *err);
/* NULL-terminated "NAME=value" strings for the command. */
const char *const *announce_env(const struct announce *a);
/* Consume new records. */
void announce_pass(struct announce *a);
/*
 * Set knobs in every process that has them; each process applies its value at its next read of the knob. Returns how
 * many were found, or -errno.
 */
int announce_set_knobs(struct announce *a, const struct sonde_knob_init *wishes, size_t count);
/* Returns how many of those changes no process has applied yet. */
size_t announce_open_knobs(const struct announce *a, const struct sonde_knob_init *wishes, size_t count);
/* Consume the last records, after the program has exited. */
void announce_finish(struct announce *a);
void announce_release(struct announce *a); /* removes the ring; accepts zeroed memory and a failed open */

#endif
