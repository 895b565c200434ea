/* Wrappers for streams; hook-stdio-format.c has the formatted ones, hook-stdio-wide.c the wide-character ones. */
#include "tracer/hook.h"

#include <assert.h>
#include <err.h>
#include <error.h>
#include <execinfo.h>
#include <fmtmsg.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <wchar.h>

#undef fread_unlocked
#undef fwrite_unlocked

/* The stream's buffering moves fd's offset from now on. */
static int stream_takes(int fd)
{
	fds_share(fd);
	return fd;
}

#include "calls/stdio.def"

/*
 * fread returns whole items, and a file may end inside one. libc multiplies both numbers anyway, so reading single
 * bytes is equivalent and returns the exact count.
 */
#define FREAD(name, parameters, arguments, single) \
	EXPORT size_t name parameters \
	{ \
		size_t(*next) parameters = (size_t(*) parameters)next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_STDIO) || !item || !n) \
			return next arguments; \
		int errno_before = errno; \
		uint64_t start = tick(); \
		size_t bytes = next single; \
		size_t result = bytes == item * n ? n : bytes / item; \
		call_done_inline(CALL_##name, start, (int64_t)result, ERROR_QC(result), \
				CALL(.fd = stream_fd(stream), .size = (int64_t)(item * n), ARGS2(item, bytes))); \
		return result; \
	}
#define FREAD_PLAIN(name) \
	FREAD(name, (void *buf, size_t item, size_t n, FILE *stream), (buf, item, n, stream), \
			(buf, 1, item * n, stream))
#define FREAD_CHECKED(name) \
	FREAD(name, (void *buf, size_t room, size_t item, size_t n, FILE *stream), (buf, room, item, n, stream), \
			(buf, room, 1, item * n, stream))
FREAD_PLAIN(fread)
FREAD_PLAIN(fread_unlocked)
FREAD_CHECKED(__fread_chk)
FREAD_CHECKED(__fread_unlocked_chk)

/* A buffer that is not empty is not refilled. Streams of wide characters have another one. */
#define REFILL(name) \
	EXPORT int name(FILE *stream); \
	EXPORT int name(FILE *stream) \
	{ \
		int (*next)(FILE *) = next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_STDIO)) \
			return next(stream); \
		bool is_empty = stream->_IO_read_ptr >= stream->_IO_read_end; \
		int errno_before = errno; \
		uint64_t start = tick(); \
		int result = next(stream); \
		int64_t bytes = is_empty ? stream->_IO_read_end - stream->_IO_read_base : 0; \
		call_done(CALL_##name, start, RET_QI(result), ERROR_QI(result), \
				CALL(.fd = stream_fd(stream), \
						.size = result == EOF || stream->_mode > 0 ? SONDE_NONE : bytes)); \
		return result; \
	}
REFILL(__uflow)
REFILL(__underflow)

/*
 * The stream's old descriptor is closed during the call; without a path its file is reopened by the descriptor's
 * number.
 */
#define FREOPEN(name) \
	EXPORT FILE *name(const char *path, const char *mode, FILE *stream) \
	{ \
		FILE *(*next)(const char *, const char *, FILE *) = next_function(CALL_##name); \
		if (!tracer_wants(SONDE_CAT_ALL)) \
			return next(path, mode, stream); \
		fds_closed(stream_fd(stream)); \
		uint64_t start = tick(); \
		FILE *result = next(path, mode, stream); \
		call_done(CALL_##name, start, RET_F(result), ERROR_F(result), \
				CALL(.path = path, .text = mode, .open_flags = O_APPEND, \
						.effect = path ? EFFECT_OPENS : EFFECT_MAKES)); \
		return result; \
	}
FREOPEN(freopen)
FREOPEN(freopen64)

/* The descriptors of the streams are unknown: the whole table is invalidated. */
EXPORT int fcloseall(void)
{
	int (*next)(void) = next_function(CALL_fcloseall);
	if (!tracer_wants(SONDE_CAT_ALL))
		return next();
	fds_closed_range(0, FDS_MAX);
	uint64_t start = tick();
	int result = next();
	call_done_on(CALL_fcloseall, start, tick(), result, ERROR_I(result), 0, CALL());
	return result;
}

/* Messages. */

EXPORT void warn(const char *format, ...)
{
	bool is_wanted = tracer_wants(SONDE_CAT_STDIO);
	uint64_t start = tick();
	va_list ap;
	va_start(ap, format);
	REAL(vwarn)(format, ap);
	va_end(ap);
	if (is_wanted)
		call_done(CALL_warn, start, SONDE_NONE, 0, CALL(.fd = 2));
}

EXPORT void warnx(const char *format, ...)
{
	bool is_wanted = tracer_wants(SONDE_CAT_STDIO);
	uint64_t start = tick();
	va_list ap;
	va_start(ap, format);
	REAL(vwarnx)(format, ap);
	va_end(ap);
	if (is_wanted)
		call_done(CALL_warnx, start, SONDE_NONE, 0, CALL(.fd = 2));
}

static void *message_begun(uint16_t id, struct call *c)
{
	void *next = next_function(id);
	c->fd = 2;
	call_start(SONDE_REC_CALL, id, 0, c);
	return next;
}

#define BEFORE_STATUS(name) \
	BEFORE before_##name(int status) \
	{ \
		return message_begun(CALL_##name, CALL(ARGS1(status))); \
	}
BEFORE_STATUS(err)
BEFORE_STATUS(errx)
BEFORE_STATUS(verr)
BEFORE_STATUS(verrx)

BEFORE before_error(int status, int errnum)
{
	return message_begun(CALL_error, CALL(ARGS2(status, errnum)));
}

BEFORE before_error_at_line(int status, int errnum)
{
	return message_begun(CALL_error_at_line, CALL(ARGS2(status, errnum)));
}

BEFORE before___assert_fail(const char *assertion)
{
	return message_begun(CALL___assert_fail, CALL(.text = assertion));
}

BEFORE before___assert(const char *assertion)
{
	return message_begun(CALL___assert, CALL(.text = assertion));
}

BEFORE before___assert_perror_fail(int errnum)
{
	return message_begun(CALL___assert_perror_fail, CALL());
}
