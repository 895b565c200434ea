/* The texts of a log. Names are aligned to 8 bytes; a 32-bit number refers to one by its offset / 8. */
#include "pfw/line-write.h"
#include "pfw/log-private.h"
#include "tracer/raw-syscall.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ARENA_BYTES ((size_t)1 << 30)
#define STRINGS_BYTES ((size_t)4 << 20) /* the tracer uses fewer than 2^18 numbers */
#define FILES_BYTES ((size_t)256 << 20) /* 64 million opened files */
#define STEP_BYTES ((size_t)64 << 10)
#define FIRST_NAME 64u /* the arena starts with its used size */

static uint64_t *arena_used(const struct names *n)
{
	return (uint64_t *)(void *)n->arena.at;
}

/* Growing files. */

static bool grown_open(struct grown *g, int dirfd, const char *name, size_t reserved)
{
	struct stat st;
	*g = (struct grown){ .fd = -1 };
	if (dirfd >= 0)
		g->fd = (int)sys4(SYS_openat, dirfd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	for (g->reserved = reserved; g->reserved >= STEP_BYTES && !g->at; g->reserved /= 8)
		if (g->fd >= 0)
			g->at = sys_map(g->reserved, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd);
		else
			g->at = sys_map(g->reserved, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!g->at)
		return false;
	g->reserved *= 8; /* the loop has multiplied once too often */
	sys3(SYS_madvise, g->at, g->reserved, MADV_DONTFORK);
	if (g->fd < 0)
		g->allocated = g->reserved;
	else if (!sys2(SYS_fstat, g->fd, &st))
		g->allocated = (size_t)st.st_size < g->reserved ? (size_t)st.st_size : g->reserved;
	return true;
}

/* Allocates the file up to `bytes`, so that no write into it can fail. */
static bool grown_need(struct grown *g, size_t bytes)
{
	if (bytes <= g->allocated)
		return true;
	size_t end = (bytes + g->allocated / 4 + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
	if (end > g->reserved)
		end = g->reserved;
	if (bytes > end || sys4(SYS_fallocate, g->fd, 0, g->allocated, end - g->allocated))
		return false;
	g->allocated = end;
	return true;
}

static void grown_release(struct grown *g)
{
	if (g->at)
		sys2(SYS_munmap, g->at, g->reserved);
	if (g->fd >= 0)
		sys_close(g->fd);
	g->at = NULL;
	g->fd = -1;
}

/* The table. */

static uint32_t quick_hash(const char *text, size_t bytes)
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

static struct name *name_at(const struct names *n, uint32_t number)
{
	uint64_t place = (uint64_t)number * 8;
	if (place < FIRST_NAME || place + sizeof(struct name) > n->arena.allocated)
		return NULL;
	struct name *name = (void *)(n->arena.at + place);
	return name->bytes <= n->arena.allocated - place - sizeof(*name) ? name : NULL;
}

static void table_add(struct names *n, uint32_t number, uint32_t quick)
{
	size_t i = quick & (n->slots - 1);
	while (n->table[i])
		i = (i + 1) & (n->slots - 1);
	n->table[i] = number;
	n->count++;
}

static bool table_grow(struct names *n)
{
	size_t slots = n->slots ? 2 * n->slots : 4096;
	uint32_t *old = n->table, *fresh;
	size_t old_slots = n->slots;
	fresh = sys_map(slots * sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!fresh)
		return false;
	sys3(SYS_madvise, fresh, slots * sizeof(*fresh), MADV_DONTFORK);
	n->table = fresh;
	n->slots = slots;
	n->count = 0;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i] && name_at(n, old[i])) /* the file may have been changed by another process */
			table_add(n, old[i], name_at(n, old[i])->quick);
	if (old)
		sys2(SYS_munmap, old, old_slots * sizeof(*old));
	return true;
}

static size_t name_bytes(size_t text_bytes)
{
	return (sizeof(struct name) + text_bytes + 7) & ~(size_t)7;
}

bool names_open(struct names *n, int dirfd, bool is_hex)
{
	*n = (struct names){ .is_hex = is_hex };
	if (!grown_open(&n->arena, dirfd, "names", ARENA_BYTES) ||
			!grown_open(&n->strings, dirfd, "strings", STRINGS_BYTES) ||
			!grown_open(&n->files, dirfd, "files", FILES_BYTES) || !grown_need(&n->arena, FIRST_NAME) ||
			!table_grow(n))
		return false;
	if (*arena_used(n) < FIRST_NAME)
		*arena_used(n) = FIRST_NAME;
	/* Rebuilds the table from the file of a dead writer. The content is untrusted: invalid entries are skipped. */
	uint64_t used = *arena_used(n);
	if (used > n->arena.allocated)
		used = *arena_used(n) = FIRST_NAME;
	for (uint64_t at = FIRST_NAME; at < used;) {
		struct name *name = name_at(n, (uint32_t)(at / 8));
		if (!name || at + name_bytes(name->bytes) > used || (n->count * 2 >= n->slots && !table_grow(n))) {
			*arena_used(n) = at;
			break;
		}
		table_add(n, (uint32_t)(at / 8), name->quick);
		at += name_bytes(name->bytes);
	}
	return true;
}

void names_release(struct names *n)
{
	grown_release(&n->arena);
	grown_release(&n->strings);
	grown_release(&n->files);
	if (n->table)
		sys2(SYS_munmap, n->table, n->slots * sizeof(*n->table));
	n->table = NULL;
}

struct name *names_put(struct names *n, const char *text, size_t bytes)
{
	uint32_t quick = quick_hash(text, bytes);
	for (size_t i = quick & (n->slots - 1); n->table[i]; i = (i + 1) & (n->slots - 1)) {
		struct name *name = name_at(n, n->table[i]);
		if (name && name->quick == quick && name->bytes == bytes && !memcmp(name->text, text, bytes))
			return name;
	}
	uint64_t at = *arena_used(n);
	if ((n->count * 2 >= n->slots && !table_grow(n)) || !grown_need(&n->arena, at + name_bytes(bytes)))
		return NULL;
	struct name *name = (void *)(n->arena.at + at);
	name->hash = n->is_hex ? pfw_hash_d(text, bytes) : pfw_hash_c(text, bytes);
	name->file_at = name->string_at = 0;
	name->quick = quick;
	name->bytes = (uint32_t)bytes;
	memcpy(name->text, text, bytes);
	__atomic_store_n(arena_used(n), at + name_bytes(bytes), __ATOMIC_RELEASE);
	table_add(n, (uint32_t)(at / 8), quick);
	return name;
}

/* Numbers. */

static struct name *numbered(const struct names *n, const struct grown *g, uint64_t number)
{
	if (number >= g->reserved / 4 || (number + 1) * 4 > g->allocated)
		return NULL;
	return name_at(n, ((const uint32_t *)(const void *)g->at)[number]);
}

static void set_number(const struct names *n, struct grown *g, uint64_t number, const struct name *name)
{
	if (name && number < g->reserved / 4 && grown_need(g, (number + 1) * 4))
		((uint32_t *)(void *)g->at)[number] = (uint32_t)((size_t)((const char *)name - n->arena.at) / 8);
}

struct name *names_string(const struct names *n, uint64_t id)
{
	return numbered(n, &n->strings, id);
}

void names_set_string(struct names *n, uint64_t id, const struct name *name)
{
	set_number(n, &n->strings, id, name);
}

void names_set_file(struct names *n, uint64_t number, const struct name *name)
{
	set_number(n, &n->files, number, name);
}

void names_forget_behind(struct names *n, uint64_t text_bytes)
{
	for (size_t i = 0; i < n->slots; i++) {
		struct name *name = n->table[i] ? name_at(n, n->table[i]) : NULL;
		if (name && name->file_at > text_bytes)
			name->file_at = 0;
		if (name && name->string_at > text_bytes)
			name->string_at = 0;
	}
}

/* Paths and their files; see pfwlog.h. */

#define PATH_ROOM (2 * PFWLOG_PATH_BYTES)

/* Removes "." and ".." lexically. */
static size_t straighten(char *path, size_t bytes)
{
	size_t out = 0;
	for (size_t in = 0; in < bytes;) {
		size_t n = 1; /* a slash and a name */
		while (in + n < bytes && path[in + n] != '/')
			n++;
		bool is_up = n == 3 && path[in + 1] == '.' && path[in + 2] == '.';
		if (is_up) {
			while (out && path[--out] != '/')
				;
		} else if (n != 1 && !(n == 2 && path[in + 1] == '.')) {
			memmove(path + out, path + in, n);
			out += n;
		}
		in += n;
	}
	if (!out)
		path[out++] = '/';
	return out;
}

static bool is_straight(const char *path, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (path[i] == '/' && (path[i + 1] == '.' || path[i + 1] == '/'))
			return false;
	return n == 1 || path[n - 1] != '/';
}

bool log_is_ours(const struct pfwlog *log, uint64_t file)
{
	return (file << 1 >> 33) == log->state->process;
}

struct name *log_file_name(const struct pfwlog *log, uint64_t file)
{
	return log_is_ours(log, file) ? numbered(&log->names, &log->names.files, (uint32_t)file) : NULL;
}

struct name *log_path_name(struct pfwlog *log, const struct store_text *path, uint64_t base, bool is_last_chance,
		bool *waits)
{
	char whole[PATH_ROOM];
	size_t n = 0;
	if (path->bytes && path->data[0] == '/' && is_straight(path->data, path->bytes))
		return names_put(&log->names, path->data, path->bytes);
	if (!path->bytes || path->bytes > PFWLOG_PATH_BYTES - 2)
		return names_put(&log->names, path->data, path->bytes);
	if (path->data[0] != '/' && base) {
		const struct name *dir = log_file_name(log, base);
		if (!dir && log_is_ours(log, base) && !is_last_chance) {
			*waits = true;
			return NULL;
		}
		if (dir && dir->bytes && dir->text[0] == '/' && dir->bytes < PFWLOG_PATH_BYTES) {
			memcpy(whole, dir->text, dir->bytes);
			n = dir->bytes;
			whole[n++] = '/';
		}
	}
	memcpy(whole + n, path->data, path->bytes);
	n += path->bytes;
	return names_put(&log->names, whole, whole[0] == '/' ? straighten(whole, n) : n);
}

enum taken log_on_file(struct pfwlog *log, bool is_last_chance)
{
	const struct ring_record *v = &log->ring_record;
	const struct sonde_rec_def *r = ring_record_def(v);
	bool waits = false;
	if (!v->string_count || !log_is_ours(log, r->id))
		return TAKEN;
	struct store_text path = v->strings[0];
	static const char gone[] = " (deleted)";
	if (path.bytes > sizeof(gone) - 1 &&
			!memcmp(path.data + path.bytes - (sizeof(gone) - 1), gone, sizeof(gone) - 1))
		path.bytes -= sizeof(gone) - 1;
	struct name *name = path.data[0] == '/' || r->base ? log_path_name(log, &path, r->base, is_last_chance, &waits)
							   : names_put(&log->names, path.data, path.bytes);
	if (waits)
		return WAITS;
	names_set_file(&log->names, (uint32_t)r->id, name);
	return TAKEN;
}
