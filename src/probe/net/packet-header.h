/* packet-header: a captured IP packet: its headers and the metadata of the packet socket. */
#ifndef SONDE_PROBE_NET_PACKET_HEADER_H
#define SONDE_PROBE_NET_PACKET_HEADER_H

#include "base/packet.h"

struct net_packet {
	int64_t ts_ns;
	int32_t interface;
	bool is_outgoing;
	int32_t vlan; /* -1: none */
	struct packet ip;
};

#endif
