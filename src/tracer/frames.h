/*
 * frames: the unfinished spans and instrumented functions of each thread.
 *
 * Each thread that annotates has a private stack of frames. Its lowest part is mirrored into the thread's current
 * chunk (open[] and depth), where a reader finds the unfinished spans of a killed thread. The private memory is
 * authoritative: the next push or pop repairs the mirror if the chunk changed or was missing.
 *
 * A frame contains the stack pointer of the call that pushed it. A push from a higher address, or from another call at
 * the same address, proves that frames were left by longjmp: they are recorded as ended now. Loose frames (of
 * interpreters, where spans end in any order) have no such address; they are removed at any position. A forked child
 * starts without frames.
 */
#ifndef SONDE_TRACER_FRAMES_H
#define SONDE_TRACER_FRAMES_H

#include "tracer/tracer.h"

struct frame {
	uint64_t ticks;
	uint64_t what; /* category << 32 | name, or FRAME_CODE and a code address */
	uintptr_t sp;  /* 0: unknown */
	struct origin {
		uint32_t from; /* low half of the hook call's address, or of the note's */
		uint32_t site; /* low half of the function's return address; FRAME_SPAN, FRAME_LOOSE */
	} origin;
};

#define FRAME_CODE (1ull << 63)
#define FRAME_SPAN 0u /* as `site` */
#define FRAME_LOOSE 1u
#define FRAMES_NONE UINT32_MAX         /* not on the stack: no room */
#define FRAMES_STACK_BYTES (64u << 20) /* addresses farther apart are on different stacks */

/* Below the stack of a thread that has none. */
extern struct frame frames_nothing[1] __attribute__((visibility("hidden")));

/* Before a push that detected an inconsistency. Returns the depth to push at, or FRAMES_NONE. */
uint32_t frames_flush(uintptr_t sp, struct origin origin);

/* Remove a span's frame that is not on top, with the abandoned frames above it. */
void frames_remove(uint64_t ticks, uint64_t what, uint32_t depth);

/* Frames from `depth` up were left by longjmp: record and drop them. */
void frames_leave(uint32_t depth);

/* After frames were removed: update the chunk. */
void frames_mirror(void);

ALWAYS_INLINE struct frame *frames_top(void)
{
	return &thread.frames[(int64_t)thread.depth - 1];
}

/*
 * Does a push from this address prove that the frame was left by longjmp? At an equal address it does if the same code
 * runs again, or another call of a function; code inlined into a function has the function's return address.
 */
ALWAYS_INLINE bool frame_is_left(const struct frame *f, uintptr_t sp, struct origin origin)
{
	if (likely(sp != f->sp))
		return sp - f->sp < FRAMES_STACK_BYTES && f->sp;
	return sp &&
			(origin.from == f->origin.from ||
					(origin.site > FRAME_LOOSE && f->origin.site > FRAME_LOOSE &&
							origin.site != f->origin.site));
}

/* The chunk's copy of a frame. */
ALWAYS_INLINE struct sonde_open_span frame_open(uint64_t ticks, uint64_t what)
{
	return (struct sonde_open_span){ .ticks = ticks, .what = what & FRAME_CODE ? what : (uint32_t)what };
}

/* Push a frame. Returns its depth. The thread has a chunk. */
ALWAYS_INLINE uint32_t frames_push(uint64_t ticks, uint64_t what, uintptr_t sp, struct origin origin)
{
	struct thread *t = &thread;
	uint32_t at = t->depth;
	if (unlikely(at >= t->frames_max || t->chunk->depth != at || frame_is_left(frames_top(), sp, origin))) {
		at = frames_flush(sp, origin);
		if (at == FRAMES_NONE)
			return FRAMES_NONE;
	}
	struct frame *f = &t->frames[at];
	t->depth = at + 1; /* first: a signal handler pushes above */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*f = (struct frame){ .ticks = ticks, .what = what, .sp = sp, .origin = origin };
	if (likely(at < SONDE_OPEN_SPANS_MAX))
		t->chunk->open[at] = frame_open(ticks, what);
	__atomic_store_n(&t->chunk->depth, at + 1, __ATOMIC_RELEASE);
	return at;
}

/* Remove the top frame. */
ALWAYS_INLINE void frames_pop(void)
{
	struct thread *t = &thread;
	uint32_t at = t->depth - 1;
	t->frames[at].sp = 0;
	t->depth = at;
	if (likely(t->chunk->depth == at + 1 && t->epoch == tracer.alive->epoch))
		__atomic_store_n(&t->chunk->depth, at, __ATOMIC_RELEASE);
	else
		frames_mirror();
}

/* Remove the frame of a span that ends. */
ALWAYS_INLINE void frames_end(uint64_t ticks, uint64_t what, uint32_t depth)
{
	const struct frame *top = frames_top();
	if (likely(depth + 1 == thread.depth && top->ticks == ticks && top->what == what))
		frames_pop();
	else
		frames_remove(ticks, what, depth);
}

#endif
