#include "exchange/pcap-packet.h"

#include "store/schema.h"

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
