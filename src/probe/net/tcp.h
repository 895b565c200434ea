/* tcp: what the sequence numbers of a flow's packets tell: payload, what came again, round trips. */
#ifndef SONDE_PROBE_NET_TCP_H
#define SONDE_PROBE_NET_TCP_H

#include "probe/net/flows.h"

/* A packet of the flow's side. True when all that it carries had been sent before. */
bool tcp_take(struct flow *w, int side, const struct net_packet *p);

#endif
