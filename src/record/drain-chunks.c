/* Walks the chunks of a process and recycles them; see drain.h. emit.h interprets the records. */
#include "record/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FINISH_ROUNDS 8
#define COPIES_MAX 64 /* 2 MiB; a killed recorder loses them, like the rows that it had not written yet */

/* Walk from state->at to the last committed record. Returns false if a started record is left. */
static bool walk_on(struct drain *d, struct drain_process *p, struct drain_chunk *state, const struct sonde_chunk *c,
		bool is_closed, bool is_last_chance)
{
	uint64_t head;
	while (!state->is_broken) {
		uint32_t before = state->at;
		enum ring_step step = ring_chunk_next(c, &state->at, is_closed, &head);
		d->lost_records += state->at != before; /* a reservation that was never written */
		if (step == RING_NOTHING || step == RING_UNFINISHED)
			return step == RING_NOTHING;
		if (step == RING_BROKEN) {
			state->is_broken = true;
			d->broken_chunks++;
			break;
		}
		if (ring_head_state(head) == SONDE_PENDING)
			d->lost_records++;
		else if (ring_head_state(head) == SONDE_END)
			;
		else if (!ring_record_read(&d->ring_record, (const char *)c + state->at, ring_head_bytes(head) / 8))
			d->broken_records++;
		else if (emit_record(d, p, state, is_last_chance) == EMIT_WAIT)
			return false;
		state->at += ring_head_bytes(head);
	}
	return true;
}

/* The owner word is written shortly before the chunk header; a nonzero tail means that the header is written. */
static bool is_begun(const struct sonde_chunk *c)
{
	uint64_t tail = __atomic_load_n(&c->tail, __ATOMIC_ACQUIRE);
	return tail >= SONDE_CHUNK_FIRST && tail < SONDE_TAIL_CLOSED;
}

bool drain_walk(struct drain *d, struct drain_process *p, struct drain_chunk *state, struct sonde_chunk *c,
		bool is_closed, bool is_last_chance)
{
	if (!state->at && !is_begun(c))
		return true;
	if (!state->at) {
		/* The position of a previous recorder that was killed; 0 if the chunk has not been read. */
		uint64_t drained = __atomic_load_n(&c->drained, __ATOMIC_RELAXED);
		bool is_read = d->epollfd < 0 && drained > SONDE_CHUNK_FIRST && drained <= SONDE_CHUNK_BYTES;
		state->at = is_read ? (uint32_t)drained & ~7u : SONDE_CHUNK_FIRST;
		state->pid = p->pid;
		state->tid = c->tid;
		drain_pair(d, c->start_ticks, c->start_mono_ns);
	}
	bool is_whole = walk_on(d, p, state, c, is_closed, is_last_chance);
	/* In this order: when the recorder is killed in between, events count twice as lost rather than not at all. */
	drain_publish(d);
	__atomic_store_n(&c->drained, state->at, __ATOMIC_RELEASE);
	c->tid = state->tid;
	return is_whole;
}

static bool is_thread_dead(const struct drain_process *p, uint32_t tid)
{
	return syscall(SYS_tgkill, p->pid, tid, 0) && errno == ESRCH;
}

static void finish_thread(struct drain *d, struct drain_process *p, struct drain_chunk *state, struct sonde_chunk *c,
		int64_t end_ns)
{
	uint32_t depth = __atomic_load_n(&c->depth, __ATOMIC_RELAXED); /* read once: the program may change it */
	if (depth > SONDE_OPEN_SPANS_MAX)
		depth = SONDE_OPEN_SPANS_MAX;
	for (uint32_t i = 0; i < depth; i++) {
		struct sonde_open_span span = c->open[i];
		emit_open_span(d, p, state, &span, i, end_ns);
	}
}

/* Recycle an emptied chunk. It must be all zeros, with no room left, when its owner word becomes free. */
static void drain_recycle(struct drain_process *p, struct drain_segment *s, uint32_t i)
{
	struct sonde_chunk *c = drain_chunk_at(s, i);
	uint64_t tail = __atomic_load_n(&c->tail, __ATOMIC_RELAXED); /* read once: the program may change it */
	uint64_t used = tail < SONDE_CHUNK_BYTES ? tail : SONDE_CHUNK_BYTES;
	p->filtered += c->filtered;
	c->tail = SONDE_TAIL_CLOSED;
	memset((char *)c + sizeof(c->tail), 0, (used < SONDE_CHUNK_FIRST ? SONDE_CHUNK_FIRST : used) - sizeof(c->tail));
	s->chunks[i] = (struct drain_chunk){ 0 };
	__atomic_store_n(&s->at->owner[i], 0, __ATOMIC_RELEASE);
}

static void drain_chunk(struct drain *d, struct drain_process *p, struct drain_segment *s, uint32_t i,
		bool is_process_dead, bool is_last_chance)
{
	struct drain_chunk *state = &s->chunks[i];
	struct sonde_chunk *c = drain_chunk_at(s, i);
	uint32_t owner = __atomic_load_n(&s->at->owner[i], __ATOMIC_ACQUIRE);
	if (!owner)
		return;
	drain_walk(d, p, state, c, is_process_dead, is_last_chance);
	if (owner != SONDE_OWNER_FULL || is_process_dead)
		return;
	/* A short chunk: a signal handler interrupted a hook, and its thread continues there unless it is dead. */
	if (state->at == SONDE_CHUNK_BYTES ||
			(is_thread_dead(p, (uint32_t)c->tid) && drain_walk(d, p, state, c, true, is_last_chance)))
		drain_recycle(p, s, i);
}

/*
 * Remember the process, so that a SIGBUS can be attributed to the truncated file. Returns false if it was truncated
 * before.
 */
static bool start_reading(struct drain *d, struct drain_process *p)
{
	d->reading = p;
	return !p->is_cut;
}

/* Threads that have died keep a partly filled chunk: reclaim it. */
void drain_reap(struct drain *d, struct drain_process *p)
{
	if (!start_reading(d, p))
		return;
	for (uint32_t n = 0; n < p->segment_count; n++)
		for (uint32_t i = 0; i < p->segments[n]->chunk_count; i++) {
			struct drain_segment *s = p->segments[n];
			uint32_t owner = __atomic_load_n(&s->at->owner[i], __ATOMIC_ACQUIRE);
			if (!owner || owner == SONDE_OWNER_FULL || !is_thread_dead(p, owner) ||
					!__atomic_compare_exchange_n(&s->at->owner[i], &owner, SONDE_OWNER_FULL, false,
							__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				continue;
			drain_walk(d, p, &s->chunks[i], drain_chunk_at(s, i), true, true);
			finish_thread(d, p, &s->chunks[i], drain_chunk_at(s, i), clock_mono_ns());
			drain_recycle(p, s, i);
		}
}

/*
 * Full chunks are copied out of the ring at once and decoded later; see drain.h.
 *
 * Decoding a chunk takes longer than filling one. A program that writes without a pause would take a new chunk, on
 * fresh pages with a page fault each, while we decode the old ones. A copy takes a hundredth of that time: the program
 * gets its chunk back while it is still in the cache.
 */

struct backlogged {
	struct backlogged *next;
	struct drain_process *process;
	struct drain_chunk state;
	uint32_t records;
	_Alignas(8) char bytes[SONDE_CHUNK_BYTES];
};

static void append(struct backlog *backlog, struct backlogged *e)
{
	e->next = NULL;
	*(backlog->first ? &backlog->last->next : &backlog->first) = e;
	backlog->last = e;
}

/*
 * A chunk with an unfinished record stays in the ring: its thread may have been interrupted during a call. The copy
 * stays in the spare list until it is complete, because reading a ring may raise SIGBUS.
 */
static void copy_chunk(struct drain *d, struct drain_process *p, struct drain_segment *s, uint32_t i)
{
	struct backlog *backlog = &d->backlog;
	d->reading = p;
	if (p->is_cut || __atomic_load_n(&s->at->owner[i], __ATOMIC_ACQUIRE) != SONDE_OWNER_FULL ||
			s->chunks[i].is_broken)
		return;
	if (!backlog->spare)
		backlog->spare = calloc(1, sizeof(*backlog->spare));
	struct backlogged *e = backlog->spare;
	if (!e)
		return;
	memcpy(e->bytes, drain_chunk_at(s, i), SONDE_CHUNK_BYTES);
	/* Its records are counted only if all are finished and the chunk has no writer any more. */
	uint32_t at = s->chunks[i].at;
	uint32_t count = 0;
	uint64_t head;
	for (at = at ? at : SONDE_CHUNK_FIRST;
			ring_chunk_next((const void *)e->bytes, &at, false, &head) == RING_RECORD; count++)
		at += ring_head_bytes(head);
	e->records = at == SONDE_CHUNK_BYTES ? count : 0;
	if (!e->records)
		return;
	e->process = p;
	e->state = s->chunks[i];
	backlog->spare = e->next;
	append(backlog, e);
	backlog->count++;
	backlog->records += e->records;
	drain_publish(d); /* before the ring releases them: if we are killed, they count as lost */
	drain_recycle(p, s, i);
}

static void copy_all(struct drain *d)
{
	for (size_t n = 0; n < d->live_count; n++)
		for (uint32_t s = 0; s < d->live[n]->segment_count; s++)
			for (uint32_t i = 0; i < d->live[n]->segments[s]->chunk_count; i++)
				if (d->backlog.count < COPIES_MAX)
					copy_chunk(d, d->live[n], d->live[n]->segments[s], i);
}

/* Decode the oldest copy. Returns false if it refers to a string that is not defined yet; it then moves to the end. */
static bool read_first(struct drain *d, bool is_last_chance)
{
	struct backlog *backlog = &d->backlog;
	struct backlogged *e = backlog->first;
	d->reading = e->process;
	bool is_read = drain_walk(d, e->process, &e->state, (void *)e->bytes, true, is_last_chance);
	backlog->first = e->next;
	if (!is_read) {
		append(backlog, e);
		return false;
	}
	backlog->count--;
	backlog->records -= e->records;
	e->next = backlog->spare;
	backlog->spare = e;
	return true;
}

void drain_backlog(struct drain *d)
{
	unsigned waiting = 0;
	copy_all(d);
	for (unsigned n = 0; n < COPIES_MAX && waiting < d->backlog.count; n++) {
		waiting = read_first(d, false) ? 0 : waiting + 1;
		copy_all(d);
	}
}

void drain_consume(struct drain *d, struct drain_process *p, bool is_dead, bool is_last_chance)
{
	/* Decode the copies of a process that wait for strings of other threads. */
	for (unsigned n = d->backlog.count; n; n--) {
		struct backlogged *e = d->backlog.first;
		if (e->process == p) {
			read_first(d, is_last_chance);
			continue;
		}
		d->backlog.first = e->next;
		append(&d->backlog, e);
	}
	if (!start_reading(d, p))
		return;
	for (uint32_t n = 0; n < p->segment_count; n++)
		for (uint32_t i = 0; i < p->segments[n]->chunk_count; i++)
			drain_chunk(d, p, p->segments[n], i, is_dead, is_last_chance);
}

/* Several rounds, because its threads may refer to each other's strings. */
void drain_consume_last(struct drain *d, struct drain_process *p, int64_t end_ns)
{
	for (int round = 0; round < FINISH_ROUNDS; round++) {
		uint64_t before = d->events;
		drain_consume(d, p, true, false);
		if (before == d->events)
			break;
	}
	drain_consume(d, p, true, true);
	if (!start_reading(d, p))
		return;
	for (uint32_t n = 0; n < p->segment_count; n++) {
		struct drain_segment *s = p->segments[n];
		if (s->number == 0)
			p->dropped += s->at->dropped;
		for (uint32_t i = 0; i < s->chunk_count; i++) {
			p->filtered += drain_chunk_at(s, i)->filtered;
			if (s->at->owner[i] && s->at->owner[i] != SONDE_OWNER_FULL)
				finish_thread(d, p, &s->chunks[i], drain_chunk_at(s, i), end_ns);
		}
	}
}

static void free_all(struct backlogged *e)
{
	for (struct backlogged *next; e; e = next) {
		next = e->next;
		free(e);
	}
}

void drain_backlog_release(struct drain *d)
{
	free_all(d->backlog.first);
	free_all(d->backlog.spare);
}
