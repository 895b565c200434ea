/*
 * sonde-capture: captures packet headers for unprivileged users.
 *
 * `sonde setup` gives this program, and no other of sonde's, the capability to open packet sockets (CAP_NET_RAW). It
 * takes no arguments. Its standard input is a socket of the recorder; it writes batches of received headers to it
 * (packet-ring.h), until the socket is closed, or until a byte arrives, which it answers with its last batch.
 *
 * It never passes on the packet socket, with which its holder could send frames, and no process of the user can take
 * it: the program is not dumpable, so it can be neither traced nor read. Once the socket is open it drops all
 * capabilities, and a seccomp filter allows only the calls that it needs: of those that could send, only write to the
 * standard input.
 */
#include "probe/net/packet-ring.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "name the architecture for the filter of calls"
#endif

#define READER 0

static int drop_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	return syscall(SYS_capset, &header, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ALLOW_CALL(number) EQUAL(number, 0, 1), ALLOW
/* The descriptor is the lower half of the argument; the kernel ignores the upper half. */
#define ALLOW_ON_READER(number) EQUAL(number, 0, 4), LOAD(args[0]), EQUAL(READER, 0, 1), ALLOW, KILL

static int allow_calls(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		EQUAL(ARCHITECTURE, 1, 0),
		KILL,
		LOAD(nr),
		ALLOW_CALL(SYS_ppoll),
#ifdef SYS_poll
		ALLOW_CALL(SYS_poll),
#endif
		ALLOW_CALL(SYS_getsockopt), /* drop counts */
		ALLOW_CALL(SYS_clock_gettime),
		ALLOW_CALL(SYS_exit_group),
		ALLOW_CALL(SYS_restart_syscall),
		ALLOW_ON_READER(SYS_write),
		ALLOW_ON_READER(SYS_read),
		KILL,
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Without an open standard input, the packet socket could get descriptor 0. */
static int has_reader(void)
{
	int domain = 0, type = 0;
	socklen_t n = sizeof(domain), k = sizeof(type);
	return !getsockopt(READER, SOL_SOCKET, SO_DOMAIN, &domain, &n) && domain == AF_UNIX &&
			!getsockopt(READER, SOL_SOCKET, SO_TYPE, &type, &k) && type == SOCK_SEQPACKET;
}

static struct packet_ring ring;
static struct capture_batch batch;

static void flush(void)
{
	size_t n = offsetof(struct capture_batch, packets) + batch.count * sizeof(batch.packets[0]);
	ssize_t written;
	batch.dropped = ring.dropped;
	do
		written = write(READER, &batch, n);
	while (written < 0 && errno == EINTR);
	if (written < 0)
		_exit(0); /* the recorder exited */
	batch.count = 0;
}

static void add(void *arg, const struct net_packet *p)
{
	(void)arg;
	batch.packets[batch.count++] = *p;
	if (batch.count == CAPTURE_BATCH_MAX)
		flush();
}

static void serve(void) __attribute__((noreturn));
static void serve(void)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = ring.fd, .events = POLLIN }, { .fd = READER, .events = POLLIN } };
		char byte;
		poll(fds, 2, -1);
		if (fds[1].revents) {
			if (read(READER, &byte, 1) != 1)
				_exit(0);
			packet_ring_finish(&ring, add, NULL);
			batch.is_last = 1;
		} else {
			packet_ring_pass(&ring, add, NULL);
		}
		packet_ring_count(&ring);
		if (batch.count || batch.is_last)
			flush();
		if (batch.is_last)
			_exit(0);
	}
}

int main(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || !has_reader() || packet_ring_open(&ring) || drop_rights() ||
			allow_calls())
		return 1;
	flush();
	serve();
}
