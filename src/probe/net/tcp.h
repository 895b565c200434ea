/* tcp: payload, retransmissions and round-trip times from the sequence numbers of a flow. */
#ifndef SONDE_PROBE_NET_TCP_H
#define SONDE_PROBE_NET_TCP_H

#include "probe/net/flows.h"

/* Processes a packet sent by `side`. Returns true if all of its payload was sent before. */
bool tcp_take(struct flow *w, int side, const struct net_packet *p);

#endif
