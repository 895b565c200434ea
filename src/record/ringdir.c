/* Making and opening ring directories; see ringdir.h. */
#include "record/ringdir.h"

#include "base/clock.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM_BYTES_MIN (16ull << 20)

static bool has_room(const char *dir)
{
	struct statvfs st;
	return !statvfs(dir, &st) && (uint64_t)st.f_bavail * st.f_frsize >= ROOM_BYTES_MIN && !access(dir, W_OK | X_OK);
}

static int make_dir(struct ring_dir *r, const char *place, const char *fallback, struct sonde_err *err)
{
	if (!place)
		place = has_room("/dev/shm") ? "/dev/shm" : fallback;
	buf_addf(&r->path, "%s/sonde-%u.XXXXXX", place, (unsigned)getuid());
	if (!mkdtemp(r->path.data))
		return err_sys(err, errno, "cannot make a ring directory '%s'", r->path.data);
	/* Processes may change directory: they need an absolute name. */
	char *whole = realpath(r->path.data, NULL);
	if (whole) {
		buf_reset(&r->path);
		buf_adds(&r->path, whole);
		free(whole);
	}
	return 0;
}

static int map_control(struct ring_dir *r, int flags, struct sonde_err *err)
{
	int fd = openat(r->fd, "control", flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s/control'", r->path.data);
	int failed = flags & O_CREAT ? posix_fallocate(fd, 0, sizeof(struct sonde_control)) : 0;
	struct stat st;
	if (!failed && (fstat(fd, &st) || st.st_size < (off_t)sizeof(struct sonde_control)))
		failed = EBADMSG;
	void *at = MAP_FAILED;
	if (!failed) {
		at = mmap(NULL, sizeof(struct sonde_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		failed = at == MAP_FAILED ? errno : 0;
	}
	close(fd);
	if (failed)
		return err_sys(err, failed, "cannot map '%s/control'", r->path.data);
	r->control = at;
	return 0;
}

static int add_filters(struct sonde_control *c, const char *const *prefixes, uint32_t *count, size_t *used,
		struct sonde_err *err)
{
	for (size_t i = 0; prefixes && prefixes[i]; i++) {
		size_t n = strlen(prefixes[i]) + 1;
		if (*used + n > sizeof(c->filter_text) || c->include_count + c->exclude_count == SONDE_FILTERS_MAX)
			return err_set(err, E2BIG, "too many path filters: %u prefixes and %zu bytes are the limit",
					SONDE_FILTERS_MAX, sizeof(c->filter_text));
		memcpy(c->filter_text + *used, prefixes[i], n);
		*used += n;
		++*count;
	}
	return 0;
}

/* Ticks a nanosecond, well enough for a threshold: measured over a millisecond. */
static uint64_t ticks_of_ns(int64_t ns)
{
	if (ns <= 0 || !clock_ticks_are_constant())
		return ns > 0 ? (uint64_t)ns : 0;
	int64_t from_ns = clock_mono_ns();
	uint64_t from = clock_ticks();
	while (clock_mono_ns() - from_ns < 1000000)
		;
	return (uint64_t)((double)ns * (double)(clock_ticks() - from) / (double)(clock_mono_ns() - from_ns));
}

static int fill_control(struct sonde_control *c, const struct ring_options *o, struct sonde_err *err)
{
	size_t used = 0;
	c->version = SONDE_SHM_VERSION;
	c->clock = clock_ticks_are_constant() ? SONDE_CLOCK_TICKS : SONDE_CLOCK_MONOTONIC;
	c->overflow = o->overflow;
	c->categories = o->categories;
	c->recorder_pid = getpid();
	c->min_dur_ticks = ticks_of_ns(o->min_dur_ns);
	c->run_bytes_max = o->run_bytes_max;
	c->process_bytes_max = o->process_bytes_max;
	c->next_process = 1;
	c->start_ticks = clock_ticks();
	c->start_mono_ns = clock_mono_ns();
	c->start_real_ns = clock_real_ns();
	int rc = add_filters(c, o->includes, &c->include_count, &used, err);
	if (!rc)
		rc = add_filters(c, o->excludes, &c->exclude_count, &used, err);
	c->is_on = 1;
	__atomic_store_n(&c->magic, SONDE_CONTROL_MAGIC, __ATOMIC_RELEASE);
	return rc;
}

static int open_dir(struct ring_dir *r, struct sonde_err *err)
{
	r->fd = open(r->path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r->fd < 0 ? err_sys(err, errno, "cannot open ring directory '%s'", r->path.data) : 0;
}

int ring_dir_create(struct ring_dir *r, const char *fallback, const struct ring_options *options, struct sonde_err *err)
{
	int rc = make_dir(r, options->place, fallback, err);
	if (!rc)
		rc = open_dir(r, err);
	if (!rc)
		rc = map_control(r, O_CREAT | O_EXCL, err);
	if (!rc)
		rc = fill_control(r->control, options, err);
	if (!rc && options->wish_count)
		rc = fs_replace_file(r->fd, "knobs", options->wishes, options->wish_count * sizeof(*options->wishes),
				err);
	if (rc && r->fd >= 0)
		ring_dir_remove(r);
	return rc;
}

int ring_dir_open(struct ring_dir *r, const char *path, struct sonde_err *err)
{
	buf_adds(&r->path, path);
	int rc = open_dir(r, err);
	if (!rc)
		rc = map_control(r, 0, err);
	if (!rc && r->control->magic != SONDE_CONTROL_MAGIC)
		rc = err_set(err, EBADMSG, "'%s' is not a ring directory", path);
	if (!rc && r->control->version != SONDE_SHM_VERSION)
		rc = err_set(err, ENOTSUP, "ring directory '%s' was written by version %u of the layout, this is %u",
				path, r->control->version, SONDE_SHM_VERSION);
	return rc;
}

void ring_dir_remove(struct ring_dir *r)
{
	fs_remove_tree(AT_FDCWD, r->path.data);
}

void ring_dir_release(struct ring_dir *r)
{
	if (r->control)
		munmap(r->control, sizeof(*r->control));
	if (r->fd >= 0)
		close(r->fd);
	buf_release(&r->path);
	r->control = NULL;
	r->fd = -1;
}

int ring_dir_boards(const struct ring_dir *r, void (*take)(void *arg, int dirfd, const char *name), void *arg)
{
	int fd = openat(r->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (const struct dirent *e; (e = readdir(dir));) {
		const char *dot = strrchr(e->d_name, '.');
		if (dot && !strcmp(dot, ".board"))
			take(arg, r->fd, e->d_name);
	}
	closedir(dir);
	return 0;
}
