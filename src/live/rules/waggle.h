/*
 * waggle: converts science rules of Waggle's scheduler to a rules file.
 *
 *	schedule(cloud-cover): avg(v('env.temperature', since='-5m')) > 30 and time("hour") >= 6
 *	publish(env.event.rain): any(v('env.raingauge.rate') > 3)
 *	set(rainy, value=1): sum(rate('env.raingauge.total_acc', since='-1h')) > 3
 *
 * Waggle evaluates the condition as Python. Here it is parsed and translated to the language of expr.h, and rejected
 * with the reason if that is impossible. A measurement has the name that `sonde env waggle` exports: env.temperature
 * is sonde_app_env_temperature.
 */
#ifndef SONDE_LIVE_RULES_WAGGLE_H
#define SONDE_LIVE_RULES_WAGGLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Targets of the actions; NULL: a report. */
struct waggle_options {
	const char *schedule; /* an action; {} is replaced by the plugin */
	const char *broker;   /* HOST:PORT to publish to */
	const char *app;      /* owner of the knobs to set */
};

/* Translates a condition, and compiles it once as a check. */
int waggle_condition(struct buf *out, const char *text, struct arena *arena, struct sonde_err *err);
/* Translates all rules of a text: one per line, or the list scienceRules of a job. -EINVAL with the line. */
int waggle_import(struct buf *out, const char *text, const struct waggle_options *options, struct arena *arena,
		struct sonde_err *err);

#endif
