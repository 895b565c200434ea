/*
 * pcap: converts packet captures, pcap and pcapng, to packets and flows.
 *
 * Only headers are read. A cooked capture of the loopback interface has each packet twice, outgoing and incoming: the
 * outgoing one is skipped.
 */
#include "base/cleanup.h"
#include "exchange/import-reader.h"
#include "exchange/pcap-flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES_MAX ((size_t)1 << 18) /* of one packet or block; the rest is skipped */
#define INTERFACES_MAX 1024u
#define NS 1000000000

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OLD = 2,
	BLOCK_SIMPLE = 3,
	BLOCK_PACKET = 6,
	ORDER_MAGIC = 0x1a2b3c4d,
	OPTION_NAME = 2,
	OPTION_RESOLUTION = 9
};

struct interface {
	uint32_t link;
	int64_t name;              /* string id, or STORE_NULL */
	uint64_t units_per_second; /* of its timestamps */
};

struct pcap_reader {
	struct foreign *f;
	struct pcap_flows flows;
	bool is_swapped;
	uint8_t *bytes; /* PACKET_BYTES_MAX of them */
	struct interface interfaces[INTERFACES_MAX];
	uint32_t interface_count;
	int64_t last_ns;
};

static uint32_t get32(const struct pcap_reader *r, const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return r->is_swapped ? __builtin_bswap32(v) : v;
}

static uint16_t get16(const struct pcap_reader *r, const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return r->is_swapped ? __builtin_bswap16(v) : v;
}

/* Reads n bytes into r->bytes; skips those that do not fit. Returns false if the file ends before. */
static bool read_bytes(struct pcap_reader *r, size_t n)
{
	size_t some = n < PACKET_BYTES_MAX ? n : PACKET_BYTES_MAX;
	uint8_t waste[4096];

	if (foreign_read(r->f, r->bytes, some) != some)
		return false;
	for (n -= some; n; n -= some) {
		some = n < sizeof(waste) ? n : sizeof(waste);
		if (foreign_read(r->f, waste, some) != some)
			return false;
	}
	return true;
}

static void lose(struct pcap_reader *r, const char *reason)
{
	foreign_lost(r->f, reason, 0, "", 0);
}

/* Packets. */

static bool is_loopback(const struct packet *p)
{
	return p->family == 4 ? p->from.address[0] == 127 || !memcmp(p->from.address, p->to.address, 4)
			      : !memcmp(p->from.address, p->to.address, 16);
}

static void on_packet(struct pcap_reader *r, const struct interface *in, int64_t ts_ns, const uint8_t *data, size_t n,
		uint32_t whole)
{
	struct pcap_packet p;

	r->f->line++;
	r->f->counts->lines++;
	if (!pcap_packet_parse(&p, in->link, data, n, whole)) {
		r->f->counts->other++; /* not IP, for example ARP */
		return;
	}
	if (p.is_outgoing && is_loopback(&p.ip)) {
		r->f->counts->other++;
		return;
	}
	pcap_flows_add(&r->flows, &p, ts_ns, in->name);
	r->f->counts->events++;
	foreign_time(r->f, ts_ns);
}

/* pcap files. */

static void read_classic(struct pcap_reader *r, bool is_ns)
{
	struct interface in = { .name = STORE_NULL };
	uint8_t head[20];

	if (foreign_read(r->f, head, sizeof(head)) != sizeof(head)) {
		lose(r, "unexpected end of the file header");
		return;
	}
	in.link = get32(r, head + 16) & 0xfffffff; /* the upper bits describe the frame check sequence */
	for (;;) {
		size_t got = foreign_read(r->f, head, 16);

		if (got == 0)
			return;
		uint32_t n = got == 16 ? get32(r, head + 8) : 0;
		if (got != 16 || !read_bytes(r, n)) {
			lose(r, "unexpected end of file in a packet");
			return;
		}
		on_packet(r, &in, (int64_t)get32(r, head) * NS + (int64_t)get32(r, head + 4) * (is_ns ? 1 : 1000),
				r->bytes, n < PACKET_BYTES_MAX ? n : PACKET_BYTES_MAX, get32(r, head + 12));
	}
}

/* pcapng files: blocks. */

/* Reads the options of an interface: its name, and the unit of its times (a power of 10, or of 2). */
static void read_options(struct pcap_reader *r, struct interface *in, const uint8_t *at, size_t n)
{
	while (n >= 4) {
		unsigned code = get16(r, at);
		size_t bytes = get16(r, at + 2), padded = (bytes + 3) & ~(size_t)3;

		at += 4;
		n -= 4;
		if (code == 0 || padded > n)
			return;
		if (code == OPTION_NAME)
			in->name = foreign_string(r->f, (const char *)at, strnlen((const char *)at, bytes));
		if (code == OPTION_RESOLUTION && bytes >= 1 && (at[0] & 0x7f) <= 63 && !(at[0] < 0x80 && at[0] > 18)) {
			in->units_per_second = 1;
			for (unsigned i = 0; i < (at[0] & 0x7f); i++)
				in->units_per_second *= at[0] & 0x80 ? 2 : 10;
		}
		at += padded;
		n -= padded;
	}
}

static void on_interface(struct pcap_reader *r, size_t n)
{
	struct interface *in = &r->interfaces[r->interface_count];

	if (n < 8 || r->interface_count == INTERFACES_MAX) {
		lose(r, "too many interfaces");
		return;
	}
	*in = (struct interface){ .link = get16(r, r->bytes), .name = STORE_NULL, .units_per_second = 1000000 };
	read_options(r, in, r->bytes + 8, n - 8);
	r->interface_count++;
}

static void on_enhanced(struct pcap_reader *r, size_t n, bool is_old)
{
	uint32_t number = n < 20 ? UINT32_MAX : is_old ? get16(r, r->bytes) : get32(r, r->bytes);
	uint32_t bytes = n < 20 ? 0 : get32(r, r->bytes + 12);

	if (number >= r->interface_count) {
		lose(r, "packet of an unknown interface");
		return;
	}
	unsigned __int128 ns = (unsigned __int128)((uint64_t)get32(r, r->bytes + 4) << 32 | get32(r, r->bytes + 8)) *
			NS / r->interfaces[number].units_per_second;
	r->last_ns = ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)ns;
	on_packet(r, &r->interfaces[number], r->last_ns, r->bytes + 20, bytes < n - 20 ? bytes : n - 20,
			get32(r, r->bytes + 16));
}

/* Reads the length and the byte order of a section; the rest of its header was already read. */
static bool on_section(struct pcap_reader *r)
{
	uint8_t head[8];
	uint32_t magic;

	if (foreign_read(r->f, head, sizeof(head)) != sizeof(head))
		return false;
	memcpy(&magic, head + 4, sizeof(magic));
	r->is_swapped = magic == __builtin_bswap32(ORDER_MAGIC);
	if (!r->is_swapped && magic != ORDER_MAGIC)
		return false;
	uint32_t bytes = get32(r, head);
	r->interface_count = 0;
	return bytes >= 28 && bytes % 4 == 0 && read_bytes(r, bytes - 12);
}

static bool on_block(struct pcap_reader *r, uint32_t type)
{
	uint8_t head[4];

	if (foreign_read(r->f, head, sizeof(head)) != sizeof(head))
		return false;
	uint32_t bytes = get32(r, head);
	if (bytes < 12 || bytes % 4 || !read_bytes(r, bytes - 8))
		return false;
	size_t n = bytes - 12 < PACKET_BYTES_MAX ? bytes - 12 : PACKET_BYTES_MAX;
	if (type == BLOCK_INTERFACE)
		on_interface(r, n);
	else if (type == BLOCK_PACKET || type == BLOCK_PACKET_OLD)
		on_enhanced(r, n, type == BLOCK_PACKET_OLD);
	else if (type == BLOCK_SIMPLE) {
		/* A packet without a time gets that of the previous one. */
		if (n < 4 || r->interface_count == 0)
			lose(r, "packet of an unknown interface");
		else
			on_packet(r, &r->interfaces[0], r->last_ns, r->bytes + 4, n - 4, get32(r, r->bytes));
	}
	return true;
}

static void read_blocks(struct pcap_reader *r)
{
	bool is_good = on_section(r);

	while (is_good) {
		uint8_t head[4];
		size_t got = foreign_read(r->f, head, sizeof(head));

		if (got == 0)
			return;
		uint32_t type = get32(r, head);
		is_good = got == sizeof(head) && (type == BLOCK_SECTION ? on_section(r) : on_block(r, type));
	}
	lose(r, "truncated or damaged block");
}

static const struct {
	uint32_t magic;
	bool is_swapped, is_ns;
} classics[] = {
	{ 0xa1b2c3d4, false, false },
	{ 0xd4c3b2a1, true, false },
	{ 0xa1b23c4d, false, true },
	{ 0x4d3cb2a1, true, true },
};

static int read_capture(struct foreign *f)
{
	struct pcap_reader *r = calloc(1, sizeof(*r));
	CLEANUP(cleanup_free) uint8_t *bytes = calloc(1, PACKET_BYTES_MAX);
	uint32_t magic = 0;
	bool is_known = false;

	if (!r || !bytes) {
		free(r);
		return -ENOMEM;
	}
	r->f = f;
	r->bytes = bytes;
	f->has_day_clock = true;
	pcap_flows_init(&r->flows, f);
	if (foreign_read(f, &magic, sizeof(magic)) == sizeof(magic) && magic == BLOCK_SECTION) {
		is_known = true;
		read_blocks(r);
	}
	for (size_t i = 0; !is_known && i < sizeof(classics) / sizeof(*classics); i++) {
		if (classics[i].magic == magic) {
			is_known = true;
			r->is_swapped = classics[i].is_swapped;
			read_classic(r, classics[i].is_ns);
		}
	}
	if (!is_known)
		lose(r, "not a packet capture");
	pcap_flows_finish(&r->flows);
	free(r);
	return 0;
}

static bool is_mine(const char *head, size_t n)
{
	uint32_t magic;

	if (n < 24)
		return false;
	memcpy(&magic, head, sizeof(magic));
	for (size_t i = 0; i < sizeof(classics) / sizeof(*classics); i++)
		if (classics[i].magic == magic)
			return true;
	return magic == BLOCK_SECTION;
}

const struct exchange_format exchange_pcap = {
	.name = "pcap",
	.extension = ".pcap",
	.what = "Packet captures, pcap and pcapng.",
	.is_mine = is_mine,
	.read = read_capture,
};
