#include "probe/net/packet-ring.h"

#include "probe/net/filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (256u << 10)
#define BLOCKS_MAX 64u
#define FRAME_BYTES 256u
#define FINISH_POLLS_MAX 200 /* of PACKET_RING_BLOCK_MS each */

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

static int start(struct packet_ring *r)
{
	int version = TPACKET_V3;
	struct sockaddr_ll all = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int rc = setsockopt(r->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ? -errno : -ENOMEM;
	for (unsigned blocks = BLOCKS_MAX; rc == -ENOMEM && blocks >= 4; blocks /= 2)
		rc = map_ring(r, blocks);
	if (!rc && bind(r->fd, (const struct sockaddr *)(const void *)&all, sizeof(all)))
		rc = -errno;
	return rc;
}

int packet_ring_open(struct packet_ring *r)
{
	*r = (struct packet_ring)PACKET_RING_INIT;
	int fd = filter_socket();
	if (fd < 0)
		return fd;
	r->fd = fd;
	int rc = start(r);
	if (rc)
		packet_ring_release(r);
	return rc;
}

/* Packet timestamps are CLOCK_REALTIME. */
static int64_t real_to_mono_ns(void)
{
	struct timespec real, mono;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (mono.tv_sec - real.tv_sec) * 1000000000ll + (mono.tv_nsec - real.tv_nsec);
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

static uint64_t take_block(struct packet_ring *r, const struct tpacket_block_desc *b, packet_take *take, void *arg)
{
	int64_t shift_ns = real_to_mono_ns();
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

uint64_t packet_ring_pass(struct packet_ring *r, packet_take *take, void *arg)
{
	uint64_t taken = 0;
	for (unsigned i = 0; i < r->blocks; i++) {
		struct tpacket_block_desc *b = (void *)(r->ring + (size_t)r->at * BLOCK_BYTES);
		if (!(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		taken += take_block(r, b, take, arg);
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
void packet_ring_finish(struct packet_ring *r, packet_take *take, void *arg)
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
