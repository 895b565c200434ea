/*
 * chrome-split: splits the JSON of a Chrome trace into its events while it is read.
 *
 * A trace is an array of events, or an object with such an array as its member "traceEvents". Bytes are added block by
 * block, and each event is passed on as a text: memory is that of one event. Only what is needed to find the end of an
 * event is checked; the array may be unterminated.
 */
#ifndef SONDE_EXCHANGE_CHROME_SPLIT_H
#define SONDE_EXCHANGE_CHROME_SPLIT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chrome_split {
	uint64_t too_long; /* events that were skipped */
	/* Called for each event; a result other than 0 stops. */
	int (*take)(void *arg, char *text, size_t n);
	void *arg;
	/* private */
	struct buf event, key;
	unsigned depth, events_depth; /* open brackets; the depth of the array of events, 0: not reached */
	bool is_string, is_escaped, is_event, is_skipped, is_key, has_array;
};

void chrome_split_init(struct chrome_split *s, int (*take)(void *arg, char *text, size_t n), void *arg);
void chrome_split_release(struct chrome_split *s);
int chrome_split_add(struct chrome_split *s, const char *bytes, size_t n); /* 0, or the result of take */

#endif
