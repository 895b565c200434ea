/*
 * flows: packets aggregated by the two endpoints that exchange them.
 *
 * A direction of a flow is counted on the interface where it was first seen, so a packet
 * that passes a bridge and a NIC counts once. Each TCP byte is payload once: bytes seen
 * again are retransmissions, bytes that fill a hole are counted when they arrive. Rows
 * are written every second for flows with packets, and when a flow is removed; memory is
 * proportional to the number of live flows.
 */
#ifndef SONDE_PROBE_NET_FLOWS_H
#define SONDE_PROBE_NET_FLOWS_H

#include "probe/net/owners.h"
#include "probe/net/packet-ring.h"
#include "probe/probe.h"

#define FLOW_HOLES 4
#define FLOW_RTTS 64

struct flow_hole {
	uint32_t from, to; /* sequence numbers; empty if equal */
	int64_t since_ns;
};

struct flow_side {
	struct packet_end end;
	struct owner owner;
	/* sent by this end since the last row */
	uint64_t packets, bytes, payload, retransmits;
	/* over the lifetime of the flow */
	int32_t interface;
	int64_t last_ns;
	bool is_local; /* sent from this host */
	bool has_seq, has_ended;
	uint32_t next_seq; /* behind the highest byte sent */
	struct flow_hole holes[FLOW_HOLES];
	/* one segment that waits for its ACK */
	bool is_timed;
	uint32_t timed_seq;
	int64_t timed_ns;
};

struct flow {
	struct flow *next; /* in the same slot */
	uint64_t number;
	uint8_t family, protocol;
	bool has_ports, is_reset, is_reported; /* is_reported: a row was written */
	int32_t vlan;
	struct flow_side sides[2]; /* 0: source */
	int64_t start_ns, last_ns; /* since the last row */
	uint32_t rtts;
	int64_t rtt_ns[FLOW_RTTS];
	int64_t rtt_min_ns;
	bool is_sought;  /* an owner is still unknown */
	unsigned seeks;  /* lookups so far: each waits twice as long as the previous one */
	int64_t seek_ns; /* time of the next lookup */
};

struct flows {
	struct probe_host *host;
	bool has_packets;                            /* also a row per packet */
	uint64_t packets, flows, duplicates, missed; /* missed: out of memory */
	size_t sought;                               /* flows with an unknown owner */
	/* private */
	struct flow **slots;
	size_t count;
	uint64_t seed;
	size_t seek_slot; /* where the next owner lookup starts */
	struct owners *owners;
	int64_t names[256], protocols[256]; /* string ids: interfaces by index, protocols */
};

int flows_init(struct flows *f, struct probe_host *host, struct owners *owners);
void flows_release(struct flows *f);
void flows_add(struct flows *f, const struct net_packet *p);
void flows_seek(struct flows *f, int64_t now_ns); /* looks up owners */
/* Writes the rows of the last second and removes flows that have ended. */
void flows_tend(struct flows *f, int64_t now_ns, bool is_last);

#endif
