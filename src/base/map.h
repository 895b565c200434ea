/*
 * map: byte strings (or 64-bit integers) to 64-bit values; open addressing, no removal.
 *
 * Keys are copied, terminated with '\0', and stay in place until map_release. An integer key is its eight bytes.
 * Iteration order is insertion order, so output generated from a map is stable. The hash is seeded per process
 * against hostile keys.
 */
#ifndef SONDE_BASE_MAP_H
#define SONDE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	size_t count;
	/* private */
	struct map_entry *entries;
	uint32_t *slots;
	size_t slot_mask;
	size_t entry_cap;
	struct map_keys *keys;
};

#define MAP_INIT { 0 }

void map_release(struct map *m);
/* Returns a pointer to the value of key, inserted as 0 if absent (is_new is set); NULL if out of memory. The pointer
 * is valid until the next map_put. */
uint64_t *map_put(struct map *m, const void *key, size_t len, bool *is_new);
uint64_t *map_get(const struct map *m, const void *key, size_t len); /* NULL when absent */
uint64_t *map_put_int(struct map *m, uint64_t key, bool *is_new);
uint64_t *map_get_int(const struct map *m, uint64_t key);
/* Entry i in insertion order. */
const void *map_key(const struct map *m, size_t i, size_t *len);
uint64_t map_value(const struct map *m, size_t i);

#endif
