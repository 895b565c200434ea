/* packet: the headers of an IP packet as numbers. What is captured is hostile: every length is checked. */
#ifndef SONDE_PROBE_NET_PACKET_H
#define SONDE_PROBE_NET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

/* One end; unused bytes are 0, so that ends compare as bytes. */
struct net_end {
	uint8_t address[16]; /* IPv4 in the first four */
	uint16_t port;       /* 0: none */
	uint16_t zero;
};

struct net_packet {
	int64_t ts_ns;
	int32_t interface;
	bool is_outgoing;
	int32_t vlan;   /* -1: none */
	uint8_t family; /* 4 or 6 */
	uint8_t protocol;
	bool has_ports;
	struct net_end from, to;
	uint32_t bytes, payload; /* payload: behind TCP's or UDP's header, when has_ports */
	uint8_t tcp_flags;
	uint32_t seq, ack;
};

/* From `n` captured bytes of a packet that had `whole`: the fields behind is_outgoing and vlan. False: no IP packet. */
bool net_packet_parse(struct net_packet *p, const uint8_t *at, size_t n, uint32_t whole);

#endif
