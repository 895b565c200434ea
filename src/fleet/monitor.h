/*
 * monitor: keeps the jobs of a fleet.
 *
 * It queues what was submitted and asks jobs that have reached their target to
 * stop. It has no state of its own: it follows the events from the first one on,
 * and every act is an event too, or is done once however often it is repeated. So
 * it may be killed at any time, and started again.
 */
#ifndef SONDE_FLEET_MONITOR_H
#define SONDE_FLEET_MONITOR_H

#include "fleet/nats-client.h"

#include <signal.h>

/* Until *is_stopped. */
int fleet_monitor_run(struct fleet_client *client, int64_t lease_ns, const volatile sig_atomic_t *is_stopped,
		struct sonde_err *err);

#endif
