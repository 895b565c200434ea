/*
 * packet: what the headers of an IP packet say, as numbers. Nothing behind them is looked at.
 *
 * IPv4, IPv6 with its extensions, TCP and UDP. What was captured is hostile: every
 * length is checked, and a packet that is cut is told as far as it is there.
 */
#ifndef SONDE_BASE_PACKET_H
#define SONDE_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKET_FIN = 1, PACKET_SYN = 2, PACKET_RST = 4, PACKET_ACK = 16 }; /* of tcp_flags */

/* One end; unused bytes are 0, so that ends compare as bytes. */
struct packet_end {
	uint8_t address[16]; /* IPv4 in the first four */
	uint16_t port;       /* 0: none */
	uint16_t zero;
};

struct packet {
	uint8_t family;   /* 4 or 6 */
	uint8_t protocol; /* IPPROTO_*; of IPv6 that of the last header that is there */
	bool has_ports;   /* not of later fragments, nor where the header is cut before them */
	bool has_payload; /* the length of TCP's or UDP's header is known */
	bool has_tcp;     /* flags, seq and ack are known */
	uint8_t tcp_flags;
	struct packet_end from, to;
	uint32_t bytes;   /* with the IP header */
	uint32_t payload; /* behind TCP's or UDP's header */
	uint32_t seq, ack;
};

/* From the `n` first bytes of what had `whole`, which begins with an IP header. False: it is none, or cut inside. */
bool packet_parse(struct packet *p, const uint8_t *at, size_t n, uint32_t whole);
/* "tcp", "udp" and the like; "ip" for what has no name here. */
const char *packet_protocol_name(uint8_t protocol);
bool packet_end_is_same(const struct packet_end *a, const struct packet_end *b);

#endif
