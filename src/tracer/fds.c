/* Slow paths of the descriptor table; see fds.h. */
#include "tracer/fds.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#define CHILD_FDS_MAX 16 /* more than the three that a child redirects, and the pipes it created */

struct fd_entry *fds STATE;
static unsigned highest STATE; /* highest descriptor ever added */

struct child_fd {
	int fd;
	uint64_t file;
};
static _Thread_local struct {
	unsigned count;
	bool is_lost; /* overflow: the parent's table is not valid for this child any more */
	uint64_t cwd;
	struct child_fd entry[CHILD_FDS_MAX];
} child __attribute__((tls_model("initial-exec")));

static void set(int fd, struct fd_entry entry)
{
	unsigned last = __atomic_load_n(&highest, __ATOMIC_RELAXED);
	fds[fd] = entry;
	while ((unsigned)fd > last &&
			!__atomic_compare_exchange_n(&highest, &last, (unsigned)fd, true, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		;
}

bool fds_init(void)
{
	fds = sys_map(FDS_MAX * sizeof(*fds), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	return fds != NULL;
}

uint64_t fds_new_file(void)
{
	return (uint64_t)tracer.process << 32 | __atomic_add_fetch(&tracer.next_file, 1, __ATOMIC_RELAXED);
}

static bool has_prefix(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	while (n > 1 && prefix[n - 1] == '/')
		n--;
	return !strncmp(path, prefix, n) && (path[n] == '\0' || path[n] == '/' || prefix[n - 1] == '/');
}

static bool has_filters(void)
{
	return tracer.ops || tracer.control->include_count || tracer.control->exclude_count;
}

static bool path_is_wanted(const char *path)
{
	if (tracer.ops)
		return tracer.ops->is_wanted(path) != 0;
	const struct sonde_control *c = tracer.control;
	const char *filter = c->filter_text, *end = c->filter_text + SONDE_FILTER_TEXT_BYTES - 1;
	bool is_in = c->include_count == 0;
	for (uint32_t i = 0; i < c->include_count + c->exclude_count && filter < end; i++) {
		if (has_prefix(path, filter)) {
			if (i >= c->include_count)
				return false;
			is_in = true;
		}
		filter += strlen(filter) + 1;
	}
	return is_in;
}

/* Remove "." and ".." textually: a symbolic link on the way is treated as a directory. */
static void straighten(char *path)
{
	char *out = path;
	for (const char *in = path; *in;) {
		size_t n = strcspn(in + 1, "/") + 1; /* a slash and a name */
		bool is_up = n == 3 && in[1] == '.' && in[2] == '.';
		if (is_up)
			while (out > path && *--out != '/')
				;
		else if (n != 1 && !(n == 2 && in[1] == '.'))
			out = (char *)memmove(out, in, n) + n;
		in += n;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
}

/*
 * Join a path to the target of `link`, unless it is absolute, and normalise it, in a record that is released
 * afterwards: a signal handler's stack may be small.
 */
static bool joined_is_wanted(const char *link, const char *path)
{
	const size_t room = sizeof(struct sonde_rec_def) + ring_string_bytes(2 * PATH_BYTES_MAX);
	struct sonde_rec_def *r = ring_reserve(room);
	if (!r)
		return true;
	char *whole = (char *)(r + 1);
	bool is_wanted = true;
	long n = path[0] == '/' ? 0 : sys4(SYS_readlinkat, AT_FDCWD, link, whole, PATH_BYTES_MAX - 1);
	if (n > 0)
		whole[n++] = '/';
	if (n >= 0) {
		size_t len = strnlen(path, PATH_BYTES_MAX - 1);
		memcpy(whole + n, path, len);
		if (whole[0] == '/') {
			straighten(whole);
			is_wanted = path_is_wanted(whole);
		}
		memset(whole, 0, (size_t)n + len);
	}
	size_t bytes = ring_trim(r, room, 0);
	if (bytes) /* a signal handler's record follows: this one stays as padding */
		ring_commit(&r->head, bytes, SONDE_REC_FILE, 0, 0);
	return is_wanted;
}

bool fds_path_is_wanted_at(int dirfd, const char *path)
{
	char link[48];
	if (likely(!has_filters()))
		return true;
	int known = tracer.ops ? tracer.ops->is_wanted(path) : -1;
	if (known >= 0)
		return known;
	if (path[0] == '/' && !strstr(path, "/."))
		return path_is_wanted(path);
	if (tracer.is_seccomped)
		return true;
	if (dirfd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	return joined_is_wanted(link, path);
}

void fds_define(uint64_t file, uint64_t base, const char *path, size_t len)
{
	size_t bytes = sizeof(struct sonde_rec_def) + ring_string_bytes(len);
	struct sonde_rec_def *r = ring_reserve(bytes);
	if (!r)
		return;
	r->id = file;
	r->base = base;
	ring_put_string(r + 1, path, len);
	ring_commit(&r->head, bytes, SONDE_REC_FILE, 1, 0);
}

/*
 * The target of the link /proc/self/<what>; 0 if unknown. It is read directly into the FILE record: a signal handler's
 * stack may be small.
 */
static uint64_t identify_link(const char *link)
{
	const size_t room = sizeof(struct sonde_rec_def) + ring_string_bytes(PATH_BYTES_MAX);
	struct sonde_rec_def *r = ring_reserve(room);
	if (!r)
		return 0;
	struct sonde_string *s = (void *)(r + 1);
	long n = sys4(SYS_readlinkat, AT_FDCWD, link, s->text, PATH_BYTES_MAX - 1);
	if (n <= 0 && !ring_trim(r, room, 0))
		return 0;
	uint64_t file = n > 0 ? fds_new_file() : 0;
	r->id = file;
	r->base = 0;
	if (file && (s->text[0] == '/' || tracer.ops) && has_filters() && !path_is_wanted(s->text))
		file |= FILE_IGNORED; /* defined nevertheless: other paths may be relative to it */
	s->bytes = n > 0 ? (uint32_t)n : 0;
	size_t bytes = ring_trim(r, room, sizeof(*r) + ring_string_bytes(s->bytes));
	ring_commit(&r->head, bytes, SONDE_REC_FILE, n > 0, 0);
	return file;
}

static uint64_t lookup(int fd)
{
	char link[48];
	if (tracer.is_seccomped || fd < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return identify_link(link);
}

uint64_t fds_identify(int fd)
{
	uint64_t file = lookup(fd);
	if (file)
		set(fd, (struct fd_entry){ .file = file });
	return file;
}

uint64_t fds_cwd(void)
{
	if (thread.vfork_pid && child.cwd)
		return child.cwd;
	if (!tracer.cwd)
		fds_chdir(); /* it was changed without a hook */
	return thread.vfork_pid && child.cwd ? child.cwd : tracer.cwd;
}

void fds_start_in(const char *cwd, size_t len)
{
	tracer.cwd = fds_new_file();
	fds_define(tracer.cwd, 0, cwd, len);
}

void fds_chdir(void)
{
	uint64_t cwd = tracer.is_seccomped ? 0 : identify_link("/proc/self/cwd") & ~FILE_IGNORED;
	if (thread.vfork_pid)
		child.cwd = cwd;
	else
		tracer.cwd = cwd;
}

/* A successful query of the offset proves that the descriptor is seekable: pipes and terminals are not. */
uint64_t fds_opened(int fd, int open_flags, bool is_ignored)
{
	uint64_t file = fds_new_file() | (is_ignored ? FILE_IGNORED : 0);
	if ((unsigned)fd >= FDS_MAX)
		return file;
	if (thread.vfork_pid) {
		fds_child_set(fd, file);
		return file;
	}
	bool is_seekable = fd > 2 && !(open_flags & (O_APPEND | O_PATH | O_DIRECTORY)) && !tracer.is_seccomped &&
			!is_ignored && sys3(SYS_lseek, fd, 0, SEEK_CUR) == 0;
	set(fd, (struct fd_entry){ .file = file, .owner = is_seekable ? thread.tid : 0, .shared = tracer.share_epoch });
	return file;
}

void fds_dup(int from, int to)
{
	if ((unsigned)to >= FDS_MAX || from == to)
		return;
	uint64_t file = fds_file(from);
	fds_share(from);
	if (thread.vfork_pid)
		fds_child_set(to, file);
	else
		set(to, (struct fd_entry){ .file = file });
}

void fds_closed_range(unsigned first, unsigned last)
{
	if (thread.vfork_pid) {
		for (unsigned i = 0; i < child.count; i++)
			if ((unsigned)child.entry[i].fd >= first && (unsigned)child.entry[i].fd <= last)
				child.entry[i].file = 0;
		return;
	}
	unsigned end = __atomic_load_n(&highest, __ATOMIC_RELAXED);
	for (unsigned fd = first; fd <= last && fd <= end; fd++)
		if (fds[fd].file)
			fds[fd] = (struct fd_entry){ 0 };
}

/* Descriptors of a vfork child. */

void fds_child_forget(void)
{
	memset(&child, 0, sizeof(child));
}

void fds_child_set(int fd, uint64_t file)
{
	for (unsigned i = 0; i < child.count; i++)
		if (child.entry[i].fd == fd) {
			child.entry[i].file = file;
			return;
		}
	if (child.count == CHILD_FDS_MAX) {
		child.is_lost = true;
		return;
	}
	child.entry[child.count++] = (struct child_fd){ .fd = fd, .file = file };
}

uint64_t fds_child_file(int fd)
{
	uint64_t file = child.is_lost ? 0 : fds[fd].file;
	for (unsigned i = 0; i < child.count; i++)
		if (child.entry[i].fd == fd)
			file = child.entry[i].file;
	if (file)
		return file;
	file = lookup(fd);
	if (file)
		fds_child_set(fd, file);
	return file;
}
