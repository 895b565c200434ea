#include "exchange/pcap-flows.h"

#include "base/vec.h"
#include "store/schema.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { ETHERTYPE_4 = 0x0800, ETHERTYPE_6 = 0x86dd, VLAN = 0x8100, VLAN_OUTER = 0x88a8, SLL_OUTGOING = 4 };

/* The bytes not parsed yet. */
struct bytes {
	const uint8_t *at;
	size_t n;
};

static bool skip(struct bytes *b, size_t n)
{
	if (b->n < n)
		return false;
	b->at += n;
	b->n -= n;
	return true;
}

static unsigned get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

/* Link layers: skip to the IP header; the type is 0 if the IP version determines it. */

static bool skip_ethernet(struct pcap_packet *p, struct bytes *b, unsigned *type)
{
	if (b->n < 14)
		return false;
	*type = get16(b->at + 12);
	skip(b, 14);
	while (*type == VLAN || *type == VLAN_OUTER) {
		if (b->n < 4)
			return false;
		p->vlan = get16(b->at) & 0xfff; /* the innermost tag */
		*type = get16(b->at + 2);
		skip(b, 4);
	}
	return true;
}

static bool skip_sll(struct pcap_packet *p, struct bytes *b, unsigned *type)
{
	if (b->n < 16)
		return false;
	p->is_outgoing = get16(b->at) == SLL_OUTGOING;
	*type = get16(b->at + 14);
	return skip(b, 16);
}

static bool skip_sll2(struct pcap_packet *p, struct bytes *b, unsigned *type)
{
	if (b->n < 20)
		return false;
	p->is_outgoing = b->at[10] == SLL_OUTGOING;
	*type = get16(b->at);
	return skip(b, 20);
}

static bool skip_family(struct pcap_packet *p, struct bytes *b, unsigned *type)
{
	(void)p, (void)type;
	return skip(b, 4);
}

static bool skip_nothing(struct pcap_packet *p, struct bytes *b, unsigned *type)
{
	(void)p, (void)b, (void)type;
	return true;
}

static const struct {
	uint32_t link;
	bool (*skip)(struct pcap_packet *p, struct bytes *b, unsigned *type);
} links[] = {
	{ PACKET_NULL, skip_family },
	{ PACKET_ETHERNET, skip_ethernet },
	{ PACKET_RAW_BSD, skip_nothing },
	{ PACKET_RAW_OPENBSD, skip_nothing },
	{ PACKET_RAW, skip_nothing },
	{ PACKET_LOOP, skip_family },
	{ PACKET_SLL, skip_sll },
	{ PACKET_IPV4, skip_nothing },
	{ PACKET_IPV6, skip_nothing },
	{ PACKET_SLL2, skip_sll2 },
};

bool pcap_packet_parse(struct pcap_packet *p, uint32_t link, const uint8_t *data, size_t n, uint32_t whole)
{
	struct bytes b = { .at = data, .n = n };
	unsigned type = 0;
	size_t i = 0;

	*p = (struct pcap_packet){ .vlan = STORE_NULL };
	while (i < sizeof(links) / sizeof(*links) && links[i].link != link)
		i++;
	if (i == sizeof(links) / sizeof(*links) || !links[i].skip(p, &b, &type))
		return false;
	if (type != 0 && type != ETHERTYPE_4 && type != ETHERTYPE_6)
		return false;
	size_t link_bytes = n - b.n;
	return packet_parse(&p->ip, b.at, b.n, whole > n ? whole - (uint32_t)link_bytes : (uint32_t)b.n);
}

#define FLOWS_MAX ((size_t)1 << 20)

/* One direction of a flow. */
struct side {
	int64_t packets, bytes, payload, retransmits;
	bool has_next;
	uint32_t next;             /* sequence number after the sent data */
	uint32_t hole, hole_bytes; /* the last gap before it */
};

struct pcap_flow {
	int64_t start_ns, last_ns, interface, vlan;
	uint8_t family, protocol;
	bool has_ports;
	struct packet_end from, to;
	struct side sides[2]; /* out, in */
};

/* The key is equal for both directions: the smaller endpoint comes first. */
struct key {
	struct packet_end a, b;
	uint8_t family, protocol, has_ports, zero;
};

void pcap_flows_init(struct pcap_flows *s, struct foreign *f)
{
	*s = (struct pcap_flows){ .f = f };
}

static void make_key(struct key *k, const struct packet *p)
{
	bool is_turned = memcmp(&p->from, &p->to, sizeof(p->from)) > 0;

	*k = (struct key){ .a = is_turned ? p->to : p->from,
		.b = is_turned ? p->from : p->to,
		.family = p->family,
		.protocol = p->protocol,
		.has_ports = p->has_ports };
}

/* The number of the flow, from 1; 0 if out of room. */
static uint64_t flow_of(struct pcap_flows *s, const struct pcap_packet *p, int64_t ts_ns, int64_t interface)
{
	struct key key;

	make_key(&key, &p->ip);
	uint64_t *number = s->numbers.count < FLOWS_MAX ? map_put(&s->numbers, &key, sizeof(key), NULL)
							: map_get(&s->numbers, &key, sizeof(key));
	if (number && *number)
		return *number;
	if (!number || !VEC_GROW(s->flows, s->cap, s->numbers.count, FLOWS_MAX)) {
		s->f->dims->refused++;
		return 0;
	}
	*number = s->numbers.count;
	s->flows[*number - 1] = (struct pcap_flow){ .start_ns = ts_ns,
		.last_ns = ts_ns,
		.interface = interface,
		.vlan = p->vlan,
		.protocol = p->ip.protocol,
		.family = p->ip.family,
		.has_ports = p->ip.has_ports,
		.from = p->ip.from,
		.to = p->ip.to };
	return *number;
}

/* Packets may be captured out of order: one that lies in the gap is late, not a retransmission. */
static bool fills_hole(struct side *side, uint32_t seq, uint32_t carried)
{
	uint32_t from = seq - side->hole;

	if (from > side->hole_bytes || carried > side->hole_bytes - from)
		return false;
	if (from == 0)
		side->hole += carried;
	side->hole_bytes = from == 0 ? side->hole_bytes - carried : from;
	return true;
}

/* Returns whether all data of a packet was sent before. */
static bool record_sequence(struct side *side, const struct packet *p)
{
	uint32_t carried = p->payload + !!(p->tcp_flags & PACKET_SYN) + !!(p->tcp_flags & PACKET_FIN);
	uint32_t end = p->seq + carried;
	bool is_again = side->has_next && carried && (int32_t)(end - side->next) <= 0 &&
			!fills_hole(side, p->seq, carried);

	if (side->has_next && (int32_t)(p->seq - side->next) > 0) {
		side->hole = side->next;
		side->hole_bytes = p->seq - side->next;
	}
	if (!side->has_next || (int32_t)(end - side->next) > 0)
		side->next = end;
	side->has_next = true;
	return is_again;
}

void pcap_flows_add(struct pcap_flows *s, const struct pcap_packet *p, int64_t ts_ns, int64_t interface)
{
	uint64_t number = flow_of(s, p, ts_ns, interface);
	struct pcap_flow *flow = number ? &s->flows[number - 1] : NULL;
	struct store_packet row = store_packet_nulls;
	bool is_again = false;

	row.ts_ns = ts_ns;
	row.bytes = p->ip.bytes;
	row.payload = p->ip.has_payload ? p->ip.payload : STORE_NULL;
	row.interface = interface;
	if (flow) {
		row.flow = (int64_t)number;
		row.is_reply = !packet_end_is_same(&flow->from, &p->ip.from);
		struct side *side = &flow->sides[row.is_reply];
		is_again = p->ip.has_tcp && record_sequence(side, &p->ip);
		side->packets++;
		side->bytes += p->ip.bytes;
		side->payload += is_again ? 0 : p->ip.payload;
		side->retransmits += is_again;
		flow->start_ns = ts_ns < flow->start_ns ? ts_ns : flow->start_ns;
		flow->last_ns = ts_ns > flow->last_ns ? ts_ns : flow->last_ns;
	}
	if (p->ip.has_tcp) {
		row.tcp_flags = p->ip.tcp_flags;
		row.seq = p->ip.seq;
		row.ack = p->ip.tcp_flags & PACKET_ACK ? (int64_t)p->ip.ack : STORE_NULL;
		row.is_retransmit = flow ? is_again : STORE_NULL;
	}
	foreign_add(s->f, STORE_TABLE_PACKET, &row);
}

static int64_t address_of(struct pcap_flows *s, const struct pcap_flow *flow, const struct packet_end *end)
{
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(flow->family == 4 ? AF_INET : AF_INET6, end->address, text, sizeof(text)))
		return STORE_NULL;
	return foreign_name(s->f, text);
}

static bool is_loopback(const struct pcap_flow *flow)
{
	static const uint8_t one[16] = { [15] = 1 };

	if (flow->family == 4)
		return flow->from.address[0] == 127 && flow->to.address[0] == 127;
	return !memcmp(flow->from.address, one, 16) && !memcmp(flow->to.address, one, 16);
}

static void write_flow(struct pcap_flows *s, size_t i)
{
	const struct pcap_flow *flow = &s->flows[i];
	const struct side *out = &flow->sides[0], *in = &flow->sides[1];
	bool is_tcp = flow->protocol == IPPROTO_TCP;
	struct store_flow row = store_flow_nulls;

	row.start_ns = flow->start_ns;
	row.dur_ns = flow->last_ns - flow->start_ns;
	row.flow = (int64_t)i + 1;
	row.is_new = 1;
	row.protocol = foreign_name(s->f, packet_protocol_name(flow->protocol));
	row.family = flow->family;
	row.source = address_of(s, flow, &flow->from);
	row.source_port = flow->has_ports ? flow->from.port : STORE_NULL;
	row.destination = address_of(s, flow, &flow->to);
	row.destination_port = flow->has_ports ? flow->to.port : STORE_NULL;
	row.interface = flow->interface;
	row.vlan = flow->vlan;
	row.is_loopback = is_loopback(flow);
	row.packets_out = out->packets;
	row.packets_in = in->packets;
	row.bytes_out = out->bytes;
	row.bytes_in = in->bytes;
	row.payload_out = out->payload;
	row.payload_in = in->payload;
	row.retransmits_out = is_tcp ? out->retransmits : STORE_NULL;
	row.retransmits_in = is_tcp ? in->retransmits : STORE_NULL;
	foreign_add(s->f, STORE_TABLE_FLOW, &row);
}

void pcap_flows_finish(struct pcap_flows *s)
{
	for (size_t i = 0; i < s->numbers.count && i < s->cap; i++)
		if (s->flows[i].family)
			write_flow(s, i);
	free(s->flows);
	map_release(&s->numbers);
}
