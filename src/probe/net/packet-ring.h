/*
 * packet-ring: a packet socket and the ring that the kernel fills (TPACKET_V3).
 *
 * The socket sees headers only: a filter in the kernel cuts every packet behind its TCP or UDP header. Opening needs
 * CAP_NET_RAW, using it does not. It allocates nothing and returns -errno: the helper uses it too.
 */
#ifndef SONDE_PROBE_NET_PACKET_RING_H
#define SONDE_PROBE_NET_PACKET_RING_H

#include "base/packet.h"

/* A captured IP packet: its headers and the metadata of the packet socket. */
struct net_packet {
	int64_t ts_ns;
	int32_t interface;
	bool is_outgoing;
	int32_t vlan; /* -1: none */
	struct packet ip;
};

typedef void packet_fn(void *arg, const struct net_packet *p);

struct packet_ring {
	int fd;
	uint64_t packets; /* read from the ring */
	uint64_t arrived; /* put into the ring, as of the last packet_ring_count */
	uint64_t dropped; /* by the kernel: the ring was full */
	/* private */
	uint8_t *ring;
	size_t ring_bytes;
	unsigned blocks, at;
};

#define PACKET_RING_INIT { .fd = -1 }
#define PACKET_RING_BLOCK_MS 10 /* the longest time that a packet waits in a block that is not full */

int packet_ring_open(struct packet_ring *r); /* 0 or -errno */
/* Passes each available packet to `take`. Returns the number of packets. */
uint64_t packet_ring_pass(struct packet_ring *r, packet_fn *take, void *arg);
/* Reads all that has arrived until now, though its block may not be full. */
void packet_ring_finish(struct packet_ring *r, packet_fn *take, void *arg);
void packet_ring_count(struct packet_ring *r);
void packet_ring_release(struct packet_ring *r);

/* A message of the helper (helper.c) to the recorder: the first is empty, the last is its reply to the stop byte. */
#define CAPTURE_BATCH_MAX 256

struct capture_batch {
	uint64_t dropped; /* total so far */
	uint32_t count;
	uint32_t is_last;
	struct net_packet packets[CAPTURE_BATCH_MAX];
};

#endif
