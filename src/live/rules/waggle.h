/*
 * waggle: science rules of Waggle's scheduler as a rules file of ours.
 *
 *	schedule(cloud-cover): avg(v('env.temperature', since='-5m')) > 30 and time("hour") >= 6
 *	publish(env.event.rain): any(v('env.raingauge.rate') > 3)
 *	set(rainy, value=1): sum(rate('env.raingauge.total_acc', since='-1h')) > 3
 *
 * The condition is Python there and is evaluated; here it is read, as far as it can be said in the
 * language of expr.h, and refused with the reason where it cannot. A measurement is what
 * `sonde env waggle` shows it as: env.temperature is sonde_app_env_temperature.
 */
#ifndef SONDE_LIVE_RULES_WAGGLE_H
#define SONDE_LIVE_RULES_WAGGLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* What actions become; NULL: a report. */
struct waggle_options {
	const char *schedule; /* an action; {} stands for the plugin */
	const char *broker;   /* HOST:PORT that is published to */
	const char *app;      /* whose knobs are set */
};

/* A condition as ours, compiled once to be sure. */
int waggle_condition(struct buf *out, const char *text, struct arena *arena, struct sonde_err *err);
/* All rules of a text: one a line, or the list scienceRules of a job. -EINVAL with the line. */
int waggle_import(struct buf *out, const char *text, const struct waggle_options *options, struct arena *arena,
		struct sonde_err *err);

#endif
