#include "probe/net/capture.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/spawn-command.h"
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
#include <unistd.h>

#define BATCHES_MAX 256   /* per pass */
#define LAST_WORD_MS 5000 /* timeout for the helper's reply to the stop byte */
#define HELPER PROBE_CAPTURE_HELPER

/* The helper. */

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

static int ask_helper(struct capture *c, int error, struct sonde_err *err)
{
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
	err_sys(err, error, "cannot open a packet socket");
	err_hint(err, PROBE_HINT_SETUP);
	return -error;
}

int capture_open(struct capture *c, struct sonde_err *err)
{
	*c = (struct capture)CAPTURE_INIT;
	int rc = packet_ring_open(&c->ring);
	c->fd = c->ring.fd;
	if (rc == -EPERM || rc == -EACCES)
		return ask_helper(c, -rc, err);
	return rc ? err_sys(err, -rc, "cannot capture packets") : 0;
}

/* A closed socket stays readable, and the caller polls this descriptor number: replace it with one that never is. */
static void quieten(struct capture *c)
{
	CLEANUP(cleanup_fd) int nothing = eventfd(0, EFD_CLOEXEC);
	if (nothing >= 0)
		dup3(nothing, c->fd, O_CLOEXEC);
}

/* Reads up to `max` messages, waiting at most wait_ms for each. Returns the number of packets. */
static uint64_t take_batches(struct capture *c, unsigned max, int wait_ms, packet_take *take, void *arg)
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
	if (c->has_ended)
		quieten(c);
	return taken;
}

uint64_t capture_pass(struct capture *c, packet_take *take, void *arg)
{
	return c->is_helped ? take_batches(c, BATCHES_MAX, 0, take, arg) : packet_ring_pass(&c->ring, take, arg);
}

void capture_finish(struct capture *c, packet_take *take, void *arg)
{
	if (!c->is_helped)
		packet_ring_finish(&c->ring, take, arg);
	else if (!c->has_ended && send(c->fd, "", 1, MSG_NOSIGNAL) == 1)
		take_batches(c, UINT32_MAX, LAST_WORD_MS, take, arg);
}

void capture_count_drops(struct capture *c)
{
	if (c->is_helped)
		return; /* each batch has the count */
	packet_ring_count(&c->ring);
	c->dropped = c->ring.dropped;
}

void capture_release(struct capture *c)
{
	if (c->is_helped) {
		close(c->fd);
		launch_reap(c->helper);
	}
	packet_ring_release(&c->ring);
	*c = (struct capture)CAPTURE_INIT;
}
