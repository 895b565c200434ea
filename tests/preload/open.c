/* Opening, closing and duplicating descriptors. */
#include "expect.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

int __open(const char *, int, ...);
int __open64(const char *, int, ...);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
int __close(int);
int __dup2(int, int);
int __fcntl(int, int, ...);

static int dir;

static void opens(void)
{
	int fd;
#define OPEN(name) \
	fd = name("new", O_RDWR | O_CREAT, 0640); \
	WANT(name, .fd = fd, .path = P("new"), .ret = fd, .args = F(" flags=%d mode=%d", O_RDWR | O_CREAT, 0640)); \
	raw_close(fd); \
	fd = name("missing", O_RDONLY); \
	WANT(name, .path = P("missing"), .ret = fd, .args = " flags=0")
	OPEN(open);
	OPEN(open64);
	OPEN(__open);
	OPEN(__open64);
#define OPENAT(name) \
	fd = name(dir, "in", O_RDWR | O_CREAT, 0604); \
	WANT(name, .fd = fd, .path = P("d/in"), .ret = fd, .args = F(" flags=%d mode=%d", O_RDWR | O_CREAT, 0604)); \
	raw_close(fd); \
	fd = name(AT_FDCWD, "d/missing", O_RDONLY); \
	WANT(name, .path = P("d/missing"), .ret = fd, .args = " flags=0")
	OPENAT(openat);
	OPENAT(openat64);
#define OPEN_2(name) \
	fd = name("new", O_RDONLY); \
	WANT(name, .fd = fd, .path = P("new"), .ret = fd, .args = " flags=0"); \
	raw_close(fd)
	OPEN_2(__open_2);
	OPEN_2(__open64_2);
#define OPENAT_2(name) \
	fd = name(dir, "in", O_RDONLY); \
	WANT(name, .fd = fd, .path = P("d/in"), .ret = fd, .args = " flags=0"); \
	raw_close(fd)
	OPENAT_2(__openat_2);
	OPENAT_2(__openat64_2);
#define CREAT(name) \
	fd = name("made", 0600); \
	WANT(name, .fd = fd, .path = P("made"), .ret = fd, .args = F(" mode=%d", 0600)); \
	raw_close(fd)
	CREAT(creat);
	CREAT(creat64);
	fd = open(bad, O_RDONLY); /* a path that cannot be read is not in the record */
	WANT(open, .ret = fd, .args = " flags=0");
	fd = open(bad, O_TMPFILE | O_RDONLY, 0600); /* refused before anyone looks at the path */
	WANT(open, .ret = fd, .args = F(" flags=%d mode=%d", O_TMPFILE | O_RDONLY, 0600));
	CHECK(errno == EINVAL);
	fd = open("new", O_TMPFILE | O_RDONLY, 0600); /* the same with a path that can */
	WANT(open, .path = P("new"), .ret = fd, .args = F(" flags=%d mode=%d", O_TMPFILE | O_RDONLY, 0600));
}

static void temporaries(void)
{
	char name[64];
	int fd;
#define MADE(call, arguments, made, more) \
	strcpy(name, made); \
	fd = call arguments; \
	CHECK(fd >= 0); \
	WANT(call, .fd = fd, .path = P(name), .ret = fd, .args = more); \
	raw_close(fd)
	MADE(mkstemp, (name), "aXXXXXX", "");
	MADE(mkstemp64, (name), "aXXXXXX", "");
	MADE(mkostemp, (name, O_APPEND), "aXXXXXX", F(" flags=%d", O_APPEND));
	MADE(mkostemp64, (name, O_APPEND), "aXXXXXX", F(" flags=%d", O_APPEND));
	MADE(mkstemps, (name, 2), "aXXXXXX.c", " suffix=2");
	MADE(mkstemps64, (name, 2), "aXXXXXX.c", " suffix=2");
	MADE(mkostemps, (name, 2, 0), "aXXXXXX.c", " suffix=2 flags=0");
	MADE(mkostemps64, (name, 2, 0), "aXXXXXX.c", " suffix=2 flags=0");
	strcpy(name, "short");
	fd = mkstemp(name);
	WANT(mkstemp, .path = P("short"), .ret = fd);
}

static void nameless(void)
{
#define MAKES(call, arguments, more, ...) \
	fd = call arguments; \
	CHECK(fd >= 0); \
	WANT(call, .fd = fd, .path = fd_path(fd), .ret = fd, .args = more, ##__VA_ARGS__)
	int fd;
	sigset_t mask;
	sigemptyset(&mask);
	MAKES(shm_open, ("/sonde-test", O_RDWR | O_CREAT, 0600), F(" flags=%d mode=%d", O_RDWR | O_CREAT, 0600),
			.text = "/sonde-test");
	raw(SYS_unlinkat, -100, "/dev/shm/sonde-test", 0);
	MAKES(memfd_create, ("m", MFD_CLOEXEC), F(" flags=%d", MFD_CLOEXEC), .text = "m");
	MAKES(posix_openpt, (O_RDWR | O_NOCTTY), F(" flags=%d", O_RDWR | O_NOCTTY));
	MAKES(getpt, (), "");
	MAKES(eventfd, (3, 0), " value=3 flags=0");
	eventfd_t value = 0;
	int r = eventfd_write(fd, 4);
	WANT(eventfd_write, .fd = fd, .path = fd_path(fd), .size = 8, .ret = r, .args = " value=4");
	r = eventfd_read(fd, &value);
	WANT(eventfd_read, .fd = fd, .path = fd_path(fd), .size = 8, .ret = r);
	CHECK(value == 7);
	MAKES(signalfd, (-1, &mask, 0), " fd=-1 flags=0");
	MAKES(timerfd_create, (CLOCK_MONOTONIC, 0), F(" clock=%d flags=0", CLOCK_MONOTONIC));
	struct itimerspec timer = { 0 };
	r = timerfd_settime(fd, 0, &timer, NULL);
	WANT(timerfd_settime, .fd = fd, .path = fd_path(fd), .ret = r, .args = " flags=0");
	r = timerfd_gettime(fd, &timer);
	WANT(timerfd_gettime, .fd = fd, .path = fd_path(fd), .ret = r);
	int me = (int)raw(SYS_getpid);
	MAKES(pidfd_open, (me, 0), F(" pid=%d flags=0", me));
	int pidfd = fd;
	MAKES(pidfd_getfd, (pidfd, dir, 0), F(" pidfd=%d target=%d flags=0", pidfd, dir));
	MAKES(inotify_init, (), "");
	MAKES(inotify_init1, (IN_CLOEXEC), F(" flags=%d", IN_CLOEXEC));
	int watch = inotify_add_watch(fd, "d", IN_CREATE);
	WANT(inotify_add_watch, .path = P("d"), .ret = watch, .args = F(" watcher=%d mask=%d", fd, IN_CREATE));
	r = inotify_rm_watch(fd, watch);
	WANT(inotify_rm_watch, .fd = fd, .path = fd_path(fd), .ret = r, .args = F(" watch=%d", watch));
	fd = fanotify_init(FAN_CLASS_NOTIF, O_RDONLY);
	WANT(fanotify_init, .fd = fd, .path = fd < 0 ? NULL : fd_path(fd), .ret = fd,
			.args = F(" flags=%d event_flags=%d", FAN_CLASS_NOTIF, O_RDONLY));
	r = fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "d");
	WANT(fanotify_mark, .path = P("d"), .ret = r,
			.args = F(" watcher=%d flags=%d mask=%d", fd, FAN_MARK_ADD, FAN_OPEN));
	fd = shm_open("", O_RDWR, 0);
	WANT(shm_open, .text = "", .ret = fd, .args = F(" flags=%d mode=0", O_RDWR));
}

static void handles(void)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + 128];
	} at = { .h.handle_bytes = 128 };
	int mount, r = name_to_handle_at(AT_FDCWD, "d", &at.h, &mount, 0);
	WANT(name_to_handle_at, .path = P("d"), .ret = r, .args = " flags=0");
	int fd = open_by_handle_at(dir, &at.h, O_RDONLY);
	WANT(open_by_handle_at, .fd = fd, .path = fd < 0 ? NULL : P("d"), .ret = fd,
			.args = F(" mount=%d flags=0", dir));
}

static void terminals(void)
{
	int master, slave, r = openpty(&master, &slave, NULL, NULL, NULL);
	WANT(openpty, .fd = master, .path = fd_path(master), .ret = r, .args = F(" slave=%d", slave));
	const char *name = KEEP(fd_path(slave));
	if (raw(SYS_fork) == 0) { /* login_tty takes over standard input and all that */
		r = login_tty(slave);
		WANT(login_tty, .fd = slave, .path = name, .ret = r);
		ssize_t n = write(1, "x", 1);
		WANT(write, .fd = 1, .path = name, .size = 1, .ret = n);
		raw(SYS_exit_group, 0);
	}
	int status;
	raw(SYS_wait4, -1, &status, 0, 0);
	CHECK(status == 0);
	r = login_tty(-1);
	WANT(login_tty, .ret = r);
}

static void duplicates(void)
{
	const char *path = KEEP(P("new"));
	int fd = open("new", O_RDWR), to, r;
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d", O_RDWR));
	to = dup(fd);
	WANT(dup, .fd = fd, .path = path, .ret = to);
	ssize_t n = write(to, "x", 1);
	WANT(write, .fd = to, .path = path, .size = 1, .ret = n);
#define ONTO(name, ...) \
	r = name(fd, 50, ##__VA_ARGS__); \
	WANT(name, .fd = fd, .path = path, .ret = r, .args = F(#__VA_ARGS__[0] ? " to=50 flags=0" : " to=50")); \
	n = write(50, "x", 1); \
	WANT(write, .fd = 50, .path = path, .size = 1, .ret = n)
	ONTO(dup2);
	ONTO(__dup2);
	ONTO(dup3, 0);
	r = dup2(fd, fd);
	WANT(dup2, .fd = fd, .path = path, .ret = r, .args = F(" to=%d", fd));
	r = dup2(-1, 50); /* what was there stays */
	WANT(dup2, .ret = r, .args = " to=50");
	n = write(50, "x", 1);
	WANT(write, .fd = 50, .path = path, .size = 1, .ret = n);
	r = dup3(fd, fd, 0);
	WANT(dup3, .fd = fd, .path = path, .ret = r, .args = F(" to=%d flags=0", fd));
#define FCNTL(name) \
	to = name(fd, F_DUPFD, 60); \
	WANT(name, .fd = fd, .path = path, .ret = to, .args = F(" cmd=%d arg=60", F_DUPFD)); \
	n = write(to, "x", 1); \
	WANT(write, .fd = to, .path = path, .size = 1, .ret = n); \
	r = name(fd, F_GETFD); \
	WANT(name, .fd = fd, .path = path, .ret = r, .args = F(" cmd=%d", F_GETFD))
	FCNTL(fcntl);
	FCNTL(fcntl64);
	FCNTL(__fcntl);
	struct flock lock = { .l_type = F_WRLCK, .l_start = 3, .l_len = 9 };
	r = fcntl(fd, F_SETLK, &lock);
	WANT(fcntl, .fd = fd, .path = path, .size = 9, .offset = 3, .ret = r,
			.args = F(" cmd=%d arg=%d", F_SETLK, F_WRLCK));
	r = fcntl(fd, F_SETLK, bad);
	WANT(fcntl, .fd = fd, .path = path, .ret = r, .args = F(" cmd=%d", F_SETLK));
	r = fcntl(-1, F_SETFD, 1);
	WANT(fcntl, .ret = r, .args = F(" cmd=%d arg=1", F_SETFD));
	int waiting;
	r = ioctl(fd, FIONREAD, &waiting);
	WANT(ioctl, .fd = fd, .path = path, .ret = r, .args = F(" request=%d", FIONREAD));
	r = ioctl(fd, TIOCGWINSZ, &waiting);
	WANT(ioctl, .fd = fd, .path = path, .ret = r, .args = F(" request=%d", TIOCGWINSZ));
}

static void closes(void)
{
	const char *path = KEEP(P("new"));
	int r, fd = open("new", O_RDWR);
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d", O_RDWR));
	r = close(fd);
	WANT(close, .fd = fd, .path = path, .ret = r);
	r = close(fd);
	WANT(close, .fd = fd, .ret = r);
	r = dup2(dir, 70);
	WANT(dup2, .fd = dir, .path = P("d"), .ret = r, .args = " to=70");
	r = __close(70);
	WANT(__close, .fd = 70, .path = P("d"), .ret = r);
	r = close_range(60, 80, 0);
	WANT(close_range, .ret = r, .args = " first=60 last=80 flags=0");
	r = close_range(80, 60, 0);
	WANT(close_range, .ret = r, .args = " first=80 last=60 flags=0");
	closefrom(60);
	WANT(closefrom, .args = " first=60");
	r = close_range(3, ~0u, 0); /* nothing of the tracer's is among them */
	WANT(close_range, .ret = r, .args = F(" first=3 last=%u flags=0", ~0u));
	fd = open("d/in", O_RDONLY);
	WANT(open, .fd = fd, .path = P("d/in"), .ret = fd, .args = " flags=0");
	CHECK(fd == 3);
}

int main(void)
{
	raw(SYS_mkdirat, -100, "d", 0700);
	dir = open("d", O_RDONLY | O_DIRECTORY);
	WANT(open, .fd = dir, .path = P("d"), .ret = dir, .args = F(" flags=%d", O_RDONLY | O_DIRECTORY));
	opens();
	temporaries();
	nameless();
	handles();
	terminals();
	duplicates();
	closes();
	return ended();
}
