/* Wrappers for calls that open, close and duplicate descriptors. */
#include "tracer/hook.h"

#include <poll.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utmp.h>

#include "calls/open.def"

#define NEEDS_MODE(flags) (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE)

/* mode is present only if the flags require it */
static mode_t mode_of(int flags, va_list ap)
{
	return NEEDS_MODE(flags) ? va_arg(ap, mode_t) : 0;
}

#define OPEN(name) \
	EXPORT int name(const char *path, int flags, ...) \
	{ \
		int (*next)(const char *, int, ...) = next_function(CALL_##name); \
		va_list ap; \
		va_start(ap, flags); \
		mode_t mode = mode_of(flags, ap); \
		va_end(ap); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next(path, flags, mode); \
		uint64_t start = tick(); \
		int result = next(path, flags, mode); \
		struct call *c = CALL(.path = path, .effect = EFFECT_OPENS, .open_flags = flags, ARGS2(flags, mode)); \
		c->args = NEEDS_MODE(flags) ? 2 : 1; \
		call_done(CALL_##name, start, result, ERROR_I(result), c); \
		return result; \
	}
OPEN(open)
OPEN(open64)
OPEN(__open)
OPEN(__open64)

#define OPENAT(name) \
	EXPORT int name(int dirfd, const char *path, int flags, ...) \
	{ \
		int (*next)(int, const char *, int, ...) = next_function(CALL_##name); \
		va_list ap; \
		va_start(ap, flags); \
		mode_t mode = mode_of(flags, ap); \
		va_end(ap); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next(dirfd, path, flags, mode); \
		uint64_t start = tick(); \
		int result = next(dirfd, path, flags, mode); \
		struct call *c = CALL(.dirfd = dirfd, .path = path, .effect = EFFECT_OPENS, .open_flags = flags, \
				ARGS2(flags, mode)); \
		c->args = NEEDS_MODE(flags) ? 2 : 1; \
		call_done(CALL_##name, start, result, ERROR_I(result), c); \
		return result; \
	}
OPENAT(openat)
OPENAT(openat64)

/* `to` is forgotten before the call, because another thread may use the new file immediately. */
#define DUP_ONTO(name, parameters, arguments, ...) \
	EXPORT int name parameters \
	{ \
		int(*next) parameters = (int(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next arguments; \
		uint64_t file = fds_file(fd); \
		struct fd_entry was = { 0 }; \
		if (fd != to) \
			was = fds_take(to); \
		uint64_t start = tick(); \
		int result = next arguments; \
		if (result >= 0) \
			fds_dup(fd, to); \
		else if (fd != to) \
			fds_give_back(to, was); \
		call_done_on(CALL_##name, start, tick(), result, ERROR_I(result), file, CALL(.fd = fd, __VA_ARGS__)); \
		return result; \
	}
DUP_ONTO(dup2, (int fd, int to), (fd, to), ARGS1(to))
DUP_ONTO(__dup2, (int fd, int to), (fd, to), ARGS1(to))
DUP_ONTO(dup3, (int fd, int to, int flags), (fd, to, flags), ARGS2(to, flags))

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	int (*next)(unsigned, unsigned, int) = next_function(CALL_close_range);
	if (!tracer_wants(SONDE_CAT_ALL))
		return next(first, last, flags);
	if (!(flags & (int)CLOSE_RANGE_CLOEXEC))
		fds_closed_range(first, last);
	uint64_t start = tick();
	int result = next(first, last, flags);
	call_done_on(CALL_close_range, start, tick(), result, ERROR_I(result), 0, CALL(ARGS3(first, last, flags)));
	return result;
}

EXPORT void closefrom(int first)
{
	void (*next)(int) = next_function(CALL_closefrom);
	if (!tracer_wants(SONDE_CAT_ALL)) {
		next(first);
		return;
	}
	fds_closed_range(first < 0 ? 0 : (unsigned)first, FDS_MAX);
	uint64_t start = tick();
	next(first);
	call_done_on(CALL_closefrom, start, tick(), SONDE_NONE, 0, 0, CALL(ARGS1(first)));
}

EXPORT int openpty(int *master, int *slave, char *name, const struct termios *termios, const struct winsize *size)
{
	int (*next)(int *, int *, char *, const struct termios *, const struct winsize *) = next_function(CALL_openpty);
	if (!tracer_wants(SONDE_CAT_ALL))
		return next(master, slave, name, termios, size);
	uint64_t start = tick();
	int result = next(master, slave, name, termios, size);
	if (!result) {
		fds_closed(*master);
		fds_closed(*slave);
	}
	call_done(CALL_openpty, start, result, ERROR_I(result),
			CALL(.fd = result ? -1 : *master, ARGS1(result ? -1 : *slave)));
	return result;
}

EXPORT int login_tty(int fd)
{
	int (*next)(int) = next_function(CALL_login_tty);
	if (!tracer_wants(SONDE_CAT_ALL))
		return next(fd);
	uint64_t file = fds_file(fd);
	uint64_t start = tick();
	int result = next(fd);
	if (!result) {
		fds_closed_range(0, 2);
		fds_closed(fd);
	}
	call_done_on(CALL_login_tty, start, tick(), result, ERROR_I(result), file, CALL(.fd = fd));
	return result;
}

/* fcntl: the type of the argument depends on the command. */

static bool is_lock(int cmd)
{
	return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW || cmd == F_OFD_GETLK || cmd == F_OFD_SETLK ||
			cmd == F_OFD_SETLKW;
}

static bool takes_number(int cmd)
{
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC || cmd == F_SETFD || cmd == F_SETFL || cmd == F_SETOWN ||
			cmd == F_SETSIG || cmd == F_SETLEASE || cmd == F_NOTIFY || cmd == F_SETPIPE_SZ ||
			cmd == F_ADD_SEALS;
}

static void fcntl_done(uint16_t id, uint64_t start, int result, int fd, int cmd, void *arg)
{
	struct call *c = CALL(.fd = fd, ARGS1(cmd));
	if (takes_number(cmd))
		c->arg[c->args++] = (int)(intptr_t)arg;
	if (is_lock(cmd) && result != -1) {
		const struct flock *lock = arg;
		c->arg[c->args++] = lock->l_type;
		c->offset = lock->l_start;
		c->size = lock->l_len;
	}
	if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
		c->effect = EFFECT_DUPS;
	if (cmd == F_SETFL)
		fds_share(fd);
	call_done(id, start, result, ERROR_I(result), c);
}

#define FCNTL(name) \
	EXPORT int name(int fd, int cmd, ...) \
	{ \
		int (*next)(int, int, ...) = next_function(CALL_##name); \
		va_list ap; \
		va_start(ap, cmd); \
		void *arg = va_arg(ap, void *); \
		va_end(ap); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next(fd, cmd, arg); \
		uint64_t start = tick(); \
		int result = next(fd, cmd, arg); \
		fcntl_done(CALL_##name, start, result, fd, cmd, arg); \
		return result; \
	}
FCNTL(fcntl)
FCNTL(fcntl64)
FCNTL(__fcntl)

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) = next_function(CALL_ioctl);
	va_list ap;
	va_start(ap, request);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (!tracer_wants(SONDE_CAT_META))
		return next(fd, request, arg);
	uint64_t start = tick();
	int result = next(fd, request, arg);
	call_done(CALL_ioctl, start, result, ERROR_I(result), CALL(.fd = fd, ARGS1(request)));
	return result;
}
