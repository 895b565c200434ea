/* Segments, chunks and the life of processes; see drain.h. What a record means is emit.c's. */
#include "record/drain.h"

#include "base/cleanup.h"
#include "probe/syscall/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_INTERVAL_NS 100000000
#define REAP_INTERVAL_NS 20000000
#define FINISH_ROUNDS 8

int drain_init(struct drain *d, struct ring_dir *ring, struct store_sink *sink, bool is_live, struct sonde_err *err)
{
	memset(d, 0, sizeof(*d));
	d->ring = ring;
	d->sink = sink;
	d->epollfd = -1;
	buf_init(&d->scratch, 0);
	if (ring->control->clock == SONDE_CLOCK_TICKS)
		tick_line_add(&d->line, ring->control->start_ticks, ring->control->start_mono_ns);
	if (!is_live)
		return 0;
	d->epollfd = epoll_create1(EPOLL_CLOEXEC);
	return d->epollfd < 0 ? err_sys(err, errno, "cannot watch processes") : 0;
}

/* Discovery. */

struct drain_process *drain_by_pid(struct drain *d, int32_t pid)
{
	const uint64_t *at = map_get_int(&d->by_pid, (uint64_t)(uint32_t)pid);
	return at ? d->processes[*at - 1] : NULL;
}

struct drain_process *drain_by_number(struct drain *d, uint32_t number)
{
	for (size_t i = d->process_count; i-- > 0;)
		if (d->processes[i]->number == number)
			return d->processes[i];
	return NULL;
}

static void watch(struct drain *d, struct drain_process *p)
{
	p->pidfd = -1;
	if (d->epollfd < 0 || d->has_foreign_pids)
		return;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = p };
	if (p->pidfd >= 0)
		epoll_ctl(d->epollfd, EPOLL_CTL_ADD, p->pidfd, &e);
}

/* Go calls the kernel, not libc, though it may load it. */
static bool is_go(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && image_is_go(fd);
}

static struct drain_process *add_process(struct drain *d, const struct sonde_segment *s)
{
	if (d->process_count == d->process_cap) {
		size_t cap = d->process_cap ? 2 * d->process_cap : 64;
		struct drain_process **more = realloc(d->processes, cap * sizeof(*more));
		if (!more)
			return NULL;
		d->processes = more;
		d->process_cap = cap;
	}
	struct drain_process *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->number = s->process;
	p->pid = s->pid;
	p->ppid = s->parent_pid;
	p->parent = s->parent;
	p->is_forked = s->parent != 0;
	p->start_ns = s->start_mono_ns;
	p->end_ns = p->exe = p->cwd = STORE_NULL;
	d->processes[d->process_count++] = p;
	bool is_new;
	uint64_t *at = map_put_int(&d->by_pid, (uint64_t)(uint32_t)p->pid, &is_new);
	struct drain_process *before = at && !is_new ? d->processes[*at - 1] : NULL;
	if (before && !p->parent) {
		p->parent = before->number;
		p->ppid = before->ppid;
	}
	if (at)
		*at = d->process_count;
	if (!p->parent) {
		struct drain_process *mother = drain_by_pid(d, p->ppid);
		p->parent = mother && mother != p ? mother->number : 0;
	}
	watch(d, p);
	p->is_elsewhere = d->has_syscalls && is_go(p->pid);
	return p;
}

void drain_adopt(struct drain *d, const struct probe_image *image)
{
	const struct drain_process *mother = image->parent ? drain_by_pid(d, image->parent) : NULL;
	const struct drain_process *known = drain_by_pid(d, image->pid);
	if (known && !known->is_done && known->start_ns >= image->ts_ns)
		return; /* it has a ring after all */
	struct sonde_segment s = { .process = __atomic_fetch_add(&d->ring->control->next_process, 1, __ATOMIC_RELAXED),
		.pid = image->pid,
		.parent_pid = image->parent,
		.parent = mother ? mother->number : 0,
		.start_mono_ns = image->ts_ns };
	struct drain_process *p = add_process(d, &s);
	if (!p)
		return;
	p->is_adopted = true;
	if (image->exe.data)
		p->exe = store_strings_id(&d->sink->strings, image->exe.data, image->exe.bytes);
	if (image->cwd.data)
		p->cwd = store_strings_id(&d->sink->strings, image->cwd.data, image->cwd.bytes);
	char *argv = image->argv.data ? arena_copy(&d->arena, image->argv.data, image->argv.bytes) : NULL;
	if (argv)
		p->argv = (struct store_text){ .data = argv, .bytes = image->argv.bytes };
}

static void pair_from(struct drain *d, uint64_t ticks, int64_t mono_ns)
{
	if (d->epollfd < 0 && d->ring->control->clock == SONDE_CLOCK_TICKS)
		tick_line_add(&d->line, ticks, mono_ns);
}

static void add_segment(struct drain *d, struct sonde_segment *s, size_t bytes)
{
	struct drain_process *p = drain_by_number(d, s->process);
	if (!p)
		p = add_process(d, s);
	struct drain_segment *seg = p && p->segment_count < SONDE_SEGMENTS_MAX ? calloc(1, sizeof(*seg)) : NULL;
	if (!seg) {
		munmap(s, bytes);
		return;
	}
	seg->at = s;
	seg->bytes = bytes;
	seg->number = s->number;
	seg->chunk_count = (uint32_t)((bytes - SONDE_SEGMENT_HEAD_BYTES) / SONDE_CHUNK_BYTES);
	if (seg->chunk_count > SONDE_CHUNKS_MAX)
		seg->chunk_count = SONDE_CHUNKS_MAX;
	pair_from(d, s->start_ticks, s->start_mono_ns);
	p->segments[p->segment_count++] = seg;
}

static void map_segment(struct drain *d, const char *name, uint64_t key)
{
	struct stat st;
	int fd = openat(d->ring->fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)SONDE_SEGMENT_HEAD_BYTES &&
			st.st_size < INT_MAX) {
		size_t bytes = (size_t)st.st_size;
		int sharing = d->epollfd >= 0 ? MAP_SHARED : MAP_PRIVATE;
		struct sonde_segment *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing, fd, 0);
		if (s != MAP_FAILED) {
			bool is_whole = __atomic_load_n(&s->magic, __ATOMIC_ACQUIRE) == SONDE_SEGMENT_MAGIC &&
					s->version == SONDE_SHM_VERSION && s->kind == SONDE_SEGMENT_RING &&
					((uint64_t)s->process << 16 | s->number) == key;
			if (is_whole) {
				map_put_int(&d->by_segment, key, NULL);
				add_segment(d, s, bytes);
			} else {
				munmap(s, bytes);
			}
		}
	}
	close(fd);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* In the order of the processes' numbers, so that a parent stands before its child. */
static void discover(struct drain *d)
{
	uint64_t *keys = NULL;
	size_t count = 0, cap = 0;
	int fd = openat(d->ring->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		unsigned process, number;
		int end = 0;
		if (sscanf(e->d_name, "%u.%u%n", &process, &number, &end) != 2 || e->d_name[end] ||
				number >= SONDE_SEGMENTS_MAX ||
				map_get_int(&d->by_segment, (uint64_t)process << 16 | number))
			continue;
		if (count == cap) {
			cap = cap ? 2 * cap : 64;
			uint64_t *more = realloc(keys, cap * sizeof(*more));
			if (!more)
				break;
			keys = more;
		}
		keys[count++] = (uint64_t)process << 16 | number;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (count)
		qsort(keys, count, sizeof(*keys), by_key);
	for (size_t i = 0; i < count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%u.%u", (unsigned)(keys[i] >> 16), (unsigned)(keys[i] & 0xffff));
		map_segment(d, name, keys[i]);
	}
	free(keys);
}

/* Chunks. */

static struct sonde_chunk *chunk_at(const struct drain_segment *s, uint32_t i)
{
	return (void *)((char *)s->at + SONDE_SEGMENT_HEAD_BYTES + (size_t)i * SONDE_CHUNK_BYTES);
}

/* A reservation that was never begun leaves zeros; what lies behind them counts. */
static uint32_t skip_zeros(const struct sonde_chunk *c, uint32_t at)
{
	while (at < SONDE_CHUNK_BYTES && !*(const uint64_t *)((const char *)c + at))
		at += 8;
	return at;
}

/* From state->at on, as far as it goes. */
static bool walk_on(struct drain *d, struct drain_process *p, struct drain_chunk *state, const struct sonde_chunk *c,
		bool is_closed, bool is_last_chance)
{
	while (!state->is_broken && state->at < SONDE_CHUNK_BYTES) {
		const char *from = (const char *)c + state->at;
		uint64_t head = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_ACQUIRE);
		size_t words = head & 0xffff;
		unsigned is = head >> 24 & 0xff;
		if (!head) {
			uint32_t next = is_closed ? skip_zeros(c, state->at) : SONDE_CHUNK_BYTES;
			if (next == SONDE_CHUNK_BYTES)
				return true;
			d->lost_records++;
			state->at = next;
			continue;
		}
		if ((is == SONDE_PENDING || is == SONDE_RUNNING) && !is_closed)
			return false;
		if (!words || words * 8 > SONDE_CHUNK_BYTES - state->at) {
			state->is_broken = true;
			d->broken_chunks++;
			break;
		}
		if (is == SONDE_PENDING)
			d->lost_records++;
		else if (!view_take(&d->view, from, words))
			d->broken_records++;
		else if (emit_record(d, p, state, is_last_chance) == EMIT_WAIT)
			return false;
		state->at += (uint32_t)words * 8;
	}
	return true;
}

/*
 * Walk one chunk. is_closed: its owner writes no more, so that what is unfinished
 * stays so. Returns true when it was walked to its end.
 */
static bool walk(struct drain *d, struct drain_process *p, struct drain_chunk *state, struct sonde_chunk *c,
		bool is_closed, bool is_last_chance)
{
	if (!state->at) {
		/* Where a recorder that died had got to; 0 when nobody has read it yet. */
		bool is_begun = d->epollfd < 0 && c->drained > SONDE_CHUNK_FIRST && c->drained <= SONDE_CHUNK_BYTES;
		state->at = is_begun ? (uint32_t)c->drained & ~7u : SONDE_CHUNK_FIRST;
		state->pid = p->pid;
		state->tid = c->tid;
		pair_from(d, c->start_ticks, c->start_mono_ns);
	}
	bool is_whole = walk_on(d, p, state, c, is_closed, is_last_chance);
	c->drained = state->at;
	c->tid = state->tid;
	return is_whole;
}

static bool is_thread_dead(const struct drain_process *p, uint32_t tid)
{
	return syscall(SYS_tgkill, p->pid, tid, 0) && errno == ESRCH;
}

static void end_thread(struct drain *d, struct drain_process *p, struct drain_chunk *state, struct sonde_chunk *c,
		int64_t end_ns)
{
	uint32_t depth = c->depth;
	if (depth > SONDE_OPEN_SPANS_MAX)
		depth = SONDE_OPEN_SPANS_MAX;
	for (uint32_t i = 0; i < depth; i++) {
		struct sonde_open_span span = c->open[i];
		emit_open_span(d, p, state, &span, i, end_ns);
	}
}

/* Give an emptied chunk back: only zeros may be found in it when its word says free. */
static void recycle(struct drain_process *p, struct drain_segment *s, uint32_t i)
{
	struct sonde_chunk *c = chunk_at(s, i);
	uint64_t used = c->tail < SONDE_CHUNK_BYTES ? c->tail : SONDE_CHUNK_BYTES;
	p->filtered += c->filtered;
	memset(c, 0, used < SONDE_CHUNK_FIRST ? SONDE_CHUNK_FIRST : used);
	s->chunks[i] = (struct drain_chunk){ 0 };
	__atomic_store_n(&s->at->owner[i], 0, __ATOMIC_RELEASE);
}

static bool drain_chunk(struct drain *d, struct drain_process *p, struct drain_segment *s, uint32_t i,
		bool is_process_dead, bool is_last_chance)
{
	struct drain_chunk *state = &s->chunks[i];
	struct sonde_chunk *c = chunk_at(s, i);
	uint32_t owner = __atomic_load_n(&s->at->owner[i], __ATOMIC_ACQUIRE);
	if (!owner)
		return true;
	bool is_full = owner == SONDE_OWNER_FULL;
	/* A full chunk may still hold a record whose hook a signal handler has interrupted: its owner must be asked. */
	if (!walk(d, p, state, c, is_process_dead, is_last_chance) && !is_process_dead) {
		if (!is_full || !is_thread_dead(p, (uint32_t)c->tid))
			return false;
		walk(d, p, state, c, true, is_last_chance);
	}
	if (is_full && !is_process_dead) {
		if (state->at < SONDE_CHUNK_BYTES && skip_zeros(c, state->at) < SONDE_CHUNK_BYTES)
			return false;
		recycle(p, s, i);
	}
	return true;
}

/* Threads that have died keep a partly filled chunk: take it from them. */
static void reap_threads(struct drain *d, struct drain_process *p)
{
	for (uint32_t n = 0; n < p->segment_count; n++)
		for (uint32_t i = 0; i < p->segments[n]->chunk_count; i++) {
			struct drain_segment *s = p->segments[n];
			uint32_t owner = __atomic_load_n(&s->at->owner[i], __ATOMIC_ACQUIRE);
			if (!owner || owner == SONDE_OWNER_FULL || !is_thread_dead(p, owner) ||
					!__atomic_compare_exchange_n(&s->at->owner[i], &owner, SONDE_OWNER_FULL, false,
							__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				continue;
			walk(d, p, &s->chunks[i], chunk_at(s, i), true, true);
			end_thread(d, p, &s->chunks[i], chunk_at(s, i), clock_mono_ns());
			recycle(p, s, i);
		}
}

static void drain_process(struct drain *d, struct drain_process *p, bool is_dead, bool is_last_chance)
{
	for (uint32_t n = 0; n < p->segment_count; n++)
		for (uint32_t i = 0; i < p->segments[n]->chunk_count; i++)
			drain_chunk(d, p, p->segments[n], i, is_dead, is_last_chance);
}

static void drop_board(struct drain *d, const struct drain_process *p)
{
	struct stat st;
	char name[32];
	snprintf(name, sizeof(name), "%u.board", p->number);
	if (fstatat(d->ring->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (d->board)
		d->board(d->board_arg, d->ring->fd, name);
	if (!unlinkat(d->ring->fd, name, 0))
		__atomic_fetch_sub(&d->ring->control->run_bytes, (uint64_t)st.st_size, __ATOMIC_RELAXED);
}

static void drop_segments(struct drain *d, struct drain_process *p)
{
	for (uint32_t n = 0; n < p->segment_count; n++) {
		char name[32];
		struct drain_segment *s = p->segments[n];
		if (d->epollfd >= 0) {
			snprintf(name, sizeof(name), "%u.%u", p->number, s->number);
			__atomic_fetch_sub(&d->ring->control->run_bytes, s->bytes, __ATOMIC_RELAXED);
			unlinkat(d->ring->fd, name, 0);
		}
		munmap(s->at, s->bytes);
		free(s);
	}
	p->segment_count = 0;
	if (d->epollfd >= 0)
		drop_board(d, p);
}

/* The image is gone: take the last of it. A few rounds, since its threads may refer to each other's strings. */
static void finish_process(struct drain *d, struct drain_process *p, int64_t end_ns)
{
	for (int round = 0; round < FINISH_ROUNDS; round++) {
		uint64_t before = d->events;
		drain_process(d, p, true, false);
		if (before == d->events)
			break;
	}
	drain_process(d, p, true, true);
	for (uint32_t n = 0; n < p->segment_count; n++) {
		struct drain_segment *s = p->segments[n];
		if (s->number == 0)
			p->dropped += s->at->dropped;
		for (uint32_t i = 0; i < s->chunk_count; i++) {
			p->filtered += chunk_at(s, i)->filtered;
			if (s->at->owner[i] && s->at->owner[i] != SONDE_OWNER_FULL)
				end_thread(d, p, &s->chunks[i], chunk_at(s, i), end_ns);
		}
	}
	p->end_ns = end_ns;
	p->is_done = true;
	drop_segments(d, p);
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

/* A newer image with the same pid, or NULL. */
static struct drain_process *successor(struct drain *d, const struct drain_process *p)
{
	struct drain_process *newest = drain_by_pid(d, p->pid);
	return newest == p ? NULL : newest;
}

/* Its process has ended, or goes on as a newer image; both may be found out at once. */
static void end_process(struct drain *d, struct drain_process *p)
{
	const struct drain_process *next = successor(d, p);
	finish_process(d, p, next ? next->start_ns : clock_mono_ns());
	if (next)
		p->state = next->is_forked ? NULL : arena_strdup(&d->arena, "replaced by exec");
}

/* Those whose pidfd says so have ended; an image whose pid has a newer one was replaced by exec. */
static void collect_ends(struct drain *d)
{
	struct epoll_event events[64];
	int n;
	do {
		n = d->epollfd < 0 ? 0 : epoll_wait(d->epollfd, events, 64, 0);
		for (int i = 0; i < n; i++) {
			struct drain_process *p = events[i].data.ptr;
			discover(d); /* the last segment may be newer than our last look */
			if (!p->is_done)
				end_process(d, p);
		}
	} while (n == 64);
	for (size_t i = d->first_live; i < d->process_count; i++) {
		struct drain_process *p = d->processes[i];
		if (p->is_done)
			continue;
		if (successor(d, p) ||
				(p->pidfd < 0 && d->epollfd >= 0 && !d->has_foreign_pids && kill(p->pid, 0) &&
						errno == ESRCH))
			end_process(d, p);
	}
}

static void sample_clock(struct drain *d)
{
	if (d->ring->control->clock != SONDE_CLOCK_TICKS || d->epollfd < 0)
		return;
	int64_t now = clock_mono_ns();
	if (d->line.count < 2 || now - d->line.pairs[d->line.count - 1].mono_ns > LINE_INTERVAL_NS)
		tick_line_sample(&d->line);
}

/* A hostile program can cut a file that we have mapped; then only its own rows are lost. */
static sigjmp_buf bus_escape;

static void on_bus_error(int signal)
{
	siglongjmp(bus_escape, signal);
}

uint64_t drain_pass(struct drain *d)
{
	uint64_t before = d->events;
	struct sigaction guard = { .sa_handler = on_bus_error }, old;
	sigaction(SIGBUS, &guard, &old);
	if (!sigsetjmp(bus_escape, 1)) {
		uint32_t made = __atomic_load_n(&d->ring->control->segments_made, __ATOMIC_ACQUIRE);
		sample_clock(d);
		if (made != d->segments_seen || d->epollfd < 0) {
			d->segments_seen = made;
			discover(d);
		}
		bool is_reaping = d->epollfd >= 0 && clock_mono_ns() - d->reaped_ns > REAP_INTERVAL_NS;
		for (size_t i = d->first_live; i < d->process_count; i++) {
			if (d->processes[i]->is_done || d->epollfd < 0)
				continue;
			drain_process(d, d->processes[i], false, false);
			if (is_reaping)
				reap_threads(d, d->processes[i]);
		}
		if (is_reaping)
			d->reaped_ns = clock_mono_ns();
		collect_ends(d);
		while (d->first_live < d->process_count && d->processes[d->first_live]->is_done)
			d->first_live++;
	} else {
		d->broken_chunks++;
	}
	sigaction(SIGBUS, &old, NULL);
	if (d->epollfd >= 0)
		__atomic_store_n(&d->ring->control->drained_events, d->events, __ATOMIC_RELAXED);
	return d->events - before;
}

void drain_exited(struct drain *d, pid_t pid, int status)
{
	uint64_t *at = map_put_int(&d->exits, (uint64_t)(uint32_t)pid, NULL);
	if (at)
		*at = (uint64_t)(uint32_t)status + 1;
}

void drain_finish(struct drain *d)
{
	while (drain_pass(d))
		;
	for (size_t i = 0; i < d->process_count; i++) {
		struct drain_process *p = d->processes[i];
		if (p->is_done)
			continue;
		bool is_running = d->epollfd >= 0;
		finish_process(d, p, is_running ? clock_mono_ns() : p->start_ns);
		if (is_running) {
			p->state = arena_strdup(&d->arena, "running");
			p->end_ns = STORE_NULL;
		} else {
			p->end_ns = STORE_NULL;
			for (size_t t = 0; t < p->thread_count; t++)
				if (p->end_ns == STORE_NULL || p->threads[t].last_ns > p->end_ns)
					p->end_ns = p->threads[t].last_ns;
		}
	}
	emit_processes(d, true);
}

void drain_checkpoint(struct drain *d)
{
	emit_processes(d, false);
}

bool drain_is_unseen(struct drain *d, const struct drain_blind *b)
{
	const struct drain_process *seen = drain_by_pid(d, b->pid);
	return !seen || seen->start_ns < b->start_ns;
}

bool drain_awaits(struct drain *d)
{
	for (size_t i = 0; i < d->blind_count; i++) {
		const struct drain_blind *b = &d->blind[i];
		if (b->why == SONDE_BLIND_NO && drain_is_unseen(d, b) && !kill(b->pid, 0))
			return true;
	}
	return false;
}

bool drain_is_blind(struct drain *d, const struct drain_blind *b)
{
	return b->path && drain_is_unseen(d, b);
}

void drain_losses(struct drain *d, uint64_t *dropped, uint64_t *filtered, uint64_t *blind)
{
	for (size_t i = 0; i < d->process_count; i++) {
		const struct drain_process *p = d->processes[i];
		*dropped += p->dropped;
		*filtered += p->filtered;
		*blind += p->exec_path && p->exec_blind && !p->state;
	}
	for (size_t i = 0; i < d->blind_count; i++)
		*blind += drain_is_blind(d, &d->blind[i]);
}

void drain_release(struct drain *d)
{
	for (size_t i = 0; i < d->process_count; i++) {
		free(d->processes[i]->names);
		free(d->processes[i]->threads);
		free(d->processes[i]);
	}
	free(d->processes);
	tick_line_release(&d->line);
	map_release(&d->by_segment);
	map_release(&d->by_pid);
	map_release(&d->exits);
	map_release(&d->blind_by_pid);
	free(d->blind);
	arena_release(&d->arena);
	buf_release(&d->scratch);
	if (d->epollfd >= 0)
		close(d->epollfd);
}
