/*
 * Full chunks are copied out of the ring at once and decoded later; see drain.h.
 *
 * Decoding a chunk takes longer than filling one. A program that writes without a pause would take a new chunk, on
 * fresh pages with a page fault each, while we decode the old ones. A copy takes a hundredth of that time: the program
 * gets its chunk back while it is still in the cache.
 */
#include "record/emit.h"

#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 64 /* 2 MiB; a killed recorder loses them, like the rows that it had not written yet */

struct backlogged {
	struct backlogged *next;
	struct drain_process *process;
	struct drain_chunk state;
	uint32_t records;
	_Alignas(8) char bytes[SONDE_CHUNK_BYTES];
};

/* The number of records if all are finished and the chunk has no writer any more; else 0. */
static uint32_t finished_records(const char *chunk, uint32_t at)
{
	uint32_t count = 0;
	uint64_t head;
	for (at = at ? at : SONDE_CHUNK_FIRST; ring_chunk_next((const void *)chunk, &at, false, &head) == RING_RECORD;
			count++)
		at += ring_head_bytes(head);
	return at == SONDE_CHUNK_BYTES ? count : 0;
}

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
static void shelve(struct drain *d, struct drain_process *p, struct drain_segment *s, uint32_t i)
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
	e->records = finished_records(e->bytes, s->chunks[i].at);
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

static void shelve_all(struct drain *d)
{
	for (size_t n = 0; n < d->live_count; n++)
		for (uint32_t s = 0; s < d->live[n]->segment_count; s++)
			for (uint32_t i = 0; i < d->live[n]->segments[s]->chunk_count; i++)
				if (d->backlog.count < COPIES_MAX)
					shelve(d, d->live[n], d->live[n]->segments[s], i);
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
	shelve_all(d);
	for (unsigned n = 0; n < COPIES_MAX && waiting < d->backlog.count; n++) {
		waiting = read_first(d, false) ? 0 : waiting + 1;
		shelve_all(d);
	}
}

void drain_backlog_of(struct drain *d, const struct drain_process *p, bool is_last_chance)
{
	for (unsigned n = d->backlog.count; n; n--) {
		struct backlogged *e = d->backlog.first;
		if (e->process == p) {
			read_first(d, is_last_chance);
			continue;
		}
		d->backlog.first = e->next;
		append(&d->backlog, e);
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
