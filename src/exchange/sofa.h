/*
 * sofa: the CSV files that SOFA's preprocess leaves in its log directory. Private to sofa*.c.
 *
 * Every file has the same 13 columns; what a source does not have is -1. Times
 * are seconds since the start of the run.
 */
#ifndef SONDE_EXCHANGE_SOFA_H
#define SONDE_EXCHANGE_SOFA_H

#include "exchange/csv.h"
#include "exchange/exchange.h"

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
/* Open a file of the directory and write its head; 0 or -errno. */
int sofa_open(const struct sofa *s, struct csv *c, const char *name, struct sonde_err *err);
void sofa_put(struct csv *c, const struct sofa_row *row);
int sofa_close(struct csv *c, const char *name, struct sonde_err *err);

/* mpstat.csv, diskstat.csv and netstat.csv, of the machine's counters. */
int sofa_write_counters(const struct sofa *s, struct sonde_err *err);

#endif
