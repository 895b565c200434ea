#include "probe/syscall/fd-table.h"

#include "base/vec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FDS_MAX 65536
#define PATH_MAX_BYTES 8192

void files_init(struct files *f, struct store_sink *sink, uint64_t *next_file)
{
	*f = (struct files){ .sink = sink, .next_file = next_file };
}

void files_release(struct files *f)
{
	for (size_t i = 0; i < f->cap; i++)
		free(f->fds[i].path);
	free(f->fds);
	free(f->cwd_path);
	map_release(&f->maps);
	f->fds = NULL;
	f->cwd_path = NULL;
	f->cap = 0;
}

static struct files_fd *entry(struct files *f, int fd)
{
	if (fd < 0 || fd >= FDS_MAX)
		return NULL;
	if ((size_t)fd >= f->cap) {
		size_t old = f->cap;
		if (!VEC_GROW(f->fds, f->cap, (size_t)fd + 1, FDS_MAX))
			return NULL;
		memset(f->fds + old, 0, (f->cap - old) * sizeof(*f->fds));
	}
	return &f->fds[fd];
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* From now on both may move the offsets that they share. */
void files_fork(struct files *child, struct files *parent)
{
	files_release(child);
	parent->epoch++;
	files_init(child, parent->sink, parent->next_file);
	child->epoch = parent->epoch;
	child->cwd = parent->cwd;
	child->cwd_path = copy_of(parent->cwd_path);
	if (parent->cap && !entry(child, (int)parent->cap - 1))
		return;
	for (size_t i = 0; i < parent->cap; i++) {
		child->fds[i] = parent->fds[i];
		child->fds[i].path = copy_of(parent->fds[i].path);
	}
}

static int64_t new_file(struct files *f)
{
	return (int64_t)(*f->next_file)++;
}

int64_t files_of(struct files *f, int fd)
{
	return fd >= 0 && (size_t)fd < f->cap && f->fds[fd].file ? f->fds[fd].file : STORE_NULL;
}

static void set(struct files *f, int fd, struct files_fd value)
{
	struct files_fd *e = entry(f, fd);
	if (!e) {
		free(value.path);
		return;
	}
	free(e->path);
	*e = value;
}

int64_t files_opened(struct files *f, int fd, int32_t tid, bool is_private)
{
	int64_t file = new_file(f);
	set(f, fd, (struct files_fd){ .file = file, .owner = is_private ? tid : 0, .shared = f->epoch });
	return file;
}

static int64_t string_of(struct files *f, const struct store_text *t)
{
	return store_strings_id(&f->sink->strings, t->data, t->bytes);
}

int64_t files_made(struct files *f, int fd, const struct store_text *link)
{
	if (!link->data) {
		files_closed(f, fd);
		return STORE_NULL;
	}
	int64_t file = new_file(f);
	set(f, fd, (struct files_fd){ .file = file, .path = strndup(link->data, link->bytes) });
	store_sink_file(f->sink, file, STORE_NULL, string_of(f, link));
	return file;
}

void files_dup(struct files *f, int from, int to)
{
	if (from == to || from < 0 || (size_t)from >= f->cap)
		return;
	f->fds[from].owner = 0;
	set(f, to, (struct files_fd){ .file = f->fds[from].file, .path = copy_of(f->fds[from].path) });
}

void files_closed(struct files *f, int fd)
{
	if (fd >= 0 && (size_t)fd < f->cap)
		set(f, fd, (struct files_fd){ .file = 0 });
}

void files_share(struct files *f, int fd)
{
	if (fd >= 0 && (size_t)fd < f->cap)
		f->fds[fd].owner = 0;
}

void files_closed_range(struct files *f, uint32_t first, uint32_t last)
{
	for (size_t fd = first; fd <= last && fd < f->cap; fd++)
		files_closed(f, (int)fd);
}

void files_forget(struct files *f)
{
	files_closed_range(f, 0, UINT32_MAX);
	map_release(&f->maps);
}

void files_chdir(struct files *f, const struct store_text *to)
{
	free(f->cwd_path);
	f->cwd = 0;
	f->cwd_path = to->data ? strndup(to->data, to->bytes) : NULL;
	if (!to->data)
		return;
	f->cwd = new_file(f);
	store_sink_file(f->sink, f->cwd, STORE_NULL, string_of(f, to));
}

void files_mapped(struct files *f, uint64_t at, int64_t file)
{
	uint64_t *known = file == STORE_NULL ? NULL : map_put_int(&f->maps, at, NULL);
	if (known)
		*known = (uint64_t)file;
}

int64_t files_unmapped(struct files *f, uint64_t at, bool is_done)
{
	uint64_t *known = map_get_int(&f->maps, at);
	int64_t file = known && *known ? (int64_t)*known : STORE_NULL;
	if (known && is_done)
		*known = 0;
	return file;
}

static struct files_fd *private_of(struct files *f, int fd, int32_t tid)
{
	struct files_fd *e = fd >= 0 && (size_t)fd < f->cap ? &f->fds[fd] : NULL;
	if (e && (e->owner != tid || e->shared != f->epoch))
		e->owner = 0; /* permanently: a second thread or process uses it */
	return e && e->owner ? e : NULL;
}

int64_t files_advance(struct files *f, int fd, int32_t tid, int64_t moved)
{
	struct files_fd *e = private_of(f, fd, tid);
	if (!e)
		return STORE_NULL;
	int64_t at = e->pos;
	e->pos += moved > 0 ? moved : 0;
	return at;
}

void files_seek(struct files *f, int fd, int32_t tid, int64_t to)
{
	struct files_fd *e = private_of(f, fd, tid);
	if (e && to >= 0)
		e->pos = to;
}

/* Paths. */

static int64_t base_of(struct files *f, int dirfd, const struct store_text *path)
{
	if (path->bytes && path->data[0] == '/')
		return 0;
	int64_t base = dirfd == AT_FDCWD ? f->cwd : files_of(f, dirfd);
	return base == STORE_NULL ? 0 : base;
}

/* Joins it to its directory and removes "." and ".." lexically. */
static char *whole_path(const struct files *f, int dirfd, const struct store_text *path)
{
	const char *base = dirfd == AT_FDCWD                   ? f->cwd_path
			: dirfd >= 0 && (size_t)dirfd < f->cap ? f->fds[dirfd].path
							       : NULL;
	bool is_absolute = path->bytes && path->data[0] == '/';
	char *out = malloc(PATH_MAX_BYTES + path->bytes + 2), *at = out;
	size_t base_bytes = is_absolute || !base ? 0 : strnlen(base, PATH_MAX_BYTES);
	if (!out || (!is_absolute && !base)) {
		free(out);
		return NULL;
	}
	memcpy(out, base_bytes ? base : "", base_bytes);
	out[base_bytes] = '/';
	memcpy(out + base_bytes + 1, path->data, path->bytes);
	out[base_bytes + 1 + path->bytes] = '\0';
	for (const char *in = out; *in;) {
		size_t n = strcspn(in + 1, "/") + 1;
		if (n == 3 && in[1] == '.' && in[2] == '.')
			while (at > out && *--at != '/')
				;
		else if (n != 1 && !(n == 2 && in[1] == '.'))
			at = (char *)memmove(at, in, n) + n;
		in += n;
	}
	at += at == out;
	*at = '\0';
	out[0] = '/';
	return out;
}

char *files_whole(const struct files *f, int dirfd, const struct store_text *path)
{
	static const struct store_text here = { .data = ".", .bytes = 1 };
	return whole_path(f, dirfd, path ? path : &here);
}

void files_name(struct files *f, int64_t file, int dirfd, const struct store_text *path)
{
	store_sink_file(f->sink, file, base_of(f, dirfd, path), string_of(f, path));
	for (size_t i = 0; i < f->cap; i++)
		if (f->fds[i].file == file) {
			free(f->fds[i].path);
			f->fds[i].path = whole_path(f, dirfd, path);
			return;
		}
}

int64_t files_path(struct files *f, int dirfd, const struct store_text *path)
{
	return store_sink_path(f->sink, base_of(f, dirfd, path), string_of(f, path));
}

static bool has_prefix(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	while (n > 1 && prefix[n - 1] == '/')
		n--;
	return !strncmp(path, prefix, n) && (path[n] == '\0' || path[n] == '/' || prefix[n - 1] == '/');
}

static bool is_wanted(const char *path, const char *const *includes, const char *const *excludes)
{
	bool is_in = !includes || !*includes;
	for (; path && includes && *includes; includes++)
		is_in |= has_prefix(path, *includes);
	for (; path && excludes && *excludes; excludes++)
		is_in &= !has_prefix(path, *excludes);
	return is_in;
}

bool files_is_wanted(struct files *f, const char *const *includes, const char *const *excludes, int dirfd,
		const struct store_text *path)
{
	char *whole = whole_path(f, dirfd, path);
	bool is_in = !whole || is_wanted(whole, includes, excludes);
	free(whole);
	return is_in;
}

bool files_fd_is_wanted(struct files *f, const char *const *includes, const char *const *excludes, int fd)
{
	const char *path = fd >= 0 && (size_t)fd < f->cap ? f->fds[fd].path : NULL;
	return !path || *path != '/' || is_wanted(path, includes, excludes);
}
