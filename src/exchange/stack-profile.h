/*
 * profile: the samples of a run, as exporters of profiles want them.
 *
 * Those of the run's first sampled event only: of two kinds in one profile
 * nothing could be said.
 */
#ifndef SONDE_EXCHANGE_STACK_PROFILE_H
#define SONDE_EXCHANGE_STACK_PROFILE_H

#include "base/map.h"
#include "exchange/exchange.h"
#include "model/stacks.h"

#define PROFILE_DEPTH_MAX 5120 /* Python recurses deeply */

struct profile {
	struct model_run *run;
	struct model_stacks *stacks;
	int64_t event; /* string id of the sampled event; STORE_NULL: none seen yet */
	/* private */
	const struct exchange_options *options;
	struct map names; /* tid -> string id of its name + 1 */
};

int profile_open(struct profile *p, struct model_run *run, const struct exchange_options *options,
		struct sonde_err *err);
void profile_release(struct profile *p); /* also of one that could not be opened */
/* Each sample, in the order of the table, with the name of its thread or program. 0, -ENOMEM or what take says. */
int profile_each(struct profile *p, int (*take)(void *arg, const struct store_sample *row, int64_t name), void *arg);
/* How many samples a row stands for. */
int64_t profile_value(struct profile *p, const struct store_sample *row);
/* The frames of a stack from the outermost inwards. Not 0 ends it. */
int profile_frames(struct profile *p, int64_t stack, int (*take)(void *arg, const struct model_frame *frame),
		void *arg);

#endif
