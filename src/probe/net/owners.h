/*
 * owners: which process owns a socket.
 *
 * The kernel's sock_diag maps the two endpoints to an inode, /proc/PID/fd maps the
 * inode to a process. A connection shorter than the scan interval is missed; its
 * listening socket is not, and the connect and accept calls of the tracer cover the
 * rest.
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
	struct owner_inode *inodes; /* hash table of socket inodes and their owners at the last scan */
	size_t count, cap;
	int64_t looked_ns, looked_far_ns; /* last scan of the run's processes, of all */
	struct owner_call *calls;         /* the latest connects and accepts */
	size_t call_at, call_count;
};

int owners_init(struct owners *o, struct probe_host *host);
void owners_release(struct owners *o);
/* Scans processes if a scan is due; call before owners_find. */
void owners_scan(struct owners *o, int64_t now_ns);
/* Finds the process that owns the socket with local end `own` and remote end `other`. */
bool owners_find(struct owners *o, uint8_t family, uint8_t protocol, const struct packet_end *own,
		const struct packet_end *other, struct owner *found);
/* Finds it in the tracer's calls: the connect to `peer` at that time, or the accept of a connection from it. */
bool owners_find_call(struct owners *o, bool is_accept, uint8_t family, const struct packet_end *peer, int64_t ts_ns,
		struct owner *found);

#endif
