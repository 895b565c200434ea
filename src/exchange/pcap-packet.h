/*
 * pcap-packet: what the headers of one captured packet say. Nothing behind them is looked at.
 *
 * Ethernet with VLAN tags, raw IP, BSD's loopback and Linux's cooked captures
 * (SLL, SLL2); IPv4 and IPv6 with their extensions; TCP, UDP and the names of
 * some others. A packet that is cut is told as far as it is there.
 */
#ifndef SONDE_EXCHANGE_PCAP_PACKET_H
#define SONDE_EXCHANGE_PCAP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct pcap_end {
	uint8_t address[16]; /* of IPv4 the first four */
	int64_t port;        /* STORE_NULL: the protocol has none, or it is cut off */
};

struct pcap_packet {
	uint8_t family;       /* 4, 6; 0: it is no IP */
	const char *protocol; /* "tcp", "udp", ...; "ip" for others */
	struct pcap_end from, to;
	int64_t bytes;   /* with the IP header */
	int64_t payload; /* behind the TCP or UDP header; STORE_NULL: not known */
	bool is_tcp;
	uint8_t tcp_flags;
	uint32_t seq, ack;
	bool is_outgoing; /* as the capture says */
};

/* False: it is no packet of IP, or cut before its addresses end. */
bool pcap_packet_parse(struct pcap_packet *p, uint32_t link, const uint8_t *data, size_t n);

#endif
