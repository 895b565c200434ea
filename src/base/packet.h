/*
 * packet: the headers of an IP packet as numbers. The payload is not read.
 *
 * IPv4, IPv6 with extension headers, TCP and UDP. Captured packets are untrusted: every length is checked, and a
 * truncated packet is parsed as far as it goes.
 */
#ifndef SONDE_BASE_PACKET_H
#define SONDE_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKET_FIN = 1, PACKET_SYN = 2, PACKET_RST = 4, PACKET_ACK = 16 }; /* bits of tcp_flags */

/* One endpoint; unused bytes are 0, so that endpoints compare as bytes. */
struct packet_end {
	uint8_t address[16]; /* IPv4 in the first four */
	uint16_t port;       /* 0: none */
	uint16_t zero;
};

struct packet {
	uint8_t family;   /* 4 or 6 */
	uint8_t protocol; /* IPPROTO_*; for IPv6 that of the last header present */
	bool has_ports;   /* false for later fragments and if the header is truncated before the ports */
	bool has_payload; /* the length of the TCP or UDP header is known */
	bool has_tcp;     /* flags, seq and ack are known */
	uint8_t tcp_flags;
	struct packet_end from, to;
	uint32_t bytes;   /* including the IP header */
	uint32_t payload; /* after the TCP or UDP header */
	uint32_t seq, ack;
};

/* Parses the first `n` bytes of a packet of `whole` bytes, starting with the IP header. False if it is not an IP
 * packet or is truncated inside the IP header. */
bool packet_parse(struct packet *p, const uint8_t *at, size_t n, uint32_t whole);
/* "tcp", "udp" and others; "ip" for unknown protocols. */
const char *packet_protocol_name(uint8_t protocol);
bool packet_end_is_same(const struct packet_end *a, const struct packet_end *b);

#endif
