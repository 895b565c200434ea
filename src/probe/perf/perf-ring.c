#include "probe/perf/perf-ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

void ring_look(struct ring *r)
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

bool ring_look_ahead(struct ring *r, void *out, size_t n, struct perf_event_header *h)
{
	if (r->seen - r->tail > r->head - r->tail)
		r->seen = r->tail; /* it was consumed before ring_look_ahead saw it */
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
