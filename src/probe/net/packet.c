/* Reading headers; see packet.h. */
#include "probe/net/packet.h"

#include <netinet/in.h>
#include <string.h>

#define V4_BYTES 20
#define V6_BYTES 40
#define UDP_BYTES 8
#define TCP_BYTES 20
#define EXTENSIONS_MAX 8

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static uint32_t rest_of(uint32_t whole, size_t used)
{
	return whole > used ? whole - (uint32_t)used : 0;
}

/* `used` bytes came before `at`. */
static void parse_transport(struct net_packet *p, const uint8_t *at, size_t n, size_t used)
{
	size_t header = p->protocol == IPPROTO_TCP ? TCP_BYTES : UDP_BYTES;
	if ((p->protocol != IPPROTO_TCP && p->protocol != IPPROTO_UDP) || n < header)
		return;
	p->has_ports = true;
	p->from.port = get16(at);
	p->to.port = get16(at + 2);
	if (p->protocol == IPPROTO_TCP) {
		header = (size_t)(at[12] >> 4) * 4;
		header = header < TCP_BYTES ? TCP_BYTES : header;
		p->seq = get32(at + 4);
		p->ack = get32(at + 8);
		p->tcp_flags = at[13];
	}
	p->payload = rest_of(p->bytes, used + header);
}

static bool parse_v4(struct net_packet *p, const uint8_t *at, size_t n, uint32_t whole)
{
	size_t header = n ? (size_t)(at[0] & 15) * 4 : 0;
	if (n < V4_BYTES || header < V4_BYTES || n < header)
		return false;
	uint32_t said = get16(at + 2);
	p->bytes = said >= header && said <= whole ? said : whole; /* 0: longer than it can say */
	p->protocol = at[9];
	memcpy(p->from.address, at + 12, 4);
	memcpy(p->to.address, at + 16, 4);
	if (!(get16(at + 6) & 0x1fff))
		parse_transport(p, at + header, n - header, header);
	return true;
}

static bool is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING || protocol == IPPROTO_DSTOPTS;
}

static bool parse_v6(struct net_packet *p, const uint8_t *at, size_t n, uint32_t whole)
{
	size_t used = V6_BYTES;
	if (n < V6_BYTES)
		return false;
	uint32_t said = get16(at + 4);
	p->bytes = said && said + V6_BYTES <= whole ? said + V6_BYTES : whole;
	p->protocol = at[6];
	memcpy(p->from.address, at + 8, 16);
	memcpy(p->to.address, at + 24, 16);
	for (int i = 0; i < EXTENSIONS_MAX && is_extension(p->protocol); i++) {
		if (n < used + 8)
			return true;
		p->protocol = at[used];
		used += ((size_t)at[used + 1] + 1) * 8;
	}
	if (n >= used)
		parse_transport(p, at + used, n - used, used);
	return true;
}

bool net_packet_parse(struct net_packet *p, const uint8_t *at, size_t n, uint32_t whole)
{
	p->family = n ? at[0] >> 4 : 0;
	p->has_ports = false;
	p->bytes = p->payload = p->seq = p->ack = 0;
	p->tcp_flags = 0;
	p->from = p->to = (struct net_end){ .port = 0 };
	if (n > whole)
		n = whole;
	return p->family == 4 ? parse_v4(p, at, n, whole) : p->family == 6 && parse_v6(p, at, n, whole);
}
