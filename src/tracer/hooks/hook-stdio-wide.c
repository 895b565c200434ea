/* Wrappers for wide-character streams. */
#include "tracer/hooks/scanf.h"

#include "tracer/hooks/forward.h"

#include <wchar.h>

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
