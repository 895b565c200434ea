/* perf-decode: perf records as structs. Every length is checked against the record's. */
#ifndef SONDE_PROBE_PERF_PERF_DECODE_H
#define SONDE_PROBE_PERF_PERF_DECODE_H

#include "probe/perf/source.h"

/* sample_type of our events; tracepoints have RAW instead of the fields after PERIOD. */
#define DECODE_BASE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
			PERF_SAMPLE_PERIOD)

/* Size of DECODE_BASE after the header. */
#define DECODE_SAMPLE_BYTES 48

/* Added to perf's timestamps: in a time namespace our CLOCK_MONOTONIC differs from the kernel's. Set at attach. */
extern int64_t decode_shift_ns;

/* Returns the time of a record; INT64_MIN if it is too short to have one. */
int64_t decode_time(const struct perf_event_header *h);
bool decode_record(const struct perf_event_header *h, struct perf_record *r);
/* Decodes the rest of a sample with this sample_type. */
bool decode_sample(const struct perf_record *r, uint64_t sample_type, struct perf_sample *s);
/* Returns a tracepoint's raw bytes; NULL if it has none. */
const uint8_t *decode_raw(const struct perf_record *r, size_t *bytes);

/* PERF_RECORD_MMAP2 */
struct decoded_mmap {
	int32_t pid, tid;
	uint64_t start, bytes, offset;
	const uint8_t *build_id;
	unsigned build_id_bytes;
	const char *path; /* NUL-terminated */
};
bool decode_mmap(const struct perf_record *r, struct decoded_mmap *m);

#endif
