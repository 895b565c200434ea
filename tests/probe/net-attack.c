/*
 * What a user can make of the capture helper besides headers: net-attack HELPER. Starts it on every kind of socket,
 * takes
 * descriptors that it hands out or has, and tries to send a frame and to set promiscuous mode by them. Prints what
 * succeeded, one word a line; nothing is right.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void misuse(int fd, const char *way)
{
	static const char frame[64] = "forged";
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex("lo"),
		.sll_halen = 6 };
	struct packet_mreq all = { .mr_ifindex = to.sll_ifindex, .mr_type = PACKET_MR_PROMISC };
	int domain = 0;
	socklen_t n = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) || domain != AF_PACKET)
		return;
	printf("socket by %s\n", way);
	if (sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)) > 0)
		printf("sent by %s\n", way);
	if (!setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)))
		printf("promiscuous by %s\n", way);
}

/* Whatever comes in the next second, or until it ends. */
static void receive(int from)
{
	struct pollfd ready = { .fd = from, .events = POLLIN };
	static char bytes[1 << 16];

	while (poll(&ready, 1, 1000) > 0) {
		union {
			struct cmsghdr head;
			char room[CMSG_SPACE(16 * sizeof(int))];
		} control;
		struct iovec data = { .iov_base = bytes, .iov_len = sizeof(bytes) };
		struct msghdr msg = { .msg_iov = &data,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control) };

		if (recvmsg(from, &msg, 0) <= 0)
			return;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
				for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
					int fd;

					memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
					misuse(fd, "gift");
				}
	}
}

/* It runs as us: what can we take of it? */
static void rob(pid_t pid)
{
	char path[64];
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	for (int i = 0; i < 16; i++) {
		int fd = (int)syscall(SYS_pidfd_getfd, pidfd, i, 0);

		if (fd >= 0)
			misuse(fd, "pidfd_getfd");
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	if (open(path, O_RDWR | O_CLOEXEC) >= 0)
		puts("memory opened");
	if (!ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
		puts("traced");
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
}

static void attack(char *helper, int type)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends))
		return;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 0);
		execl(helper, helper, (char *)NULL);
		_exit(126);
	}
	close(ends[1]);
	receive(ends[0]);
	rob(pid);
	close(ends[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Without a standard input its packet socket would have that number, and what it writes there would be sent. */
static void attack_closed(char *helper)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		close(0);
		close(1);
		execl(helper, helper, (char *)NULL);
		_exit(126);
	}
	for (int i = 0; i < 20 && waitpid(pid, &status, WNOHANG) == 0; i++)
		usleep(50000);
	if (!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
		puts("runs without a reader");
}

int main(int argc, char **argv)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		attack(argv[1], types[i]);
	attack_closed(argv[1]);
	return 0;
}
