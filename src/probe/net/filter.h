/*
 * filter: restricts a packet socket to the headers of IP packets, without payload.
 *
 * The filter runs in the kernel and cuts every packet behind its TCP or UDP header. Once locked it can be neither
 * detached nor replaced, not even by another process that receives the socket. Packets that leave through the loopback
 * are left out: each of them arrives again.
 */
#ifndef SONDE_PROBE_NET_FILTER_H
#define SONDE_PROBE_NET_FILTER_H

/* Returns a packet socket with the filter attached and locked; it receives nothing until bound. -errno on failure. */
int filter_socket(void);

#endif
