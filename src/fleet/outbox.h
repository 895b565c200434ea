/*
 * batches: what a job's command prints and reports, on its way to the fleet.
 *
 * Each batch has a number of its own, and the server keeps a number once: one of
 * which it is not known whether it arrived is told again, byte for byte, and counts
 * once. What cannot be told waits. Of output more than FLEET_HELD_MAX does not; it
 * is dropped and counted.
 */
#ifndef SONDE_FLEET_OUTBOX_H
#define SONDE_FLEET_OUTBOX_H

#include "fleet/nats-client.h"
#include "fleet/reports.h"

enum { FLEET_LOG_CHUNK = 64 << 10, FLEET_HELD_MAX = 4 << 20 };

struct fleet_batches { /* log = BUF_INIT, told = BUF_INIT, all else zero: empty */
	struct buf log;
	struct fleet_reports reports;
	uint64_t dropped_bytes; /* of output */
	/* private */
	size_t chunk;    /* first bytes of log that may have arrived already; 0: none */
	struct buf told; /* the event with reports that may have arrived already; empty: none */
	uint64_t log_number, report_number;
};

#define FLEET_BATCHES_INIT { .log = BUF_INIT, .told = BUF_INIT }

/* What arrived on a descriptor that does not block, at most a chunk. false: nothing. */
bool fleet_batches_read(struct fleet_batches *b, int fd);
/* Tell what waits, until something fails: the next call goes on there. 0: nothing waits any more. */
int fleet_batches_send(struct fleet_batches *b, struct fleet_client *client, const char *id, uint64_t epoch);
void fleet_batches_release(struct fleet_batches *b);

#endif
