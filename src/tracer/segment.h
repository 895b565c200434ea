/*
 * segment: the files of this process's ring, and their growth.
 *
 * A flag serialises growth; other threads wait for it only briefly. A thread that gets no room drops the event and
 * counts it. Slow paths run with signals blocked, so that a handler that leaves by longjmp cannot interrupt one
 * halfway.
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

/* Create a segment, as large as possible: a nearly full disk still gives a small ring. */
bool segment_new_fitting(uint32_t chunks);

enum growth { GROWN, REFUSED, BUSY };

/* One thread grows the ring; the others wait briefly. */
enum growth segments_grow(uint32_t chunks);

/* Grow by the next increment; after a failure retry only occasionally. False if there is no room left. */
bool segments_grow_now_and_then(void);

/* For new files: exceeding RLIMIT_FSIZE raises SIGXFSZ, which kills the program. */
bool is_within_file_limit(size_t bytes);
/* Write the decimal digits and a NUL; returns their end. */
char *put_number(char *at, uint32_t n);

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
