/*
 * capture: headers of the packets of all interfaces.
 *
 * They come from our own ring if we may open a packet socket, else from the helper (libexec/sonde/sonde-capture, to
 * which `sonde setup` gives the capability for the members of a group). The helper keeps its socket: any process that
 * holds a packet socket can send frames and set promiscuous mode with it, without capabilities. So it sends the
 * received headers, in batches.
 */
#ifndef SONDE_PROBE_NET_CAPTURE_H
#define SONDE_PROBE_NET_CAPTURE_H

#include "base/err.h"
#include "probe/net/packet-ring.h"

#include <sys/types.h>

struct capture {
	int fd;           /* readable when there are packets */
	bool is_helped;   /* the helper captures */
	uint64_t dropped; /* by the kernel: the ring was full */
	/* private */
	struct packet_ring ring;
	pid_t helper;
	bool has_ended; /* the helper sent its last batch, or exited */
};

#define CAPTURE_INIT { .fd = -1, .ring = PACKET_RING_INIT }

/* A message of the helper: the first is empty, the last is its reply to the stop byte. */
#define CAPTURE_BATCH_MAX 256

struct capture_batch {
	uint64_t dropped; /* total so far */
	uint32_t count;
	uint32_t is_last;
	struct net_packet packets[CAPTURE_BATCH_MAX];
};

int capture_open(struct capture *c, struct sonde_err *err);
/* Passes each available packet to `take`. Returns the number of packets. */
uint64_t capture_pass(struct capture *c, packet_take *take, void *arg);
/* Reads all that has arrived until now, though its block may not be full. */
void capture_finish(struct capture *c, packet_take *take, void *arg);
void capture_count_drops(struct capture *c);
void capture_release(struct capture *c);

#endif
