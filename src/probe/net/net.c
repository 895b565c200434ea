/*
 * The network probe: traffic per connection, from the headers of packets.
 *
 * All traffic of the network namespace is counted, and each flow gets the processes that
 * own its ends. Lost packets are those that the kernel dropped because the ring was
 * full.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/json.h"
#include "launch/spawn-command.h"
#include "probe/net/flows.h"
#include "probe/net/owners.h"
#include "probe/net/packet-ring.h"
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define CAPTURE_INIT { .fd = -1, .ring = PACKET_RING_INIT }
#define BATCHES_MAX 256   /* per pass */
#define LAST_WORD_MS 5000 /* timeout for the helper's reply to the stop byte */
#define HELPER PROBE_CAPTURE_HELPER
#define TEND_NS 1000000000ll
#define SEEK_NS 5000000ll

struct capture {
	int fd;           /* readable when there are packets */
	bool is_helped;   /* the helper captures */
	uint64_t dropped; /* by the kernel: the ring was full */
	/* private */
	struct packet_ring ring;
	pid_t helper;
	bool has_ended; /* the helper sent its last batch, or exited */
};

/*
 * Headers of the packets of all interfaces.
 *
 * They come from our own ring if we may open a packet socket, else from the helper (libexec/sonde/sonde-capture, to
 * which `sonde setup` gives the capability for the members of a group). The helper keeps its socket: any process that
 * holds a packet socket can send frames and set promiscuous mode with it, without capabilities. So it sends the
 * received headers, in batches.
 */

/* Its standard input is our socket; it uses no other file. */
static int start_helper(char *path, int socket, pid_t *pid, struct sonde_err *err)
{
	char *const argv[] = { path, NULL };
	static char *const env[] = { NULL };
	sigset_t none;
	sigemptyset(&none);
	/* In a separate session: Ctrl-C ends the program, and the helper exits with us. */
	struct launch_command c = { .argv = argv,
		.env = env,
		.fds = { socket, JOB_FD_NULL, JOB_FD_NULL },
		.mask = &none,
		.has_own_session = true };
	return launch_spawn(&c, pid, err);
}

/* Receives a message of the helper: 1, 0 at end of file, -EAGAIN if none is queued. */
static int receive(int fd, struct capture_batch *b, int flags)
{
	ssize_t n;
	do
		n = recv(fd, b, sizeof(*b), flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : 0;
	return n >= (ssize_t)offsetof(struct capture_batch, packets) && b->count <= CAPTURE_BATCH_MAX &&
			(size_t)n == offsetof(struct capture_batch, packets) + b->count * sizeof(b->packets[0]);
}

/* It is installed, but only a group may run it. */
static int refuse_outsider(const char *path, struct sonde_err *err)
{
	struct stat st;
	const struct group *group = stat(path, &st) ? NULL : getgrgid(st.st_gid); /* getgrgid: no threads yet */
	const char *name = group ? group->gr_name : "its group";
	const char *user = getenv("USER");
	err_set(err, EACCES, "cannot run '%s': it is for members of the group '%s'", path, name);
	err_hint(err, "sudo usermod -aG %s %s; then log in again", name, user && *user ? user : "USER");
	return -EACCES;
}

/* Returns our end of its socket, after its first message. */
static int open_helper(pid_t *pid, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(cleanup_free) struct capture_batch *first = malloc(sizeof(*first));
	int ends[2];
	int rc = first ? fs_prefix(&path, err) : err_sys(err, ENOMEM, "cannot capture packets");
	if (rc)
		return rc;
	buf_adds(&path, HELPER);
	if (access(path.data, X_OK))
		return errno == EACCES ? refuse_outsider(path.data, err)
				       : err_sys(err, errno, "cannot run '%s'", path.data);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "cannot capture packets");
	rc = start_helper(path.data, ends[1], pid, err);
	close(ends[1]);
	if (!rc && receive(ends[0], first, 0) == 1)
		return ends[0];
	close(ends[0]);
	if (rc)
		return rc;
	launch_reap(*pid);
	return err_set(err, EPERM, "'%s' may not open a packet socket", path.data);
}

int probe_packets_check(struct sonde_err *err)
{
	pid_t pid;
	int fd = open_helper(&pid, err);
	if (fd < 0)
		return fd;
	close(fd);
	launch_reap(pid);
	return 0;
}

/* Ring or helper. */

static int capture_open(struct capture *c, struct sonde_err *err)
{
	*c = (struct capture)CAPTURE_INIT;
	int rc = packet_ring_open(&c->ring);
	c->fd = c->ring.fd;
	if (rc == -EPERM || rc == -EACCES) {
		/* A helper that is only for a group is worth naming; any other failure is that of our own socket. */
		struct sonde_err why = SONDE_ERR_INIT;
		int fd = open_helper(&c->helper, &why);
		if (fd >= 0) {
			c->fd = fd;
			c->is_helped = true;
			return 0;
		}
		if (fd == -EACCES && err) {
			*err = why;
			return fd;
		}
		err_sys(err, -rc, "cannot open a packet socket");
		err_hint(err, PROBE_HINT_SETUP);
		return rc;
	}
	return rc ? err_sys(err, -rc, "cannot capture packets") : 0;
}

/* Reads up to `max` messages, waiting at most wait_ms for each. Returns the number of packets. */
static uint64_t read_batches(struct capture *c, unsigned max, int wait_ms, packet_fn *take, void *arg)
{
	CLEANUP(cleanup_free) struct capture_batch *b = malloc(sizeof(*b));
	struct pollfd ready = { .fd = c->fd, .events = POLLIN };
	uint64_t taken = 0;
	if (c->has_ended)
		return 0;
	for (unsigned i = 0; b && i < max && !c->has_ended; i++) {
		if (wait_ms && poll(&ready, 1, wait_ms) == 0)
			break;
		int rc = receive(c->fd, b, MSG_DONTWAIT);
		if (rc == -EAGAIN)
			break;
		c->has_ended = rc == 0 || b->is_last;
		if (rc == 0)
			break;
		c->dropped = b->dropped;
		taken += b->count;
		for (uint32_t k = 0; k < b->count; k++)
			take(arg, &b->packets[k]);
	}
	if (c->has_ended) {
		/*
		 * A closed socket stays readable, and the caller polls this descriptor number: replace it with one
		 * that never is.
		 */
		CLEANUP(cleanup_fd) int nothing = eventfd(0, EFD_CLOEXEC);
		if (nothing >= 0)
			dup3(nothing, c->fd, O_CLOEXEC);
	}
	return taken;
}

/* Passes each available packet to `take`. Returns the number of packets. */
static uint64_t capture_pass(struct capture *c, packet_fn *take, void *arg)
{
	return c->is_helped ? read_batches(c, BATCHES_MAX, 0, take, arg) : packet_ring_pass(&c->ring, take, arg);
}

/* Reads all that has arrived until now, though its block may not be full. */
static void capture_finish(struct capture *c, packet_fn *take, void *arg)
{
	if (!c->is_helped)
		packet_ring_finish(&c->ring, take, arg);
	else if (!c->has_ended && send(c->fd, "", 1, MSG_NOSIGNAL) == 1)
		read_batches(c, UINT32_MAX, LAST_WORD_MS, take, arg);
}

static void capture_count_drops(struct capture *c)
{
	if (c->is_helped)
		return; /* each batch has the count */
	packet_ring_count(&c->ring);
	c->dropped = c->ring.dropped;
}

static void capture_release(struct capture *c)
{
	if (c->is_helped) {
		close(c->fd);
		launch_reap(c->helper);
	}
	packet_ring_release(&c->ring);
	*c = (struct capture)CAPTURE_INIT;
}

/* The probe. */

const struct probe_ops probe_net;

struct net {
	struct probe_host *host;
	struct capture capture;
	struct owners owners;
	struct flows flows;
	int64_t tended_ns, sought_ns;
};

static void take(void *arg, const struct net_packet *p)
{
	struct net *n = arg;
	flows_add(&n->flows, p);
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
	return taken;
}

static void finish_net(void *state, int64_t now_ns)
{
	struct net *n = state;
	capture_finish(&n->capture, take, n);
	capture_count_drops(&n->capture);
	flows_tend(&n->flows, now_ns, true);
	probe_count(n->host, &probe_net, n->flows.packets, n->capture.dropped + n->flows.missed);
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
