/*
 * capture: headers of the packets of all interfaces.
 *
 * They come from a ring of our own where we may open a packet socket, else from the helper
 * (libexec/sonde/sonde-capture,
 * to which `sonde setup` gives the right for the members of a group). The helper keeps its socket: whoever holds a
 * packet
 * socket can send frames and set promiscuous mode by it, without any right. So it sends what it received, in batches.
 */
#ifndef SONDE_PROBE_NET_CAPTURE_H
#define SONDE_PROBE_NET_CAPTURE_H

#include "base/err.h"
#include "probe/net/packet-ring.h"

#include <sys/types.h>

struct capture {
	int fd;           /* readable when there are packets */
	bool is_helped;   /* by the helper */
	uint64_t dropped; /* by the kernel, for want of room in the ring */
	/* private */
	struct packet_ring ring;
	pid_t helper;
	bool has_ended; /* the helper said its last word, or is gone */
};

#define CAPTURE_INIT { .fd = -1, .ring = PACKET_RING_INIT }

/* A message of the helper: the first is empty, the last is its answer to a byte. */
#define CAPTURE_BATCH_MAX 256

struct capture_batch {
	uint64_t dropped; /* until now */
	uint32_t count;
	uint32_t is_last;
	struct net_packet packets[CAPTURE_BATCH_MAX];
};

int capture_open(struct capture *c, struct sonde_err *err);
/* Each packet that is there, to `take`. Returns how many. */
uint64_t capture_pass(struct capture *c, packet_take *take, void *arg);
/* All that has arrived until now, though its block may not be full. */
void capture_finish(struct capture *c, packet_take *take, void *arg);
void capture_count_drops(struct capture *c);
void capture_release(struct capture *c);

#endif
