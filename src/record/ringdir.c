#include "record/ringdir.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "calls/calls-hash.h"
#include "calls/calls-text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define ROOM_BYTES_MIN (16ull << 20)
#define DYING_TRIES 20 /* of DYING_NS: processes killed with the recorder may take a moment to exit */
#define DYING_NS 50000000

static bool has_room(const char *dir)
{
	struct statvfs st;
	return !statvfs(dir, &st) && (uint64_t)st.f_bavail * st.f_frsize >= ROOM_BYTES_MIN && !access(dir, W_OK | X_OK);
}

static int create_dir(struct ring_dir *r, const char *place, const char *fallback, struct sonde_err *err)
{
	if (!place)
		place = has_room("/dev/shm") ? "/dev/shm" : fallback;
	buf_addf(&r->path, "%s/sonde-%u.XXXXXX", place, (unsigned)getuid());
	if (!mkdtemp(r->path.data))
		return err_sys(err, errno, "cannot create a ring directory '%s'", r->path.data);
	/* Processes may change their directory: the path must be absolute. */
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

/* Ticks per nanosecond, measured over a millisecond: precise enough for a threshold. */
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

static void id_text(const struct sonde_control *c, char text[RING_ID_TEXT])
{
	snprintf(text, RING_ID_TEXT, "%016llx%016llx", (unsigned long long)c->id[0], (unsigned long long)c->id[1]);
}

/* A copy of the page in another directory has the wrong inode, the page of another ring the wrong id. */
static int fill_identity(struct ring_dir *r, struct sonde_err *err)
{
	struct sonde_control *c = r->control;
	struct stat st;
	if (fstat(r->fd, &st) || getrandom(c->id, sizeof(c->id), 0) != (ssize_t)sizeof(c->id))
		return err_sys(err, errno, "cannot create the identity of '%s'", r->path.data);
	c->inode = st.st_ino;
	id_text(c, r->id);
	return 0;
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

static const char *name_of(const struct ring_dir *r)
{
	return strrchr(r->path.data, '/') + 1;
}

/* Relative to its parent, so that the directory removed later is the one opened here. The path has a slash. */
static int open_in_parent(struct ring_dir *r, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf parent = BUF_INIT;
	buf_add(&parent, r->path.data, (size_t)(name_of(r) - r->path.data));
	r->parent = open(parent.data, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->parent >= 0)
		r->fd = openat(r->parent, name_of(r), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return r->fd < 0 ? err_sys(err, errno, "cannot open ring directory '%s'", r->path.data) : 0;
}

int ring_dir_create(struct ring_dir *r, const char *fallback, const struct ring_options *options, struct sonde_err *err)
{
	int rc = create_dir(r, options->place, fallback, err);
	if (!rc)
		rc = open_in_parent(r, err);
	if (!rc)
		rc = map_control(r, O_CREAT | O_EXCL, err);
	if (!rc)
		rc = fill_identity(r, err);
	if (!rc)
		rc = fill_control(r->control, options, err);
	if (!rc) {
		/*
		 * The table of calls, for recovery by another version; programs with this libsonde need not write it.
		 * Nothing else needs it, so it may fail.
		 */
		char name[CALLS_FILE_BYTES];
		calls_file_name(name, CALLS_HASH);
		fs_replace_file(r->fd, name, calls_text, calls_text_bytes, NULL);
		r->control->calls_hash = CALLS_HASH;
	}
	if (!rc && options->knob_init_count)
		rc = fs_replace_file(r->fd, "knobs", options->wishes,
				options->knob_init_count * sizeof(*options->wishes), err);
	if (rc && r->fd >= 0)
		ring_dir_remove(r);
	return rc;
}

static int open_control(struct ring_dir *r, struct sonde_err *err)
{
	const char *path = r->path.data;
	int rc = map_control(r, 0, err);
	if (!rc && r->control->magic != SONDE_CONTROL_MAGIC)
		rc = err_set(err, EBADMSG, "'%s' is not a ring directory", path);
	if (!rc && r->control->version != SONDE_SHM_VERSION)
		rc = err_set(err, ENOTSUP, "ring directory '%s' was written by version %u of the layout, this is %u",
				path, r->control->version, SONDE_SHM_VERSION);
	return rc;
}

int ring_dir_open(struct ring_dir *r, const char *path, struct sonde_err *err)
{
	buf_adds(&r->path, path);
	r->fd = open(r->path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = r->fd < 0 ? err_sys(err, errno, "cannot open ring directory '%s'", r->path.data) : 0;
	return rc ? rc : open_control(r, err);
}

/* Claiming and removing: run.json can name any directory. */

/* Parse the digits of a 32-bit number. Returns their end, or NULL. */
static const char *skip_number(const char *at)
{
	size_t n = strspn(at, "0123456789");
	return n && n <= 10 ? at + n : NULL;
}

/* Owned by us or, for root, by the owner of the run. */
static bool has_owner(const struct ring_dir *r, int rundir)
{
	struct stat ring, run;
	return !fstat(r->fd, &ring) && !fstat(rundir, &run) && !(ring.st_mode & (S_IWGRP | S_IWOTH)) &&
			(ring.st_uid == geteuid() || (geteuid() == 0 && ring.st_uid == run.st_uid));
}

static bool has_identity(struct ring_dir *r, const char *id)
{
	struct stat st;
	id_text(r->control, r->id);
	return id && !strcmp(id, r->id) && !fstat(r->fd, &st) && r->control->inode == (uint64_t)st.st_ino;
}

static int refuse(const char *path, const char *why, struct sonde_err *err)
{
	int rc = err_set(err, EPERM, "ring directory '%s' does not belong to this run: %s", path, why);
	err_hint(err, "it was neither read nor removed; if it is a ring, 'sonde events' reads it by its path");
	return rc;
}

int ring_dir_claim(struct ring_dir *r, int rundir, const char *path, const char *id, struct sonde_err *err)
{
	/* An absolute path ending in sonde-<uid>.<six characters>, as created by create_dir. */
	const char *name = strrchr(path, '/');
	const char *at = *path == '/' && !strncmp(name, "/sonde-", 7) ? skip_number(name + 7) : NULL;
	if (!at || *at != '.' || strlen(at) != 7)
		return refuse(path, "its name is not the name of a ring", err);
	while (isalnum((unsigned char)*++at))
		;
	if (*at)
		return refuse(path, "its name is not the name of a ring", err);
	buf_adds(&r->path, path);
	int rc = open_in_parent(r, err);
	if (rc == -ENOTDIR || rc == -ELOOP)
		return refuse(path, "it is not a directory", err);
	if (rc)
		return rc;
	if (!has_owner(r, rundir))
		return refuse(path, "it has another owner", err);
	rc = open_control(r, err);
	if (rc == -ENOENT)
		return refuse(path, "it has no control page", err);
	return rc || has_identity(r, id) ? rc : refuse(path, "its identity is not the one in run.json", err);
}

/* File names of a ring; sonde/shm.h, preload_library and live/watch.h create them. */
static bool is_part(const char *name)
{
	static const char *const names[] = { "app", "knobs", "libsonde.so", "sonde" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	/* calls-<hash>, or a part of one with the pid of a process that was killed while it wrote it */
	if (!strncmp(name, "calls-", 6) && strspn(name + 6, "0123456789abcdef") == 16)
		return !name[22] || (name[22] == '.' && skip_number(name + 23) && !*skip_number(name + 23));
	const char *end = skip_number(name);
	if (!end || *end != '.')
		return false;
	const char *rest = skip_number(end + 1);
	return (rest && !*rest) || !strcmp(end, ".board") || !strcmp(end, ".process");
}

static DIR *list(const struct ring_dir *r)
{
	int fd = openat(r->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

void ring_dir_remove(struct ring_dir *r)
{
	DIR *dir = r->parent < 0 || r->fd < 0 ? NULL : list(r);
	if (!dir)
		return;
	for (const struct dirent *e; (e = readdir(dir));)
		if (is_part(e->d_name))
			unlinkat(r->fd, e->d_name, 0);
	closedir(dir);
	unlinkat(r->fd, "control", 0); /* last: it identifies the directory as a ring */
	unlinkat(r->parent, name_of(r), AT_REMOVEDIR);
}

void ring_dir_release(struct ring_dir *r)
{
	if (r->control)
		munmap(r->control, sizeof(*r->control));
	if (r->fd >= 0)
		close(r->fd);
	if (r->parent >= 0)
		close(r->parent);
	buf_release(&r->path);
	r->control = NULL;
	r->fd = r->parent = -1;
}

int ring_dir_boards(const struct ring_dir *r, void (*take)(void *arg, int dirfd, const char *name), void *arg)
{
	DIR *dir = list(r);
	if (!dir)
		return -errno;
	for (const struct dirent *e; (e = readdir(dir));) {
		const char *dot = strrchr(e->d_name, '.');
		if (dot && !strcmp(dot, ".board"))
			take(arg, r->fd, e->d_name);
	}
	closedir(dir);
	return 0;
}

/* How a command loads libsonde. */

void preload_value(struct buf *out, const char *library)
{
	const char *theirs = getenv("LD_PRELOAD");
	bool is_last = theirs && strstr(theirs, "libasan.so"); /* it must be the first */
	buf_adds(out, "LD_PRELOAD=");
	if (is_last)
		buf_addf(out, "%s:", theirs);
	buf_adds(out, library);
	if (theirs && *theirs && !is_last)
		buf_addf(out, ":%s", theirs);
}

static int find_library(struct buf *out, struct sonde_err *err)
{
	const char *given = getenv("SONDE_LIBRARY");
	if (given && *given) {
		buf_adds(out, given);
	} else {
		int rc = fs_prefix(out, err);
		if (rc)
			return rc;
		buf_adds(out, "/lib/libsonde.so.0");
	}
	return access(out->data, R_OK) ? err_sys(err, errno, "cannot read '%s'", out->data) : 0;
}

/* The loader splits LD_PRELOAD at spaces and colons: such a path gets a symbolic link in the ring directory. */
static int avoid_separators(const struct ring_dir *ring, struct buf *library, struct sonde_err *err)
{
	if (!strpbrk(library->data, " :") || !strchr(library->data, '/'))
		return 0;
	CLEANUP(buf_release)
	struct buf dir = BUF_INIT; /* libsonde finds libraries in its directory: see src/tracer/env-expose.c */
	buf_addf(&dir, "%.*s/sonde", (int)(strrchr(library->data, '/') - library->data), library->data);
	if (symlinkat(library->data, ring->fd, "libsonde.so") || symlinkat(dir.data, ring->fd, "sonde"))
		return err_sys(err, errno, "cannot link '%s' into '%s'", library->data, ring->path.data);
	buf_reset(library);
	buf_addf(library, "%s/libsonde.so", ring->path.data);
	return 0;
}

int preload_library(const struct ring_dir *ring, struct buf *library, struct sonde_err *err)
{
	int rc = find_library(library, err);
	return rc ? rc : avoid_separators(ring, library, err);
}

/* Processes that still use a ring. */

pid_t writers_find(const char *ring)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct stat control;
	pid_t found = 0;

	buf_addf(&path, "%s/control", ring);
	if (buf_error(&path) || stat(path.data, &control))
		return 0;
	CLEANUP(cleanup_dir) DIR *processes = opendir("/proc");
	for (struct dirent *e; processes && !found && (e = readdir(processes));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: not a process */

		if (pid > 0 && pid != getpid() && maps_have(pid, &control, "control") == 1)
			found = pid;
	}
	return found;
}

/* The text of a key, as written by run-json.c. A quote inside a text of run.json is escaped by a backslash. */
static bool find_text(const struct buf *json, const char *key, struct buf *out)
{
	const char *at = strstr(json->data, key);
	size_t bytes = at ? strcspn(at + strlen(key), "\"\\") : 0;

	if (!bytes || at[strlen(key) + bytes] != '"')
		return false;
	buf_add(out, at + strlen(key), bytes);
	return !buf_error(out);
}

static bool is_left(const char *ring)
{
	const struct timespec pause = { .tv_nsec = DYING_NS };

	for (int i = 0; i < DYING_TRIES; i++) {
		if (!writers_find(ring))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

void writers_remove_left(const char *bundle)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT, id = BUF_INIT;
	CLEANUP(cleanup_fd) int dir = open(bundle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ring_dir ring = RING_DIR_INIT;

	if (dir >= 0 && !store_run_read_json(dir, &text, NULL) && find_text(&text, "\"ring\": \"", &path) &&
			find_text(&text, "\"ring_id\": \"", &id) &&
			!ring_dir_claim(&ring, dir, path.data, id.data, NULL) && is_left(path.data))
		ring_dir_remove(&ring);
	ring_dir_release(&ring);
}

int writers_create_run(struct store_run *run, const char *dir, const char *name, bool is_forced, struct sonde_err *err)
{
	int rc = is_forced && dir ? store_run_is_replaceable(dir, err) : 0;

	if (rc < 0)
		return rc;
	if (rc == 0)
		return store_run_create(run, dir, name, err);
	writers_remove_left(dir);
	return store_run_replace(run, dir, err);
}
