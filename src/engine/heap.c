#include "engine/heap.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void heap_init(struct heap *h, size_t budget_bytes)
{
	*h = (struct heap){ .budget_bytes = budget_bytes, .fd = -1 };
}

void heap_release(struct heap *h)
{
	for (size_t i = 0; i < h->count; i++)
		munmap(h->chunks[i], HEAP_CHUNK_BYTES);
	free(h->chunks);
	if (h->fd >= 0)
		close(h->fd);
	heap_init(h, h->budget_bytes);
}

static int open_file(void)
{
	const char *dir = getenv("TMPDIR");

	return open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Move the oldest chunk in memory to the file. On failure it stays in memory. */
static void spill(struct heap *h)
{
	uint8_t *chunk = h->chunks[h->spilled];
	off_t at = (off_t)(h->spilled * HEAP_CHUNK_BYTES);

	if (h->fd < 0)
		h->fd = open_file();
	if (h->fd < 0 || lseek(h->fd, at, SEEK_SET) < 0 || fs_write_all(h->fd, chunk, HEAP_CHUNK_BYTES) < 0) {
		h->budget_bytes = SIZE_MAX;
		return;
	}
	if (mmap(chunk, HEAP_CHUNK_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, h->fd, at) == MAP_FAILED)
		h->budget_bytes = SIZE_MAX;
	else
		h->spilled++;
}

static int add_chunk(struct heap *h)
{
	uint8_t **chunks;
	void *chunk;

	if (h->count == h->cap) {
		chunks = reallocarray(h->chunks, h->cap ? 2 * h->cap : 16, sizeof(*chunks));
		if (!chunks)
			return -1;
		h->chunks = chunks;
		h->cap = h->cap ? 2 * h->cap : 16;
	}
	chunk = mmap(NULL, HEAP_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		return -1;
	h->chunks[h->count++] = chunk;
	h->used_bytes = 0;
	return 0;
}

uint8_t *heap_room(struct heap *h, size_t n)
{
	if (h->count && HEAP_CHUNK_BYTES - h->used_bytes >= n)
		return h->chunks[h->count - 1] + h->used_bytes;
	if (h->count && (h->count - h->spilled) * HEAP_CHUNK_BYTES >= h->budget_bytes)
		spill(h);
	if (n > HEAP_CHUNK_BYTES || add_chunk(h) < 0)
		return NULL;
	return h->chunks[h->count - 1];
}

void heap_took(struct heap *h, size_t n)
{
	h->used_bytes += n;
}
