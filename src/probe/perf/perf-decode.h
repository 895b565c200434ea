/* decode: records as structs. Every length is checked against the record's. */
#ifndef SONDE_PROBE_PERF_PERF_DECODE_H
#define SONDE_PROBE_PERF_PERF_DECODE_H

#include "probe/perf/source.h"

/* What our events are sampled with; tracepoints have RAW instead of what follows PERIOD. */
#define DECODE_BASE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
			PERF_SAMPLE_PERIOD)

/* Of DECODE_BASE behind the header. */
#define DECODE_SAMPLE_BYTES 48

/* What is added to perf's times: in a time namespace our CLOCK_MONOTONIC is not the kernel's own. Set at attach. */
extern int64_t decode_shift_ns;

/* The time of a record; INT64_MIN when it is too short to have one. */
int64_t decode_time(const struct perf_event_header *h);
bool decode_record(const struct perf_event_header *h, struct perf_record *r);
/* The rest of a sample with this sample_type. */
bool decode_sample(const struct perf_record *r, uint64_t sample_type, struct perf_sample *s);
/* A tracepoint's raw bytes; NULL when there are none. */
const uint8_t *decode_raw(const struct perf_record *r, size_t *bytes);

/* struct of PERF_RECORD_MMAP2 */
struct decoded_mmap {
	int32_t pid, tid;
	uint64_t start, bytes, offset;
	const uint8_t *build_id;
	unsigned build_id_bytes;
	const char *path; /* NUL-terminated */
};
bool decode_mmap(const struct perf_record *r, struct decoded_mmap *m);

#endif
