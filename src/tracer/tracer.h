/*
 * tracer: the state of libsonde in one process, and the hot path of a hook.
 *
 * Invariants: no malloc, no output, no lock held across a hook, errno preserved, no system call in the hot path, none
 * at all once the program has forbidden them (is_seccomped). On any failure an event is counted as dropped and the
 * program continues.
 *
 * One process image has one `struct tracer`. A fork is detected without a hook: `alive` is in a page that the kernel
 * zeroes in the child (MADV_WIPEONFORK), so the first event of a child finds a different epoch and creates the child's
 * ring. In memory shared with a vfork child, the recording process is identified by thread.vfork_pid instead.
 */
#ifndef SONDE_TRACER_TRACER_H
#define SONDE_TRACER_TRACER_H

#include "sonde/shm.h"
#include "tracer/raw-syscall.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Variables written at start, fork and exec, placed together: each page touched costs a page fault, and large arrays
 * with only their first bytes in use would otherwise separate them.
 */
#define STATE __attribute__((section("sonde_state")))

#define CLOCK_FORBIDDEN 0xffffffffu
#define EPOCH_NEVER 0xffffffffu
#define PATH_BYTES_MAX 4096
#define RUNS_MAX 2

struct frame;

struct alive {
	uint32_t epoch; /* 0 in a page wiped by fork */
};

/*
 * Callbacks for other libraries built from these sources; libsonde has none. Each is called on a slow path, by the
 * thread concerned; the caller preserves errno.
 */
struct tracer_ops {
	bool (*on_fork_child)(void);           /* in a forked child, before its ring is created; false: no ring */
	void (*on_ring_ready)(void);           /* and after; signals are blocked in both */
	void (*on_chunk)(void);                /* the thread continues in another, empty chunk; signals are blocked */
	void (*on_chunk_full)(void);           /* it has released a full one; signals are blocked */
	int (*is_wanted)(const char *path);    /* 0 or 1; -1: call again with the path joined to its directory */
	void (*on_exit)(void);                 /* the process is about to exit or exec */
	void (*on_exec_failed)(void);          /* the exec failed */
	void (*before_privilege_change)(void); /* the program is about to change privileges of its threads */
};

struct tracer {
	const struct tracer_ops *ops; /* NULL: none */
	uint32_t categories;          /* recorded here; 0 while off */
	bool is_ready;                /* the real functions can be resolved */
	bool is_seccomped;            /* system calls of the tracer are forbidden */
	bool has_tcb_tid;             /* the tid was found at glibc's place in the thread control block */
	uint32_t clock;
	struct alive *alive;
	struct sonde_control *control;
	uint64_t min_dur_ticks;
	uint32_t epoch;   /* of this image; alive->epoch equals it once the ring is ready */
	uint32_t process; /* number of this image in the run */
	uint32_t parent;
	int32_t pid;
	uint32_t next_file;   /* atomic */
	uint32_t share_epoch; /* incremented when descriptors become shared (fork): invalidates known offsets */
	uint64_t cwd;         /* file id of the current directory */
	uint32_t is_growing;  /* atomic flag */
	uint32_t segment_count;
	uint64_t bytes;     /* in segments */
	uint64_t bytes_max; /* 0: not read yet */
	struct sonde_segment *segments[SONDE_SEGMENTS_MAX];
	struct sonde_board *board;
	char ring_dir[PATH_BYTES_MAX];
};

extern struct tracer tracer __attribute__((visibility("hidden")));

/* Per-thread state. */
struct thread {
	uint32_t epoch; /* EPOCH_NEVER until attached */
	bool is_busy;   /* in the slow path: a signal handler's events are dropped, not nested */
	int32_t tid;
	int32_t vfork_pid; /* not 0: a vfork child running in the parent's memory */
	struct sonde_chunk *chunk;
	uint32_t *owner;
	uint32_t run_count; /* RUN records that still grow: a copy loop has two */
	bool is_keeping_runs;
	struct run {
		struct sonde_rec_call *at;
		void *stream;
	} runs[RUNS_MAX];
	uint64_t dropped; /* not yet in any chunk */
	/* frames.h: unfinished spans of the thread */
	struct frame *frames;
	uint32_t depth;
	uint32_t frames_max; /* 0: check again whether these frames are ours */
	uint32_t frames_epoch;
	int32_t frames_tid;
	/* instrument-functions.c: the module last seen */
	uintptr_t module;
	uintptr_t module_bytes;
};

extern _Thread_local struct thread thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Everything required before the first hook; idempotent. */
void tracer_init(void);

/* Start of the library, called by tracer_init: start.c is libsonde's. */
void tracer_start(void);

/*
 * init.c, for tracer_start: use the ring in this directory (on failure false, and recording stops), start recording,
 * and write the record that identifies this process.
 */
bool tracer_open_control(const char *ring);
bool tracer_switch_on(void);
void tracer_introduce(int argc, char **argv);

/* Stop recording and reading the clock: the program is about to forbid it. */
void tracer_stop(void);

/* ring.c and segment.c: the slow paths. */
bool ring_attach(void); /* give this thread a chunk (and a forked child its ring); false: no room, counted */
void *ring_reserve_slow(struct sonde_chunk *chunk, uint64_t at, size_t bytes);
void ring_drop(void);
void ring_grow_ahead(void); /* before the program gives up privileges: allocate one segment in advance */
void ring_before_seccomp(void);
void ring_who(int32_t pid, int32_t tid);
struct sonde_board *ring_board(void); /* this image's board, created by the first call; NULL: no room */
bool ring_start(void);                /* create a ring for this image; false on failure */

ALWAYS_INLINE uint64_t tick(void)
{
	if (likely(tracer.clock == SONDE_CLOCK_TICKS))
		return __builtin_ia32_rdtsc();
	if (tracer.clock == CLOCK_FORBIDDEN)
		return 0;
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The process is about to end; ignored in a vfork child. */
ALWAYS_INLINE void tracer_on_exit(void)
{
	if (unlikely(tracer.ops != NULL) && !thread.vfork_pid)
		tracer.ops->on_exit();
}

ALWAYS_INLINE void tracer_on_exec_failed(void)
{
	if (unlikely(tracer.ops != NULL) && !thread.vfork_pid)
		tracer.ops->on_exec_failed();
}

/* Is this category recorded, and is this thread attached to the ring? The first check of every hook. */
ALWAYS_INLINE bool tracer_wants(uint32_t category)
{
	if (unlikely(!(tracer.categories & category)))
		return false;
	if (unlikely(thread.epoch != tracer.alive->epoch))
		return ring_attach();
	return true;
}

ALWAYS_INLINE void ring_close_runs(void)
{
	for (uint32_t i = 0; i < thread.run_count; i++)
		__atomic_store_n(&thread.runs[i].at->head.state, SONDE_DONE, __ATOMIC_RELEASE);
	thread.run_count = 0;
}

/*
 * Reserve a record of `bytes` (a multiple of 8), its head PENDING; NULL if it was dropped. xadd without lock is one
 * instruction: a signal handler of this thread that reserves too gets room after or before it, never inside.
 */
ALWAYS_INLINE void *ring_reserve(size_t bytes)
{
	if (unlikely(thread.run_count) && !thread.is_keeping_runs)
		ring_close_runs();
	if (unlikely(!__atomic_load_n(&tracer.control->is_on, __ATOMIC_RELAXED)))
		return NULL;
	struct sonde_chunk *chunk = thread.chunk;
	uint64_t at = bytes;
	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(chunk->tail) : : "memory", "cc");
	if (unlikely(at + bytes > SONDE_CHUNK_BYTES))
		return ring_reserve_slow(chunk, at, bytes);
	struct sonde_record *head = (void *)((char *)chunk + at);
	*(volatile uint64_t *)head = bytes / 8 | (uint64_t)SONDE_PENDING << 24;
	return head;
}

/*
 * Release the unused, zeroed end of the newest record, or all of it. Returns its new length. If a signal handler has
 * appended meanwhile, the record keeps its length.
 */
ALWAYS_INLINE size_t ring_trim(void *record, size_t bytes, size_t used)
{
	struct sonde_chunk *chunk = thread.chunk;
	uint64_t end = (uint64_t)((char *)record - (char *)chunk) + bytes, shorter = end - bytes + used;
	*(volatile uint64_t *)record = used ? used / 8 | (uint64_t)SONDE_PENDING << 24 : 0;
	__asm__ volatile("cmpxchgq %2, %1" : "+a"(end), "+m"(chunk->tail) : "r"(shorter) : "memory", "cc");
	if (likely(end == shorter - used + bytes))
		return used;
	*(volatile uint64_t *)record = bytes / 8 | (uint64_t)SONDE_PENDING << 24;
	return bytes;
}

/* After this the record survives a crash of the program. */
ALWAYS_INLINE void ring_commit(struct sonde_record *at, size_t bytes, uint8_t kind, uint16_t call, uint16_t errnum)
{
	uint64_t word = bytes / 8 | (uint64_t)kind << 16 | (uint64_t)SONDE_DONE << 24 | (uint64_t)call << 32 |
			(uint64_t)errnum << 48;
	__atomic_store_n((uint64_t *)at, word, __ATOMIC_RELEASE);
}

ALWAYS_INLINE void ring_count_filtered(void)
{
	thread.chunk->filtered++;
}

static inline size_t ring_string_bytes(size_t len)
{
	return (sizeof(struct sonde_string) + len + 7) & ~(size_t)7;
}

/* Write one string at `at`; returns its end. */
static inline void *ring_put_string(void *at, const char *text, size_t len)
{
	struct sonde_string *s = at;
	s->bytes = (uint32_t)len;
	memcpy(s->text, text, len);
	return (char *)at + ring_string_bytes(len);
}

#endif
