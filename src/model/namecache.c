#include "model/namecache.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CACHE_BYTES_MAX ((size_t)64 << 20)
#define ID_BYTES_MAX 64

struct namecache {
	char *path; /* NULL: it cannot be stored */
	struct arena arena;
	struct map lines; /* offset -> text */
	bool is_new;      /* something was added */
};

static bool is_hex(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 8 && n <= ID_BYTES_MAX && !text[n];
}

static char *find_path(const char *build_id)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	if (cache && *cache == '/')
		buf_addf(&path, "%s/sonde", cache);
	else if (home && *home == '/')
		buf_addf(&path, "%s/.cache/sonde", home);
	if (!path.len || fs_mkdir_p(path.data, 0700, NULL))
		return NULL;
	buf_addf(&path, "/names-%s", build_id);
	return buf_take(&path);
}

static bool is_ours(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

static void keep(struct namecache *c, uint64_t offset, const char *line, size_t bytes)
{
	uint64_t *at = map_put_int(&c->lines, offset, NULL);
	char *copy = at ? arena_copy(&c->arena, line, bytes) : NULL;

	if (copy)
		*at = (uint64_t)(uintptr_t)copy;
}

static void load(struct namecache *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!is_ours(c->path) || fs_read_file(AT_FDCWD, c->path, CACHE_BYTES_MAX, &text, NULL))
		return;
	for (char *at = text.data, *end; (end = strchr(at, '\n')); at = end + 1) {
		char *rest;
		uint64_t offset = strtoull(at, &rest, 16);

		if (rest != at && (*rest == '\t' || rest == end))
			keep(c, offset, rest, (size_t)(end - rest));
	}
}

struct namecache *namecache_open(const char *build_id)
{
	struct namecache *c = build_id && is_hex(build_id) ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	arena_init(&c->arena);
	c->path = find_path(build_id);
	if (c->path)
		load(c);
	return c;
}

static void save(const struct namecache *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < c->lines.count; i++) {
		const char *line = (const char *)(uintptr_t)map_value(&c->lines, i);
		uint64_t offset;
		size_t len;

		memcpy(&offset, map_key(&c->lines, i, &len), sizeof(offset));
		if (line)
			buf_addf(&text, "%llx%s\n", (unsigned long long)offset, line);
	}
	if (!buf_error(&text) && text.len < CACHE_BYTES_MAX)
		fs_replace_file(AT_FDCWD, c->path, text.data, text.len, NULL);
}

void namecache_close(struct namecache *c)
{
	if (!c)
		return;
	if (c->path && c->is_new)
		save(c);
	map_release(&c->lines);
	arena_release(&c->arena);
	free(c->path);
	free(c);
}

/* Tabs and newlines end a field, and the name of a source file may contain them. */
static void add_field(struct buf *out, const char *text)
{
	buf_addc(out, '\t');
	for (; text && *text; text++)
		buf_addc(out, *text == '\t' || *text == '\n' ? ' ' : *text);
}

void namecache_add(void *entry, const struct elfname *n)
{
	struct namecache_entry *e = entry;

	add_field(&e->line, n->function);
	add_field(&e->line, n->source);
	buf_addf(&e->line, "\t%d", n->line);
}

/* The next field of a line, split off in place; NULL at the end. */
static char *take_field(char **at)
{
	char *field = *at;

	if (*field != '\t')
		return NULL;
	field++;
	*at = field + strcspn(field, "\t");
	return field;
}

static void replay(const char *line, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	CLEANUP(cleanup_free) char *copy = strdup(line);
	char *at = copy;

	while (at && *at) {
		char *function = take_field(&at), *source = function ? take_field(&at) : NULL;
		char *number = source ? take_field(&at) : NULL;

		if (!number)
			return;
		source[-1] = number[-1] = '\0';
		char *next = at;
		char kept = *next;

		*next = '\0';
		struct elfname n = { .function = function,
			.source = *source ? source : NULL,
			.line = (int)strtol(number, NULL, 10) };

		say(arg, &n);
		*next = kept;
	}
}

void namecache_replay(struct namecache_entry *e, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	replay(e->line.data, say, arg);
}

bool namecache_get(struct namecache *c, uint64_t offset, void (*say)(void *arg, const struct elfname *n), void *arg)
{
	const uint64_t *at = c ? map_get_int(&c->lines, offset) : NULL;

	if (!at || !*at)
		return false;
	replay((const char *)(uintptr_t)*at, say, arg);
	return true;
}

void namecache_put(struct namecache *c, uint64_t offset, struct namecache_entry *e)
{
	if (c && !buf_error(&e->line)) {
		keep(c, offset, e->line.data, e->line.len);
		c->is_new = true;
	}
	buf_release(&e->line);
}
