/* The descriptor table's slow half; see fds.h. */
#include "tracer/fds.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

struct fd_entry *fds;

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
	return tracer.control->include_count || tracer.control->exclude_count;
}

static bool path_is_wanted(const char *path)
{
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

bool fds_path_is_wanted_at(int dirfd, const char *path)
{
	char whole[2 * PATH_BYTES_MAX], link[48];
	if (likely(!has_filters()))
		return true;
	if (path[0] == '/')
		return path_is_wanted(path);
	if (dirfd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	long n = tracer.is_dark ? -1 : sys4(SYS_readlinkat, AT_FDCWD, link, whole, PATH_BYTES_MAX - 1);
	if (n <= 0)
		return true;
	snprintf(whole + n, sizeof(whole) - (size_t)n, "/%s", path);
	return path_is_wanted(whole);
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

/* What the kernel calls /proc/self/<what>; 0 when it does not say. */
static uint64_t identify_link(const char *link)
{
	char path[PATH_BYTES_MAX];
	long n = sys4(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	uint64_t file = fds_new_file();
	if (path[0] == '/' && has_filters() && !path_is_wanted(path))
		return file | FILE_IGNORED;
	fds_define(file, 0, path, (size_t)n);
	return file;
}

uint64_t fds_identify(int fd)
{
	char link[48];
	if (tracer.is_dark || fd < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	uint64_t file = identify_link(link);
	fds[fd].file = file;
	fds[fd].owner = 0;
	return file;
}

void fds_chdir(void)
{
	tracer.cwd = tracer.is_dark ? 0 : identify_link("/proc/self/cwd") & ~FILE_IGNORED;
}

/* Asking the kernel where the descriptor stands proves that it can stand anywhere: pipes and terminals cannot. */
uint64_t fds_opened(int fd, int open_flags, bool is_ignored)
{
	uint64_t file = fds_new_file() | (is_ignored ? FILE_IGNORED : 0);
	if ((unsigned)fd >= FDS_MAX)
		return file;
	bool is_seekable = !(open_flags & (O_APPEND | O_PATH | O_DIRECTORY)) && !tracer.is_dark && !is_ignored &&
			   sys3(SYS_lseek, fd, 0, SEEK_CUR) == 0;
	fds[fd] = (struct fd_entry){ .file = file,
				     .owner = is_seekable ? thread.tid : 0,
				     .shared = tracer.share_epoch };
	return file;
}

void fds_closed_range(unsigned first, unsigned last)
{
	for (unsigned fd = first; fd <= last && fd < FDS_MAX; fd++)
		if (fds[fd].file)
			fds[fd] = (struct fd_entry){ 0 };
}
