/*
 * The journal: commits the written lines and the read positions of the chunks atomically; see pfwlog.h. While
 * is_applying is set, any process may apply `next` and `cursors`, any number of times.
 */
#include "pfw/log-private.h"

static struct sonde_chunk *chunk_of(const struct pfwlog *log, uint32_t segment, uint32_t chunk)
{
	if (segment >= log->segment_count || chunk >= log->segments[segment]->chunk_count)
		return NULL;
	return (void *)((char *)log->segments[segment]->at + SONDE_SEGMENT_HEAD_BYTES +
			(size_t)chunk * SONDE_CHUNK_BYTES);
}

/* A chunk marked free must contain only zeros and be closed. */
static void give_back(struct pfwlog *log, uint32_t segment, uint32_t chunk, struct sonde_chunk *c)
{
	uint64_t tail = __atomic_load_n(&c->tail, __ATOMIC_RELAXED); /* once: the program may change it */
	uint64_t used = tail < SONDE_CHUNK_BYTES ? tail : SONDE_CHUNK_BYTES;
	c->tail = SONDE_TAIL_CLOSED;
	memset((char *)c + sizeof(c->tail), 0, (used < SONDE_CHUNK_FIRST ? SONDE_CHUNK_FIRST : used) - sizeof(c->tail));
	log->segments[segment]->chunks[chunk] = (struct walk){ 0 };
	__atomic_store_n(&log->segments[segment]->at->owner[chunk], 0, __ATOMIC_RELEASE);
}

void log_apply_journal(struct pfwlog *log)
{
	struct pfwlog_state *s = log->state;
	for (uint32_t i = 0; i < s->cursor_count && i < PFWLOG_CURSORS_MAX; i++) {
		const struct pfwlog_cursor *k = &s->cursors[i];
		struct sonde_chunk *c = chunk_of(log, k->segment, k->chunk);
		if (!c)
			continue;
		c->tid = k->tid;
		c->reserved[0] = (uint32_t)k->parent;
		c->reserved[1] = (uint64_t)k->level << 32 | (uint32_t)k->pid;
		c->drained = k->at;
	}
	s->done = s->next;
	__atomic_store_n(&s->is_applying, 0, __ATOMIC_RELEASE);
}

static void journal_write(struct pfwlog *log)
{
	struct pfwlog_state *s = log->state;
	s->next = log->now;
	s->cursor_count = log->touched_count;
	for (uint32_t i = 0; i < log->touched_count; i++) {
		uint32_t segment = log->touched[i].segment, chunk = log->touched[i].chunk;
		const struct walk *w = &log->segments[segment]->chunks[chunk];
		s->cursors[i] = (struct pfwlog_cursor){ .segment = segment,
			.chunk = chunk,
			.at = w->at,
			.pid = w->pid,
			.tid = w->tid,
			.parent = w->parent,
			.level = w->level,
			.is_free = w->is_free };
	}
	__atomic_store_n(&s->is_applying, 1, __ATOMIC_RELEASE);
}

void log_commit(struct pfwlog *log)
{
	log_write_sums(log);
	int rc = log->file.fd < 0 ? log->error : log_file_write(&log->file, &log->text, &log->packed);
	if (rc) { /* these lines are lost; names they announced must be announced again */
		log->error = rc;
		names_forget_behind(&log->names, log->state->done.text_bytes);
	} else {
		log->now.text_bytes += log->text.len;
	}
	log->now.file_bytes = log->file.bytes;
	log->text.len = 0;
	journal_write(log);
	log_apply_journal(log);
	for (uint32_t i = 0; i < log->touched_count; i++) {
		uint32_t segment = log->touched[i].segment, chunk = log->touched[i].chunk;
		struct walk *w = &log->segments[segment]->chunks[chunk];
		w->is_touched = false;
		if (w->is_free)
			give_back(log, segment, chunk, chunk_of(log, segment, chunk));
	}
	log->touched_count = 0;
	log->has_free = false;
}
