/*
 * nats: what link, lease and knobs share of libnats; nobody else includes this.
 */
#ifndef SONDE_FLEET_NATS_H
#define SONDE_FLEET_NATS_H

#include "base/err.h"

#include <nats/nats.h>

#define FLEET_QUEUE_CONSUMER "agents"

struct fleet_client {
	natsConnection *connection;
	jsCtx *js;
	natsSubscription *follow; /* NULL: nobody has followed yet */
};

/* "cannot <what>: <libnats's words>" */
int fleet_nats_error(struct sonde_err *err, natsStatus status, const char *what);

#endif
