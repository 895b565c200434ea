#include "base/packet.h"

#include <netinet/in.h>
#include <string.h>

#define V4_BYTES 20
#define V6_BYTES 40
#define UDP_BYTES 8
#define TCP_BYTES 20
#define PORTS_BYTES 4
#define TCP_NUMBERS_BYTES 14 /* through the flags */
#define LATER_FRAGMENT_V4 0x1fff
#define LATER_FRAGMENT_V6 0xfff8

/* Unparsed bytes, and the number of bytes before them. */
struct rest {
	const uint8_t *at;
	size_t n, used;
};

static void skip(struct rest *r, size_t n)
{
	r->used += n;
	n = n < r->n ? n : r->n;
	r->at += n;
	r->n -= n;
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* header: length of the TCP or UDP header, 0 if unknown. */
static void parse_payload(struct packet *p, const struct rest *r, size_t header)
{
	p->has_payload = header && p->bytes >= r->used + header;
	p->payload = p->has_payload ? p->bytes - (uint32_t)(r->used + header) : 0;
}

static void parse_tcp(struct packet *p, const struct rest *r)
{
	if (r->n < TCP_NUMBERS_BYTES)
		return;
	size_t header = (size_t)(r->at[12] >> 4) * 4;
	p->has_tcp = true;
	p->seq = get32(r->at + 4);
	p->ack = get32(r->at + 8);
	p->tcp_flags = r->at[13];
	parse_payload(p, r, header >= TCP_BYTES ? header : 0);
}

static void parse_transport(struct packet *p, const struct rest *r)
{
	if ((p->protocol != IPPROTO_TCP && p->protocol != IPPROTO_UDP) || r->n < PORTS_BYTES)
		return;
	p->has_ports = true;
	p->from.port = get16(r->at);
	p->to.port = get16(r->at + 2);
	if (p->protocol == IPPROTO_TCP)
		parse_tcp(p, r);
	else
		parse_payload(p, r, UDP_BYTES);
}

static bool parse_v4(struct packet *p, struct rest *r, uint32_t whole)
{
	size_t header = (size_t)(r->at[0] & 15) * 4;
	if (r->n < V4_BYTES || header < V4_BYTES)
		return false;
	uint32_t said = get16(r->at + 2);
	p->bytes = said >= header && said <= whole ? said : whole; /* 0: longer than the length field can hold */
	p->protocol = r->at[9];
	memcpy(p->from.address, r->at + 12, 4);
	memcpy(p->to.address, r->at + 16, 4);
	bool is_later = get16(r->at + 6) & LATER_FRAGMENT_V4;
	skip(r, header);
	if (!is_later)
		parse_transport(p, r);
	return true;
}

/* Returns the length of an extension header, 0 if the protocol is not an extension. The length is in the second byte;
 * for fragments it is fixed. */
static size_t extension_bytes(uint8_t protocol, const uint8_t *at)
{
	switch (protocol) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		return ((size_t)at[1] + 1) * 8;
	case IPPROTO_AH:
		return ((size_t)at[1] + 2) * 4;
	case IPPROTO_FRAGMENT:
		return 8;
	default:
		return 0;
	}
}

static bool parse_v6(struct packet *p, struct rest *r, uint32_t whole)
{
	bool is_later = false;
	size_t bytes;
	if (r->n < V6_BYTES)
		return false;
	uint32_t said = get16(r->at + 4);
	p->bytes = said && said + V6_BYTES <= whole ? said + V6_BYTES : whole;
	p->protocol = r->at[6];
	memcpy(p->from.address, r->at + 8, 16);
	memcpy(p->to.address, r->at + 24, 16);
	skip(r, V6_BYTES);
	while (r->n >= 8 && (bytes = extension_bytes(p->protocol, r->at))) {
		is_later |= p->protocol == IPPROTO_FRAGMENT && get16(r->at + 2) & LATER_FRAGMENT_V6;
		p->protocol = r->at[0];
		skip(r, bytes);
	}
	if (!is_later)
		parse_transport(p, r);
	return true;
}

bool packet_parse(struct packet *p, const uint8_t *at, size_t n, uint32_t whole)
{
	struct rest r = { .at = at, .n = n < whole ? n : whole };
	*p = (struct packet){ .family = r.n ? at[0] >> 4 : 0 };
	return p->family == 4 ? parse_v4(p, &r, whole) : p->family == 6 && parse_v6(p, &r, whole);
}

const char *packet_protocol_name(uint8_t protocol)
{
	static const struct {
		uint8_t number;
		const char *name;
	} names[] = { { IPPROTO_TCP, "tcp" }, { IPPROTO_UDP, "udp" }, { IPPROTO_ICMP, "icmp" },
		{ IPPROTO_ICMPV6, "icmp6" }, { IPPROTO_SCTP, "sctp" } };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == protocol)
			return names[i].name;
	return "ip";
}

bool packet_end_is_same(const struct packet_end *a, const struct packet_end *b)
{
	return !memcmp(a, b, sizeof(*a));
}
