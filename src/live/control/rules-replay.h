/*
 * rules-replay: evaluates rules over a recorded run, on its clock, and reports which actions would have run and
 * when.
 *
 * Steps are sonde_steps_total and sonde_step_value, with the labels that they have live; the application is the
 * run's name. Counters of the program and of probes keep their names. No action is executed.
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
	double explain_seconds; /* write the values at this time to `explained`; NaN: do not */
	struct buf *explained;
};

int replay_run(const struct replay *r, const char *run, struct sonde_err *err);

#endif
