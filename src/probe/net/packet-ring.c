#include "probe/net/packet-ring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CODE_MAX 128
/* Complete opcodes: some of the kernel's macros that they are made of are 0. */
#define LOAD_KIND BPF_ABS
#define LOAD_HALF (BPF_H | BPF_ABS)
#define LOAD_BYTE (BPF_B | BPF_ABS)
#define LOAD_BEHIND_X (BPF_B | BPF_IND)
#define SET_X BPF_LDX
#define ADD_NUMBER BPF_ALU
#define ADD_X (BPF_ALU | BPF_X)
#define V6_BYTES 40
#define UDP_BYTES 8

#define BLOCK_BYTES (256u << 10)
#define BLOCKS_MAX 64u
#define FRAME_BYTES 256u
#define FINISH_POLLS_MAX 200 /* of PACKET_RING_BLOCK_MS each */

/*
 * The filter, in classic BPF instructions, restricts a packet socket to the headers of IP packets, without payload.
 *
 * It cuts every packet behind its TCP or UDP header. Once locked it can be neither
 * detached nor replaced, not even by another process that receives the socket. Packets that leave through the loopback
 * are left out: each of them arrives again.
 */
struct code {
	struct sock_filter at[CODE_MAX];
	unsigned count;
};

static void add_code(struct code *c, unsigned op, unsigned k)
{
	if (c->count < CODE_MAX)
		c->at[c->count++] = (struct sock_filter){ .code = (uint16_t)op, .k = k };
}

/* Starts a branch, up to `end`, that runs if A equals k. */
static unsigned when(struct code *c, unsigned k)
{
	add_code(c, BPF_JMP | BPF_JEQ | BPF_K, k);
	return c->count - 1;
}

static void end(struct code *c, unsigned from)
{
	c->at[from].jf = (uint8_t)(c->count - from - 1);
}

static void load_kind(struct code *c, int what)
{
	add_code(c, LOAD_KIND, (unsigned)(SKF_AD_OFF + what));
}

/* Returns X + bytes. */
static void return_x(struct code *c, unsigned bytes)
{
	add_code(c, BPF_MISC | BPF_TXA, 0);
	add_code(c, ADD_NUMBER, bytes);
	add_code(c, BPF_RET | BPF_A, 0);
}

/* The protocol is in A, its header at X + at. */
static void return_transport(struct code *c, unsigned at)
{
	unsigned tcp = when(c, IPPROTO_TCP);
	/* Returns X + at + the length of the TCP header. */
	add_code(c, LOAD_BEHIND_X, at + 12);
	add_code(c, BPF_ALU | BPF_AND | BPF_K, 0xf0);
	add_code(c, BPF_ALU | BPF_RSH | BPF_K, 2);
	add_code(c, ADD_X, 0);
	add_code(c, ADD_NUMBER, at);
	add_code(c, BPF_RET | BPF_A, 0);
	end(c, tcp);
	unsigned udp = when(c, IPPROTO_UDP);
	return_x(c, at + UDP_BYTES);
	end(c, udp);
	return_x(c, at);
}

static void return_v4(struct code *c, unsigned at)
{
	add_code(c, BPF_LDX | BPF_B | BPF_MSH, at);
	add_code(c, LOAD_HALF, at + 6);
	add_code(c, BPF_JMP | BPF_JSET | BPF_K, 0x1fff);
	unsigned first = c->count - 1;
	return_x(c, at); /* a later fragment: no ports */
	end(c, first);
	add_code(c, LOAD_BYTE, at + 9);
	return_transport(c, at);
}

static void return_v6(struct code *c, unsigned at)
{
	static const unsigned extensions[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_DSTOPTS };
	for (unsigned i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
		add_code(c, LOAD_BYTE, at + 6);
		unsigned none = when(c, extensions[i]);
		add_code(c, LOAD_BYTE, at + V6_BYTES + 1);
		add_code(c, ADD_NUMBER, 1);
		add_code(c, BPF_ALU | BPF_LSH | BPF_K, 3);
		add_code(c, BPF_MISC | BPF_TAX, 0);
		if (extensions[i] == IPPROTO_FRAGMENT)
			return_x(c, at + V6_BYTES); /* only the first has ports: count all in the same way */
		else
			add_code(c, LOAD_BYTE, at + V6_BYTES), return_transport(c, at + V6_BYTES);
		end(c, none);
	}
	add_code(c, SET_X, 0);
	add_code(c, LOAD_BYTE, at + 6);
	return_transport(c, at + V6_BYTES);
}

/* Passes IP only. A packet that leaves with a VLAN tag has the tag's protocol, but also starts with the IP header. */
static void keep_ip(struct code *c)
{
	static const unsigned protocols[] = { ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021AD };
	unsigned count = sizeof(protocols) / sizeof(*protocols);
	load_kind(c, SKF_AD_PROTOCOL);
	for (unsigned i = 0; i < count; i++) {
		add_code(c, BPF_JMP | BPF_JEQ | BPF_K, protocols[i]);
		c->at[c->count - 1].jt = (uint8_t)(count - i);
	}
	add_code(c, BPF_RET | BPF_K, 0);
}

static void build_filter(struct code *c)
{
	c->count = 0;
	load_kind(c, SKF_AD_HATYPE);
	unsigned other = when(c, ARPHRD_LOOPBACK);
	load_kind(c, SKF_AD_PKTTYPE);
	unsigned comes = when(c, PACKET_OUTGOING);
	add_code(c, BPF_RET | BPF_K, 0);
	end(c, comes);
	end(c, other);
	keep_ip(c);
	add_code(c, LOAD_BYTE, 0);
	add_code(c, BPF_ALU | BPF_RSH | BPF_K, 4);
	unsigned v4 = when(c, 4);
	return_v4(c, 0);
	end(c, v4);
	unsigned v6 = when(c, 6);
	return_v6(c, 0);
	end(c, v6);
	add_code(c, BPF_RET | BPF_K, 0);
}

/* Returns a packet socket with the filter attached and locked; it receives nothing until bound. -errno on failure. */
static int filter_socket(void)
{
	struct code code;
	struct sock_fprog program = { .filter = code.at };
	int one = 1;
	build_filter(&code);
	program.len = (unsigned short)code.count;
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (code.count == CODE_MAX || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
			setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &one, sizeof(one))) {
		int error = errno;
		close(fd);
		return -error;
	}
	return fd;
}

/* The ring. */

static int map_ring(struct packet_ring *r, unsigned blocks)
{
	struct tpacket_req3 req = { .tp_block_size = BLOCK_BYTES,
		.tp_block_nr = blocks,
		.tp_frame_size = FRAME_BYTES,
		.tp_frame_nr = BLOCK_BYTES / FRAME_BYTES * blocks,
		.tp_retire_blk_tov = PACKET_RING_BLOCK_MS };
	if (setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		return -errno;
	r->ring_bytes = (size_t)BLOCK_BYTES * blocks;
	void *at = mmap(NULL, r->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	r->ring = at;
	r->blocks = blocks;
	return 0;
}

int packet_ring_open(struct packet_ring *r)
{
	*r = (struct packet_ring)PACKET_RING_INIT;
	int fd = filter_socket();
	if (fd < 0)
		return fd;
	r->fd = fd;
	int version = TPACKET_V3;
	struct sockaddr_ll all = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int rc = setsockopt(r->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ? -errno : -ENOMEM;
	for (unsigned blocks = BLOCKS_MAX; rc == -ENOMEM && blocks >= 4; blocks /= 2)
		rc = map_ring(r, blocks);
	if (!rc && bind(r->fd, (const struct sockaddr *)(const void *)&all, sizeof(all)))
		rc = -errno;
	if (rc)
		packet_ring_release(r);
	return rc;
}

static bool read_frame(const struct tpacket3_hdr *h, size_t room, int64_t shift_ns, struct net_packet *p)
{
	const struct sockaddr_ll *from = (const void *)((const uint8_t *)h + TPACKET_ALIGN(sizeof(*h)));
	if (TPACKET_ALIGN(sizeof(*h)) + sizeof(*from) > room || h->tp_net > room || h->tp_snaplen > room - h->tp_net)
		return false;
	p->ts_ns = (int64_t)h->tp_sec * 1000000000 + h->tp_nsec + shift_ns;
	p->interface = from->sll_ifindex;
	p->is_outgoing = from->sll_pkttype == PACKET_OUTGOING;
	p->vlan = h->tp_status & TP_STATUS_VLAN_VALID ? (int32_t)(h->hv1.tp_vlan_tci & 0xfff) : -1;
	return packet_parse(&p->ip, (const uint8_t *)h + h->tp_net, h->tp_snaplen, h->tp_len);
}

static uint64_t read_block(struct packet_ring *r, const struct tpacket_block_desc *b, packet_fn *take, void *arg)
{
	/* Packet timestamps are CLOCK_REALTIME. */
	struct timespec real, mono;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	int64_t shift_ns = (mono.tv_sec - real.tv_sec) * 1000000000ll + (mono.tv_nsec - real.tv_nsec);
	uint32_t count = b->hdr.bh1.num_pkts, at = b->hdr.bh1.offset_to_first_pkt;
	uint64_t taken = 0;
	for (uint32_t i = 0; i < count && at + sizeof(struct tpacket3_hdr) <= BLOCK_BYTES; i++) {
		const struct tpacket3_hdr *h = (const void *)((const uint8_t *)b + at);
		struct net_packet p;
		if (read_frame(h, BLOCK_BYTES - at, shift_ns, &p))
			take(arg, &p);
		taken++;
		if (!h->tp_next_offset)
			break;
		at += h->tp_next_offset;
	}
	r->packets += count;
	return taken;
}

uint64_t packet_ring_pass(struct packet_ring *r, packet_fn *take, void *arg)
{
	uint64_t taken = 0;
	for (unsigned i = 0; i < r->blocks; i++) {
		struct tpacket_block_desc *b = (void *)(r->ring + (size_t)r->at * BLOCK_BYTES);
		if (!(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		taken += read_block(r, b, take, arg);
		__atomic_store_n(&b->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		r->at = (r->at + 1) % r->blocks;
	}
	return taken;
}

void packet_ring_count(struct packet_ring *r)
{
	struct tpacket_stats_v3 s;
	socklen_t n = sizeof(s);
	if (getsockopt(r->fd, SOL_PACKET, PACKET_STATISTICS, &s, &n))
		return;
	r->dropped += s.tp_drops; /* each call resets them */
	r->arrived += s.tp_packets - s.tp_drops;
}

/* The kernel releases the current block after its timeout, on a busy machine some time later. */
void packet_ring_finish(struct packet_ring *r, packet_fn *take, void *arg)
{
	struct pollfd ready = { .fd = r->fd, .events = POLLIN };
	packet_ring_count(r);
	uint64_t wanted = r->arrived; /* packets that arrive from now on do not belong to the run */
	packet_ring_pass(r, take, arg);
	for (int i = 0; r->packets < wanted && i < FINISH_POLLS_MAX; i++) {
		poll(&ready, 1, PACKET_RING_BLOCK_MS);
		packet_ring_pass(r, take, arg);
	}
}

void packet_ring_release(struct packet_ring *r)
{
	if (r->ring)
		munmap(r->ring, r->ring_bytes);
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct packet_ring)PACKET_RING_INIT;
}
