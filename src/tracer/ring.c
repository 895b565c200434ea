/*
 * Slow paths of the ring: a thread's first and subsequent chunks, and the ring of a forked child.
 */
#include "tracer/frames.h"
#include "tracer/segment.h"

#define ADOPTION_PROBES 16 /* owners checked when no chunk is free */
#define CHUNKS_AHEAD 16    /* 512 KiB, allocated while that is still possible */
#define CHILD_WAITS 2000   /* yields, while another thread creates the ring */
#define BLOCK_WAITS 50000  /* of 200 microseconds: after ten seconds the event is dropped */

static struct alive never_alive STATE = { .epoch = 0 };
struct tracer tracer STATE = { .alive = &never_alive, .clock = SONDE_CLOCK_TICKS };

/* The chunk of a thread without one: always full, so that every append takes the slow path. */
static struct sonde_chunk nowhere = { .tail = SONDE_TAIL_CLOSED };
static uint32_t nobody STATE;
_Thread_local struct thread thread = { .epoch = EPOCH_NEVER,
	.chunk = &nowhere,
	.owner = &nobody,
	.frames = frames_nothing + 1 };

/*
 * Without system calls: glibc keeps a thread's tid in its control block, valid before the thread's first instruction,
 * but stale after a fork that bypassed glibc.
 */
static int32_t current_tid(void)
{
	if (!tracer.is_seccomped)
		return (int32_t)sys0(SYS_gettid);
	return tracer.has_tcb_tid ? *(int32_t *)((char *)__builtin_thread_pointer() + 0x2d0) : 0;
}

bool ring_start(void)
{
	tracer.pid = (int32_t)sys0(SYS_getpid);
	tracer.process = __atomic_fetch_add(&tracer.control->next_process, 1, __ATOMIC_RELAXED);
	tracer.segment_count = 0;
	tracer.bytes = 0;
	tracer.board = NULL;
	tracer.is_growing = 0;
	tracer.next_file = 0;
	if (!segment_new_fitting(1)) {
		tracer.categories = 0;
		__atomic_fetch_add(&tracer.control->untraced_forks, 1, __ATOMIC_RELAXED);
		return false;
	}
	tracer.epoch = tracer.epoch + 1 == EPOCH_NEVER ? 1 : tracer.epoch + 1;
	__atomic_store_n(&tracer.alive->epoch, tracer.epoch, __ATOMIC_RELEASE);
	return true;
}

/* Chunks. */

static void chunk_take(struct sonde_segment *s, uint32_t i, int32_t tid)
{
	struct sonde_chunk *c = segment_chunk(s, i), *last = thread.chunk;
	c->tid = tid;
	c->start_ticks = tick();
	c->start_mono_ns = mono_ns();
	c->depth = 0;
	if (thread.epoch == tracer.epoch && last != &nowhere && last->depth) {
		c->depth = last->depth;
		memcpy(c->open, last->open, sizeof(c->open));
	}
	__atomic_store_n(&c->tail, SONDE_CHUNK_FIRST, __ATOMIC_RELEASE);
	thread.chunk = c;
	thread.owner = &s->owner[i];
	if (thread.vfork_pid)
		ring_who(thread.vfork_pid, thread.vfork_pid);
	if (tracer.ops)
		tracer.ops->on_chunk();
}

static bool chunk_find_free(int32_t tid)
{
	uint32_t segments = __atomic_load_n(&tracer.segment_count, __ATOMIC_ACQUIRE);
	for (uint32_t n = 0; n < segments; n++) {
		struct sonde_segment *s = tracer.segments[n];
		for (uint32_t i = 0; i < s->chunk_count && i < SONDE_CHUNKS_MAX; i++) {
			uint32_t is_free = 0;
			if (__atomic_load_n(&s->owner[i], __ATOMIC_RELAXED) == 0 &&
					__atomic_compare_exchange_n(&s->owner[i], &is_free, (uint32_t)tid, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
				chunk_take(s, i, tid);
				return true;
			}
		}
	}
	return false;
}

static bool adopt(struct sonde_segment *s, uint32_t i, int32_t tid)
{
	uint32_t owner = __atomic_load_n(&s->owner[i], __ATOMIC_RELAXED);
	struct sonde_chunk *c = segment_chunk(s, i);
	if (owner == 0 || owner == SONDE_OWNER_FULL || owner == (uint32_t)tid ||
			c->tail > SONDE_CHUNK_BYTES - SONDE_CHUNK_BYTES / 8 ||
			sys3(SYS_tgkill, tracer.pid, owner, 0) != -ESRCH ||
			!__atomic_compare_exchange_n(&s->owner[i], &owner, (uint32_t)tid, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return false;
	c->depth = 0;
	thread.chunk = c;
	thread.owner = &s->owner[i];
	ring_who(tracer.pid, tid);
	return true;
}

/* Continue a dead thread's chunk. Checks only a few owners, different ones each time. */
static bool chunk_adopt(int32_t tid)
{
	static uint32_t cursor;
	if (tracer.is_seccomped || thread.vfork_pid)
		return false;
	uint32_t segments = __atomic_load_n(&tracer.segment_count, __ATOMIC_ACQUIRE);
	for (unsigned probe = 0; segments && probe < ADOPTION_PROBES; probe++) {
		uint32_t at = __atomic_fetch_add(&cursor, 1, __ATOMIC_RELAXED);
		struct sonde_segment *s = tracer.segments[at / SONDE_CHUNKS_MAX % segments];
		if (at % SONDE_CHUNKS_MAX < s->chunk_count && adopt(s, at % SONDE_CHUNKS_MAX, tid))
			return true;
	}
	return false;
}

/* A recorder that was killed will not free any chunk. */
static bool has_drainer(void)
{
	int32_t pid = tracer.control->recorder_pid;
	if (pid && sys2(SYS_kill, pid, 0) == -ESRCH)
		tracer.control->recorder_pid = pid = 0;
	return pid != 0;
}

static bool chunk_next(int32_t tid)
{
	if (chunk_find_free(tid) || chunk_adopt(tid))
		return true;
	while (segments_grow_now_and_then()) /* other threads may have taken the new chunks */
		if (chunk_find_free(tid))
			return true;
	const struct timespec nap = { .tv_nsec = 200000 };
	if (tracer.control->overflow != SONDE_OVERFLOW_BLOCK || tracer.is_seccomped)
		return false;
	for (unsigned i = 0; i < BLOCK_WAITS && __atomic_load_n(&tracer.control->is_on, __ATOMIC_RELAXED); i++) {
		if (!has_drainer())
			return false;
		sys2(SYS_nanosleep, &nap, NULL);
		if (chunk_find_free(tid))
			return true;
	}
	return false;
}

void ring_drop(void)
{
	uint64_t *count = tracer.segment_count ? &tracer.segments[0]->dropped : &tracer.control->untraced_events;
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* In a forked child the first event of any thread creates the ring; two threads may do so concurrently. */
static bool child_start(void)
{
	static uint32_t is_starting STATE;
	/* Bounded: a fork may have copied the flag of a thread that does not exist in the child. */
	for (unsigned i = 0; i < CHILD_WAITS && __atomic_exchange_n(&is_starting, 1, __ATOMIC_ACQUIRE); i++)
		sys0(SYS_sched_yield);
	bool ok = true;
	if (!tracer.alive->epoch) {
		tracer.parent = tracer.process;
		if (tracer.is_seccomped) {
			__atomic_fetch_add(&tracer.control->untraced_forks, 1, __ATOMIC_RELAXED);
			tracer.categories = 0;
		}
		ok = !tracer.is_seccomped && (!tracer.ops || tracer.ops->on_fork_child()) && ring_start();
		if (ok && tracer.ops)
			tracer.ops->on_ring_ready();
	}
	__atomic_store_n(&is_starting, 0, __ATOMIC_RELEASE);
	return ok;
}

static void thread_detach(void)
{
	thread.epoch = EPOCH_NEVER;
	thread.chunk = &nowhere;
	thread.owner = &nobody;
}

bool ring_attach(void)
{
	struct thread *t = &thread;
	if (t->is_busy) {
		ring_drop();
		return false;
	}
	uint64_t mask = signals_block(); /* first: a handler that leaves by longjmp would leave is_busy set */
	t->is_busy = true;
	bool ok = tracer.alive->epoch || child_start();
	if (ok) {
		t->run_count = 0;
		if (t->vfork_pid && t->vfork_pid != (int32_t)sys0(SYS_getpid))
			t->vfork_pid = 0; /* forked by a vfork child */
		t->frames_max = 0;
		t->module_bytes = 0;
		thread_detach();
		t->tid = current_tid();
		ok = chunk_next(t->tid);
		if (ok)
			t->epoch = tracer.epoch;
		else
			ring_drop();
	}
	t->is_busy = false;
	signals_restore(mask);
	return ok;
}

/* The chunk is full: release it and continue in another. */
static bool chunk_switch(void)
{
	struct thread *t = &thread;
	uint32_t *full = t->owner;
	if (t->chunk->tail <= SONDE_CHUNK_BYTES)
		return true; /* a signal handler has switched already */
	ring_close_runs();
	if (tracer.ops) {
		__atomic_store_n(full, SONDE_OWNER_FULL, __ATOMIC_RELEASE); /* the next chunk may be the same one */
		tracer.ops->on_chunk_full();
	}
	bool ok = chunk_next(t->tid);
	if (!ok)
		thread_detach(); /* attach again at the next event */
	if (!tracer.ops)
		__atomic_store_n(full, SONDE_OWNER_FULL, __ATOMIC_RELEASE);
	return ok;
}

void *ring_reserve_slow(struct sonde_chunk *chunk, uint64_t at, size_t bytes)
{
	struct thread *t = &thread;
	if (at < SONDE_CHUNK_BYTES) {
		/* The rest of the chunk has no other reservation, and will get none. */
		uint64_t word = (SONDE_CHUNK_BYTES - at) / 8 | (uint64_t)SONDE_END << 24;
		__atomic_store_n((uint64_t *)(void *)((char *)chunk + at), word, __ATOMIC_RELEASE);
	}
	if (t->is_busy || bytes > SONDE_RECORD_BYTES_MAX) {
		ring_drop();
		return NULL;
	}
	uint64_t mask = signals_block();
	t->is_busy = true;
	bool ok = chunk_switch();
	t->is_busy = false;
	signals_restore(mask);
	if (ok)
		return ring_reserve(bytes);
	ring_drop();
	return NULL;
}

void ring_who(int32_t pid, int32_t tid)
{
	struct sonde_rec_who *r = ring_reserve(sizeof(*r));
	if (!r)
		return;
	r->pid = pid;
	r->tid = tid;
	ring_commit(&r->head, sizeof(*r), SONDE_REC_WHO, 0, 0);
}

void ring_grow_ahead(void)
{
	if (tracer.ops)
		tracer.ops->before_privilege_change();
	if (tracer.categories && !tracer.is_seccomped && tracer.segment_count == 1)
		segments_grow(CHUNKS_AHEAD);
}

void ring_before_seccomp(void)
{
	if (!tracer.categories || tracer.is_seccomped)
		return;
	ring_grow_ahead();
	tracer.is_seccomped = true; /* which other calls are still allowed is unknown */
	for (uint32_t i = 0; i < tracer.segment_count; i++)
		tracer.segments[i]->is_seccomped = 1;
}

void tracer_stop(void)
{
	if (tracer.ops)
		tracer.ops->before_privilege_change();
	tracer.categories = 0;
	tracer.clock = CLOCK_FORBIDDEN;
}
