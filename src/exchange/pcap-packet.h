/*
 * pcap-packet: the way to the IP header of a captured packet; from there base/packet.h goes on.
 *
 * Ethernet with VLAN tags, raw IP, BSD's loopback and Linux's cooked captures (SLL, SLL2).
 */
#ifndef SONDE_EXCHANGE_PCAP_PACKET_H
#define SONDE_EXCHANGE_PCAP_PACKET_H

#include "base/packet.h"

/* Link types, as https://www.tcpdump.org/linktypes.html numbers them; others are not known. */
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
	bool is_outgoing; /* as the capture says */
};

/* The `n` first bytes of what had `whole`. False: it is no packet of IP, or cut before its addresses end. */
bool pcap_packet_parse(struct pcap_packet *p, uint32_t link, const uint8_t *data, size_t n, uint32_t whole);

#endif
