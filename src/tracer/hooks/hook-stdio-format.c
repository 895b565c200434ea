/* Wrappers for formatted input and output. */
#include "tracer/hooks/scanf.h"

#include "tracer/hooks/forward.h"

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
