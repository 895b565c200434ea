/*
 * sofa: the CSV files that SOFA's preprocess step writes to its log directory. Private to sofa*.c.
 *
 * All files have the same 13 columns; -1 is written for missing values. Times are seconds since the start of the run.
 */
#ifndef SONDE_EXCHANGE_SOFA_H
#define SONDE_EXCHANGE_SOFA_H

#include "base/map.h"
#include "exchange/csv.h"
#include "exchange/exchange.h"
#include "model/stacks.h"

struct sofa_row {
	double timestamp, event, duration;
	int64_t device, copy_kind;
	double payload, bandwidth;
	int64_t source, destination, pid, tid;
	const char *name;
};

#define SOFA_ROW_INIT \
	{ \
		.event = -1, .duration = -1, .device = -1, .copy_kind = -1, .payload = -1, .bandwidth = -1, \
		.source = -1, .destination = -1, .pid = -1, .tid = -1 \
	}

struct sofa {
	struct model_run *run;
	int dirfd;
	int64_t start_ns;
	const struct exchange_options *options;
};

double sofa_seconds(const struct sofa *s, int64_t ts_ns);
/* Opens a file of the directory and writes its header; 0 or -errno. */
int sofa_open(const struct sofa *s, struct csv *c, const char *name, struct sonde_err *err);
void sofa_put(struct csv *c, const struct sofa_row *row);
int sofa_close(struct csv *c, const char *name, struct sonde_err *err);

double sofa_or_unused(int64_t v); /* STORE_NULL is -1 */

/* Event files: one line per row of a table. */
struct sofa_events {
	const struct sofa *sofa;
	struct model_stacks *stacks;
	struct map flows; /* flow number and 0 source, 1 destination, 2 protocol -> string id */
	struct csv csv;
};

/* sofa-counters.c: rows of the tables gpu, span (CUDA calls) and block. */
void sofa_put_command(struct sofa_events *e, const void *data);
void sofa_put_api(struct sofa_events *e, const void *data);
void sofa_put_request(struct sofa_events *e, const void *data);

/* mpstat.csv, diskstat.csv, netstat.csv, vmstat.csv and nvsmi_trace.csv, from the machine's counters. */
int sofa_write_counters(const struct sofa *s, struct sonde_err *err);

#endif
