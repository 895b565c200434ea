/*
 * segment: the files of this process's ring, and their growth.
 *
 * Growth is guarded by a flag that others wait for only briefly: whoever cannot have
 * room now drops the event and counts it. Slow paths run with signals blocked, so that
 * a handler that jumps away cannot leave one half done.
 */
#ifndef SONDE_TRACER_SEGMENT_H
#define SONDE_TRACER_SEGMENT_H

#include "tracer/tracer.h"

#include <signal.h>

static inline size_t segment_bytes(uint32_t chunks)
{
	return SONDE_SEGMENT_HEAD_BYTES + (size_t)chunks * SONDE_CHUNK_BYTES;
}

static inline struct sonde_chunk *segment_chunk(struct sonde_segment *s, uint32_t i)
{
	return (void *)((char *)s + segment_bytes(i));
}

/* A new one, as large as there is room for: a nearly full disk still gives a small ring. */
bool segment_new_fitting(uint32_t chunks);

enum growth { GROWN, REFUSED, BUSY };

/* One thread grows the ring; the others wait a little for it. */
enum growth segments_grow(uint32_t chunks);

/* By as much as is due; after a refusal only now and then. False: there is no more room. */
bool segments_grow_now_and_then(void);

static inline uint64_t signals_block(void)
{
	uint64_t all = ~0ull, old = 0;
	if (!tracer.is_seccomped)
		sys4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(old));
	return old;
}

static inline void signals_restore(uint64_t old)
{
	if (!tracer.is_seccomped)
		sys4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
}

static inline int64_t mono_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#endif
