/*
 * frames: what a thread is inside of, spans and instrumented functions alike.
 *
 * Each thread that annotates has a private stack of frames. Its lowest part is
 * mirrored into the thread's current chunk (open[] and depth), where a reader
 * finds what a killed thread was doing; private memory holds the truth, so that a
 * chunk that changed, or was missing for a while, is set right at the next push or
 * pop.
 *
 * A frame remembers the stack pointer of the call that pushed it. Whoever pushes
 * from a higher place, or in another call at the same place, proves that frames were
 * left by longjmp: they are recorded as ended now. Loose frames (of interpreters,
 * whose spans end in any order) have no such place; they are taken out wherever they
 * stand. A forked child begins with none.
 */
#ifndef SONDE_TRACER_FRAMES_H
#define SONDE_TRACER_FRAMES_H

#include "tracer/tracer.h"

struct frame {
	uint64_t ticks;
	uint64_t what; /* category << 32 | name, or FRAME_CODE and a code address */
	uintptr_t sp;  /* 0: not known */
	struct origin {
		uint32_t from; /* low half of the hook call's address, or of the note's */
		uint32_t site; /* low half of the function's return address; FRAME_SPAN, FRAME_LOOSE */
	} origin;
};

#define FRAME_CODE (1ull << 63)
#define FRAME_SPAN 0u /* as `site` */
#define FRAME_LOOSE 1u
#define FRAMES_NONE UINT32_MAX         /* not on the stack: there was no room */
#define FRAMES_STACK_BYTES (64u << 20) /* farther apart than this, two places are on two stacks */

/* What lies below the stack of a thread that has none. */
extern struct frame frames_nothing[1] __attribute__((visibility("hidden")));

/* Before a push that found something amiss; the depth to push at, or FRAMES_NONE. */
uint32_t frames_flush(uintptr_t sp, struct origin origin);

/* Take out a span's frame that is not on top, with those above it that were left behind. */
void frames_remove(uint64_t ticks, uint64_t what, uint32_t depth);

/* Frames from `depth` up were left by longjmp: record and drop them. */
void frames_leave(uint32_t depth);

/* After frames were taken off: the chunk shall say so too. */
void frames_mirror(void);

ALWAYS_INLINE struct frame *frames_top(void)
{
	return &thread.frames[(int64_t)thread.depth - 1];
}

/*
 * Does a push from this place prove that the frame was left by longjmp? At an equal
 * place it does when the same code runs once more, or another call of a function;
 * what was inlined into a function has the function's return address.
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

/* What a chunk says of a frame. */
ALWAYS_INLINE struct sonde_open_span frame_open(uint64_t ticks, uint64_t what)
{
	return (struct sonde_open_span){ .ticks = ticks, .what = what & FRAME_CODE ? what : (uint32_t)what };
}

/* Push; the depth it got. The thread has a chunk. */
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

/* Take the top off. */
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

/* A span ends. */
ALWAYS_INLINE void frames_end(uint64_t ticks, uint64_t what, uint32_t depth)
{
	const struct frame *top = frames_top();
	if (likely(depth + 1 == thread.depth && top->ticks == ticks && top->what == what))
		frames_pop();
	else
		frames_remove(ticks, what, depth);
}

#endif
