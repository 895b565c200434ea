/*
 * A dense array of entries in insertion order and a hash table of their indexes.
 *
 * slots[] is a power of two of entry indexes plus one (0: free), probed linearly and at most half full, so a probe
 * always ends. Entries store their hash: growing the table never reads keys. Keys are in an arena and never move. The
 * hash folds 64x64-bit products of the key and two secret words, like the wyhash family.
 */
#include "base/map.h"

#include "base/arena.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS_MIN 16u
#define ENTRIES_MAX ((size_t)1 << 31)

struct map_entry {
	uint64_t hash;
	uint64_t value;
	const char *key;
	size_t len;
};

struct map_keys {
	struct arena arena;
};

static uint64_t secret[2];
static pthread_once_t secret_once = PTHREAD_ONCE_INIT;

static void secret_make(void)
{
	/* Early in boot getrandom may fail; addresses and time are the fallback seed. */
	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret)) {
		secret[0] = (uint64_t)clock_mono_ns() * 0x9e3779b97f4a7c15u;
		secret[1] = (uint64_t)(uintptr_t)&secret_once ^ (uint64_t)clock_real_ns() << 20;
	}
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_pair(const unsigned char *p, uint64_t h)
{
	uint64_t w[2];

	memcpy(w, p, sizeof(w));
	return fold(w[0] ^ secret[0], w[1] ^ h);
}

static uint64_t hash_bytes(const void *key, size_t len)
{
	const unsigned char *p = key;
	unsigned char tail[16] = { 0 };
	uint64_t h = secret[1] ^ len * 0x9e3779b97f4a7c15u;
	size_t left;

	for (left = len; left > sizeof(tail); left -= sizeof(tail), p += sizeof(tail))
		h = hash_pair(p, h);
	if (left)
		memcpy(tail, p, left);
	h = hash_pair(tail, h);
	return fold(h ^ secret[0], 0xd6e8feb86659fd93u ^ len);
}

/* Returns the slot that holds key, or the free slot for it. */
static uint32_t *find(const struct map *m, uint64_t hash, const void *key, size_t len)
{
	size_t i = hash & m->slot_mask;

	for (;; i = (i + 1) & m->slot_mask) {
		const struct map_entry *e;

		if (!m->slots[i])
			return &m->slots[i];
		e = &m->entries[m->slots[i] - 1];
		if (e->hash == hash && e->len == len && (!len || !memcmp(e->key, key, len)))
			return &m->slots[i];
	}
}

static int grow_entries(struct map *m)
{
	size_t cap = m->entry_cap ? m->entry_cap * 2 : SLOTS_MIN / 2;
	struct map_entry *entries = reallocarray(m->entries, cap, sizeof(*entries));

	if (!entries)
		return -1;
	m->entries = entries;
	m->entry_cap = cap;
	return 0;
}

/* Makes room for one more entry in every array, so that adding it cannot fail half-way. */
static int make_room(struct map *m)
{
	if (m->count >= ENTRIES_MAX)
		return -1;
	if (!m->keys) {
		pthread_once(&secret_once, secret_make);
		m->keys = calloc(1, sizeof(*m->keys));
	}
	if (!m->keys)
		return -1;
	if (m->count == m->entry_cap && grow_entries(m) < 0)
		return -1;
	if (!m->slots || m->count * 2 > m->slot_mask) {
		size_t size = m->slots ? (m->slot_mask + 1) * 2 : SLOTS_MIN;
		uint32_t *slots = calloc(size, sizeof(*slots));

		if (!slots)
			return -1;
		size_t mask = size - 1;
		for (size_t n = 0; n < m->count; n++) {
			size_t i = m->entries[n].hash & mask;

			while (slots[i])
				i = (i + 1) & mask;
			slots[i] = (uint32_t)n + 1;
		}
		free(m->slots);
		m->slots = slots;
		m->slot_mask = mask;
	}
	return 0;
}

uint64_t *map_put(struct map *m, const void *key, size_t len, bool *is_new)
{
	struct map_entry *e;
	uint64_t hash;
	uint32_t *slot;

	if (make_room(m) < 0)
		return NULL;
	hash = hash_bytes(key, len);
	slot = find(m, hash, key, len);
	if (is_new)
		*is_new = !*slot;
	if (*slot)
		return &m->entries[*slot - 1].value;
	e = &m->entries[m->count];
	*e = (struct map_entry){ .hash = hash, .key = arena_copy(&m->keys->arena, key, len), .len = len };
	if (!e->key)
		return NULL;
	*slot = (uint32_t)++m->count;
	return &e->value;
}

uint64_t *map_get(const struct map *m, const void *key, size_t len)
{
	uint32_t slot;

	if (!m->count)
		return NULL;
	slot = *find(m, hash_bytes(key, len), key, len);
	return slot ? &m->entries[slot - 1].value : NULL;
}

uint64_t *map_put_int(struct map *m, uint64_t key, bool *is_new)
{
	return map_put(m, &key, sizeof(key), is_new);
}

uint64_t *map_get_int(const struct map *m, uint64_t key)
{
	return map_get(m, &key, sizeof(key));
}

const void *map_key(const struct map *m, size_t i, size_t *len)
{
	if (len)
		*len = m->entries[i].len;
	return m->entries[i].key;
}

uint64_t map_value(const struct map *m, size_t i)
{
	return m->entries[i].value;
}

void map_release(struct map *m)
{
	if (m->keys)
		arena_release(&m->keys->arena);
	free(m->keys);
	free(m->entries);
	free(m->slots);
	*m = (struct map)MAP_INIT;
}
