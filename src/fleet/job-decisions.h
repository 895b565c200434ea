/*
 * job-decisions: prints the configurations, the best configuration and the loss curve of a job that
 * is tuned online.
 */
#ifndef SONDE_FLEET_JOB_DECISIONS_H
#define SONDE_FLEET_JOB_DECISIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "fleet/nats-client.h"

#include <stdio.h>

/* All configurations of the last lease. */
int job_print_configs(struct fleet_client *client, const char *id, bool is_json, FILE *out, struct sonde_err *err);
/* The one with the lowest time per unit of progress. -ENOENT if unknown. */
int job_print_best(struct fleet_client *client, const char *id, bool is_json, FILE *out, struct sonde_err *err);
/* Plots loss over time as text and marks changes of the configuration. -ENOENT if there are no losses. */
int job_print_plot(struct fleet_client *client, const char *id, FILE *out, struct sonde_err *err);

/*
 * Settings of a job that may change while it runs.
 *
 * They are stored under <job>.<name> in a NATS key-value bucket that the agent watches; the agent
 * passes each change to the command as a line `knob NAME VALUE`. A job that is delivered again gets
 * the values set before. VALUE is JSON: a number, a boolean or a string.
 */

enum { FLEET_KNOB_NAME_MAX = 64, FLEET_KNOB_VALUE_MAX = 1024 }; /* including the '\0' */

struct fleet_knobs; /* opaque: watches the knobs of one job */

/* Parses "NAME=VALUE"; a value that is not JSON becomes a string. -EINVAL if invalid. */
int fleet_knob_parse(const char *text, char name[FLEET_KNOB_NAME_MAX], char value[FLEET_KNOB_VALUE_MAX],
		struct sonde_err *err);
int fleet_knob_set(struct fleet_client *client, const char *id, const char *name, const char *value,
		struct sonde_err *err);

int fleet_knobs_watch(struct fleet_knobs **out, struct fleet_client *client, const char *id, struct sonde_err *err);
/* Appends a line to out for each change that has arrived. Does not block. */
void fleet_knobs_read(struct fleet_knobs *k, struct buf *out);
void fleet_knobs_free(struct fleet_knobs *k); /* NULL is allowed */

#endif
