/* recorder: shared by record.c (main sequence) and recorder-probes.c (services for probes). */
#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

#include "launch/launch.h"
#include "record/drain.h"
#include "record/isolation.h"
#include "record/record.h"
#include "record/run-json.h"
#include "store/run-dir.h"

struct recorder {
	const struct record_options *o;
	struct store_run run;
	struct ring_dir ring;
	struct store_sink sink;
	struct drain drain;
	struct launch launch;
	struct probe_set probes;
	struct ladder ladder;
	struct run_facts facts;
	struct rusage usage;
	struct buf library; /* the tracer's */
	bool has_ring, has_sink, has_drain, has_launch, has_probes;
	struct sonde_err reason;
	int64_t flushed_ns, probed_ns;
	uint64_t unflushed_events, unflushed_max;
};

void recorder_open_probes(struct recorder *r);
void recorder_attach_probes(void *recorder, pid_t pid); /* the command exists and waits */
void recorder_pass_probes(void *recorder); /* during a slow start of the command, so that perf rings do not overflow */
void recorder_meet_program(void *recorder, pid_t pid); /* a daemon has started the program, which waits for us */

#endif
