/*
 * perfetto-tracks: what the events of a Perfetto trace lie on, and the names they share. Private to perfetto*.c.
 *
 * A track is described by a packet of its own before its first event; so is a
 * name, which events then refer to by number. Tracks are processes, their
 * threads, counters, and lanes beside a thread for spans that cross others.
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
	int error; /* the first, a negative errno */
	/* private */
	struct buf packet, event, inner; /* messages at hand */
	bool has_begun;
	struct map names[3];      /* by enum perfetto_name: text -> number */
	struct map processes;     /* pid -> index in model_processes + 1 of its last image */
	struct map thread_names;  /* pid and tid -> string id + 1 */
	struct map process_names; /* pid -> string id + 1, of those that only probes have seen */
	struct map tracks;        /* kind and ids -> number */
	struct nest lanes;        /* by track and lane */
	uint64_t flows;
};

enum perfetto_name { PERFETTO_CATEGORY, PERFETTO_EVENT, PERFETTO_ARGUMENT };

int perfetto_tracks_load(struct perfetto *p, struct sonde_err *err);
void perfetto_release(struct perfetto *p);

/* Write what is in p->packet as the next packet of the trace. */
void perfetto_packet(struct perfetto *p);
/* The number of a name; the first time a packet tells it. */
uint64_t perfetto_name(struct perfetto *p, enum perfetto_name kind, const char *text, size_t n);
/* The number of a track; the first time a packet describes it. */
uint64_t perfetto_thread(struct perfetto *p, int64_t pid, int64_t tid);
/* pid STORE_NULL: the machine's. */
uint64_t perfetto_counter(struct perfetto *p, int64_t pid, int64_t name);
/* A command queue of a device; device and queue may be STORE_NULL. */
uint64_t perfetto_queue(struct perfetto *p, int64_t pid, int64_t device, int64_t queue);
/* Where a box is drawn: on its track when it lies inside what is there, else on the first lane beside where it does. */
uint64_t perfetto_lane(struct perfetto *p, uint64_t track, int64_t ts_ns, int64_t *dur_ns);

/* The samples of the run: perfetto-samples.c. */
int perfetto_samples(struct perfetto *p, const struct exchange_options *options, struct sonde_err *err);

#endif
