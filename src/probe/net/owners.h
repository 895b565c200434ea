/*
 * owners: which process has a socket.
 *
 * The kernel's sock_diag gives the socket of two ends its inode, /proc/PID/fd says who
 * has that. A connection shorter than a look is gone by then; its listening socket is
 * not, and calls of connect and accept that the tracer saw tell of the rest.
 */
#ifndef SONDE_PROBE_NET_OWNERS_H
#define SONDE_PROBE_NET_OWNERS_H

#include "base/packet.h"
#include "probe/probe.h"

struct owner {
	int32_t pid;  /* 0: unknown */
	int64_t name; /* id of a string */
};

struct owners {
	struct probe_host *host;
	/* private */
	int tcp;                    /* netlink; -1: none */
	struct owner_inode *inodes; /* who had which socket when we looked, a hash of them */
	size_t count, cap;
	int64_t looked_ns, looked_far_ns; /* at the run's processes, at all */
	struct owner_call *calls;         /* connects and accepts, the latest */
	size_t call_at, call_count;
};

int owners_init(struct owners *o, struct probe_host *host);
void owners_release(struct owners *o);
/* A look at processes, if it is time for one; before owners_find. */
void owners_look(struct owners *o, int64_t now_ns);
/* The process behind `own` of a socket that talks to `other`. */
bool owners_find(struct owners *o, uint8_t family, uint8_t protocol, const struct packet_end *own,
		const struct packet_end *other, struct owner *found);
/* From the tracer's calls: who connected to `to` at that time; who accepted a connection from `from`. */
bool owners_find_call(struct owners *o, bool is_accept, uint8_t family, const struct packet_end *peer, int64_t ts_ns,
		struct owner *found);

#endif
