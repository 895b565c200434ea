/*
 * chrome-split: the events of a Chrome trace, cut out of its JSON as it is read.
 *
 * A trace is an array of events, or an object whose member "traceEvents" is
 * one. Bytes go in piece by piece, each event comes out as its own text: memory
 * is that of one event. Nothing is checked but what is needed to tell where an
 * event ends; the array need not have an end.
 */
#ifndef SONDE_EXCHANGE_CHROME_SPLIT_H
#define SONDE_EXCHANGE_CHROME_SPLIT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chrome_split {
	uint64_t too_long; /* events that were passed over */
	/* What becomes of an event; not 0 ends it. */
	int (*take)(void *arg, char *text, size_t n);
	void *arg;
	/* private */
	struct buf event, key;
	unsigned depth, events_depth; /* brackets that are open; those of the array of events, 0: not there yet */
	bool is_string, is_escaped, is_event, is_skipped, is_key, has_array;
};

void chrome_split_init(struct chrome_split *s, int (*take)(void *arg, char *text, size_t n), void *arg);
void chrome_split_release(struct chrome_split *s);
int chrome_split_add(struct chrome_split *s, const char *bytes, size_t n); /* 0, or what take says */

#endif
