/*
 * stack-profile: the samples of a run, for exporters of profiles.
 *
 * Only those of the run's first sampled event: different events cannot be added up in one profile.
 */
#ifndef SONDE_EXCHANGE_STACK_PROFILE_H
#define SONDE_EXCHANGE_STACK_PROFILE_H

#include "base/map.h"
#include "exchange/exchange.h"
#include "model/stacks.h"

#define FOLDED_EVENT "folded"  /* sample.event of folded stacks: their rows stand for `count` samples */
#define PROFILE_DEPTH_MAX 5120 /* Python recursion is deep */

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
void profile_release(struct profile *p); /* also after profile_open failed */
/*
 * Calls take for each sample, in table order, with the name of its thread or program. 0, -ENOMEM or the result of take.
 */
int profile_each(struct profile *p, int (*take)(void *arg, const struct store_sample *row, int64_t name), void *arg);
/* The number of samples that a row represents. */
int64_t profile_value(struct profile *p, const struct store_sample *row);
/* Calls take for the frames of a stack, outermost first. A result other than 0 stops. */
int profile_frames(struct profile *p, int64_t stack, int (*take)(void *arg, const struct model_frame *frame),
		void *arg);

#endif
