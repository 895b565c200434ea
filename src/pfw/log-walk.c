/* Reads the chunks of a ring; see pfwlog.h. log-calls.c and log-annotations.c write the records. */
#include "pfw/log-private.h"

#include <errno.h>

#define WAITS_MAX 3 /* passes that a record waits for a name that another chunk may define */

static struct sonde_chunk *chunk_at(const struct log_segment *s, uint32_t i)
{
	return (void *)((char *)s->at + SONDE_SEGMENT_HEAD_BYTES + (size_t)i * SONDE_CHUNK_BYTES);
}

static void touch(struct pfwlog *log, struct walk *w, uint32_t segment, uint32_t chunk)
{
	if (w->is_touched)
		return;
	if (log->touched_count == PFWLOG_CURSORS_MAX)
		log_commit(log);
	log->touched[log->touched_count].segment = (uint16_t)segment;
	log->touched[log->touched_count++].chunk = (uint16_t)chunk;
	w->is_touched = true;
}

static enum taken take_record(struct pfwlog *log, struct walk *w, bool is_last_chance)
{
	const struct ring_record *v = &log->ring_record;
	switch (v->head->kind) {
	case SONDE_REC_CALL:
	case SONDE_REC_RUN:
	case SONDE_REC_EXEC:
		return log_on_call(log, w, is_last_chance);
	case SONDE_REC_STRING:
		return log_on_string(log);
	case SONDE_REC_FILE:
		return log_on_file(log, is_last_chance);
	case SONDE_REC_FUNC:
		return log_on_func(log, w);
	case SONDE_REC_WHO:
		w->pid = ring_record_who(v)->pid;
		w->tid = ring_record_who(v)->tid;
		return TAKEN;
	case SONDE_REC_MODULE:
		if (v->string_count)
			code_module(&log->code, ring_record_def(v)->id, ring_record_def(v)->base,
					names_put(&log->names, v->strings[0].data, v->strings[0].bytes));
		return TAKEN;
	default:
		return TAKEN;
	}
}

/* ring-decode.h does not check pfwlog's own records: they are copied. */
static bool is_own(uint64_t head)
{
	unsigned kind = ring_head_kind(head);
	return kind >= PFWLOG_REC_EVENT && kind < PFWLOG_REC_END;
}

static enum taken take_at(struct pfwlog *log, struct walk *w, const char *from, size_t words, bool is_last_chance)
{
	struct ring_record *v = &log->ring_record;
	uint64_t head;
	memcpy(&head, from, sizeof(head));
	if (!is_own(head))
		return ring_record_read(v, from, words) ? take_record(log, w, is_last_chance) : TAKEN;
	if (words * 8 > sizeof(v->bytes))
		return TAKEN;
	memcpy(v->bytes, from, words * 8);
	v->len = words * 8;
	v->head = (const void *)v->bytes;
	return is_own(*(const uint64_t *)(const void *)v->bytes) ? log_on_own(log, w, is_last_chance) : TAKEN;
}

/*
 * An exec is one line: the call if it failed, or the attempt, the last record of a program. The records after an
 * attempt show its result.
 */
enum attempt { SUCCEEDED, FAILED, OPEN };

static enum attempt attempt_at(const struct pfwlog *log, const struct walk *w, const struct sonde_chunk *c, uint32_t at,
		bool is_full)
{
	uint64_t exec = 0, head = 0;
	for (uint32_t next = at; next < SONDE_CHUNK_BYTES; next += ring_head_bytes(head)) {
		head = __atomic_load_n((const uint64_t *)(const void *)((const char *)c + next), __ATOMIC_ACQUIRE);
		unsigned kind = ring_head_kind(head);
		if (!ring_head_bytes(head))
			break;
		if (next == at)
			exec = head;
		else if (kind == SONDE_REC_WHO)
			return SUCCEEDED; /* a vfork child: its parent continues */
		else if (kind == SONDE_REC_CALL && (head ^ exec) << 16 >> 48 == 0 && head >> 48)
			return FAILED;
	}
	if (is_full)
		return w->pid == log->state->true_pid ? FAILED : SUCCEEDED; /* its thread continues in another chunk */
	return OPEN;
}

static bool is_attempt(uint64_t head)
{
	return ring_head_kind(head) == SONDE_REC_EXEC;
}

/* The position of a record's chunk, and how to read the record. */
struct place {
	const struct sonde_chunk *chunk;
	uint32_t segment, number; /* of the chunk */
	bool is_full, is_closed, is_last_chance;
};

enum step { WENT, STAYS, WAITED }; /* STAYS: nothing more to read */

/* Reads the record at w->at. */
static enum step walk_step(struct pfwlog *log, struct walk *w, const struct place *p, uint64_t head)
{
	unsigned state = ring_head_state(head);
	enum attempt attempt = is_attempt(head) ? attempt_at(log, w, p->chunk, w->at, p->is_full) : SUCCEEDED;
	if (attempt == OPEN) {
		w->is_ending = p->is_closed;
		return STAYS;
	}
	touch(log, w, p->segment, p->number);
	if (state != SONDE_PENDING && state != SONDE_END && attempt != FAILED &&
			take_at(log, w, (const char *)p->chunk + w->at, ring_head_bytes(head) / 8,
					p->is_last_chance || w->waits > WAITS_MAX) == WAITS) {
		w->waits++;
		return WAITED;
	}
	w->waits = 0;
	w->at += ring_head_bytes(head);
	return WENT;
}

/* The chunk has a record, so its thread is known. Starts at its first, or at the position a dead writer had reached. */
static void start_walk(const struct pfwlog *log, struct walk *w, const struct sonde_chunk *c)
{
	uint64_t drained = __atomic_load_n(&c->drained, __ATOMIC_RELAXED);
	bool is_begun = drained > SONDE_CHUNK_FIRST && drained <= SONDE_CHUNK_BYTES;
	w->at = is_begun ? (uint32_t)drained & ~7u : SONDE_CHUNK_FIRST;
	w->tid = c->tid;
	w->pid = is_begun ? (int32_t)c->reserved[1] : log->state->true_pid;
	w->level = is_begun ? (uint32_t)(c->reserved[1] >> 32) : 0;
	w->parent = is_begun ? (int32_t)c->reserved[0] : -1;
}

/* Reads from w->at as far as possible; returns false if not to the end. */
static bool walk_on(struct pfwlog *log, struct walk *w, const struct place *p, uint64_t *count)
{
	uint32_t at = w->at ? w->at : SONDE_CHUNK_FIRST;
	while (!w->is_broken) {
		uint64_t head;
		enum ring_step step = ring_chunk_next(p->chunk, &at, p->is_closed, &head);
		if (step == RING_NOTHING)
			return true;
		if (!w->at) {
			start_walk(log, w, p->chunk);
			if (w->at > at) {
				at = w->at;
				continue;
			}
		}
		w->at = at;
		if (step == RING_UNFINISHED)
			return false;
		if (step == RING_BROKEN) {
			w->is_broken = true;
			return true;
		}
		enum step went = walk_step(log, w, p, head);
		if (went != WENT)
			return went == STAYS;
		++*count;
		at = w->at;
		if (log->text.len >= log->state->setup.batch_bytes)
			log_commit(log);
	}
	return true;
}

static bool is_dead(const struct pfwlog *log, int32_t tid)
{
	return sys3(SYS_tgkill, log->state->true_pid, tid, 0) == -ESRCH;
}

static void walk_chunk(struct pfwlog *log, uint32_t segment, uint32_t i, enum pfwlog_pass pass, bool is_last_chance,
		uint64_t *count)
{
	struct log_segment *s = log->segments[segment];
	struct walk *w = &s->chunks[i];
	uint32_t owner = __atomic_load_n(&s->at->owner[i], __ATOMIC_ACQUIRE);
	if (!owner || w->is_free)
		return;
	bool is_full = owner == SONDE_OWNER_FULL, is_closed = pass == PFWLOG_LAST;
	struct place place = { .chunk = chunk_at(s, i),
		.segment = segment,
		.number = i,
		.is_full = is_full,
		.is_closed = is_closed,
		.is_last_chance = is_last_chance };
	bool is_waiting = !walk_on(log, w, &place, count);
	if (is_full && !is_closed) {
		/* Not at the end: a signal handler interrupted a hook, which continues unless its thread is dead. */
		is_waiting = w->at < SONDE_CHUNK_BYTES;
		if (is_waiting && !w->waits && is_dead(log, chunk_at(s, i)->tid)) {
			place.is_closed = true;
			is_waiting = !walk_on(log, w, &place, count);
		}
		if (!is_waiting) {
			touch(log, w, segment, i);
			w->is_free = log->has_free = true;
		}
	}
	log->is_waiting |= is_waiting;
}

uint64_t log_walk(struct pfwlog *log, enum pfwlog_pass pass, bool is_last_chance)
{
	uint64_t count = 0;
	log->is_waiting = false;
	for (uint32_t n = 0; n < log->segment_count; n++)
		for (uint32_t i = 0; i < log->segments[n]->chunk_count; i++)
			walk_chunk(log, n, i, pass, is_last_chance, &count);
	return count;
}

/* Writes the attempts that no record followed. */
void log_walk_endings(struct pfwlog *log)
{
	for (uint32_t n = 0; n < log->segment_count; n++)
		for (uint32_t i = 0; i < log->segments[n]->chunk_count; i++) {
			struct walk *w = &log->segments[n]->chunks[i];
			const char *from = (const char *)chunk_at(log->segments[n], i) + w->at;
			uint64_t head = w->is_ending ? *(const uint64_t *)(const void *)from : 0;
			size_t words = head & 0xffff;
			if (!words || words * 8 > SONDE_CHUNK_BYTES - w->at)
				continue;
			touch(log, w, n, i);
			take_at(log, w, from, words, true);
			w->at += (uint32_t)words * 8;
			w->is_ending = false;
		}
}

bool log_has_endings(const struct pfwlog *log)
{
	for (uint32_t n = 0; n < log->segment_count; n++)
		for (uint32_t i = 0; i < log->segments[n]->chunk_count; i++)
			if (log->segments[n]->chunks[i].is_ending)
				return true;
	return false;
}

void pfwlog_reap(struct pfwlog *log)
{
	for (uint32_t n = 0; n < log->segment_count; n++)
		for (uint32_t i = 0; i < log->segments[n]->chunk_count; i++) {
			uint32_t *word = &log->segments[n]->at->owner[i],
				 owner = __atomic_load_n(word, __ATOMIC_RELAXED);
			if (owner && owner != SONDE_OWNER_FULL && is_dead(log, (int32_t)owner))
				__atomic_compare_exchange_n(word, &owner, SONDE_OWNER_FULL, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED);
		}
}
