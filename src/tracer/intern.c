/*
 * The table of names; see intern.h. Open addressing over pointers: a slot is filled once, by compare and swap, and its
 * index is the name's number. The texts are in chained blocks.
 */
#include "tracer/intern.h"

#include <sys/mman.h>

#define SLOTS (2 * STRINGS_MAX)
#define MORE_ID (SLOTS + 1) /* "(more names)" */
#define BLOCK_BYTES (64u << 10)
#define BLOCKS_MAX 256u /* 16 MiB of names */

struct block {
	uint32_t used; /* atomic, may exceed the size */
	char bytes[BLOCK_BYTES - sizeof(uint32_t) - 4];
} __attribute__((aligned(8)));

static struct string **table;
static struct block *block;
static uint32_t block_count, string_count;
static struct string more = { .bytes = 12, .text = "(more names)" };
static const char cut_mark[CUT_MARK_BYTES] = { '\xe2', '\x80', '\xa6' };

static void *map_private(size_t bytes)
{
	if (tracer.is_seccomped)
		return NULL;
	return sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static struct string **table_get(void)
{
	struct string **at = __atomic_load_n(&table, __ATOMIC_ACQUIRE), **none = NULL;
	if (likely(at != NULL))
		return at;
	at = map_private(SLOTS * sizeof(*at));
	if (!at)
		return NULL;
	if (__atomic_compare_exchange_n(&table, &none, at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return at;
	sys2(SYS_munmap, at, SLOTS * sizeof(*at));
	return none;
}

/* Replace a full block by a new one; false if out of memory. */
static bool block_next(struct block *full)
{
	if (__atomic_load_n(&block, __ATOMIC_ACQUIRE) != full)
		return true;
	if (__atomic_add_fetch(&block_count, 1, __ATOMIC_RELAXED) > BLOCKS_MAX)
		return false;
	struct block *fresh = map_private(sizeof(*fresh));
	if (!fresh)
		return false;
	if (!__atomic_compare_exchange_n(&block, &full, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		sys2(SYS_munmap, fresh, sizeof(*fresh));
	return true;
}

static void *allocate(size_t bytes)
{
	bytes = (bytes + 7) & ~(size_t)7;
	for (;;) {
		struct block *b = __atomic_load_n(&block, __ATOMIC_ACQUIRE);
		if (b && __atomic_load_n(&b->used, __ATOMIC_RELAXED) < sizeof(b->bytes)) {
			uint32_t at = __atomic_fetch_add(&b->used, (uint32_t)bytes, __ATOMIC_RELAXED);
			if (at + bytes <= sizeof(b->bytes))
				return (char *)b + 8 + at;
		}
		if (!block_next(b))
			return NULL;
	}
}

static uint32_t hash_of(const char *text, size_t bytes)
{
	uint64_t h = bytes * 0x9e3779b97f4a7c15ull, word;
	for (; bytes >= 8; bytes -= 8, text += 8) {
		memcpy(&word, text, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	for (word = 0; bytes; bytes--)
		word = word << 8 | (unsigned char)text[bytes - 1];
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 32);
}

static struct string *string_new(const char *text, size_t bytes, uint32_t hash)
{
	if (__atomic_load_n(&string_count, __ATOMIC_RELAXED) >= STRINGS_MAX)
		return NULL;
	struct string *s = allocate(sizeof(*s) + bytes);
	if (!s)
		return NULL;
	__atomic_fetch_add(&string_count, 1, __ATOMIC_RELAXED);
	s->hash = hash;
	s->bytes = (uint32_t)bytes;
	memcpy(s->text, text, bytes);
	return s;
}

static uint32_t find_or_add(const char *text, size_t bytes)
{
	struct string **slots = table_get(), *mine = NULL;
	uint32_t hash = hash_of(text, bytes);
	if (!slots)
		return MORE_ID;
	for (uint32_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
		struct string *s = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
		if (!s) {
			if (!mine)
				mine = string_new(text, bytes, hash);
			if (!mine)
				return MORE_ID;
			if (__atomic_compare_exchange_n(&slots[i], &s, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return i + 1;
		}
		if (s->hash == hash && s->bytes == bytes && !memcmp(s->text, text, bytes))
			return i + 1;
	}
}

size_t cut_length(const char *text, size_t bytes, size_t room)
{
	if (bytes <= room)
		return bytes;
	size_t keep = room > CUT_MARK_BYTES ? room - CUT_MARK_BYTES : 0;
	for (unsigned back = 0; back < 3 && keep && ((unsigned char)text[keep] & 0xc0) == 0x80; back++)
		keep--;
	return keep;
}

size_t cut_copy(char *to, const char *text, size_t bytes, size_t room)
{
	size_t keep = cut_length(text, bytes, room);
	memcpy(to, text, keep);
	if (keep == bytes || room < keep + CUT_MARK_BYTES)
		return keep;
	memcpy(to + keep, cut_mark, CUT_MARK_BYTES);
	return keep + CUT_MARK_BYTES;
}

uint32_t intern(const char *text, size_t bytes)
{
	char cut[STRING_BYTES_MAX];
	if (!text)
		return intern("(null)", 6);
	if (bytes == SIZE_MAX)
		bytes = strnlen(text, STRING_BYTES_MAX + 1);
	if (likely(bytes <= STRING_BYTES_MAX))
		return find_or_add(text, bytes);
	return find_or_add(cut, cut_copy(cut, text, bytes, sizeof(cut)));
}

struct string *intern_string(uint32_t id)
{
	struct string **slots = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	if (id == MORE_ID)
		return &more;
	return slots && id - 1 < SLOTS ? __atomic_load_n(&slots[id - 1], __ATOMIC_ACQUIRE) : NULL;
}

void intern_use(uint32_t id)
{
	struct string *s = intern_string(id);
	if (!s || __atomic_load_n(&s->epoch, __ATOMIC_RELAXED) == thread.epoch)
		return;
	size_t bytes = sizeof(struct sonde_rec_def) + ring_string_bytes(s->bytes);
	struct sonde_rec_def *r = ring_reserve(bytes);
	if (!r)
		return; /* the next use retries */
	r->id = id;
	r->base = 0;
	ring_put_string(r + 1, s->text, s->bytes);
	ring_commit(&r->head, bytes, SONDE_REC_STRING, 1, 0);
	__atomic_store_n(&s->epoch, thread.epoch, __ATOMIC_RELAXED);
}
