/*
 * pcap-packet: finds the IP header of a captured packet; base/packet.h parses it.
 *
 * Ethernet with VLAN tags, raw IP, BSD loopback and Linux cooked captures (SLL, SLL2).
 */
#ifndef SONDE_EXCHANGE_PCAP_PACKET_H
#define SONDE_EXCHANGE_PCAP_PACKET_H

#include "base/packet.h"

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

#endif
