#include "pfw/import-cache.h"

#include <stdlib.h>
#include <string.h>

#define THREADS_MAX ((size_t)1 << 16) /* in one epoch */

void pfw_cache_init(struct pfw_cache *c, struct pfw_dims *dims)
{
	memset(c, 0, sizeof(*c));
	c->dims = dims;
	c->epoch = 1;
	for (size_t i = 0; i < PFW_CACHE_FILES; i++)
		c->files[i].id = STORE_NULL;
}

void pfw_cache_flush(struct pfw_cache *c)
{
	for (size_t i = 0; i < c->thread_count; i++)
		pfw_dims_thread(c->dims, c->threads[i]);
	c->thread_count = 0;
	map_release(&c->thread_numbers);
	arena_release(&c->arena);
	memset(c->recent, 0, sizeof(c->recent));
	c->epoch++;
}

void pfw_cache_release(struct pfw_cache *c)
{
	pfw_cache_flush(c);
	free(c->threads);
	c->threads = NULL;
	c->thread_cap = 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu + b;

	return (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u >> 32;
}

/* Hashes the first and the last bytes: names differ there. */
static uint64_t mix_bytes(const char *bytes, size_t n)
{
	uint64_t first = n, last = 0;

	if (n >= 8) {
		memcpy(&first, bytes, 8);
		memcpy(&last, bytes + n - 8, 8);
	} else {
		for (size_t i = 0; i < n; i++)
			last = last << 8 | (unsigned char)bytes[i];
	}
	return mix(first, last);
}

int64_t pfw_cache_string(struct pfw_cache *c, const char *bytes, size_t n)
{
	size_t i = mix_bytes(bytes, n) % PFW_CACHE_STRINGS;

	if (n > PFW_CACHE_STRING_BYTES)
		return pfw_dims_string(c->dims, bytes, n);
	if (c->strings[i].id > 0 && c->strings[i].bytes == n && !memcmp(c->strings[i].text, bytes, n))
		return c->strings[i].id;
	c->strings[i].id = pfw_dims_string(c->dims, bytes, n);
	c->strings[i].bytes = (uint8_t)n;
	memcpy(c->strings[i].text, bytes, n);
	return c->strings[i].id;
}

struct pfw_process *pfw_cache_process(struct pfw_cache *c, const struct pfw_process_key *key)
{
	struct pfw_process **place = &c->processes[mix(key->host, (uint64_t)key->pid) % PFW_CACHE_PROCESSES];

	if (!*place || memcmp(&(*place)->key, key, sizeof(*key)) != 0)
		*place = pfw_dims_process(c->dims, key);
	return *place;
}

int64_t pfw_cache_file(struct pfw_cache *c, const struct pfw_process *p, uint64_t hash)
{
	int64_t process = p && hash <= PFW_SHORT_HASH_MAX ? p->number : 0;
	size_t i = mix(hash, 0) % PFW_CACHE_FILES;

	if (c->files[i].id == STORE_NULL || c->files[i].hash != hash || c->files[i].process != process) {
		c->files[i].id = pfw_dims_file(c->dims, p, hash);
		c->files[i].hash = hash;
		c->files[i].process = process;
	}
	return c->files[i].id;
}

static struct pfw_thread *add_thread(struct pfw_cache *c, const struct pfw_process *p, int64_t tid)
{
	struct pfw_thread *t;

	if (c->thread_count == c->thread_cap) {
		size_t cap = c->thread_cap ? 2 * c->thread_cap : 64;
		struct pfw_thread **threads = reallocarray(c->threads, cap, sizeof(*threads));

		if (!threads)
			return NULL;
		c->threads = threads;
		c->thread_cap = cap;
	}
	t = arena_alloc(&c->arena, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct pfw_thread){ .process = p,
		.tid = tid,
		.first_ns = STORE_NULL,
		.last_ns = STORE_NULL,
		.name = STORE_NULL };
	c->threads[c->thread_count++] = t;
	return t;
}

struct pfw_thread *pfw_cache_thread(struct pfw_cache *c, const struct pfw_process *p, int64_t tid)
{
	struct pfw_thread **place, *recent;
	int64_t key[2] = { p ? p->number : 0, tid };
	uint64_t *number;

	if (!p)
		return NULL;
	place = &c->recent[mix((uint64_t)key[0], (uint64_t)tid) % PFW_CACHE_THREADS];
	recent = *place;
	if (recent && recent->process == p && recent->tid == tid)
		return recent;
	if (c->thread_count >= THREADS_MAX)
		pfw_cache_flush(c);
	number = map_put(&c->thread_numbers, key, sizeof(key), NULL);
	if (!number)
		return NULL;
	if (!*number && add_thread(c, p, tid))
		*number = c->thread_count;
	*place = *number ? c->threads[*number - 1] : NULL;
	return *place;
}
