/*
 * sonde-capture: opens a packet socket for somebody who may not, and gives it away.
 *
 * `sonde setup` gives this program, and no other of sonde's, the right to open packet
 * sockets (CAP_NET_RAW). It takes no arguments, reads nothing, and sends one descriptor
 * to the socket that is its standard input: with a locked filter that lets headers
 * through and nothing that packets carry. Then it ends.
 */
#include "probe/net/filter.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void drop_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	syscall(SYS_capset, &header, none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int send_fd(int to, int fd)
{
	char byte = 0;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &msg, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int main(void)
{
	int fd = filter_socket();
	drop_rights();
	return fd >= 0 && !send_fd(0, fd) ? 0 : 1;
}
