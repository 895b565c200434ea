/* The packet socket and its ring (TPACKET_V3); see capture.h. */
#include "probe/net/capture.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/net/filter.h"
#include "probe/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (256u << 10)
#define BLOCKS_MAX 64u
#define FRAME_BYTES 256u
#define FINISH_POLLS_MAX 200 /* of CAPTURE_BLOCK_MS each */
#define HELPER PROBE_CAPTURE_HELPER

/* The helper. */

static int receive_fd(int from)
{
	char byte;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	int fd = -1;
	ssize_t n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Its standard input is our socket; it has nothing else to read or say. */
static int start_helper(const char *path, int socket, pid_t *pid)
{
	static char name[] = "sonde-capture";
	static char *const argv[] = { name, NULL };
	static char *const env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, socket, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	int rc = posix_spawn(pid, path, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -rc;
}

int probe_packet_socket(struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int ends[2], status = 0;
	pid_t pid;
	int rc = fs_prefix(&path, err);
	if (rc)
		return rc;
	buf_adds(&path, HELPER);
	if (access(path.data, X_OK))
		return err_sys(err, errno, "cannot run '%s'", path.data);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "cannot ask for a packet socket");
	rc = start_helper(path.data, ends[1], &pid);
	close(ends[1]);
	int fd = rc ? -1 : receive_fd(ends[0]);
	close(ends[0]);
	while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (fd >= 0)
		return fd;
	if (rc)
		return err_sys(err, -rc, "cannot run '%s'", path.data);
	return err_set(err, EPERM, "'%s' may not open a packet socket", path.data);
}

/* The ring. */

static int map_ring(struct capture *c, unsigned blocks)
{
	struct tpacket_req3 req = { .tp_block_size = BLOCK_BYTES,
		.tp_block_nr = blocks,
		.tp_frame_size = FRAME_BYTES,
		.tp_frame_nr = BLOCK_BYTES / FRAME_BYTES * blocks,
		.tp_retire_blk_tov = CAPTURE_BLOCK_MS };
	if (setsockopt(c->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		return -errno;
	c->ring_bytes = (size_t)BLOCK_BYTES * blocks;
	void *at = mmap(NULL, c->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	c->ring = at;
	c->blocks = blocks;
	return 0;
}

static int start(struct capture *c)
{
	int version = TPACKET_V3;
	struct sockaddr_ll all = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int rc = setsockopt(c->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ? -errno : -ENOMEM;
	for (unsigned blocks = BLOCKS_MAX; rc == -ENOMEM && blocks >= 4; blocks /= 2)
		rc = map_ring(c, blocks);
	if (!rc && bind(c->fd, (const struct sockaddr *)(const void *)&all, sizeof(all)))
		rc = -errno;
	return rc;
}

int capture_open(struct capture *c, struct sonde_err *err)
{
	struct sonde_err why = SONDE_ERR_INIT;
	*c = (struct capture)CAPTURE_INIT;
	c->fd = filter_socket();
	if (c->fd == -EPERM || c->fd == -EACCES) {
		c->fd = probe_packet_socket(&why);
		c->is_helped = c->fd >= 0;
	}
	if (c->fd < 0) {
		int error = -c->fd;
		c->fd = -1;
		err_sys(err, error, "cannot open a packet socket");
		err_hint(err, PROBE_HINT_SETUP);
		return -error;
	}
	int rc = start(c);
	if (rc) {
		capture_release(c);
		err_sys(err, -rc, "cannot capture packets");
	}
	return rc;
}

/* Packets are stamped with the time of day. */
static int64_t real_to_mono_ns(void)
{
	struct timespec real, mono;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (mono.tv_sec - real.tv_sec) * 1000000000ll + (mono.tv_nsec - real.tv_nsec);
}

static bool read_frame(const struct tpacket3_hdr *h, size_t room, int64_t shift_ns, struct net_packet *p)
{
	const struct sockaddr_ll *from = (const void *)((const uint8_t *)h + TPACKET_ALIGN(sizeof(*h)));
	if (TPACKET_ALIGN(sizeof(*h)) + sizeof(*from) > room || h->tp_net > room || h->tp_snaplen > room - h->tp_net)
		return false;
	p->ts_ns = (int64_t)h->tp_sec * 1000000000 + h->tp_nsec + shift_ns;
	p->interface = from->sll_ifindex;
	p->is_outgoing = from->sll_pkttype == PACKET_OUTGOING;
	p->vlan = h->tp_status & TP_STATUS_VLAN_VALID ? (int32_t)(h->hv1.tp_vlan_tci & 0xfff) : -1;
	return packet_parse(&p->ip, (const uint8_t *)h + h->tp_net, h->tp_snaplen, h->tp_len);
}

static uint64_t take_block(struct capture *c, const struct tpacket_block_desc *b,
		void (*take)(void *arg, const struct net_packet *p), void *arg)
{
	int64_t shift_ns = real_to_mono_ns();
	uint32_t count = b->hdr.bh1.num_pkts, at = b->hdr.bh1.offset_to_first_pkt;
	uint64_t taken = 0;
	for (uint32_t i = 0; i < count && at + sizeof(struct tpacket3_hdr) <= BLOCK_BYTES; i++) {
		const struct tpacket3_hdr *h = (const void *)((const uint8_t *)b + at);
		struct net_packet p;
		if (read_frame(h, BLOCK_BYTES - at, shift_ns, &p))
			take(arg, &p);
		taken++;
		if (!h->tp_next_offset)
			break;
		at += h->tp_next_offset;
	}
	c->packets += count;
	return taken;
}

uint64_t capture_pass(struct capture *c, void (*take)(void *arg, const struct net_packet *p), void *arg)
{
	uint64_t taken = 0;
	for (unsigned i = 0; i < c->blocks; i++) {
		struct tpacket_block_desc *b = (void *)(c->ring + (size_t)c->at * BLOCK_BYTES);
		if (!(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		taken += take_block(c, b, take, arg);
		__atomic_store_n(&b->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		c->at = (c->at + 1) % c->blocks;
	}
	return taken;
}

void capture_count_drops(struct capture *c)
{
	struct tpacket_stats_v3 s;
	socklen_t n = sizeof(s);
	if (getsockopt(c->fd, SOL_PACKET, PACKET_STATISTICS, &s, &n))
		return;
	c->dropped += s.tp_drops; /* each call starts anew */
	c->arrived += s.tp_packets - s.tp_drops;
}

/* The block that is being filled becomes ours when its time is over, on a busy machine some time after that. */
void capture_finish(struct capture *c, void (*take)(void *arg, const struct net_packet *p), void *arg)
{
	struct pollfd ready = { .fd = c->fd, .events = POLLIN };
	capture_count_drops(c);
	uint64_t wanted = c->arrived; /* what comes from now on is not of the run */
	capture_pass(c, take, arg);
	for (int i = 0; c->packets < wanted && i < FINISH_POLLS_MAX; i++) {
		poll(&ready, 1, CAPTURE_BLOCK_MS);
		capture_pass(c, take, arg);
	}
}

void capture_release(struct capture *c)
{
	if (c->ring)
		munmap(c->ring, c->ring_bytes);
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct capture)CAPTURE_INIT;
}
