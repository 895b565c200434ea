/*
 * Symbol lookup over the loader's link maps; see resolve.h.
 *
 * Only objects with a GNU hash table are searched, which every distribution has built for fifteen years. Of several
 * versions of a symbol the default one is used, as for a newly linked program; a hidden version only if it is the only
 * one.
 */
#include "tracer/resolve.h"

#include "tracer/tracer.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define OBJECTS_MAX 1024

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct object {
	const struct link_map *map;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Half) * versions;
	const uint32_t *hash;
};

/* The loader relocates these addresses in place in ordinary objects, not in the vdso. */
static const void *address(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool object_read(struct object *o, const struct link_map *map)
{
	memset(o, 0, sizeof(*o));
	o->map = map;
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			o->symbols = address(map, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			o->names = address(map, d->d_un.d_ptr);
		else if (d->d_tag == DT_VERSYM)
			o->versions = address(map, d->d_un.d_ptr);
		else if (d->d_tag == DT_GNU_HASH)
			o->hash = address(map, d->d_un.d_ptr);
	}
	return o->symbols && o->names && o->hash;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		h = h * 33 + *p;
	return h;
}

static void *value_of(const struct object *o, const ElfW(Sym) * symbol)
{
	void *at = (void *)(o->map->l_addr + symbol->st_value);
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))at)();
	return at;
}

static bool is_definition(const ElfW(Sym) * symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* The table: bucket count, first hashed symbol, bloom words, bloom shift; bloom; buckets; chains. */
static const ElfW(Sym) * find(const struct object *o, const char *name, uint32_t h, bool *is_hidden)
{
	uint32_t bucket_count = o->hash[0], first = o->hash[1], bloom_words = o->hash[2], shift = o->hash[3];
	const uint64_t *bloom = (const uint64_t *)(o->hash + 4);
	const uint32_t *buckets = (const uint32_t *)(bloom + bloom_words);
	const uint32_t *chains = buckets + bucket_count;
	uint64_t bits = 1ull << (h % 64) | 1ull << ((h >> shift) % 64);
	if (!bucket_count || (bloom[h / 64 % bloom_words] & bits) != bits)
		return NULL;
	const ElfW(Sym) *hidden = NULL;
	for (uint32_t i = buckets[h % bucket_count]; i >= first; i++) {
		const ElfW(Sym) *s = &o->symbols[i];
		if ((chains[i - first] | 1) == (h | 1) && is_definition(s) && !strcmp(o->names + s->st_name, name)) {
			*is_hidden = o->versions && (o->versions[i] & 0x8000);
			if (!*is_hidden)
				return s;
			hidden = s;
		}
		if (chains[i - first] & 1)
			break;
	}
	*is_hidden = true;
	return hidden;
}

/* Objects loaded at program start: never unloaded. */
static struct object objects[OBJECTS_MAX];
static unsigned object_count STATE, first_behind_us STATE;
static const struct link_map *newest STATE; /* the last object that was read */

void resolve_init(void)
{
	object_count = first_behind_us = 0;
	for (const struct link_map *map = _r_debug.r_map; map && object_count < OBJECTS_MAX; map = map->l_next) {
		newest = map;
		if (map->l_ld == _DYNAMIC)
			first_behind_us = object_count;
		else if (object_read(&objects[object_count], map))
			object_count++;
	}
}

void resolve_from_start(void)
{
	first_behind_us = 0;
}

static void *find_known(unsigned from, unsigned to, const char *name, uint32_t h)
{
	bool is_hidden;
	for (unsigned i = from; i < to; i++) {
		const ElfW(Sym) *s = find(&objects[i], name, h, &is_hidden);
		if (s)
			return value_of(&objects[i], s);
	}
	return NULL;
}

/* A library loaded later, such as librt of an older glibc: its caller keeps it loaded. */
static void *find_late(const char *name, uint32_t h)
{
	struct object o;
	bool is_hidden;
	for (const struct link_map *map = newest ? newest->l_next : NULL; map; map = map->l_next) {
		const ElfW(Sym) *s = object_read(&o, map) ? find(&o, name, h, &is_hidden) : NULL;
		if (s)
			return value_of(&o, s);
	}
	return NULL;
}

void *resolve_next(const char *name)
{
	uint32_t h = gnu_hash(name);
	void *found = find_known(first_behind_us, object_count, name, h);
	if (!found)
		found = find_late(name, h);
	return found ? found : find_known(0, first_behind_us, name, h);
}

bool resolve_defines(const struct link_map *map, const char *name)
{
	struct object o;
	bool is_hidden;
	return object_read(&o, map) && find(&o, name, gnu_hash(name), &is_hidden);
}
