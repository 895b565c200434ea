/*
 * knobs: settings of a job that may be changed while it runs.
 *
 * They are kept under <job>.<name> in a bucket of values that its agent watches; the agent
 * hands each change to the command as a line `knob NAME VALUE`. A job that is delivered
 * again gets those that were set before. VALUE is JSON: a number, a truth or a text.
 */
#ifndef SONDE_FLEET_FLEET_KNOBS_H
#define SONDE_FLEET_FLEET_KNOBS_H

#include "base/buf.h"
#include "fleet/nats-client.h"

enum { FLEET_KNOB_NAME_MAX = 64, FLEET_KNOB_VALUE_MAX = 1024 }; /* with the '\0' */

struct fleet_knobs; /* a handle: the knobs of one job, watched */

/* text "NAME=VALUE": what is no JSON value by itself is taken as text. -EINVAL: that is no knob. */
int fleet_knob_parse(const char *text, char name[FLEET_KNOB_NAME_MAX], char value[FLEET_KNOB_VALUE_MAX],
		struct sonde_err *err);
int fleet_knob_set(struct fleet_client *client, const char *id, const char *name, const char *value,
		struct sonde_err *err);

int fleet_knobs_watch(struct fleet_knobs **out, struct fleet_client *client, const char *id, struct sonde_err *err);
/* Lines of the changes that have arrived, into out; waits for none. */
void fleet_knobs_take(struct fleet_knobs *k, struct buf *out);
void fleet_knobs_free(struct fleet_knobs *k); /* NULL is fine */

#endif
