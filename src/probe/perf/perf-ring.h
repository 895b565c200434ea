/*
 * perf-ring: the buffer that perf writes a CPU's records to.
 *
 * ring_peek returns the next record without consuming it; ring_next consumes
 * it. A record that wraps around the end is copied to contiguous memory first.
 */
#ifndef SONDE_PROBE_PERF_PERF_RING_H
#define SONDE_PROBE_PERF_PERF_RING_H

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
	uint64_t seen; /* position of ring_look_ahead */
	_Alignas(8) uint8_t copy[65536];
};

/* Maps the largest power of two pages up to `bytes` that is permitted. Returns 0 or -errno. */
int ring_map(struct ring *r, int fd, uint32_t cpu, size_t bytes);
void ring_unmap(struct ring *r);
void ring_look(struct ring *r); /* reads the head */
/* Returns NULL if the ring is empty, or corrupt: then the rest is dropped and *is_bad set. */
const struct perf_event_header *ring_peek(struct ring *r, bool *is_bad);
/*
 * Copies the next record that was not returned yet, without consuming it: its first bytes, at most n, and its header to
 * *h. Returns false if there is none.
 */
bool ring_look_ahead(struct ring *r, void *out, size_t n, struct perf_event_header *h);
void ring_next(struct ring *r, const struct perf_event_header *h);
void ring_give_back(struct ring *r); /* releases consumed records to the kernel */

#endif
