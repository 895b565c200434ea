/*
 * packet-ring: a packet socket and the ring that the kernel fills (TPACKET_V3).
 *
 * The socket sees headers alone (filter.h). Needs CAP_NET_RAW to be opened and nothing afterwards. It allocates nothing
 * and reports errors by number: the helper uses it too.
 */
#ifndef SONDE_PROBE_NET_PACKET_RING_H
#define SONDE_PROBE_NET_PACKET_RING_H

#include "probe/net/packet-header.h"

typedef void packet_take(void *arg, const struct net_packet *p);

struct packet_ring {
	int fd;
	uint64_t packets; /* taken out of the ring */
	uint64_t arrived; /* in the ring, as far as packet_ring_count knows */
	uint64_t dropped; /* by the kernel, for want of room in the ring */
	/* private */
	uint8_t *ring;
	size_t ring_bytes;
	unsigned blocks, at;
};

#define PACKET_RING_INIT { .fd = -1 }
#define PACKET_RING_BLOCK_MS 10 /* a packet waits no longer than that in a block that does not fill */

int packet_ring_open(struct packet_ring *r); /* 0 or -errno */
/* Each packet that is there, to `take`. Returns how many. */
uint64_t packet_ring_pass(struct packet_ring *r, packet_take *take, void *arg);
/* All that has arrived until now, though its block may not be full. */
void packet_ring_finish(struct packet_ring *r, packet_take *take, void *arg);
void packet_ring_count(struct packet_ring *r);
void packet_ring_release(struct packet_ring *r);

#endif
