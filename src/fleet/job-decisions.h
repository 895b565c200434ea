/*
 * job-notes: what is known of a job that is tuned while it trains: its configurations, its best one, its losses drawn.
 */
#ifndef SONDE_FLEET_JOB_DECISIONS_H
#define SONDE_FLEET_JOB_DECISIONS_H

#include "base/err.h"
#include "fleet/nats-client.h"

/* Every configuration it had, the last lease's. */
int job_print_configs(struct fleet_client *client, const char *id, bool is_json, struct sonde_err *err);
/* The one with the least time for an iteration's worth of progress. -ENOENT: none is known. */
int job_print_best(struct fleet_client *client, const char *id, bool is_json, struct sonde_err *err);
/* Losses by time, as text; a mark where the configuration changed. -ENOENT: there are none. */
int job_print_plot(struct fleet_client *client, const char *id, struct sonde_err *err);

#endif
