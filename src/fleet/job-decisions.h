/*
 * job-decisions: prints the configurations, the best configuration and the loss curve of a job that
 * is tuned online.
 */
#ifndef SONDE_FLEET_JOB_DECISIONS_H
#define SONDE_FLEET_JOB_DECISIONS_H

#include "base/err.h"
#include "fleet/nats-client.h"

#include <stdio.h>

/* All configurations of the last lease. */
int job_print_configs(struct fleet_client *client, const char *id, bool is_json, FILE *out, struct sonde_err *err);
/* The one with the lowest time per unit of progress. -ENOENT if unknown. */
int job_print_best(struct fleet_client *client, const char *id, bool is_json, FILE *out, struct sonde_err *err);
/* Plots loss over time as text and marks changes of the configuration. -ENOENT if there are no losses. */
int job_print_plot(struct fleet_client *client, const char *id, FILE *out, struct sonde_err *err);

#endif
