/*
 * Passes over the ring, and process exits; see drain.h. Process starts are in drain-discover.c, records in
 * drain-chunks.c.
 */
#include "record/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_INTERVAL_NS 100000000
#define REAP_INTERVAL_NS 20000000

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

struct drain_process *drain_by_pid(struct drain *d, int32_t pid)
{
	const uint64_t *at = map_get_int(&d->by_pid, (uint64_t)(uint32_t)pid);
	return at ? d->processes[*at - 1] : NULL;
}

struct drain_process *drain_by_number(struct drain *d, uint32_t number)
{
	const uint64_t *at = map_get_int(&d->by_number, number);
	return at ? d->processes[*at - 1] : NULL;
}

static void finish_process(struct drain *d, struct drain_process *p, int64_t end_ns)
{
	drain_consume_last(d, p, end_ns);
	p->end_ns = end_ns;
	p->is_done = true;
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
	if (d->epollfd >= 0) {
		struct stat st;
		char board[32];
		snprintf(board, sizeof(board), "%u.board", p->number);
		if (!fstatat(d->ring->fd, board, &st, AT_SYMLINK_NOFOLLOW)) {
			if (d->board)
				d->board(d->board_arg, d->ring->fd, board);
			if (!unlinkat(d->ring->fd, board, 0))
				__atomic_fetch_sub(&d->ring->control->run_bytes, (uint64_t)st.st_size,
						__ATOMIC_RELAXED);
		}
	}
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

/* A newer process image with the same pid, or NULL. */
static struct drain_process *successor(struct drain *d, const struct drain_process *p)
{
	struct drain_process *newest = drain_by_pid(d, p->pid);
	return newest == p ? NULL : newest;
}

/* The process has exited or has been replaced by exec; both may be discovered in the same pass. */
static void end_process(struct drain *d, struct drain_process *p)
{
	const struct drain_process *next = successor(d, p);
	finish_process(d, p, next ? next->start_ns : clock_mono_ns());
	if (next)
		p->state = next->is_forked ? NULL : arena_strdup(&d->arena, "replaced by exec");
}

/* A readable pidfd means exit; a newer image with the same pid means exec. */
static void collect_ends(struct drain *d)
{
	struct epoll_event events[64];
	int n;
	do {
		n = d->epollfd < 0 ? 0 : epoll_wait(d->epollfd, events, 64, 0);
		for (int i = 0; i < n; i++) {
			struct drain_process *p = events[i].data.ptr;
			drain_discover(d); /* the last segment may be newer than the last scan */
			if (!p->is_done)
				end_process(d, p);
		}
	} while (n == 64);
	for (size_t i = 0; i < d->live_count; i++) {
		struct drain_process *p = d->live[i];
		if (p->is_done)
			continue;
		if (successor(d, p) ||
				(p->pidfd < 0 && d->epollfd >= 0 && !d->has_foreign_pids && kill(p->pid, 0) &&
						errno == ESRCH))
			end_process(d, p);
	}
}

/* A hostile program can truncate a file that we have mapped. Then only its own rows are lost. */
static sigjmp_buf bus_escape;

static void on_bus_error(int signal)
{
	siglongjmp(bus_escape, signal);
}

void drain_publish(struct drain *d)
{
	if (d->epollfd >= 0)
		__atomic_store_n(&d->ring->control->drained_events, d->events + d->backlog.records, __ATOMIC_RELAXED);
}

/* Returns false after a SIGBUS; the process with the truncated file is excluded from further passes. */
static bool guarded(struct drain *d, void (*work)(struct drain *d))
{
	struct sigaction guard = { .sa_handler = on_bus_error }, old;
	sigaction(SIGBUS, &guard, &old);
	d->reading = NULL;
	if (!sigsetjmp(bus_escape, 1)) {
		work(d);
		sigaction(SIGBUS, &old, NULL);
		return true;
	}
	sigaction(SIGBUS, &old, NULL);
	d->broken_chunks++;
	if (d->reading)
		d->reading->is_cut = true;
	return false;
}

static void pass(struct drain *d)
{
	uint32_t made = __atomic_load_n(&d->ring->control->segments_made, __ATOMIC_ACQUIRE);
	/* Ticks are converted between pairs of both clocks: take one now and then. */
	if (d->ring->control->clock == SONDE_CLOCK_TICKS && d->epollfd >= 0) {
		int64_t now = clock_mono_ns();
		if (d->line.count < 2 || now - d->line.pairs[d->line.count - 1].mono_ns > LINE_INTERVAL_NS)
			tick_line_sample(&d->line);
	}
	if (made != d->segments_seen || d->epollfd < 0) {
		d->segments_seen = made;
		drain_discover(d);
	}
	bool is_reaping = d->epollfd >= 0 && clock_mono_ns() - d->reaped_ns > REAP_INTERVAL_NS;
	if (d->epollfd >= 0)
		drain_backlog(d);
	for (size_t i = 0; i < d->live_count && d->epollfd >= 0; i++) {
		drain_consume(d, d->live[i], false, false);
		if (is_reaping)
			drain_reap(d, d->live[i]);
	}
	if (is_reaping)
		d->reaped_ns = clock_mono_ns();
	collect_ends(d);
	/* Keeps the cost of a pass proportional to the live processes, not to all that ever ran. */
	size_t kept = 0;
	for (size_t i = 0; i < d->live_count; i++)
		if (!d->live[i]->is_done)
			d->live[kept++] = d->live[i];
	d->live_count = kept;
}

uint64_t drain_pass(struct drain *d)
{
	uint64_t before = d->events;
	guarded(d, pass);
	drain_publish(d);
	return d->events - before;
}

void drain_exited(struct drain *d, pid_t pid, int status)
{
	uint64_t *at = map_put_int(&d->exits, (uint64_t)(uint32_t)pid, NULL);
	if (at)
		*at = (uint64_t)(uint32_t)status + 1;
}

void drain_ended(struct drain *d, uint32_t number, int64_t end_ns)
{
	struct drain_process *p = drain_by_number(d, number);
	if (p)
		p->kernel_exit_ns = end_ns;
}

/* The time of its last event. */
static int64_t last_event_ns(const struct drain_process *p)
{
	int64_t last_ns = STORE_NULL;
	for (size_t t = 0; t < p->thread_count; t++)
		if (last_ns == STORE_NULL || p->threads[t].last_ns > last_ns)
			last_ns = p->threads[t].last_ns;
	return last_ns;
}

static void finish_all(struct drain *d)
{
	for (size_t i = 0; i < d->process_count; i++) {
		struct drain_process *p = d->processes[i];
		if (p->is_done)
			continue;
		/* Processes of a sandbox or container exit with it. */
		bool is_running = d->epollfd >= 0 && !d->has_foreign_pids;
		finish_process(d, p, d->epollfd >= 0 ? clock_mono_ns() : p->start_ns);
		p->end_ns = is_running ? STORE_NULL : p->kernel_exit_ns ? p->kernel_exit_ns : last_event_ns(p);
		if (is_running)
			p->state = arena_strdup(&d->arena, "running");
	}
}

void drain_finish(struct drain *d)
{
	while (drain_pass(d))
		;
	for (size_t tries = 0; tries <= d->process_count && !guarded(d, finish_all); tries++)
		; /* without the process that truncated its file */
	emit_processes(d, true);
}

void drain_checkpoint(struct drain *d)
{
	emit_processes(d, false);
}

bool drain_is_unseen(struct drain *d, const struct untraced_child *b)
{
	const struct drain_process *seen = drain_by_pid(d, b->pid);
	return !seen || seen->start_ns < b->start_ns;
}

bool drain_awaits(struct drain *d)
{
	for (size_t i = 0; i < d->untraced_count; i++) {
		const struct untraced_child *b = &d->untraced[i];
		if (b->why == SONDE_UNTRACED_NO && drain_is_unseen(d, b) && !kill(b->pid, 0))
			return true;
	}
	return false;
}

/* True if it executed a program that cannot be traced. */
static bool drain_is_untraced(struct drain *d, const struct untraced_child *b)
{
	return b->path && drain_is_unseen(d, b);
}

void drain_losses(struct drain *d, uint64_t *dropped, uint64_t *filtered, uint64_t *untraced)
{
	for (size_t i = 0; i < d->process_count; i++) {
		const struct drain_process *p = d->processes[i];
		*dropped += p->dropped;
		*filtered += p->filtered;
		*untraced += p->exec_path && p->exec_untraced && !p->state;
	}
	for (size_t i = 0; i < d->untraced_count; i++)
		*untraced += drain_is_untraced(d, &d->untraced[i]);
}

void drain_release(struct drain *d)
{
	for (size_t i = 0; i < d->process_count; i++) {
		free(d->processes[i]->names);
		free(d->processes[i]->threads);
		free(d->processes[i]);
	}
	free(d->processes);
	free(d->live);
	tick_line_release(&d->line);
	ring_calls_free(d->calls);
	map_release(&d->by_segment);
	map_release(&d->by_pid);
	map_release(&d->by_number);
	map_release(&d->exits);
	map_release(&d->untraced_by_pid);
	map_release(&d->call_names);
	free(d->untraced);
	drain_backlog_release(d);
	arena_release(&d->arena);
	buf_release(&d->scratch);
	if (d->epollfd >= 0)
		close(d->epollfd);
}
