/*
 * reports: the lines a job's command writes, gathered into batches.
 *
 * A line is `report STEP LOSS`; others, and lines longer than 256 bytes, are counted
 * and left out. At most FLEET_REPORTS_MAX wait; older ones then make room.
 */
#ifndef SONDE_FLEET_REPORTS_H
#define SONDE_FLEET_REPORTS_H

#include "base/buf.h"
#include "fleet/ledger.h"

enum { FLEET_REPORTS_MAX = 4096, FLEET_REPORT_LINE_MAX = 256 };

struct fleet_reports { /* all zero: empty */
	struct fleet_report *rows;
	size_t count;
	uint64_t bad_lines, dropped;
	/* private */
	char line[FLEET_REPORT_LINE_MAX];
	size_t line_len;
};

/* Bytes as they arrived, lines cut anywhere. */
void fleet_reports_take(struct fleet_reports *r, const char *bytes, size_t n, int64_t since_start_ns);
/* The rows that wait as one event of the lease. */
void fleet_reports_event(const struct fleet_reports *r, uint64_t epoch, struct buf *out);
void fleet_reports_release(struct fleet_reports *r);

#endif
