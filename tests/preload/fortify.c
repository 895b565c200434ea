/*
 * A program compiled as distributions do it, -O2 -D_FORTIFY_SOURCE=2: what it
 * writes as read() calls __read_chk(), and inline functions call others still.
 */
#include "expect.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

/* Sizes that the compiler cannot know, and buffers that it does. */
static volatile size_t five = 5;
static volatile int rdonly = O_RDONLY;
static const char *path;

int main(void)
{
	char buf[64], whole[4096];
	raw_file("f", "line one\nline two\nline three\n42\n");
	path = KEEP(P("f"));
	int fd = open("f", rdonly);
	WANT(__open_2, .fd = fd, .path = path, .ret = fd, .args = " flags=0");
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	WANT(open, .fd = dir, .path = P("."), .ret = dir, .args = F(" flags=%d", O_RDONLY | O_DIRECTORY));
	int at = openat(dir, "f", rdonly);
	WANT(__openat_2, .fd = at, .path = P("./f"), .ret = at, .args = " flags=0");
	ssize_t n = read(fd, buf, five);
	WANT(__read_chk, .fd = fd, .path = path, .size = 5, .offset = 0, .ret = n);
	n = pread(fd, buf, five, 3);
	WANT(__pread_chk, .fd = fd, .path = path, .size = 5, .offset = 3, .ret = n);
	n = read(fd, buf, sizeof(buf)); /* known to fit: the plain one */
	WANT(read, .fd = fd, .path = path, .size = sizeof(buf), .offset = 5, .ret = n);
	raw(SYS_symlinkat, "f", -100, "s");
	n = readlink("s", buf, five);
	WANT(__readlink_chk, .path = P("s"), .size = 5, .ret = n);
	n = readlinkat(dir, "s", buf, five);
	WANT(__readlinkat_chk, .path = P("./s"), .size = 5, .ret = n);
	CHECK(realpath("s", whole));
	WANT(__realpath_chk, .path = P("s"), .text = path, .ret = 0);
	CHECK(getcwd(whole, five * 800));
	WANT(__getcwd_chk, .path = whole, .size = 4000, .ret = 0);
	FILE *f = fopen("f", "r");
	int under = fileno(f);
	WANT(fopen, .fd = under, .path = path, .text = "r", .ret = under);
	CHECK(fgets(buf, (int)five, f));
	WANT(__fgets_chk, .fd = under, .path = path, .size = 5, .ret = (int64_t)strlen(buf));
	n = (ssize_t)fread(buf, 1, five, f);
	WANT(__fread_chk, .fd = under, .path = path, .size = 5, .ret = n, .args = " item=1 bytes=5");
	int r = fprintf(stderr, "%d\n", 5);
	WANT(__fprintf_chk, .fd = 2, .path = fd_path(2), .ret = r);
	r = printf("%d\n", 5);
	WANT(__printf_chk, .fd = 1, .path = fd_path(1), .ret = r);
	r = wprintf(L"%d\n", 5); /* too late to become wide: it fails without an errno of its own */
	WANT(__wprintf_chk, .fd = 1, .path = fd_path(1), .ret = r);
	int out = creat("out", 0600);
	WANT(creat, .fd = out, .path = P("out"), .ret = out, .args = F(" mode=%d", 0600));
	r = dprintf(out, "%d\n", 5);
	WANT(__dprintf_chk, .fd = out, .path = P("out"), .offset = 0, .ret = r);
	int ends[2];
	raw(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends);
	raw(SYS_write, ends[1], "0123456789", 10);
	const char *socket_path = KEEP(fd_path(ends[0]));
	n = recv(ends[0], buf, five, 0);
	WANT(__recv_chk, .fd = ends[0], .path = socket_path, .size = 5, .ret = n, .args = " flags=0");
	n = recvfrom(ends[0], buf, five, 0, NULL, NULL);
	WANT(__recvfrom_chk, .fd = ends[0], .path = socket_path, .size = 5, .ret = n, .args = " flags=0");
	struct pollfd set[2] = { { .fd = ends[1], .events = POLLOUT } };
	r = poll(set, five - 4, 0);
	WANT(__poll_chk, .ret = r, .args = " count=1 timeout_ms=0");
	struct timespec no_time = { 0 };
	r = ppoll(set, five - 4, &no_time, NULL);
	WANT(__ppoll_chk, .ret = r, .args = " count=1");
	return ended();
}
