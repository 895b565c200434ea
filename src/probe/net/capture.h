/*
 * capture: packets of all interfaces out of a ring that the kernel fills.
 *
 * The socket is our own where we may have one, else the helper's (libexec/sonde/
 * sonde-capture, which `sonde setup` gives the right): either can see headers alone,
 * see filter.h.
 */
#ifndef SONDE_PROBE_NET_CAPTURE_H
#define SONDE_PROBE_NET_CAPTURE_H

#include "base/err.h"
#include "probe/net/packet.h"

struct capture {
	int fd;
	bool is_helped;   /* by the helper */
	uint64_t packets; /* taken out of the ring */
	uint64_t arrived; /* in the ring, as far as capture_count_drops knows */
	uint64_t dropped; /* by the kernel, for want of room in the ring */
	/* private */
	uint8_t *ring;
	size_t ring_bytes;
	unsigned blocks, at;
};

#define CAPTURE_INIT { .fd = -1 }
#define CAPTURE_BLOCK_MS 10 /* a packet waits no longer than that in a block that does not fill */

int capture_open(struct capture *c, struct sonde_err *err);
/* Each packet that is there, to `take`. Returns how many. */
uint64_t capture_pass(struct capture *c, void (*take)(void *arg, const struct net_packet *p), void *arg);
/* All that has arrived until now, though its block may not be full. */
void capture_finish(struct capture *c, void (*take)(void *arg, const struct net_packet *p), void *arg);
void capture_count_drops(struct capture *c);
void capture_release(struct capture *c);

#endif
