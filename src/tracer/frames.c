/* Slow paths of the frame stack; see frames.h. */
#include "tracer/frames.h"

#include <signal.h>
#include <sys/mman.h>

#define BLOCK_BYTES (1u << 20) /* address space; pages are allocated on use */
#define FRAMES_MAX (BLOCK_BYTES / sizeof(struct frame) - 2)
#define PAGE_BYTES 4096u
#define ADOPTION_PROBES 16

/* The memory of one thread's stack. Blocks are never unmapped: a new thread reuses a dead one's. */
struct block {
	struct block *next;
	uint32_t owner; /* tid; atomic */
	uint32_t reserved[5];
	struct frame bottom; /* stays zero: below the first frame */
	struct frame frames[FRAMES_MAX];
};
_Static_assert(sizeof(struct block) == BLOCK_BYTES, "a block fills its memory");

static struct block *blocks, *cursor;
struct frame frames_nothing[1];

static struct block *block_of(struct frame *frames)
{
	return (struct block *)((char *)frames - offsetof(struct block, frames));
}

static bool block_take(struct block *b, int32_t tid)
{
	uint32_t owner = __atomic_load_n(&b->owner, __ATOMIC_RELAXED);
	if (owner != (uint32_t)tid && sys3(SYS_tgkill, tracer.pid, owner, 0) != -ESRCH)
		return false;
	return __atomic_compare_exchange_n(&b->owner, &owner, (uint32_t)tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Checks a few owners, different ones each time. */
static struct block *block_adopt(int32_t tid)
{
	struct block *b = __atomic_load_n(&cursor, __ATOMIC_ACQUIRE);
	for (unsigned probe = 0; probe < ADOPTION_PROBES; probe++) {
		if (!b)
			b = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
		if (!b)
			return NULL;
		if (block_take(b, tid)) {
			/* Discard the frames of a dead thread. */
			char *page = (char *)b + PAGE_BYTES;
			memset(b->frames, 0, (size_t)(page - (char *)b->frames));
			sys3(SYS_madvise, page, BLOCK_BYTES - PAGE_BYTES, MADV_DONTNEED);
			return b;
		}
		b = b->next;
		__atomic_store_n(&cursor, b, __ATOMIC_RELEASE);
	}
	return NULL;
}

static struct block *block_new(int32_t tid)
{
	struct block *b = sys_map(BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!b)
		return NULL;
	b->owner = (uint32_t)tid;
	b->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&blocks, &b->next, b, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return b;
}

/* A forked child starts empty; another thread may have taken its block. */
static void start_image(void)
{
	struct thread *t = &thread;
	uint32_t owner = (uint32_t)t->frames_tid;
	t->depth = 0;
	t->frames_epoch = t->epoch;
	if (t->frames != frames_nothing + 1 &&
			!__atomic_compare_exchange_n(&block_of(t->frames)->owner, &owner, (uint32_t)t->tid, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		t->frames = frames_nothing + 1;
	t->frames_tid = t->tid;
}

/* The thread has a (new) chunk; does it have a block? */
static void attach(void)
{
	struct thread *t = &thread;
	if (t->frames_epoch != t->epoch)
		start_image();
	if (t->frames == frames_nothing + 1) {
		struct block *b = tracer.is_seccomped ? NULL : block_adopt(t->tid);
		if (!b && !tracer.is_seccomped)
			b = block_new(t->tid);
		if (!b)
			return;
		t->frames = b->frames;
	}
	t->frames_max = FRAMES_MAX;
}

void frames_mirror(void)
{
	struct thread *t = &thread;
	if (t->epoch != tracer.alive->epoch)
		return;
	for (uint32_t i = 0; i < t->depth && i < SONDE_OPEN_SPANS_MAX; i++)
		t->chunk->open[i] = frame_open(t->frames[i].ticks, t->frames[i].what);
	__atomic_store_n(&t->chunk->depth, t->depth, __ATOMIC_RELEASE);
}

/* A handler on an alternate signal stack proves nothing about the interrupted stack. */
static bool is_on_signal_stack(void)
{
	stack_t stack = { 0 };
	return tracer.is_seccomped || sys2(SYS_sigaltstack, NULL, &stack) || (stack.ss_flags & SS_ONSTACK);
}

/* It ended at an unknown time before now. */
static void record_left(const struct frame *f, uint32_t depth, uint64_t now)
{
	bool is_code = f->what & FRAME_CODE;
	struct sonde_rec_note *r = ring_reserve(sizeof(*r));
	if (!r)
		return;
	*r = (struct sonde_rec_note){ .head = r->head,
		.ticks = f->ticks,
		.dur_ticks = now - f->ticks,
		.name = is_code ? f->what & ~FRAME_CODE : (uint32_t)f->what,
		.category = is_code ? 0 : (uint32_t)(f->what >> 32),
		.depth = depth };
	ring_commit(&r->head, sizeof(*r), is_code ? SONDE_REC_FUNC : SONDE_REC_SPAN, 0, 0);
}

void frames_leave(uint32_t depth)
{
	struct thread *t = &thread;
	uint64_t now = tick();
	while (t->depth > depth) {
		struct frame *f = frames_top();
		if (f->sp)
			record_left(f, t->depth - 1, now);
		f->sp = 0;
		t->depth--;
	}
}

uint32_t frames_flush(uintptr_t sp, struct origin origin)
{
	struct thread *t = &thread;
	if (!t->frames_max)
		attach();
	if (t->depth && frame_is_left(frames_top(), sp, origin) && !is_on_signal_stack())
		while (t->depth && frame_is_left(frames_top(), sp, origin))
			frames_leave(t->depth - 1);
	if (t->depth >= t->frames_max)
		return FRAMES_NONE;
	if (t->chunk->depth != t->depth)
		frames_mirror();
	return t->depth;
}

/* Frames above one that ends: loose ones stay, the others were left by longjmp. */
static void take_out(uint32_t at)
{
	struct thread *t = &thread;
	bool is_loose = t->frames[at].origin.site == FRAME_LOOSE;
	uint64_t now = tick();
	uint32_t out = at;
	for (uint32_t i = at + 1; i < t->depth; i++) {
		if (is_loose || t->frames[i].origin.site == FRAME_LOOSE)
			t->frames[out++] = t->frames[i];
		else
			record_left(&t->frames[i], i, now);
	}
	while (t->depth > out)
		t->frames[--t->depth].sp = 0;
	frames_mirror();
}

void frames_remove(uint64_t ticks, uint64_t what, uint32_t depth)
{
	struct thread *t = &thread;
	for (uint32_t i = depth < t->depth ? depth + 1 : t->depth; i-- > 0;)
		if (t->frames[i].ticks == ticks && t->frames[i].what == what) {
			take_out(i);
			return;
		}
}
