/* The tracepoint of loop.c and span.c, for LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sonde_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./loop-lttng.h"

#if !defined(SONDE_BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SONDE_BENCH_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(sonde_bench, io, LTTNG_UST_TP_ARGS(int, fd, long, size, long, offset, long, result),
		LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, fd, fd) lttng_ust_field_integer(long, size, size)
						lttng_ust_field_integer(long, offset, offset)
								lttng_ust_field_integer(long, result, result)))
LTTNG_UST_TRACEPOINT_EVENT(sonde_bench, span, LTTNG_UST_TP_ARGS(int, is_end),
		LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, is_end, is_end)))

#endif
#include <lttng/tracepoint-event.h>
