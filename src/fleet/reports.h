/*
 * reports: parses the lines a job's command writes and collects them into batches.
 *
 * A line is `report STEP LOSS [WORKER [CONFIG]]` or `event JSON`, a decision of the controller;
 * other and longer lines are counted and skipped. At most FLEET_REPORTS_MAX reports are queued; the
 * oldest are dropped then. Decisions beyond FLEET_NOTES_BYTES are dropped.
 */
#ifndef SONDE_FLEET_REPORTS_H
#define SONDE_FLEET_REPORTS_H

#include "base/buf.h"
#include "fleet/job-state.h"
#include "fleet/nats-client.h"

enum { FLEET_REPORTS_MAX = 4096, FLEET_REPORT_LINE_MAX = 2048, FLEET_NOTES_BYTES = 256 << 10 };

struct fleet_reports { /* all zero: empty */
	struct fleet_report *rows;
	size_t count;
	char *notes; /* JSON values, comma-separated; NULL: none */
	size_t notes_len;
	uint64_t bad_lines, dropped;
	/* private */
	char line[FLEET_REPORT_LINE_MAX];
	size_t line_len;
};

/* Parses bytes as received; a line may be split across calls. */
void fleet_reports_consume(struct fleet_reports *r, const char *bytes, size_t n, int64_t since_start_ns);
/* Is anything queued? */
bool fleet_reports_wait(const struct fleet_reports *r);
/* Formats the queued reports and decisions as one event of the lease. */
void fleet_reports_event(const struct fleet_reports *r, uint64_t epoch, struct buf *out);
/* They were delivered: empties the queue. */
void fleet_reports_reset(struct fleet_reports *r);
void fleet_reports_release(struct fleet_reports *r);

/* Batches: output and reports of a job's command, queued for the server. They are numbered, and the server stores
 * each number once: a batch whose delivery is uncertain is sent again unchanged. Unsent data is kept; output beyond
 * FLEET_HELD_MAX is dropped and counted. */

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
