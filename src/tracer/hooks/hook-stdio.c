/*
 * Wrappers for streams: plain, formatted, of wide characters, queries.
 *
 * Before anything else, <stdio.h> and <wchar.h> are made to declare scanf and related functions under their own names,
 * not as the __isoc99 ones, so that both can be defined.
 */
#include <features.h>
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1

#include "tracer/hook.h"

#include <assert.h>
#include <dirent.h>
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

#define WARN(name, sibling) \
	EXPORT void name(const char *format, ...) \
	{ \
		bool is_wanted = tracer_wants(SONDE_CAT_STDIO); \
		uint64_t start = tick(); \
		va_list ap; \
		va_start(ap, format); \
		REAL(sibling)(format, ap); \
		va_end(ap); \
		if (is_wanted) \
			call_done(CALL_##name, start, SONDE_NONE, 0, CALL(.fd = 2)); \
	}
WARN(warn, vwarn)
WARN(warnx, vwarnx)

static void *message_start(uint16_t id, struct call *c)
{
	void *next = next_function(id);
	c->fd = 2;
	call_start(SONDE_REC_CALL, id, 0, c);
	return next;
}

#define BEFORE_STATUS(name) \
	BEFORE before_##name(int status) \
	{ \
		return message_start(CALL_##name, CALL(ARGS1(status))); \
	}
BEFORE_STATUS(err)
BEFORE_STATUS(errx)
BEFORE_STATUS(verr)
BEFORE_STATUS(verrx)

BEFORE before_error(int status, int errnum)
{
	return message_start(CALL_error, CALL(ARGS2(status, errnum)));
}

BEFORE before_error_at_line(int status, int errnum)
{
	return message_start(CALL_error_at_line, CALL(ARGS2(status, errnum)));
}

BEFORE before___assert_fail(const char *assertion)
{
	return message_start(CALL___assert_fail, CALL(.text = assertion));
}

BEFORE before___assert(const char *assertion)
{
	return message_start(CALL___assert, CALL(.text = assertion));
}

BEFORE before___assert_perror_fail(int errnum)
{
	return message_start(CALL___assert_perror_fail, CALL());
}

/* Formatted input and output. A variadic function is implemented by its va_list sibling, which is hooked too. */

#define FORWARD(failure, name, sibling, parameters, arguments, file) \
	EXPORT int name parameters \
	{ \
		bool is_wanted = tracer_wants(SONDE_CAT_STDIO); \
		va_list ap; \
		va_start(ap, format); \
		BEFORE_##failure uint64_t start = tick(); \
		int result = REAL(sibling) arguments; \
		va_end(ap); \
		if (is_wanted) \
			call_done(CALL_##name, start, RET_##failure(result), ERROR_##failure(result), \
					CALL(.fd = file)); \
		return result; \
	}

#include "calls/stdio-format.def"

FORWARD(I, printf, vprintf, (const char *format, ...), (format, ap), stream_fd(stdout))
FORWARD(I, __printf_chk, __vprintf_chk, (int flag, const char *format, ...), (flag, format, ap), stream_fd(stdout))
FORWARD(I, fprintf, vfprintf, (FILE * stream, const char *format, ...), (stream, format, ap), stream_fd(stream))
FORWARD(I, __fprintf_chk, __vfprintf_chk, (FILE * stream, int flag, const char *format, ...),
		(stream, flag, format, ap), stream_fd(stream))
FORWARD(QI, scanf, vscanf, (const char *format, ...), (format, ap), stream_fd(stdin))
FORWARD(QI, __isoc99_scanf, __isoc99_vscanf, (const char *format, ...), (format, ap), stream_fd(stdin))
FORWARD(QI, fscanf, vfscanf, (FILE * stream, const char *format, ...), (stream, format, ap), stream_fd(stream))
FORWARD(QI, __isoc99_fscanf, __isoc99_vfscanf, (FILE * stream, const char *format, ...), (stream, format, ap),
		stream_fd(stream))

/* Directly to a descriptor; its offset moves by the result. */
#define TO_DESCRIPTOR(name, sibling, parameters, prepare, arguments, finish) \
	EXPORT int name parameters \
	{ \
		bool is_seen = tracer_wants(SONDE_CAT_ALL); \
		if (is_seen) \
			fds_touch(fd); \
		prepare; \
		uint64_t start = tick(); \
		int result = REAL(sibling) arguments; \
		finish; \
		if (!is_seen) \
			return result; \
		int64_t offset = fds_advance(fd, result); \
		call_done(CALL_##name, start, result, ERROR_I(result), CALL(.fd = fd, .offset = offset)); \
		return result; \
	}
#define START(last) \
	va_list ap; \
	va_start(ap, last)
int __vdprintf_chk(int fd, int flag, const char *format, va_list ap);
TO_DESCRIPTOR(vdprintf, vdprintf, (int fd, const char *format, va_list ap), , (fd, format, ap), )
TO_DESCRIPTOR(__vdprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, va_list ap), ,
		(fd, flag, format, ap), )
TO_DESCRIPTOR(dprintf, vdprintf, (int fd, const char *format, ...), START(format), (fd, format, ap), va_end(ap))
TO_DESCRIPTOR(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...), START(format),
		(fd, flag, format, ap), va_end(ap))

/* Wrappers for wide-character streams. */

#include "calls/stdio-wide.def"

FORWARD(I, wprintf, vwprintf, (const wchar_t *format, ...), (format, ap), stream_fd(stdout))
FORWARD(I, __wprintf_chk, __vwprintf_chk, (int flag, const wchar_t *format, ...), (flag, format, ap), stream_fd(stdout))
FORWARD(I, fwprintf, vfwprintf, (FILE * stream, const wchar_t *format, ...), (stream, format, ap), stream_fd(stream))
FORWARD(I, __fwprintf_chk, __vfwprintf_chk, (FILE * stream, int flag, const wchar_t *format, ...),
		(stream, flag, format, ap), stream_fd(stream))
FORWARD(QI, wscanf, vwscanf, (const wchar_t *format, ...), (format, ap), stream_fd(stdin))
FORWARD(QI, __isoc99_wscanf, __isoc99_vwscanf, (const wchar_t *format, ...), (format, ap), stream_fd(stdin))
FORWARD(QI, fwscanf, vfwscanf, (FILE * stream, const wchar_t *format, ...), (stream, format, ap), stream_fd(stream))
FORWARD(QI, __isoc99_fwscanf, __isoc99_vfwscanf, (FILE * stream, const wchar_t *format, ...), (stream, format, ap),
		stream_fd(stream))

/* Wrappers for stream queries. */

#undef fileno_unlocked
#undef feof_unlocked
#undef ferror_unlocked
#undef clearerr_unlocked

int _IO_feof(FILE *stream);
int _IO_ferror(FILE *stream);

#include "calls/idle.def"
