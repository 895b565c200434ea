/* Headers of packets; see pcap-packet.h. */
#include "exchange/pcap-packet.h"

#include "store/schema.h"

#include <string.h>

enum { ETHERTYPE_4 = 0x0800, ETHERTYPE_6 = 0x86dd, VLAN = 0x8100, VLAN_OUTER = 0x88a8, SLL_OUTGOING = 4 };

/* Bytes that are left to look at. */
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

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* Links: to the IP header; the type is 0 when the version says it. */

static bool skip_ethernet(struct pcap_packet *p, struct bytes *b, unsigned *type)
{
	(void)p;
	if (b->n < 14)
		return false;
	*type = get16(b->at + 12);
	skip(b, 14);
	while (*type == VLAN || *type == VLAN_OUTER) {
		if (b->n < 4)
			return false;
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

/* IP. */

static const struct {
	uint8_t number;
	const char *name;
} protocols[] = { { 1, "icmp" }, { 6, "tcp" }, { 17, "udp" }, { 58, "icmp6" }, { 132, "sctp" } };

static const char *protocol_name(unsigned number)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		if (protocols[i].number == number)
			return protocols[i].name;
	return "ip";
}

static bool take_ipv4(struct pcap_packet *p, struct bytes *b, unsigned *protocol, int64_t *left)
{
	size_t head = 4 * (size_t)(b->at[0] & 15);

	if (b->n < 20 || head < 20)
		return false;
	p->family = 4;
	p->bytes = get16(b->at + 2);
	*protocol = b->at[9];
	memcpy(p->from.address, b->at + 12, 4);
	memcpy(p->to.address, b->at + 16, 4);
	if (get16(b->at + 6) & 0x1fff)
		*protocol = 256; /* a later fragment has no ports */
	*left = p->bytes - (int64_t)head;
	return skip(b, head < b->n ? head : b->n);
}

/* Extensions that a header may have before it: their length is in their second byte, of fragments it is fixed. */
static void skip_extensions(struct bytes *b, unsigned *next, int64_t *left)
{
	while (*next == 0 || *next == 43 || *next == 44 || *next == 51 || *next == 60) {
		unsigned kind = *next;
		size_t bytes;

		if (b->n < 8)
			return;
		bytes = kind == 44 ? 8 : kind == 51 ? 4 * ((size_t)b->at[1] + 2) : 8 * ((size_t)b->at[1] + 1);
		*next = b->at[0];
		if (kind == 44 && get16(b->at + 2) & 0xfff8)
			*next = 256;
		*left -= (int64_t)bytes;
		if (!skip(b, bytes))
			b->n = 0;
	}
}

static bool take_ipv6(struct pcap_packet *p, struct bytes *b, unsigned *protocol, int64_t *left)
{
	if (b->n < 40)
		return false;
	p->family = 6;
	*left = get16(b->at + 4);
	p->bytes = *left + 40;
	*protocol = b->at[6];
	memcpy(p->from.address, b->at + 8, 16);
	memcpy(p->to.address, b->at + 24, 16);
	skip(b, 40);
	skip_extensions(b, protocol, left);
	return true;
}

/* left: bytes behind the IP header, as it says. */
static void take_tcp(struct pcap_packet *p, const struct bytes *b, int64_t left)
{
	size_t head;

	if (b->n < 4)
		return;
	p->from.port = get16(b->at);
	p->to.port = get16(b->at + 2);
	if (b->n < 14)
		return;
	p->is_tcp = true;
	p->seq = get32(b->at + 4);
	p->ack = get32(b->at + 8);
	p->tcp_flags = b->at[13];
	head = 4 * (size_t)(b->at[12] >> 4);
	if (head >= 20 && left >= (int64_t)head)
		p->payload = left - (int64_t)head;
}

static void take_udp(struct pcap_packet *p, const struct bytes *b, int64_t left)
{
	if (b->n < 4)
		return;
	p->from.port = get16(b->at);
	p->to.port = get16(b->at + 2);
	if (left >= 8)
		p->payload = left - 8;
}

bool pcap_packet_parse(struct pcap_packet *p, uint32_t link, const uint8_t *data, size_t n)
{
	struct bytes b = { .at = data, .n = n };
	unsigned type = 0, protocol;
	int64_t left;
	size_t i = 0;

	*p = (struct pcap_packet){ .payload = STORE_NULL };
	p->from.port = p->to.port = STORE_NULL;
	while (i < sizeof(links) / sizeof(*links) && links[i].link != link)
		i++;
	if (i == sizeof(links) / sizeof(*links) || !links[i].skip(p, &b, &type) || b.n == 0)
		return false;
	if (type != 0 && type != ETHERTYPE_4 && type != ETHERTYPE_6)
		return false;
	if (b.at[0] >> 4 == 4 ? !take_ipv4(p, &b, &protocol, &left)
			      : b.at[0] >> 4 != 6 || !take_ipv6(p, &b, &protocol, &left))
		return false;
	p->protocol = protocol_name(protocol);
	if (protocol == 6)
		take_tcp(p, &b, left);
	else if (protocol == 17)
		take_udp(p, &b, left);
	return true;
}
