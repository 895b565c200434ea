#include "probe/perf/perf-ring.h"

#include "probe/perf/cursor.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAMPLE_TIME_AT 24
#define SAMPLE_FIXED_BYTES DECODE_SAMPLE_BYTES
#define TRAILER_BYTES 32

int ring_map(struct ring *r, int fd, uint32_t cpu, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = MAP_FAILED;
	int error = ENOMEM;
	for (; at == MAP_FAILED && bytes >= 2 * page; bytes /= 2) {
		at = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		error = errno;
		if (at != MAP_FAILED)
			break;
	}
	if (at == MAP_FAILED)
		return -error;
	r->fd = fd;
	r->cpu = cpu;
	r->page = at;
	r->data = (const uint8_t *)at + page;
	r->bytes = bytes;
	r->head = r->tail = r->seen = 0;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->bytes);
	r->page = NULL;
}

void ring_read_head(struct ring *r)
{
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

static void copy_out(struct ring *r, uint64_t from, void *out, size_t n)
{
	uint64_t at = from & (r->bytes - 1);
	size_t first = n < r->bytes - at ? n : (size_t)(r->bytes - at);
	memcpy(out, r->data + at, first);
	memcpy((uint8_t *)out + first, r->data, n - first);
}

const struct perf_event_header *ring_peek(struct ring *r, bool *is_bad)
{
	if (r->head - r->tail < sizeof(struct perf_event_header))
		return NULL;
	uint64_t at = r->tail & (r->bytes - 1);
	const struct perf_event_header *h = (const void *)(r->data + at); /* records are aligned to 8, a header is 8 */
	if (h->size < sizeof(*h) || h->size > r->head - r->tail || h->size > r->bytes) {
		*is_bad = true;
		r->tail = r->head;
		return NULL;
	}
	if (at + h->size <= r->bytes)
		return h;
	copy_out(r, r->tail, r->copy, h->size);
	return (const void *)r->copy;
}

bool ring_peek_ahead(struct ring *r, void *out, size_t n, struct perf_event_header *h)
{
	if (r->seen - r->tail > r->head - r->tail)
		r->seen = r->tail; /* it was consumed before ring_peek_ahead saw it */
	if (r->head - r->seen < sizeof(*h))
		return false;
	copy_out(r, r->seen, h, sizeof(*h));
	if (h->size < sizeof(*h) || h->size > r->head - r->seen) {
		r->seen = r->head; /* ring_peek reports it */
		return false;
	}
	copy_out(r, r->seen, out, h->size < n ? h->size : n);
	r->seen += h->size;
	return true;
}

void ring_next(struct ring *r, const struct perf_event_header *h)
{
	r->tail += h->size;
}

void ring_give_back(struct ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

/* The record layouts are documented in perf_event_open(2). */

/* Layout of a sample after its header: id, ip, pid and tid, time, cpu, period. */
/* Trailer of other records: pid and tid, time, cpu, id. */

int64_t decode_shift_ns;

int64_t decode_time(const struct perf_event_header *h)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	size_t bytes = h->size - sizeof(*h);
	int64_t ts_ns;
	if (bytes < (h->type == PERF_RECORD_SAMPLE ? SAMPLE_FIXED_BYTES : TRAILER_BYTES))
		return INT64_MIN;
	memcpy(&ts_ns, h->type == PERF_RECORD_SAMPLE ? body + SAMPLE_TIME_AT : body + bytes - TRAILER_BYTES + 8, 8);
	return ts_ns + decode_shift_ns;
}

bool decode_record(const struct perf_event_header *h, struct perf_record *r)
{
	bool is_sample = h->type == PERF_RECORD_SAMPLE;
	*r = (struct perf_record){ .type = h->type,
		.misc = h->misc,
		.body = (const uint8_t *)(h + 1),
		.bytes = h->size - sizeof(*h) };
	if (r->bytes < (is_sample ? SAMPLE_FIXED_BYTES : TRAILER_BYTES))
		return false;
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	if (is_sample) {
		r->id = cursor_u64(&c);
		cursor_skip(&c, 8);
	} else {
		r->bytes -= TRAILER_BYTES;
		c.at = r->body + r->bytes;
	}
	r->pid = (int32_t)cursor_u32(&c);
	r->tid = (int32_t)cursor_u32(&c);
	r->ts_ns = (int64_t)cursor_u64(&c) + decode_shift_ns;
	r->cpu = cursor_u32(&c);
	cursor_skip(&c, 4);
	if (!is_sample)
		r->id = cursor_u64(&c);
	return true;
}

static bool read_chain(struct cursor *c, struct perf_sample *s)
{
	uint64_t n = cursor_u64(c);
	s->chain = (const void *)c->at; /* aligned: records are, and all fields before it */
	s->chain_count = n <= cursor_left(c) / 8 ? (size_t)n : 0;
	if (n > cursor_left(c) / 8)
		return false;
	cursor_skip(c, 8 * n);
	return true;
}

bool decode_sample(const struct perf_record *r, uint64_t sample_type, struct perf_sample *s)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	*s = (struct perf_sample){ .record = r };
	cursor_skip(&c, 8);
	s->ip = cursor_u64(&c);
	cursor_skip(&c, SAMPLE_FIXED_BYTES - 24);
	s->period = cursor_u64(&c);
	if (sample_type & PERF_SAMPLE_CALLCHAIN && !read_chain(&c, s))
		return false;
	if (sample_type & PERF_SAMPLE_REGS_USER) {
		/* ABI 0 has no registers; another one has different registers */
		s->has_regs = cursor_u64(&c) == PERF_SAMPLE_REGS_ABI_64;
		s->regs = (const void *)c.at; /* aligned: records are, and all fields before it */
		if (s->has_regs)
			cursor_skip(&c, 8 * PERF_USER_REGS);
		if (!s->has_regs)
			return !c.is_bad;
	}
	if (sample_type & PERF_SAMPLE_STACK_USER) {
		uint64_t bytes = cursor_u64(&c);
		s->stack = c.at;
		cursor_skip(&c, bytes);
		uint64_t used = bytes ? cursor_u64(&c) : 0;
		s->stack_bytes = used <= bytes ? (size_t)used : 0;
		s->stack_room = bytes;
	}
	return !c.is_bad;
}

const uint8_t *decode_raw(const struct perf_record *r, size_t *bytes)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	cursor_skip(&c, SAMPLE_FIXED_BYTES);
	*bytes = cursor_u32(&c);
	return c.is_bad || *bytes > cursor_left(&c) ? NULL : c.at;
}

bool decode_mmap(const struct perf_record *r, struct decoded_mmap *m)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	*m = (struct decoded_mmap){ .pid = (int32_t)cursor_u32(&c) };
	m->tid = (int32_t)cursor_u32(&c);
	m->start = cursor_u64(&c);
	m->bytes = cursor_u64(&c);
	m->offset = cursor_u64(&c);
	if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		m->build_id_bytes = cursor_u8(&c);
		cursor_skip(&c, 3);
		m->build_id = c.at;
		cursor_skip(&c, BUILD_ID_BYTES_MAX);
		if (m->build_id_bytes > BUILD_ID_BYTES_MAX)
			m->build_id_bytes = 0;
	} else {
		cursor_skip(&c, 24);
	}
	cursor_skip(&c, 8); /* prot, flags */
	m->path = (const char *)c.at;
	return !c.is_bad && memchr(c.at, '\0', cursor_left(&c));
}
