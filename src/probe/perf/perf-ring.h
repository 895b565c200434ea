/*
 * perf-ring: the buffers that perf writes records to, and these records as structs.
 *
 * A ring is the buffer that perf writes a CPU's records to.
 *
 * ring_peek returns the next record without consuming it; ring_next consumes
 * it. A record that wraps around the end is copied to contiguous memory first.
 */
#ifndef SONDE_PROBE_PERF_PERF_RING_H
#define SONDE_PROBE_PERF_PERF_RING_H

#include "probe/perf/source.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	int fd; /* the event that owns it */
	uint32_t cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t bytes; /* a power of two */
	uint64_t head, tail;
	uint64_t seen; /* position of ring_peek_ahead */
	_Alignas(8) uint8_t copy[65536];
};

/* Maps the largest power of two pages up to `bytes` that is permitted. Returns 0 or -errno. */
int ring_map(struct ring *r, int fd, uint32_t cpu, size_t bytes);
void ring_unmap(struct ring *r);
void ring_read_head(struct ring *r); /* reads the head */
/* Returns NULL if the ring is empty, or corrupt: then the rest is dropped and *is_bad set. */
const struct perf_event_header *ring_peek(struct ring *r, bool *is_bad);
/*
 * Copies the next record that was not returned yet, without consuming it: its first bytes, at most n, and its header to
 * *h. Returns false if there is none.
 */
bool ring_peek_ahead(struct ring *r, void *out, size_t n, struct perf_event_header *h);
void ring_next(struct ring *r, const struct perf_event_header *h);
void ring_give_back(struct ring *r); /* releases consumed records to the kernel */

/* perf-decode: perf records as structs. Every length is checked against the record's. */

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
