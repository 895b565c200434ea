/* Sockets, pipes, and waiting for descriptors. */
#include "expect.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int __connect(int, __CONST_SOCKADDR_ARG, socklen_t);
ssize_t __send(int, const void *, size_t, int);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, __SOCKADDR_ARG, socklen_t *);
int __pipe(int[2]);
int __poll(struct pollfd *, nfds_t, int);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
int __select(int, fd_set *, fd_set *, fd_set *, struct timeval *);

static int r, ends[2];
static ssize_t n;
static char buf[64];

static void pairs(void)
{
#define PAIR(call, arguments, format, ...) \
	r = call arguments; \
	WANT(call, .fd = ends[0], .path = fd_path(ends[0]), .ret = r, .args = F(format, __VA_ARGS__))
	PAIR(pipe, (ends), " write_end=%d", ends[1]);
	n = write(ends[1], "x", 1); /* each end is known by itself */
	WANT(write, .fd = ends[1], .path = fd_path(ends[1]), .size = 1, .ret = n);
	PAIR(__pipe, (ends), " write_end=%d", ends[1]);
	PAIR(pipe2, (ends, O_CLOEXEC), " write_end=%d flags=%d", ends[1], O_CLOEXEC);
	r = pipe2(ends, 0xffff);
	WANT(pipe2, .ret = r, .args = F(" write_end=-1 flags=%d", 0xffff));
	r = pipe(bad);
	WANT(pipe, .ret = r, .args = " write_end=-1");
	PAIR(socketpair, (AF_UNIX, SOCK_STREAM, 0, ends), " domain=%d type=%d protocol=0 other=%d", AF_UNIX,
			SOCK_STREAM, ends[1]);
	r = socketpair(12345, 0, 0, bad);
	WANT(socketpair, .ret = r, .args = " domain=12345 type=0 protocol=0 other=-1");
}

static void internet(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, from;
	socklen_t len = sizeof(to);
	int server = socket(AF_INET, SOCK_STREAM, 0);
	const char *server_path = KEEP(fd_path(server));
	WANT(socket, .fd = server, .path = server_path, .ret = server,
			.args = F(" domain=%d type=%d protocol=0", AF_INET, SOCK_STREAM));
	r = bind(server, (struct sockaddr *)&to, sizeof(to));
	WANT(bind, .fd = server, .path = server_path, .text = "127.0.0.1", .ret = r,
			.args = F(" family=%d port=0", AF_INET));
	r = listen(server, 5);
	WANT(listen, .fd = server, .path = server_path, .ret = r, .args = " backlog=5");
	r = getsockname(server, (struct sockaddr *)&to, &len);
	WANT(getsockname, .fd = server, .path = server_path, .ret = r);
	int port = ntohs(to.sin_port);
#define CONNECT(call) \
	client = (int)raw(SYS_socket, AF_INET, SOCK_STREAM, 0); \
	r = call(client, (struct sockaddr *)&to, sizeof(to)); \
	WANT(call, .fd = client, .path = fd_path(client), .text = "127.0.0.1", .ret = r, \
			.args = F(" family=%d port=%d", AF_INET, port)); \
	CHECK(r == 0)
	int client, got;
	CONNECT(connect);
	len = sizeof(from);
	got = accept(server, (struct sockaddr *)&from, &len);
	WANT(accept, .fd = got, .path = fd_path(got), .text = "127.0.0.1", .ret = got,
			.args = F(" listener=%d family=%d port=%d", server, AF_INET, ntohs(from.sin_port)));
	CONNECT(__connect);
	got = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	WANT(accept4, .fd = got, .path = fd_path(got), .ret = got,
			.args = F(" listener=%d family=-1 port=-1 flags=%d", server, SOCK_CLOEXEC));
	r = getpeername(client, (struct sockaddr *)&from, &len);
	WANT(getpeername, .fd = client, .path = fd_path(client), .ret = r);
	r = sockatmark(client);
	WANT(sockatmark, .fd = client, .path = fd_path(client), .ret = r);
	r = isfdtype(client, 0140000);
	WANT(isfdtype, .fd = client, .path = fd_path(client), .ret = r, .args = F(" type=%d", 0140000));
	int value = 1;
	len = sizeof(value);
	r = setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &value, len);
	WANT(setsockopt, .fd = client, .path = fd_path(client), .ret = r,
			.args = F(" level=%d option=%d", SOL_SOCKET, SO_KEEPALIVE));
	r = getsockopt(client, SOL_SOCKET, SO_ERROR, &value, &len);
	WANT(getsockopt, .fd = client, .path = fd_path(client), .ret = r,
			.args = F(" level=%d option=%d", SOL_SOCKET, SO_ERROR));
	r = shutdown(client, SHUT_WR);
	WANT(shutdown, .fd = client, .path = fd_path(client), .ret = r, .args = F(" how=%d", SHUT_WR));
	r = shutdown(server, 99);
	WANT(shutdown, .fd = server, .path = server_path, .ret = r, .args = " how=99");
	r = connect(client, bad, 16); /* an address that cannot be read */
	WANT(connect, .fd = client, .path = fd_path(client), .ret = r, .args = " family=-1 port=-1");
	r = connect(-1, (struct sockaddr *)&to, sizeof(to));
	WANT(connect, .ret = r, .args = " family=-1 port=-1");
	got = accept(client, NULL, NULL);
	WANT(accept, .ret = got, .args = F(" listener=%d family=-1 port=-1", client));
	got = socket(12345, 0, 0);
	WANT(socket, .ret = got, .args = " domain=12345 type=0 protocol=0");
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "nobody-listens" };
	client = (int)raw(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	r = connect(client, (struct sockaddr *)&un, sizeof(un));
	WANT(connect, .fd = client, .path = fd_path(client), .text = "nobody-listens", .ret = r,
			.args = F(" family=%d port=-1", AF_UNIX));
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(1),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	client = (int)raw(SYS_socket, AF_INET6, SOCK_STREAM, 0);
	if (client >= 0) {
		r = connect(client, (struct sockaddr *)&in6, sizeof(in6));
		WANT(connect, .fd = client, .path = fd_path(client), .text = "::1", .ret = r,
				.args = F(" family=%d port=1", AF_INET6));
	}
}

static void messages(void)
{
	raw(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, ends);
	int out = ends[0], in = ends[1];
	const char *out_path = KEEP(fd_path(out)), *in_path = KEEP(fd_path(in));
#define SEND(call, arguments, more) \
	n = call arguments; \
	WANT(call, .fd = out, .path = out_path, .size = 5, .ret = n, .args = more)
	SEND(send, (out, "12345", 5, MSG_NOSIGNAL), F(" flags=%d", MSG_NOSIGNAL));
	SEND(__send, (out, "12345", 5, 0), " flags=0");
	SEND(sendto, (out, "12345", 5, 0, NULL, 0), " flags=0");
	struct iovec v[2] = { { buf, 2 }, { buf, 3 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	SEND(sendmsg, (out, &m, 0), " flags=0");
	struct mmsghdr many[2] = { { .msg_hdr = m }, { .msg_hdr = m } };
	n = sendmmsg(out, many, 2, 0);
	WANT(sendmmsg, .fd = out, .path = out_path, .size = 10, .ret = n, .args = " count=2 flags=0");
#define RECV(call, arguments, more) \
	n = call arguments; \
	WANT(call, .fd = in, .path = in_path, .size = 5, .ret = n, .args = more); \
	CHECK(n == 5)
	RECV(recv, (in, buf, 5, 0), " flags=0");
	RECV(recvfrom, (in, buf, 5, 0, NULL, NULL), " flags=0");
	RECV(__recv_chk, (in, buf, 5, sizeof(buf), 0), " flags=0");
	RECV(recvmsg, (in, &m, 0), " flags=0");
	n = recvmmsg(in, many, 2, 0, NULL);
	WANT(recvmmsg, .fd = in, .path = in_path, .size = 10, .ret = n, .args = " count=2 flags=0");
	raw(SYS_write, out, "12345", 5);
	RECV(__recvfrom_chk, (in, buf, 5, sizeof(buf), 0, NULL, NULL), " flags=0");
	n = recv(in, buf, 5, MSG_DONTWAIT);
	WANT(recv, .fd = in, .path = in_path, .size = 5, .ret = n, .args = F(" flags=%d", MSG_DONTWAIT));
	n = send(-1, buf, 5, 0);
	WANT(send, .size = 5, .ret = n, .args = " flags=0");
	n = sendmsg(out, bad, 0);
	WANT(sendmsg, .fd = out, .path = out_path, .ret = n, .args = " flags=0");
}

/* A descriptor that another hands over is a file of its own, whatever its number was before. */
static void rights(void)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec v = { buf, 1 };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	raw(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, ends);
	int fd = creat("passed", 0600);
	WANT(creat, .fd = fd, .path = P("passed"), .ret = fd, .args = F(" mode=%d", 0600));
	control.h = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
	n = sendmsg(ends[0], &m, 0);
	WANT(sendmsg, .fd = ends[0], .path = fd_path(ends[0]), .size = 1, .ret = n, .args = " flags=0");
	n = recvmsg(ends[1], &m, 0);
	WANT(recvmsg, .fd = ends[1], .path = fd_path(ends[1]), .size = 1, .ret = n, .args = " flags=0");
	int got;
	memcpy(&got, CMSG_DATA(&control.h), sizeof(got));
	n = write(got, "x", 1);
	WANT(write, .fd = got, .path = P("passed"), .size = 1, .ret = n);
	n = write(fd, "x", 1); /* and the offset is no longer ours alone */
	WANT(write, .fd = fd, .path = P("passed"), .size = 1, .ret = n);
}

static void waiting(void)
{
	struct pollfd set = { .fd = ends[0], .events = POLLOUT };
	struct timespec no_time = { 0 };
	struct timeval no_time_val = { 0 };
#define POLL(call, arguments, more) \
	r = call arguments; \
	WANT(call, .ret = r, .args = more)
	POLL(poll, (&set, 1, 0), " count=1 timeout_ms=0");
	POLL(__poll, (&set, 1, 0), " count=1 timeout_ms=0");
	POLL(__poll_chk, (&set, 1, 0, sizeof(set)), " count=1 timeout_ms=0");
	POLL(ppoll, (&set, 1, &no_time, NULL), " count=1");
	POLL(__ppoll_chk, (&set, 1, &no_time, NULL, sizeof(set)), " count=1");
	POLL(select, (0, NULL, NULL, NULL, &no_time_val), " count=0");
	POLL(__select, (0, NULL, NULL, NULL, &no_time_val), " count=0");
	POLL(pselect, (0, NULL, NULL, NULL, &no_time, NULL), " count=0");
	POLL(poll, (bad, 1, 0), " count=1 timeout_ms=0");
	POLL(select, (-1, NULL, NULL, NULL, NULL), " count=-1");
	int e = epoll_create(1);
	WANT(epoll_create, .fd = e, .path = fd_path(e), .ret = e);
	e = epoll_create1(EPOLL_CLOEXEC);
	WANT(epoll_create1, .fd = e, .path = fd_path(e), .ret = e, .args = F(" flags=%d", EPOLL_CLOEXEC));
	const char *e_path = KEEP(fd_path(e));
	struct epoll_event event = { .events = EPOLLOUT }, got[4];
#define EPOLL(call, arguments, more) \
	r = call arguments; \
	WANT(call, .fd = e, .path = e_path, .ret = r, .args = more)
	EPOLL(epoll_ctl, (e, EPOLL_CTL_ADD, ends[0], &event), F(" operation=%d target=%d", EPOLL_CTL_ADD, ends[0]));
	EPOLL(epoll_ctl, (e, EPOLL_CTL_ADD, ends[0], &event), F(" operation=%d target=%d", EPOLL_CTL_ADD, ends[0]));
	EPOLL(epoll_wait, (e, got, 4, 0), " count=4 timeout_ms=0");
	EPOLL(epoll_pwait, (e, got, 4, 0, NULL), " count=4 timeout_ms=0");
	EPOLL(epoll_pwait2, (e, got, 4, &no_time, NULL), " count=4");
	volatile int none = -1;
	EPOLL(epoll_wait, (e, got, none, 0), " count=-1 timeout_ms=0");
	e = epoll_create1(0xffff);
	WANT(epoll_create1, .ret = e, .args = F(" flags=%d", 0xffff));
}

static void interfaces(void)
{
	struct ifaddrs *list;
	char name[IF_NAMESIZE];
	r = getifaddrs(&list);
	WANT(getifaddrs, .ret = r);
	struct if_nameindex *index = if_nameindex();
	WANT(if_nameindex, .ret = index ? 0 : -1);
	unsigned lo = if_nametoindex("lo");
	WANT(if_nametoindex, .text = "lo", .ret = lo);
	CHECK(if_indextoname(lo, name));
	WANT(if_indextoname, .text = "lo", .ret = 0, .args = F(" index=%u", lo));
	lo = if_nametoindex("none-such");
	WANT(if_nametoindex, .text = "none-such", .ret = lo, .err = errno);
	CHECK(!if_indextoname(123456, name));
	WANT(if_indextoname, .ret = -1, .args = " index=123456");
}

int main(void)
{
	pairs();
	internet();
	messages();
	rights();
	waiting();
	interfaces();
	return ended();
}
