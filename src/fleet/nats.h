/*
 * nats: libnats declarations shared by nats-client, lease and fleet-knobs only.
 */
#ifndef SONDE_FLEET_NATS_H
#define SONDE_FLEET_NATS_H

#include "base/err.h"

#include <nats/nats.h>

#define FLEET_QUEUE_CONSUMER "agents"

struct fleet_client {
	natsConnection *connection;
	jsCtx *js;
	natsSubscription *follow; /* NULL: not following yet */
};

/* "cannot <what>: <libnats error>" */
int fleet_nats_error(struct sonde_err *err, natsStatus status, const char *what);

#endif
