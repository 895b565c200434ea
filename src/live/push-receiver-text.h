/*
 * pushed-text: what one application has pushed (see push-receiver.h), from the bytes that it sends, however they were
 * cut.
 *
 * The bytes are anybody's: they may be no text, no JSON, or a message without an end.
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
	struct buf text; /* of a message that has not ended */
};

void pushed_text_init(struct pushed_text *t);
void pushed_text_release(struct pushed_text *t);
/* False: it speaks without an end, and must not be heard any more. */
bool pushed_text_add(struct pushed_text *t, const char *bytes, size_t n);

#endif
