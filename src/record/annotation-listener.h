/*
 * announce: what a program says of itself while it runs (steps, metrics), and what it
 * is told (knobs), for somebody who runs it and keeps nothing.
 *
 * It has a ring directory of its own, drained by announce_pass; only annotations go
 * there. The command gets the two variables of announce_env. Boards are hostile: who
 * is told of one reads it with care.
 */
#ifndef SONDE_RECORD_ANNOTATION_LISTENER_H
#define SONDE_RECORD_ANNOTATION_LISTENER_H

#include "record/drain.h"

struct announce_options {
	const struct sonde_knob_init *wishes; /* what knobs shall be from the start */
	size_t knob_init_count;               /* at most SONDE_KNOBS_MAX */
	const char *step;                     /* the loop to be told of; NULL: the first that announces a step */
	/* A step of that loop, in the order of its thread. */
	void (*take_step)(void *arg, int64_t ts_ns, int64_t index, double value);
	/* The board of a process that has ended; NULL: nobody wants it. */
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
	int64_t step_name; /* STORE_NULL: none yet */
	int tables_fd;
	bool has_sink, has_drain;
	const char *env[3];
};

/* `dir` is where the ring goes when there is no room in memory. */
int announce_open(struct announce *a, const char *dir, const struct announce_options *o, struct sonde_err *err);
/* "NAME=value" for the command, NULL-terminated. */
const char *const *announce_env(const struct announce *a);
/* Take in what is new. */
void announce_pass(struct announce *a);
/*
 * What knobs shall be from now on, in every process that has them: each takes its value up when it asks next. Returns
 * how many were found, or -errno.
 */
int announce_set_knobs(struct announce *a, const struct sonde_knob_init *wishes, size_t count);
/* How many of those changes nobody has taken up yet. */
size_t announce_open_knobs(const struct announce *a, const struct sonde_knob_init *wishes, size_t count);
/* The program has ended: the last of it. */
void announce_finish(struct announce *a);
void announce_release(struct announce *a); /* the ring goes; zeroed memory and what failed to open are fine */

#endif
