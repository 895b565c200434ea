/*
 * filter: what a packet socket may see: headers of IP packets, and nothing that they carry.
 *
 * The filter runs in the kernel and cuts every packet behind its TCP or UDP header. Once
 * locked it can neither be taken off nor replaced, by whomever the socket is given to.
 * Packets that leave through the loopback are left out: each of them comes in again.
 */
#ifndef SONDE_PROBE_NET_FILTER_H
#define SONDE_PROBE_NET_FILTER_H

/* A packet socket that receives nothing until it is bound, with the filter on it and locked; -errno. */
int filter_socket(void);

#endif
