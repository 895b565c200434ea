/*
 * pushed: metrics that applications of Waggle's first profiler push over a Unix socket:
 * messages {"name": {"value": 1.5, "timestamp": 1700000000.0}, ...}, each ended by an empty line.
 *
 * Each connection is an application, called by its container or else by its program; what it
 * pushed is shown as gauges, the last value of each, and is gone when it hangs up. A value that
 * is no finite number is rejected alone, a message that makes no sense too; both are counted.
 */
#ifndef SONDE_LIVE_PUSH_RECEIVER_H
#define SONDE_LIVE_PUSH_RECEIVER_H

#include "base/err.h"
#include "live/apps.h"

struct live_pushed;

/* path NULL: *out is NULL. A socket that nobody listens on any more is replaced. */
int live_pushed_start(struct live_pushed **out, const char *path, struct sonde_err *err);
void live_pushed_free(struct live_pushed *p); /* NULL is fine */
/* What is there now, into a scan. */
int live_pushed_add(struct live_pushed *p, struct live_scan *s, size_t series_max);

#endif
