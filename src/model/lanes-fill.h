/*
 * lanes-fill: add the rows of a run to the lanes of a pyramid. Private to model/.
 */
#ifndef SONDE_MODEL_LANES_FILL_H
#define SONDE_MODEL_LANES_FILL_H

#include "model/lanes.h"

int lanes_fill(struct pyramid_writer *w, struct model_run *run, const struct model_lanes_opts *opts,
		struct sonde_err *err);
/* A hash of the tables that the lanes are built from. */
uint64_t lanes_stamp(const struct model_run *run);

#endif
