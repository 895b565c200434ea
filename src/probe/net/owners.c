#include "probe/net/owners.h"

#include "base/cleanup.h"
#include "probe/tasks.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INODES_MAX (1u << 18)
#define CALLS_MAX 4096
#define LOOK_NS 5000000ll       /* between scans of the run's processes */
#define LOOK_FAR_NS 500000000ll /* and of all processes */
#define SLACK_NS 2000000ll      /* between the clocks of a call and of its packet */

struct owner_inode {
	uint64_t inode; /* 0: free */
	struct owner owner;
};

struct owner_call {
	int64_t ts_ns, end_ns;
	struct packet_end peer;
	int32_t pid;
	uint8_t family;
	bool is_accept, is_used;
};

int owners_init(struct owners *o, struct probe_host *host)
{
	*o = (struct owners){ .host = host, .cap = 1024 };
	o->tcp = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	o->inodes = calloc(o->cap, sizeof(*o->inodes));
	o->calls = calloc(CALLS_MAX, sizeof(*o->calls));
	if (!o->inodes || !o->calls) {
		owners_release(o);
		return -ENOMEM;
	}
	return 0;
}

void owners_release(struct owners *o)
{
	if (o->tcp >= 0)
		close(o->tcp);
	free(o->inodes);
	free(o->calls);
	*o = (struct owners){ .tcp = -1 };
}

/* Inodes and their owners. */

static struct owner_inode *place_of(const struct owners *o, uint64_t inode)
{
	size_t at = (size_t)(inode * 0x9e3779b97f4a7c15ull >> 20) & (o->cap - 1);
	while (o->inodes[at].inode && o->inodes[at].inode != inode)
		at = (at + 1) & (o->cap - 1);
	return &o->inodes[at];
}

static bool grow(struct owners *o)
{
	struct owners old = *o;
	if (2 * o->count < o->cap)
		return true;
	o->inodes = o->cap < INODES_MAX ? calloc(2 * o->cap, sizeof(*o->inodes)) : NULL;
	if (!o->inodes) {
		o->inodes = old.inodes;
		return o->count + 1 < o->cap;
	}
	o->cap *= 2;
	for (size_t i = 0; i < old.cap; i++)
		if (old.inodes[i].inode)
			*place_of(o, old.inodes[i].inode) = old.inodes[i];
	free(old.inodes);
	return true;
}

static int64_t name_of(struct owners *o, int32_t pid)
{
	char path[32], name[64];
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (n <= 0)
		return STORE_NULL;
	n -= name[n - 1] == '\n';
	return store_strings_id(&o->host->sink->strings, name, (size_t)n);
}

/* The first process found with a socket owns it: its later children share it. */
static void inspect(struct owners *o, int32_t pid)
{
	char path[32], link[64];
	int64_t name = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	CLEANUP(cleanup_dir) DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
		if (n < 9 || memcmp(link, "socket:[", 8) != 0 || !grow(o))
			continue;
		link[n] = '\0';
		struct owner_inode *at = place_of(o, strtoull(link + 8, NULL, 10));
		if (at->inode)
			continue;
		name = name ? name : name_of(o, pid);
		*at = (struct owner_inode){ strtoull(link + 8, NULL, 10), { .pid = pid, .name = name } };
		o->count++;
	}
}

void owners_scan(struct owners *o, int64_t now_ns)
{
	struct tasks *t = o->host->tasks;
	bool is_far = now_ns - o->looked_far_ns >= LOOK_FAR_NS;
	if (now_ns - o->looked_ns < LOOK_NS)
		return;
	o->looked_ns = now_ns;
	if (is_far) {
		/* inode numbers are reused: scan all again */
		memset(o->inodes, 0, o->cap * sizeof(*o->inodes));
		o->count = 0;
	}
	if (o->host->target.pid > 0)
		inspect(o, o->host->target.pid);
	for (size_t i = 0; t && i < t->count; i++)
		if (t->all[i]->pid == t->all[i]->tid && t->all[i]->end_ns == STORE_NULL)
			inspect(o, t->all[i]->pid);
	if (is_far) {
		CLEANUP(cleanup_dir) DIR *dir = opendir("/proc");
		for (struct dirent *e; dir && (e = readdir(dir));) {
			long pid = strtol(e->d_name, NULL, 10);
			if (pid > 0)
				inspect(o, (int32_t)pid);
		}
		o->looked_far_ns = now_ns;
	}
}

/* The inode of a connection. */

static uint64_t query_inode(const struct owners *o, const void *request, size_t bytes)
{
	_Alignas(struct nlmsghdr) char answer[4096];
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	if (sendto(o->tcp, request, bytes, 0, (const struct sockaddr *)(const void *)&kernel, sizeof(kernel)) < 0)
		return 0;
	ssize_t n = recv(o->tcp, answer, sizeof(answer), 0);
	struct nlmsghdr *h = (void *)answer; /* NLMSG_DATA casts const away */
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) || h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	return ((const struct inet_diag_msg *)NLMSG_DATA(h))->idiag_inode;
}

static uint64_t find_inode(const struct owners *o, int family, uint8_t protocol, const struct packet_end *own,
		const struct packet_end *other)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = { .head = { .nlmsg_len = sizeof(request),
				      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				      .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = (uint8_t)family,
				.sdiag_protocol = protocol,
				.idiag_states = ~0u,
				.id = { .idiag_sport = htons(own->port),
						.idiag_dport = htons(other->port),
						.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } } };
	/* an IPv4 connection of an IPv6 socket is found as IPv4 */
	memcpy(request.body.id.idiag_src, own->address, sizeof(own->address));
	memcpy(request.body.id.idiag_dst, other->address, sizeof(other->address));
	if (protocol == IPPROTO_UDP) {
		/* for UDP, sock_diag expects the endpoints of a received packet: the peer is the source */
		request.body.id.idiag_sport = htons(other->port);
		request.body.id.idiag_dport = htons(own->port);
		memcpy(request.body.id.idiag_src, other->address, sizeof(own->address));
		memcpy(request.body.id.idiag_dst, own->address, sizeof(other->address));
		uint64_t inode = query_inode(o, &request, sizeof(request));
		if (inode)
			return inode;
		request.body.id.idiag_sport = htons(own->port);
		request.body.id.idiag_dport = htons(other->port);
		memcpy(request.body.id.idiag_src, own->address, sizeof(own->address));
		memcpy(request.body.id.idiag_dst, other->address, sizeof(other->address));
	}
	return query_inode(o, &request, sizeof(request));
}

bool owners_find(struct owners *o, uint8_t family, uint8_t protocol, const struct packet_end *own,
		const struct packet_end *other, struct owner *found)
{
	if (o->tcp < 0 || (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
		return false;
	uint64_t inode = find_inode(o, family == 4 ? AF_INET : AF_INET6, protocol, own, other);
	const struct owner_inode *at = inode ? place_of(o, inode) : NULL;
	if (!at || !at->inode)
		return false;
	*found = at->owner;
	return true;
}

/* The tracer's calls. */

void probe_on_peer(struct probe_host *host, const struct probe_peer *p)
{
	struct owners *o = host->owners;
	if (!o)
		return;
	struct owner_call c = { .ts_ns = p->ts_ns,
		.end_ns = p->ts_ns + (p->dur_ns > 0 ? p->dur_ns : 0),
		.peer = { .port = (uint16_t)p->port },
		.pid = p->pid,
		.family = p->family == AF_INET ? 4 : 6,
		.is_accept = p->is_accept };
	if (inet_pton(p->family, p->address, c.peer.address) != 1)
		return;
	o->calls[o->call_at] = c;
	o->call_at = (o->call_at + 1) % CALLS_MAX;
	o->call_count += o->call_count < CALLS_MAX;
}

bool owners_find_call(struct owners *o, bool is_accept, uint8_t family, const struct packet_end *peer, int64_t ts_ns,
		struct owner *found)
{
	for (size_t i = 0; i < o->call_count; i++) {
		struct owner_call *c = &o->calls[i];
		if (c->is_used || c->is_accept != is_accept || c->family != family || c->peer.port != peer->port ||
				memcmp(c->peer.address, peer->address, sizeof(peer->address)) != 0)
			continue;
		/* a SYN leaves during its connect; an accept happens later, and its port is the peer's own */
		if (!is_accept && (ts_ns < c->ts_ns - SLACK_NS || ts_ns > c->end_ns + SLACK_NS))
			continue;
		c->is_used = true;
		*found = (struct owner){ .pid = c->pid, .name = name_of(o, c->pid) };
		return true;
	}
	return false;
}
