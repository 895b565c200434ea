#include "tracer/segment.h"

#include "calls/calls-hash.h"
#include "tracer/limits.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MEMORY_SHARE 16         /* the rings of a process use at most this fraction of its cgroup's memory limit */
#define GROWTH_WAITS 2000       /* of 50 microseconds, while another thread grows the ring */
#define GROWTH_YIELDS 100       /* the first of them only yield */
#define GROWTH_RETRY_EVENTS 512 /* drops between attempts to grow, after a failure */

static void budget_return(size_t bytes)
{
	__atomic_fetch_sub(&tracer.control->run_bytes, bytes, __ATOMIC_RELAXED);
}

/* Maximum size of this process's rings: set by the recorder, but limited to a small part of its cgroup's memory. */
static uint64_t process_bytes_max(void)
{
	if (!tracer.bytes_max) {
		uint64_t group = limits_memory_bytes() / MEMORY_SHARE, told = tracer.control->process_bytes_max;
		tracer.bytes_max = group < told ? group : told;
	}
	return tracer.bytes_max;
}

/* Every process may have a first segment and a board. */
static bool budget_take(size_t bytes, uint32_t kind)
{
	if (kind == SONDE_SEGMENT_RING && tracer.segment_count && tracer.bytes + bytes > process_bytes_max())
		return false;
	if (__atomic_add_fetch(&tracer.control->run_bytes, bytes, __ATOMIC_RELAXED) <= tracer.control->run_bytes_max)
		return true;
	budget_return(bytes);
	return false;
}

bool is_within_file_limit(size_t bytes)
{
	struct rlimit limit;
	return !sys2(SYS_getrlimit, RLIMIT_FSIZE, &limit) && limit.rlim_cur >= bytes;
}

/* Create a file with allocated blocks (fallocate), map it and close its descriptor. */
static void *segment_map(const char *path, size_t bytes)
{
	if (!is_within_file_limit(bytes))
		return NULL;
	int fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return NULL;
	void *at = NULL;
	if (!sys4(SYS_fallocate, fd, 0, 0, bytes))
		at = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	sys_close(fd);
	if (!at)
		sys1(SYS_unlink, path);
	else
		sys3(SYS_madvise, at, bytes, MADV_DONTFORK);
	return at;
}

char *put_number(char *at, uint32_t n)
{
	char digits[10];
	unsigned count = 0;
	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	while (count)
		*at++ = digits[--count];
	*at = '\0';
	return at;
}

/* Create a file `<process>.<what>` and fill in its header except for the magic number. */
static struct sonde_segment *segment_make(const char *what, uint32_t kind, uint32_t number, size_t bytes)
{
	char *path = __builtin_alloca(strlen(tracer.ring_dir) + 32); /* a signal handler's stack may be small */
	if (!budget_take(bytes, kind))
		return NULL;
	stpcpy(stpcpy(put_number(stpcpy(stpcpy(path, tracer.ring_dir), "/"), tracer.process), "."), what);
	struct sonde_segment *s = segment_map(path, bytes);
	if (!s) {
		budget_return(bytes);
		return NULL;
	}
	s->version = SONDE_SHM_VERSION;
	s->kind = kind;
	s->calls_hash = CALLS_HASH;
	s->process = tracer.process;
	s->number = number;
	s->pid = tracer.pid;
	s->parent_pid = (int32_t)sys0(SYS_getppid);
	s->parent = tracer.parent;
	s->start_ticks = tick();
	s->start_mono_ns = mono_ns();
	tracer.bytes += bytes;
	return s;
}

static bool segment_new(uint32_t chunks)
{
	char what[16];
	uint32_t number = tracer.segment_count;
	if (number == SONDE_SEGMENTS_MAX)
		return false;
	put_number(what, number);
	struct sonde_segment *s = segment_make(what, SONDE_SEGMENT_RING, number, segment_bytes(chunks));
	if (!s)
		return false;
	s->chunk_count = chunks;
	__atomic_store_n(&s->magic, SONDE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
	tracer.segments[number] = s;
	__atomic_store_n(&tracer.segment_count, number + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&tracer.control->segments_made, 1, __ATOMIC_RELEASE);
	return true;
}

bool segment_new_fitting(uint32_t chunks)
{
	for (; chunks; chunks /= 4)
		if (segment_new(chunks))
			return true;
	return false;
}

/* Growth. */

static void growth_wait(unsigned round)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	if (round < GROWTH_YIELDS)
		sys0(SYS_sched_yield);
	else
		sys2(SYS_nanosleep, &nap, NULL);
}

enum growth segments_grow(uint32_t chunks)
{
	uint32_t before = tracer.segment_count;
	for (unsigned i = 0; i < GROWTH_WAITS; i++) {
		if (!__atomic_exchange_n(&tracer.is_growing, 1, __ATOMIC_ACQUIRE)) {
			bool ok = tracer.segment_count != before || segment_new_fitting(chunks);
			__atomic_store_n(&tracer.is_growing, 0, __ATOMIC_RELEASE);
			return ok ? GROWN : REFUSED;
		}
		growth_wait(i);
		if (__atomic_load_n(&tracer.segment_count, __ATOMIC_ACQUIRE) != before)
			return GROWN;
	}
	return BUSY;
}

struct sonde_board *ring_board(void)
{
	for (unsigned i = 0; i < GROWTH_WAITS && !tracer.board && !tracer.is_seccomped; i++) {
		uint64_t mask = signals_block();
		bool is_ours = !__atomic_exchange_n(&tracer.is_growing, 1, __ATOMIC_ACQUIRE);
		struct sonde_segment *s = NULL;
		if (is_ours && !tracer.board)
			s = segment_make("board", SONDE_SEGMENT_BOARD, 0,
					SONDE_SEGMENT_HEAD_BYTES + sizeof(struct sonde_board));
		if (s) {
			__atomic_store_n(&s->magic, SONDE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
			__atomic_store_n(&tracer.board, (void *)((char *)s + SONDE_SEGMENT_HEAD_BYTES),
					__ATOMIC_RELEASE);
		}
		if (is_ours)
			__atomic_store_n(&tracer.is_growing, 0, __ATOMIC_RELEASE);
		signals_restore(mask);
		if (is_ours)
			break;
		growth_wait(i);
	}
	return tracer.board;
}

bool segments_grow_now_and_then(void)
{
	static uint32_t refusals;
	if (tracer.is_seccomped || __atomic_load_n(&refusals, __ATOMIC_RELAXED) % GROWTH_RETRY_EVENTS) {
		__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
		return false;
	}
	enum growth growth = segments_grow(tracer.segment_count < 5 ? 1u << tracer.segment_count : SONDE_CHUNKS_MAX);
	if (growth != GROWN) /* the growing thread may have been killed: a vfork child */
		__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
	return growth == GROWN;
}
