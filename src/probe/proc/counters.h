/*
 * counters: sampled values, as rows of the table counter.
 *
 * A total counts up from 0 at its first reading, or at its start; a level is written unchanged. A value that has not
 * changed is not written again; when it changes, the last reading of the old value is written too, so that the curve
 * between two rows is straight. Each name gets one row of the table series.
 */
#ifndef SONDE_PROBE_PROC_COUNTERS_H
#define SONDE_PROBE_PROC_COUNTERS_H

#include "base/map.h"
#include "store/sink.h"

struct counters {
	struct store_sink *sink;
	uint64_t rows;
	int64_t now_ns; /* time of the current reading */
	/* private */
	struct map known; /* name ids with a row in series */
};

struct counter {
	int64_t name; /* 0: not initialized */
	int64_t pid;  /* STORE_NULL: a counter of the machine */
	bool is_total;
	bool has_base; /* a total that starts at 0, not at its first reading: it started during the run */
	double base, last;
	int64_t read_ns, written_ns;
};

/* Sets the name, before the first value. `unit`: "ns", "bytes" or what is counted. */
void counter_init(struct counters *c, struct counter *k, const char *name, const char *unit, bool is_total,
		int64_t pid);
void counter_set(struct counters *c, struct counter *k, double value);
void counter_finish(struct counters *c, struct counter *k); /* writes the last reading if it is still pending */
void counters_release(struct counters *c);

#endif
