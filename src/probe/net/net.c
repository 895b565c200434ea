/*
 * The network probe: traffic per connection, from the headers of packets.
 *
 * All traffic of the network namespace is counted, and each flow gets the processes that
 * own its ends. Lost packets are those that the kernel dropped because the ring was
 * full.
 */
#include "base/clock.h"
#include "base/json.h"
#include "probe/net/capture.h"
#include "probe/net/flows.h"
#include "probe/net/owners.h"

#include <errno.h>
#include <stdlib.h>

#define TEND_NS 1000000000ll
#define SEEK_NS 5000000ll

const struct probe_ops probe_net;

struct net {
	struct probe_host *host;
	struct capture capture;
	struct owners owners;
	struct flows flows;
	int64_t tended_ns, sought_ns;
	uint64_t told, reported_lost;
};

static void take(void *arg, const struct net_packet *p)
{
	struct net *n = arg;
	flows_take(&n->flows, p);
}

static void free_net(void *state)
{
	struct net *n = state;
	n->host->owners = NULL;
	flows_release(&n->flows);
	owners_release(&n->owners);
	capture_release(&n->capture);
	free(n);
}

static int open_net(struct probe_host *host, void **state, struct sonde_err *err)
{
	struct net *n = calloc(1, sizeof(*n));
	if (!n)
		return err_sys(err, ENOMEM, "cannot watch the network");
	n->host = host;
	n->owners.tcp = -1;
	n->tended_ns = clock_mono_ns();
	int rc = capture_open(&n->capture, err);
	if (!rc && (owners_init(&n->owners, host) || flows_init(&n->flows, host, &n->owners)))
		rc = err_sys(err, ENOMEM, "cannot watch the network");
	if (rc) {
		free_net(n);
		return rc;
	}
	n->flows.has_packets = host->options.has_packets;
	host->owners = &n->owners;
	*state = n;
	return 0;
}

static size_t net_fds(void *state, int *fds, size_t room)
{
	struct net *n = state;
	if (room)
		*fds = n->capture.fd;
	return room > 0;
}

static void count(struct net *n)
{
	uint64_t lost = n->capture.dropped + n->flows.missed;
	probe_count(n->host, &probe_net, n->flows.packets - n->told, lost - n->reported_lost);
	n->told = n->flows.packets;
	n->reported_lost = lost;
}

static uint64_t pass_net(void *state, int64_t now_ns)
{
	struct net *n = state;
	uint64_t taken = capture_pass(&n->capture, take, n);
	if (n->flows.sought && now_ns - n->sought_ns >= SEEK_NS) {
		flows_seek(&n->flows, now_ns);
		n->sought_ns = now_ns;
	}
	if (now_ns - n->tended_ns >= TEND_NS) {
		flows_tend(&n->flows, now_ns, false);
		capture_count_drops(&n->capture);
		n->tended_ns = now_ns;
	}
	count(n);
	return taken;
}

static void finish_net(void *state, int64_t now_ns)
{
	struct net *n = state;
	capture_finish(&n->capture, take, n);
	capture_count_drops(&n->capture);
	flows_tend(&n->flows, now_ns, true);
	count(n);
}

static void report_net(void *state, struct json *j)
{
	struct net *n = state;
	json_kuint(j, "flows", n->flows.flows);
	json_kuint(j, "duplicates", n->flows.duplicates);
	json_kuint(j, "dropped_by_kernel", n->capture.dropped);
	json_kbool(j, "has_helper", n->capture.is_helped);
}

const struct probe_ops probe_net = {
	.name = "net",
	.doc = "traffic of connections by process, from packet headers",
	.option = "--net",
	.open = open_net,
	.fds = net_fds,
	.pass = pass_net,
	.finish = finish_net,
	.report = report_net,
	.free = free_net,
};
