/*
 * push-receiver: metrics that applications of Waggle's first profiler push over a Unix socket, as messages that are
 * each terminated by an empty line:
 *
 *	{"name": {"value": 1.5, "timestamp": 1700000000.0}, ...}
 *
 * Each connection is an application, named by its container or else by its program. Its values are exported as
 * gauges, the last value of each, until it disconnects. A value that is not a finite number is rejected
 * individually, and so is a malformed message; both are counted.
 */
#ifndef SONDE_LIVE_PUSH_RECEIVER_H
#define SONDE_LIVE_PUSH_RECEIVER_H

#include "base/buf.h"
#include "base/err.h"
#include "live/apps.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_pushed;

/* path NULL: *out is NULL. A stale socket without a listening process is replaced. */
int live_pushed_start(struct live_pushed **out, const char *path, struct sonde_err *err);
void live_pushed_free(struct live_pushed *p); /* p may be NULL */
/* Adds the current values to a scan. */
int live_pushed_add(struct live_pushed *p, struct live_scan *s, size_t series_max);

/* The parser of one connection, independent of read boundaries. The input is untrusted: binary, invalid, endless. */

#define PUSHED_METRICS_MAX 64
#define PUSHED_MESSAGE_BYTES_MAX 65536

struct pushed_text {
	struct {
		char name[SONDE_NAME_BYTES];
		double value; /* finite */
	} metrics[PUSHED_METRICS_MAX];
	size_t metric_count;
	uint64_t rejected;
	/* private */
	struct buf text; /* of an incomplete message */
};

void pushed_text_init(struct pushed_text *t);
void pushed_text_release(struct pushed_text *t);
/* False: the message exceeds the limit, and the connection must be closed. */
bool pushed_text_add(struct pushed_text *t, const char *bytes, size_t n);

#endif
