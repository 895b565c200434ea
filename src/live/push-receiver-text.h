/*
 * push-receiver-text: parses the bytes that an application pushes (see push-receiver.h), independent of read
 * boundaries.
 *
 * The input is untrusted: it may be binary, invalid JSON, or a message without an end.
 */
#ifndef SONDE_LIVE_PUSH_RECEIVER_TEXT_H
#define SONDE_LIVE_PUSH_RECEIVER_TEXT_H

#include "base/buf.h"
#include "sonde/shm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
