/*
 * outbox: output and reports of a job's command, queued for the server.
 *
 * Batches are numbered and the server stores each number once: a batch whose delivery is uncertain
 * is sent again unchanged. Unsent data is kept; output beyond FLEET_HELD_MAX is dropped and
 * counted.
 */
#ifndef SONDE_FLEET_OUTBOX_H
#define SONDE_FLEET_OUTBOX_H

#include "fleet/nats-client.h"
#include "fleet/reports.h"

enum { FLEET_LOG_CHUNK = 64 << 10, FLEET_HELD_MAX = 4 << 20 };

struct fleet_batches { /* initialize with FLEET_BATCHES_INIT */
	struct buf log;
	struct fleet_reports reports;
	uint64_t dropped_bytes; /* of output */
	/* private */
	size_t chunk;    /* first bytes of log that may have been delivered already; 0: none */
	struct buf told; /* the reports event that may have been delivered already; empty: none */
	uint64_t log_number, report_number;
};

#define FLEET_BATCHES_INIT { .log = BUF_INIT, .told = BUF_INIT }

/* Reads up to a chunk from a non-blocking descriptor. false: nothing read. */
bool fleet_batches_read(struct fleet_batches *b, int fd);
/* Sends queued data until a send fails; the next call resumes there. 0: the queue is empty. */
int fleet_batches_send(struct fleet_batches *b, struct fleet_client *client, const char *id, uint64_t epoch);
void fleet_batches_release(struct fleet_batches *b);

#endif
