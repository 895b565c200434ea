/*
 * lanes: the events of a run as lanes of a pyramid (store/pyramid.h).
 *
 * A lane is one row of the timeline. The calls and spans of a thread are in lanes by nesting depth: an event is one
 * level below the events of its thread that are open when it starts. Names in slices are model_lane_name. The pyramid
 * is stored in the run directory (STORE_PYRAMID_DIR), built on first use if the directory is writable, and rebuilt if
 * the tables have changed.
 */
#ifndef SONDE_MODEL_LANES_H
#define SONDE_MODEL_LANES_H

#include "base/err.h"
#include "model/run-model.h"
#include "store/pyramid.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_DEPTH_MAX 256       /* deeper events are in the deepest lane */
#define MODEL_LANES_SLACK_NS 1000 /* a slice may start this much before its row: see lanes-fill.c */

/* key.what: the key's members that are used, and the meaning of a slice's name. */
enum model_lane {
	MODEL_LANE_THREAD = 1, /* process, tid, depth: calls and spans; name is model_lane_name */
	MODEL_LANE_MARKS,      /* process, tid: instants; name is model_lane_name */
	MODEL_LANE_STEPS,      /* process, tid, name: from the previous step to this one; name is the index */
	MODEL_LANE_COUNTER,    /* process, name: points */
	MODEL_LANE_STATES,     /* process, tid: off-CPU intervals; name is model_lane_name */
	MODEL_LANE_SAMPLES,    /* process, tid: instants; name is the stack's id, 0: none */
	MODEL_LANE_GPU,        /* process, name (the device), depth (the queue): commands; name is model_lane_name */
};

enum model_lane_table { MODEL_LANE_SPAN = 0, MODEL_LANE_CALL = 1, MODEL_LANE_MARK = 2, MODEL_LANE_STATE = 3 };

/* A name of a slice: a string id and the table it is from. */
static inline uint32_t model_lane_name(int64_t string, enum model_lane_table table)
{
	return string < 0 || string > INT32_MAX / 4 ? (uint32_t)table : (uint32_t)string << 2 | (uint32_t)table;
}

static inline int64_t model_lane_string(uint32_t name)
{
	return name >> 2;
}

static inline enum model_lane_table model_lane_table(uint32_t name)
{
	return (enum model_lane_table)(name & 3);
}

struct model_lanes_opts {
	bool is_anew; /* rebuild even if it exists */
	/* Called from time to time with the number of rows added; may be NULL. */
	void (*progress)(void *arg, uint64_t rows, uint64_t all);
	void *arg;
};

/*
 * The pyramid of a run, built if needed. That of a run which is still being recorded, or which is not writable, is
 * kept in an unnamed file. opts may be NULL.
 */
int model_lanes_open(struct pyramid **out, struct model_run *run, const struct model_lanes_opts *opts,
		struct sonde_err *err);
/* Remove it from the run directory; *bytes receives the space freed. 0 if it does not exist. */
int model_lanes_remove(struct model_run *run, uint64_t *bytes, struct sonde_err *err);

#endif
