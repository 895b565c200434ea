/*
 * replay: rules over a recorded run, on its own clock: what would have been done, and when.
 *
 * Steps are sonde_steps_total and sonde_step_value, with the labels that they have live; the
 * application is the run's name. Counters, the program's and those that probes read, have
 * their own names. Nothing is done.
 */
#ifndef SONDE_LIVE_CONTROL_RULES_REPLAY_H
#define SONDE_LIVE_CONTROL_RULES_REPLAY_H

#include "base/err.h"
#include "live/rules/rule-eval.h"

struct replay_event {
	double seconds; /* since the start of the run */
	const char *who, *action, *why;
	double value; /* of a regulator's rung; NaN: none */
};

struct replay {
	const struct rules_file *file;
	const char *app; /* NULL: the run's name */
	void (*tell)(void *arg, const struct replay_event *event);
	void *arg;
	double explain_seconds; /* write the values then into `explained`; NaN: do not */
	struct buf *explained;
};

int replay_run(const struct replay *r, const char *run, struct sonde_err *err);

#endif
