/*
 * pcap-flows: groups the packets of a capture by flow: rows of `packet`, and of `flow` at the end.
 *
 * A flow is a protocol with two addresses and ports; the sender of its first packet is its source. Memory is bounded:
 * packets of flows that do not fit have no flow.
 */
#ifndef SONDE_EXCHANGE_PCAP_FLOWS_H
#define SONDE_EXCHANGE_PCAP_FLOWS_H

#include "base/map.h"
#include "base/packet.h"
#include "exchange/import-reader.h"

/*
 * Finds the IP header of a captured packet; base/packet.h parses it.
 *
 * Ethernet with VLAN tags, raw IP, BSD loopback and Linux cooked captures (SLL, SLL2).
 */

/* Link types, numbered as in https://www.tcpdump.org/linktypes.html; others are not supported. */
enum packet_link {
	PACKET_NULL = 0,
	PACKET_ETHERNET = 1,
	PACKET_RAW_BSD = 12,
	PACKET_RAW_OPENBSD = 14,
	PACKET_RAW = 101,
	PACKET_LOOP = 108,
	PACKET_SLL = 113,
	PACKET_IPV4 = 228,
	PACKET_IPV6 = 229,
	PACKET_SLL2 = 276
};

struct pcap_packet {
	struct packet ip;
	int64_t vlan;     /* STORE_NULL: none */
	bool is_outgoing; /* according to the capture */
};

/*
 * Parses the first `n` of `whole` bytes. Returns false if it is not an IP packet, or is truncated before the end of its
 * addresses.
 */
bool pcap_packet_parse(struct pcap_packet *p, uint32_t link, const uint8_t *data, size_t n, uint32_t whole);

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
