/* run-json: writes run.json; doc/format.md lists its keys. */
#ifndef SONDE_RECORD_RUN_JSON_H
#define SONDE_RECORD_RUN_JSON_H

#include "base/buf.h"
#include "probe/probe.h"
#include "record/drain.h"
#include "record/record.h"

#include <sys/resource.h>

struct run_facts {
	const char *state; /* "recording", "complete", "recovered" */
	const char *name;
	char *const *argv;                                 /* NULL: unknown */
	const char *ring;                                  /* ring directory while recording, then NULL */
	const char *ring_id;                               /* see ringdir.h */
	int64_t start_real_ns, start_mono_ns, end_mono_ns; /* end STORE_NULL while recording */
	bool has_status;
	int status;
	int64_t oom_kills;             /* see launch_oom_kills; 0 or less: not reported */
	uint64_t memory_max_bytes;     /* memory limit; 0: none */
	const struct drain *drain;     /* NULL until the tracer has run */
	const struct store_sink *sink; /* after the last row; NULL before */
	const char *trace_state;       /* "ran", "off", "failed" */
	const char *trace_reason;      /* NULL if none */
	uint64_t dropped, filtered, untraced;
	struct probe_set *probes;            /* NULL: no probes */
	const struct probe_target *observed; /* NULL: a command was run */
	const struct rusage *usage;          /* of the command and the children it waited for; NULL: unknown */
	const struct run_filters *filters;   /* see record.h; NULL: none */
	int64_t cpu_ns;                      /* CPU time of the recorder; STORE_NULL while recording */
};

void runjson_write(struct buf *out, const struct run_facts *f);

#endif
