/*
 * pcap-flows: groups the packets of a capture by flow: rows of `packet`, and of `flow` at the end.
 *
 * A flow is a protocol with two addresses and ports; the sender of its first packet is its source. Memory is bounded:
 * packets of flows that do not fit have no flow.
 */
#ifndef SONDE_EXCHANGE_PCAP_FLOWS_H
#define SONDE_EXCHANGE_PCAP_FLOWS_H

#include "base/map.h"
#include "exchange/import-reader.h"
#include "exchange/pcap-packet.h"

struct pcap_flows {
	/* private */
	struct foreign *f;
	struct map numbers; /* endpoints and protocol -> number, from 1 */
	struct pcap_flow *flows;
	size_t cap;
};

void pcap_flows_init(struct pcap_flows *s, struct foreign *f);
/* interface: a string id, or STORE_NULL. */
void pcap_flows_add(struct pcap_flows *s, const struct pcap_packet *p, int64_t ts_ns, int64_t interface);
/* Writes the flows and frees them. */
void pcap_flows_finish(struct pcap_flows *s);

#endif
