/*
 * ring: the buffer that perf writes a CPU's records to.
 *
 * ring_peek shows the next record and leaves it; ring_next gives its room back.
 * A record that wraps around the end is copied together first.
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
	uint64_t seen; /* what ring_look_ahead has shown */
	_Alignas(8) uint8_t copy[65536];
};

/* The largest power of two pages up to `bytes` that we may have. 0 or -errno. */
int ring_map(struct ring *r, int fd, uint32_t cpu, size_t bytes);
void ring_unmap(struct ring *r);
void ring_look(struct ring *r); /* what has been written by now */
/* NULL when there is none, or nonsense: then the rest is dropped and *is_bad set. */
const struct perf_event_header *ring_peek(struct ring *r, bool *is_bad);
/*
 * The next record that was not shown yet, whoever's turn it is: its first bytes, at most n, and in *h its header.
 * False when there is none.
 */
bool ring_look_ahead(struct ring *r, void *out, size_t n, struct perf_event_header *h);
void ring_next(struct ring *r, const struct perf_event_header *h);
void ring_give_back(struct ring *r); /* let the kernel use what was taken */

#endif
