/*
 * flows: packets added up by the two ends that exchange them.
 *
 * A direction of a flow is counted on the interface where it was seen first, so a packet
 * that passes a bridge and a card counts once. Of TCP each byte is payload once: what
 * comes again is a retransmission, what fills a hole is counted when it comes. Rows go
 * out every second for flows that had packets, and when they are forgotten; memory
 * follows the flows that live.
 */
#ifndef SONDE_PROBE_NET_FLOWS_H
#define SONDE_PROBE_NET_FLOWS_H

#include "probe/net/owners.h"
#include "probe/net/packet-header.h"
#include "probe/probe.h"

#define FLOW_HOLES 4
#define FLOW_RTTS 64

struct flow_hole {
	uint32_t from, to; /* sequence numbers; empty when equal */
	int64_t since_ns;
};

struct flow_side {
	struct packet_end end;
	struct owner owner;
	/* of what this end sends, since the last row */
	uint64_t packets, bytes, payload, retransmits;
	/* for good */
	int32_t interface;
	int64_t last_ns;
	bool is_local; /* it sends from here */
	bool has_seq, has_ended;
	uint32_t next_seq; /* behind all that was sent */
	struct flow_hole holes[FLOW_HOLES];
	/* one segment whose acknowledgement is awaited */
	bool is_timed;
	uint32_t timed_seq;
	int64_t timed_ns;
};

struct flow {
	struct flow *next; /* in its slot */
	uint64_t number;
	uint8_t family, protocol;
	bool has_ports, is_reset, is_reported; /* a row was written */
	int32_t vlan;
	struct flow_side sides[2]; /* 0: source */
	int64_t start_ns, last_ns; /* of this stretch */
	uint32_t rtts;
	int64_t rtt_ns[FLOW_RTTS];
	int64_t rtt_min_ns;
	bool is_sought;  /* owners are not all known yet */
	unsigned seeks;  /* looks for them: each waits twice as long as the one before */
	int64_t seek_ns; /* when the next is due */
};

struct flows {
	struct probe_host *host;
	bool has_packets;                            /* rows for single ones too */
	uint64_t packets, flows, duplicates, missed; /* missed: for want of memory */
	size_t sought;                               /* flows whose owners are not all known yet */
	/* private */
	struct flow **slots;
	size_t count;
	uint64_t seed;
	size_t seek_slot; /* where looking for owners goes on */
	struct owners *owners;
	int64_t names[256], protocols[256]; /* ids of strings: interfaces by number, protocols */
};

int flows_init(struct flows *f, struct probe_host *host, struct owners *owners);
void flows_release(struct flows *f);
void flows_take(struct flows *f, const struct net_packet *p);
void flows_seek(struct flows *f, int64_t now_ns); /* owners */
/* Write rows of the last second, forget what has ended. */
void flows_tend(struct flows *f, int64_t now_ns, bool is_last);

#endif
