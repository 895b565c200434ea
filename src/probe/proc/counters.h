/*
 * counters: values that are read again and again, as rows of the table counter.
 *
 * A total counts up from 0 at its first reading, or at its beginning; a level is what it is. A value that
 * has not changed is not written again; when it does change, the last reading of
 * the old value is written too, so that the curve between two rows is straight. Each
 * name is a row of the table series once.
 */
#ifndef SONDE_PROBE_PROC_COUNTERS_H
#define SONDE_PROBE_PROC_COUNTERS_H

#include "base/map.h"
#include "store/sink.h"

struct counters {
	struct store_sink *sink;
	uint64_t rows;
	int64_t now_ns; /* time of the reading at hand */
	/* private */
	struct map known; /* name ids that have their row of series */
};

struct counter {
	int64_t name; /* 0: not seen yet */
	int64_t pid;  /* STORE_NULL: the machine's */
	bool is_total;
	bool has_base; /* a total whose base is 0 and not its first reading: it began while we watched */
	double base, last;
	int64_t read_ns, written_ns;
};

/* Name it, before its first value. `unit`: "ns", "bytes" or what is counted. */
void counter_init(struct counters *c, struct counter *k, const char *name, const char *unit, bool is_total,
		int64_t pid);
void counter_set(struct counters *c, struct counter *k, double value);
void counter_finish(struct counters *c, struct counter *k); /* its last reading, if that was not written */
void counters_release(struct counters *c);

#endif
