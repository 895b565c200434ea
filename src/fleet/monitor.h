/*
 * monitor: queues submitted jobs and stops those that have reached their target.
 *
 * It is stateless: it follows the events from the first one, and each action is an event or
 * idempotent. So it may be killed and restarted at any time.
 */
#ifndef SONDE_FLEET_MONITOR_H
#define SONDE_FLEET_MONITOR_H

#include "fleet/nats-client.h"

#include <signal.h>

/* Runs until *is_stopped. */
int fleet_monitor_run(struct fleet_client *client, int64_t lease_ns, const volatile sig_atomic_t *is_stopped,
		struct sonde_err *err);

#endif
