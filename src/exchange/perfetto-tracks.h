/*
 * perfetto-tracks: the tracks of a Perfetto trace, and its interned names. Private to perfetto*.c.
 *
 * A packet describes each track before its first event; likewise each name, which events then refer to by number.
 * Tracks are processes, their threads, counters, and additional lanes of a thread for overlapping spans.
 */
#ifndef SONDE_EXCHANGE_PERFETTO_TRACKS_H
#define SONDE_EXCHANGE_PERFETTO_TRACKS_H

#include "base/buf.h"
#include "base/map.h"
#include "exchange/exchange.h"
#include "exchange/nest.h"
#include "model/run-model.h"

#include <stdint.h>
#include <stdio.h>

struct perfetto {
	struct model_run *run;
	FILE *out;
	int error; /* the first error, -errno */
	/* private */
	struct buf packet, event, inner; /* messages being written */
	bool has_begun;
	struct map names[3];      /* by enum perfetto_name: text -> number */
	struct map processes;     /* pid -> index in model_processes + 1 of its last exec incarnation */
	struct map thread_names;  /* pid and tid -> string id + 1 */
	struct map process_names; /* pid -> string id + 1, for processes that only probes have seen */
	struct map tracks;        /* kind and ids -> number */
	struct nest lanes;        /* by track and lane */
	uint64_t flows;
};

enum perfetto_name { PERFETTO_CATEGORY, PERFETTO_EVENT, PERFETTO_ARGUMENT };

int perfetto_tracks_load(struct perfetto *p, struct sonde_err *err);
void perfetto_release(struct perfetto *p);

/* Writes p->packet as the next packet of the trace. */
void perfetto_packet(struct perfetto *p);
/* The number of a name; the first call writes a packet that defines it. */
uint64_t perfetto_name(struct perfetto *p, enum perfetto_name kind, const char *text, size_t n);
/* The number of a track; the first call writes a packet that describes it. */
uint64_t perfetto_thread(struct perfetto *p, int64_t pid, int64_t tid);
/* pid STORE_NULL: a counter of the machine. */
uint64_t perfetto_counter(struct perfetto *p, int64_t pid, int64_t name);
/* A command queue of a device; device and queue may be STORE_NULL. */
uint64_t perfetto_queue(struct perfetto *p, int64_t pid, int64_t device, int64_t queue);
/* The track of a slice: its own if it nests there, otherwise the first lane of it where it does. */
uint64_t perfetto_lane(struct perfetto *p, uint64_t track, int64_t ts_ns, int64_t *dur_ns);

/* perfetto-samples.c: writes the samples of the run. */
int perfetto_samples(struct perfetto *p, const struct exchange_options *options, struct sonde_err *err);

#endif
