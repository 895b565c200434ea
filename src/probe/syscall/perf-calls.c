/* Merges the tracepoint records in time order; see perf-calls.h. They are opened in perf-calls-open.c. */
#include "probe/syscall/perf-calls.h"

#include "base/clock.h"
#include "probe/perf/cursor.h"
#include "probe/perf/perf-decode.h"

#include <string.h>
#include <unistd.h>

#define LATE_NS 1000000  /* older records have reached their ring; later ones count as out of order */
#define RECORD_BYTES 256 /* more than any of our records */

size_t point_calls_fds(const struct point_calls *c, int *fds, size_t room)
{
	size_t n = 0;
	for (; n < c->ring_count && n < room; n++)
		fds[n] = c->rings[n]->fd;
	return n;
}

/* Uses the kernel's count, which is updated before the call with the lost record continues. */
static uint64_t count_lost(const struct point_calls *c)
{
	uint64_t sum = 0, values[2]; /* events, lost */
	for (size_t i = 0; i < c->fd_count; i++)
		if (read(c->fds[i], values, sizeof(values)) == sizeof(values))
			sum += values[1];
	return sum;
}

static void look(struct point_calls *c)
{
	for (size_t i = 0; i < c->ring_count; i++)
		ring_look(c->rings[i]);
}

static bool is_before_untraced_heads(const struct point_calls *c)
{
	for (size_t i = 0; i < c->ring_count; i++)
		if (c->rings[i]->tail < c->untraced_heads[i])
			return true;
	return false;
}

void point_calls_mark(struct point_calls *c, bool is_last)
{
	c->until_ns = is_last ? INT64_MAX - 1 : clock_mono_ns() - LATE_NS;
	look(c);
	uint64_t lost = count_lost(c);
	bool is_untraced = lost != c->lost || (c->is_untraced && is_before_untraced_heads(c));
	for (size_t i = 0; lost != c->lost && i < c->ring_count; i++)
		c->untraced_heads[i] = c->rings[i]->head;
	c->lost = lost;
	if (is_untraced || c->is_untraced)
		deferred_set_untraced(&c->late, is_untraced);
	c->is_untraced = is_untraced;
}

static uint64_t get(const uint8_t *raw, size_t bytes, size_t at)
{
	uint64_t v = UINT64_MAX;
	if (at + sizeof(v) <= bytes)
		memcpy(&v, raw + at, sizeof(v));
	return v;
}

/* Decodes a record as an entry or exit of a call; false if it is neither. */
static bool point_of(const struct point_calls *c, const struct perf_record *r, struct deferred_point *p, bool *is_begin)
{
	size_t bytes;
	const uint8_t *raw = r->type == PERF_RECORD_SAMPLE ? decode_raw(r, &bytes) : NULL;
	if (!raw)
		return false;
	*is_begin = map_get_int(&c->begins, r->id) != NULL;
	*p = (struct deferred_point){ .pid = r->pid, .tid = r->tid, .cpu = r->cpu, .ts_ns = r->ts_ns };
	p->number = (int64_t)get(raw, bytes, *is_begin ? c->number_at : c->end_number_at);
	p->ret = (int64_t)get(raw, bytes, c->ret_at);
	for (size_t i = 0; *is_begin && i < 6; i++)
		p->args[i] = get(raw, bytes, c->args_at + 8 * i);
	return true;
}

/* The thread of an EXIT record: pid, the parent's pid, tid. */
static void ended(const struct perf_record *r, int32_t *pid, int32_t *tid)
{
	struct cursor at = { .at = r->body, .end = r->body + r->bytes };
	*pid = (int32_t)cursor_u32(&at);
	cursor_skip(&at, 4);
	*tid = (int32_t)cursor_u32(&at);
}

static void take(struct point_calls *c, const struct perf_record *r)
{
	struct deferred_point p;
	bool is_begin;
	int32_t pid, tid;
	if (point_of(c, r, &p, &is_begin)) {
		if (is_begin)
			deferred_begin(&c->late, &p);
		else
			deferred_end(&c->late, &p);
	} else if (r->type == PERF_RECORD_EXIT) {
		ended(r, &pid, &tid);
		deferred_thread_ended(&c->late, pid, tid, r->ts_ns);
	} else if (r->type == PERF_RECORD_LOST) {
		deferred_lost(&c->late, r->ts_ns);
	}
}

/* Of the records written while names were read, only calls that invalidate names matter. */
static void see_ahead(struct point_calls *c, struct ring *ring)
{
	_Alignas(8) uint8_t bytes[RECORD_BYTES];
	struct perf_event_header h;
	struct perf_record r;
	struct deferred_point p;
	bool is_begin;
	int32_t pid, tid;
	ring->seen = ring->tail;
	while (ring_look_ahead(ring, bytes, sizeof(bytes), &h)) {
		if (h.size > sizeof(bytes) || !decode_record((const void *)bytes, &r))
			continue;
		if (point_of(c, &r, &p, &is_begin) && is_begin)
			deferred_names_on_seen(&c->late.names, &p);
		if (r.type == PERF_RECORD_EXIT) {
			ended(&r, &pid, &tid);
			deferred_names_forget(&c->late.names, pid);
		}
	}
}

static void read_names(struct point_calls *c)
{
	if (!deferred_names_read(&c->late.names))
		return;
	look(c);
	for (size_t i = 0; i < c->ring_count; i++)
		see_ahead(c, c->rings[i]);
	if (count_lost(c) != c->lost)
		deferred_names_forget(&c->late.names, 0);
}

static void peek(struct point_calls *c, size_t i)
{
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(c->rings[i], &is_bad);
	c->next_ns[i] = h ? decode_time(h) : INT64_MAX;
}

static size_t earliest(const struct point_calls *c)
{
	size_t first = 0;
	for (size_t i = 1; i < c->ring_count; i++)
		if (c->next_ns[i] < c->next_ns[first])
			first = i;
	return first;
}

static void take_next(struct point_calls *c, size_t i)
{
	struct ring *ring = c->rings[i];
	struct perf_record r;
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(ring, &is_bad);
	if (h && decode_record(h, &r))
		take(c, &r);
	if (h)
		ring_next(ring, h);
	peek(c, i);
}

size_t point_calls_take(struct point_calls *c, const char *events, size_t bytes)
{
	size_t at = 0;
	for (size_t i = 0; i < c->ring_count; i++)
		peek(c, i);
	for (;;) {
		const struct syscall_event *e = (const void *)(events + at);
		bool has_event = bytes - at >= sizeof(*e) && e->bytes >= sizeof(*e) && e->bytes <= bytes - at;
		size_t i = earliest(c);
		if (has_event && e->ts_ns <= c->next_ns[i] && e->ts_ns <= c->until_ns) {
			deferred_watched(&c->late, e);
			at += e->bytes;
		} else if (c->next_ns[i] <= c->until_ns) {
			take_next(c, i);
		} else {
			break;
		}
	}
	for (size_t i = 0; i < c->ring_count; i++)
		ring_give_back(c->rings[i]);
	read_names(c);
	return at;
}
