/* Wrappers for sockets, pipes, and polling of descriptors. */
#include "tracer/hook.h"
#include "tracer/hooks/iov.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Messages. They may carry descriptors: those sent become shared, those received are new. */

static int64_t sent_bytes(int64_t result, const struct msghdr *msg)
{
	if (result < 0)
		return SONDE_NONE;
	if (msg->msg_controllen)
		__atomic_fetch_add(&tracer.share_epoch, 1, __ATOMIC_RELAXED);
	return iov_bytes(result, msg->msg_iov, (int)msg->msg_iovlen);
}

static int64_t received_room(int64_t result, struct msghdr *msg)
{
	if (result < 0)
		return SONDE_NONE;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(0))
			continue;
		const int *fd = (const int *)CMSG_DATA(c);
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
			fds_closed(fd[i]);
	}
	return iov_bytes(result, msg->msg_iov, (int)msg->msg_iovlen);
}

/* The bytes of the messages that were transferred. */
static int64_t batch_bytes(int result, struct mmsghdr *msgs, bool is_sent)
{
	int64_t sum = 0;
	if (result < 0)
		return SONDE_NONE;
	for (int i = 0; i < result; i++)
		sum += is_sent ? sent_bytes(0, &msgs[i].msg_hdr) : received_room(0, &msgs[i].msg_hdr);
	return sum;
}

#include "calls/net.def"

/* Addresses. */

struct address {
	int64_t family, port;
	char text[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
};

static struct address address_of(const struct sockaddr *at, socklen_t n)
{
	struct address a = { .family = -1, .port = -1 };
	if (!at || n < sizeof(at->sa_family))
		return a;
	a.family = at->sa_family;
	if (at->sa_family == AF_INET && n >= sizeof(struct sockaddr_in)) {
		const struct sockaddr_in *in = (const void *)at;
		a.port = ntohs(in->sin_port);
		inet_ntop(AF_INET, &in->sin_addr, a.text, sizeof(a.text));
	} else if (at->sa_family == AF_INET6 && n >= sizeof(struct sockaddr_in6)) {
		const struct sockaddr_in6 *in = (const void *)at;
		a.port = ntohs(in->sin6_port);
		inet_ntop(AF_INET6, &in->sin6_addr, a.text, sizeof(a.text));
	} else if (at->sa_family == AF_UNIX && n > sizeof(at->sa_family)) {
		const struct sockaddr_un *un = (const void *)at;
		size_t len = n - sizeof(at->sa_family) < sizeof(un->sun_path) ? n - sizeof(at->sa_family)
									      : sizeof(un->sun_path);
		memcpy(a.text, un->sun_path, len);
		if (!a.text[0])
			a.text[0] = '@'; /* an abstract name, as ss and netstat show it */
	}
	return a;
}

/* The kernel has read the address, unless it failed before. */
static bool has_read_address(int errnum)
{
	return errnum != EFAULT && errnum != EBADF && errnum != ENOTSOCK && errnum != EINVAL;
}

#define WITH_ADDRESS(name) \
	EXPORT int name(int fd, __CONST_SOCKADDR_ARG address, socklen_t n) \
	{ \
		int (*next)(int, __CONST_SOCKADDR_ARG, socklen_t) = next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_NET)) \
			return next(fd, address, n); \
		uint64_t start = tick(); \
		int result = next(fd, address, n); \
		int errnum = ERROR_I(result); \
		struct address a = address_of(has_read_address(errnum) ? address.__sockaddr__ : NULL, n); \
		call_done(CALL_##name, start, result, errnum, \
				CALL(.fd = fd, .text = a.text[0] ? a.text : NULL, ARGS2(a.family, a.port))); \
		return result; \
	}
WITH_ADDRESS(connect)
WITH_ADDRESS(__connect)
WITH_ADDRESS(bind)

#define ACCEPT(name, parameters, arguments, ...) \
	EXPORT int name parameters \
	{ \
		int(*next) parameters = (int(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next arguments; \
		uint64_t start = tick(); \
		int result = next arguments; \
		bool has_address = result >= 0 && address.__sockaddr__ && n; \
		struct address a = address_of(has_address ? address.__sockaddr__ : NULL, has_address ? *n : 0); \
		call_done(CALL_##name, start, result, ERROR_I(result), \
				CALL(.text = a.text[0] ? a.text : NULL, .effect = EFFECT_MAKES, __VA_ARGS__)); \
		return result; \
	}
ACCEPT(accept, (int fd, __SOCKADDR_ARG address, socklen_t *n), (fd, address, n), ARGS3(fd, a.family, a.port))
ACCEPT(accept4, (int fd, __SOCKADDR_ARG address, socklen_t *n, int flags), (fd, address, n, flags),
		ARGS4(fd, a.family, a.port, flags))

/* Pairs. */

/* libdftracer ignores pipes as files, but records their creation. */
static uint64_t end_of_pair(int fd)
{
	return fd < 0 || tracer.ops ? 0 : fds_file(fd);
}

#define PAIR(name, parameters, arguments, ...) \
	EXPORT int name parameters \
	{ \
		int(*next) parameters = (int(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next arguments; \
		uint64_t start = tick(); \
		int result = next arguments; \
		int first = result ? -1 : ends[0], second = result ? -1 : ends[1]; \
		fds_closed(first); \
		fds_closed(second); \
		uint64_t end = tick(); \
		call_done_on(CALL_##name, start, end, result, ERROR_I(result), end_of_pair(first), \
				CALL(.fd = first, __VA_ARGS__)); \
		return result; \
	}
PAIR(pipe, (int ends[2]), (ends), ARGS1(second))
PAIR(__pipe, (int ends[2]), (ends), ARGS1(second))
PAIR(pipe2, (int ends[2], int flags), (ends, flags), ARGS2(second, flags))
PAIR(socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends),
		ARGS4(domain, type, protocol, second))
