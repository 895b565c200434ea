/* Where a descriptor stands is told while it is provably its own, and never a guess. */
#include "expect.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

extern char **environ;
static int fd, r;
static const char *path;
static char buf[16];

#define READ(n, where) \
	r = (int)read(fd, buf, n); \
	WANT(read, .fd = fd, .path = path, .size = n, .offset = where, .ret = r)
#define WRITE(n, where) \
	r = (int)write(fd, "0123456789", n); \
	WANT(write, .fd = fd, .path = path, .size = n, .offset = where, .ret = r)

static void fresh(int flags)
{
	if (fd > 0)
		raw_close(fd);
	raw_file("f", "0123456789");
	fd = open("f", O_RDWR | flags);
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d", O_RDWR | flags));
}

static void alone(void)
{
	fresh(0);
	READ(3, 0);
	READ(4, 3);
	r = (int)pread(fd, buf, 2, 9); /* moves nothing */
	WANT(pread, .fd = fd, .path = path, .size = 2, .offset = 9, .ret = r);
	READ(16, 7);
	CHECK(r == 3);
	READ(1, 10); /* the end of the file is a place, too */
	CHECK(r == 0);
	r = (int)lseek(fd, -4, SEEK_END);
	WANT(lseek, .fd = fd, .path = path, .offset = -4, .ret = r, .args = F(" whence=%d", SEEK_END));
	WRITE(2, 6);
	r = (int)lseek(fd, -1, SEEK_SET); /* one that fails moves nothing */
	WANT(lseek, .fd = fd, .path = path, .offset = -1, .ret = r, .args = F(" whence=%d", SEEK_SET));
	r = (int)read(fd, bad, 1);
	WANT(read, .fd = fd, .path = path, .size = 1, .offset = 8, .ret = r);
	READ(1, 8);
	fresh(O_TRUNC);
	WRITE(5, 0);
	WRITE(5, 5);
}

static void unknown(void)
{
	fresh(O_APPEND);
	WRITE(3, NONE); /* wherever the end is at that moment */
	READ(3, NONE);
	fresh(0);
	READ(1, 0);
	r = fcntl(fd, F_SETFL, O_APPEND);
	WANT(fcntl, .fd = fd, .path = path, .ret = r, .args = F(" cmd=%d arg=%d", F_SETFL, O_APPEND));
	WRITE(1, NONE);
	fresh(0);
	int other = dup(fd);
	WANT(dup, .fd = fd, .path = path, .ret = other);
	READ(1, NONE);
	raw_close(other);
	fresh(0);
	READ(1, 0);
	CHECK(fdopen(fd, "r"));
	WANT(fdopen, .fd = fd, .path = path, .text = "r", .ret = fd);
	READ(1, NONE);
	fresh(0);
	char *argv[] = { "true", NULL };
	pid_t pid;
	r = posix_spawnp(&pid, "true", NULL, NULL, argv, environ);
	WANT(posix_spawnp, .path = "/usr/bin/true", .ret = r, .args = F(" pid=%d blind=0", pid));
	raw(SYS_wait4, pid, NULL, 0, NULL);
	READ(1, NONE); /* the child had it too, whatever it did */
	fresh(0);
	READ(1, 0);                         /* but what is opened after it is ours again */
	int hidden = raw_open("f", O_RDWR); /* behind our back: known by name alone */
	r = (int)read(hidden, buf, 1);
	WANT(read, .fd = hidden, .path = path, .size = 1, .ret = r);
	fresh(0);
	r = (int)syscall(SYS_read, fd, buf, 1); /* not recorded, but noticed */
	READ(1, NONE);
	fresh(0);
	syscall(SYS_close, fd);
	raw_file("g", "x");
	CHECK(raw_open("g", O_RDWR) == fd);
	r = (int)read(fd, buf, 1);
	WANT(read, .fd = fd, .path = P("g"), .size = 1, .ret = r);
	int ends[2];
	raw(SYS_pipe2, ends, 0);
	r = (int)write(ends[1], "x", 1);
	WANT(write, .fd = ends[1], .path = fd_path(ends[1]), .size = 1, .ret = r);
	raw(SYS_dup2, fd, 2);
	raw(SYS_close, 2);
	int two = open("f", O_RDWR); /* libc may write to it at any time */
	WANT(open, .fd = two, .path = path, .ret = two, .args = F(" flags=%d", O_RDWR));
	CHECK(two == 2);
	r = (int)write(2, "x", 1);
	WANT(write, .fd = 2, .path = path, .size = 1, .ret = r);
}

static void forked(void)
{
	fresh(0);
	READ(1, 0);
	int child = fork();
	WANT(fork, .ret = child);
	if (child == 0) {
		READ(1, NONE);
		raw_close(fd);
		fd = -1;
		fresh(0); /* its own */
		READ(2, 0);
		raw(SYS_exit_group, 0);
	}
	raw(SYS_wait4, child, NULL, 0, NULL);
	READ(1, NONE);
}

static void *reader(void *arg)
{
	READ(1, NONE);
	return NULL;
}

static void threads(void)
{
	pthread_t t;
	fresh(0);
	READ(2, 0);
	CHECK(!pthread_create(&t, NULL, reader, NULL) && !pthread_join(t, NULL));
	READ(1, NONE); /* somebody else has moved it, and may again */
	fresh(0);
	READ(1, 0);
}

int main(void)
{
	path = KEEP(P("f"));
	alone();
	unknown();
	fd = -1;
	forked();
	threads();
	return ended();
}
