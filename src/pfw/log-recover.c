
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "calls/calls-hash.h"
#include "pfw/pfwlog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPS_BYTES_MAX ((size_t)64 << 20)
#define LINKS_MAX 10
#define RING_NAME "sonde-dftracer-" /* prefix of libdftracer's ring directories */

static bool ends_with(const char *text, const char *with)
{
	size_t n = strlen(text), k = strlen(with);

	return n >= k && !strcmp(text + n - k, with);
}

/* Returns whether the process still maps this ring. A pid alone may have been reused. */
static bool is_in_use(int32_t pid, const char *ring)
{
	CLEANUP(buf_release) struct buf maps = BUF_INIT;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return !fs_read_file(AT_FDCWD, path, MAPS_BYTES_MAX, &maps, NULL) && maps.len && strstr(maps.data, ring);
}

struct mapped {
	struct sonde_segment *at[SONDE_SEGMENTS_MAX];
	size_t bytes[SONDE_SEGMENTS_MAX];
	uint32_t count;
};

static bool map_segment(struct mapped *m, int dirfd, uint32_t process)
{
	char name[32];
	struct stat st;
	void *at = MAP_FAILED;

	snprintf(name, sizeof(name), "%u.%u", process, m->count);
	CLEANUP(cleanup_fd) int fd = openat(dirfd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)SONDE_SEGMENT_HEAD_BYTES ||
			st.st_size > INT32_MAX)
		return false;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return false;
	m->at[m->count] = at;
	m->bytes[m->count++] = (size_t)st.st_size;
	return m->at[m->count - 1]->magic == SONDE_SEGMENT_MAGIC;
}

static int is_not_control(const struct dirent *entry)
{
	return strcmp(entry->d_name, "control") && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* The inode of the ring's directory when it was created, from its control page; 0 if unknown. */
static uint64_t made_in(int dirfd)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, "control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t inode = 0;

	if (fd < 0 || pread(fd, &inode, sizeof(inode), offsetof(struct sonde_control, inode)) != (ssize_t)sizeof(inode))
		return 0;
	return inode;
}

/* Names given by ringplace.c: in memory, or <log>.ring. */
static bool has_ring_name(const char *real)
{
	const char *name = strrchr(real, '/');

	return name && (!strncmp(name + 1, RING_NAME, sizeof(RING_NAME) - 1) || ends_with(name, ".ring"));
}

static int is_part(const struct dirent *entry)
{
	static const char *const names[] = { "state", "names", "strings", "files", "text" };
	const char *name = entry->d_name;
	size_t n = strspn(name, "0123456789");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return n && name[n] == '.' &&
			(!strcmp(name + n, ".board") ||
					(name[n + 1] && !name[n + 1 + strspn(name + n + 1, "0123456789")]));
}

/* Removes the control page last: at any moment the directory is a ring, empty, or gone. */
static void remove_ring(const char *ring, const char *real, int dirfd)
{
	struct stat st;
	struct dirent **entries;
	bool is_made_here = !fstat(dirfd, &st) && made_in(dirfd) == (uint64_t)st.st_ino && has_ring_name(real);
	int count = is_made_here ? scandirat(dirfd, ".", &entries, is_part, NULL) : -1;

	for (int i = 0; i < count; i++) {
		unlinkat(dirfd, entries[i]->d_name, 0);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (is_made_here)
		unlinkat(dirfd, "control", 0);
	if (faccessat(dirfd, "control", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return; /* remove nothing that cannot be identified as a ring */
	if (!lstat(ring, &st) && S_ISLNK(st.st_mode))
		unlink(ring);
	rmdir(real);
}

static int read_ring(struct pfwlog *log, int dirfd, struct pfwlog_recovered *result)
{
	struct mapped m = { .count = 0 };
	uint32_t process = pfwlog_state(log)->process;

	while (m.count < SONDE_SEGMENTS_MAX && map_segment(&m, dirfd, process))
		pfwlog_add_segment(log, m.at[m.count - 1], m.bytes[m.count - 1]);
	result->dropped = m.count ? m.at[0]->dropped : 0;
	result->written_events = pfwlog_state(log)->done.events;
	pfwlog_consume(log, PFWLOG_LAST, true);
	int rc = pfwlog_end(log, true);
	result->ring_events = pfwlog_state(log)->done.events - result->written_events;
	for (uint32_t i = 0; i < m.count; i++)
		munmap(m.at[i], m.bytes[i]);
	return rc;
}

/* Returns whether this is the rest of a completed ring: the process that was removing it was killed. */
static bool is_remnant(const char *real, int dirfd)
{
	struct dirent **entries;
	const char *name = strrchr(real, '/');
	int count = scandirat(dirfd, ".", &entries, is_not_control, NULL);

	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return count == 0 && name && !strncmp(name + 1, RING_NAME, sizeof(RING_NAME) - 1) &&
			faccessat(dirfd, "control", F_OK, 0) < 0;
}

/*
 * Checks that the directory is a libdftracer ring, belongs to this user and was not moved; sets `real` to its real
 * path.
 */
static int check_ring(const char *ring, struct buf *real, int *dirfd, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *path = realpath(ring, NULL);
	struct stat st;

	if (!path)
		return err_sys(err, errno, "cannot find the ring '%s'", ring);
	buf_adds(real, path);
	*dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dirfd < 0 || fstat(*dirfd, &st) < 0)
		return err_sys(err, errno, "cannot open the ring '%s'", path);
	if (st.st_uid != geteuid() && geteuid() != 0)
		return err_set(err, EPERM, "the ring '%s' belongs to another user", path);
	if (faccessat(*dirfd, "control", F_OK, 0) < 0 && !is_remnant(path, *dirfd))
		return err_set(err, EINVAL, "'%s' is not a libdftracer ring", path);
	if (made_in(*dirfd) && made_in(*dirfd) != (uint64_t)st.st_ino)
		return err_set(err, EPERM, "the ring '%s' was created in another directory", path);
	return 0;
}

/* Returns whether this is a ring of that log by name: <log>.ring, <log>.1.ring and so on. */
static bool is_ring_of(const char *ring, const char *log)
{
	const char *a = strrchr(ring, '/'), *b = strrchr(log, '/');
	const char *name = a ? a + 1 : ring, *base = b + 1;
	size_t n = strlen(base);

	if (!*base || strncmp(name, base, n) != 0)
		return false;
	name += n;
	if (*name == '.' && name[1] >= '1' && name[1] <= '9' && name[2] == '.')
		name += 2;
	return !strcmp(name, ".ring");
}

static bool is_same_dir(const char *a, const char *b)
{
	CLEANUP(buf_release) struct buf one = BUF_INIT, other = BUF_INIT;
	const char *slash = strrchr(a, '/');
	struct stat x, y;

	buf_add(&one, slash ? a : ".", slash ? (size_t)(slash - a) + 1 : 1);
	buf_add(&other, b, (size_t)(strrchr(b, '/') - b) + 1);
	return !buf_error(&one) && !buf_error(&other) && !stat(one.data, &x) && !stat(other.data, &y) &&
			x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * Checks the output path: a file in the directory of the ring or of the link to it, with the matching name. Without a
 * state file nothing is written.
 */
static int check_log(const char *ring, int dirfd, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, "state", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char log[PFWLOG_PATH_BYTES + 1] = "";
	struct stat st;

	/* Numbers of calls in the ring are rows of the table of the libdftracer that wrote it. */
	uint64_t head[3] = { 0 }, hash;
	_Static_assert(offsetof(struct pfwlog_state, calls_hash) == 16, "the third word");
	bool has_head = fd >= 0 && pread(fd, head, sizeof(head), 0) == sizeof(head) && head[0] == PFWLOG_MAGIC;
	if (has_head && (hash = head[2]) != CALLS_HASH) {
		int rc = err_set(err, ENOTSUP,
				"ring '%s' was written by another build of libdftracer: its table of calls is %016llx, "
				"ours is %016llx",
				ring, (unsigned long long)hash, (unsigned long long)CALLS_HASH);
		err_hint(err, "recover it with the version of sonde that libdftracer was installed with");
		return rc;
	}
	if (fd < 0 || pread(fd, log, PFWLOG_PATH_BYTES, offsetof(struct pfwlog_state, setup.path)) <= 0)
		return 0;
	if (log[0] != '/' || !is_same_dir(ring, log) || (ends_with(ring, ".ring") && !is_ring_of(ring, log)))
		return err_set(err, EPERM, "the ring '%s' does not belong to the log '%s'", ring, log);
	if (!lstat(log, &st) && !S_ISREG(st.st_mode))
		return err_set(err, EPERM, "cannot write the log '%s': it is not a regular file", log);
	return 0;
}

static int finish_ring(const char *ring, const char *real, int dirfd, bool is_forced, struct pfwlog_recovered *result,
		struct sonde_err *err)
{
	int error = 0, rc;
	struct pfwlog *log = pfwlog_reopen(real, &error);

	if (!log && error == -ENOENT) { /* killed during startup: the ring is empty */
		snprintf(result->log, sizeof(result->log), "%s", ring);
		remove_ring(ring, real, dirfd);
		return 0;
	}
	if (!log)
		return err_sys(err, -error, "cannot resume the ring '%s'", real);
	snprintf(result->log, sizeof(result->log), "%s", pfwlog_state(log)->setup.path);
	if (!is_forced && is_in_use(pfwlog_state(log)->true_pid, real)) {
		rc = err_set(err, EBUSY, "process %d is still running and writing '%s'",
				(int)pfwlog_state(log)->true_pid, result->log);
		err_hint(err, "recover after it has exited, or use --now and lose its further events");
	} else {
		error = read_ring(log, dirfd, result);
		rc = error ? err_sys(err, -error, "cannot finish '%s'", result->log) : 0;
	}
	pfwlog_free(log);
	if (rc == 0)
		remove_ring(ring, real, dirfd);
	return rc;
}

/*
 * The ring names its log. So recovery runs with the permissions of the ring's owner, who may not be able to write
 * everywhere.
 */
static int become(uid_t uid, gid_t gid, struct sonde_err *err)
{
	if (setegid(gid) < 0 || seteuid(uid) < 0)
		return err_sys(err, errno, "cannot act as user %u", (unsigned)uid);
	return 0;
}

int pfwlog_recover_ring(const char *ring, bool is_forced, struct pfwlog_recovered *result, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf real = BUF_INIT;
	CLEANUP(cleanup_fd) int dirfd = -1;
	struct stat st;
	int rc = check_ring(ring, &real, &dirfd, err);

	memset(result, 0, sizeof(*result));
	if (rc < 0)
		return rc;
	bool is_for_another = geteuid() == 0 && !fstat(dirfd, &st) && st.st_uid != 0;
	if (is_for_another)
		rc = become(st.st_uid, st.st_gid, err);
	if (rc == 0)
		rc = check_log(ring, dirfd, err);
	if (rc == 0)
		rc = finish_ring(ring, real.data, dirfd, is_forced, result, err);
	if (is_for_another && (seteuid(0) < 0 || setegid(0) < 0))
		_exit(1); /* cannot happen: the process was root */
	return rc;
}

/* Resolving a path. */

static int recover_one(const char *ring, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err)
{
	struct pfwlog_recovered result;
	int rc = pfwlog_recover_ring(ring, is_forced, &result, err);

	return rc < 0 ? rc : each(arg, &result);
}

static int is_ring(const struct dirent *entry)
{
	return ends_with(entry->d_name, ".ring");
}

static int count_rings(const char *dir)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, is_ring, alphasort);

	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return count;
}

static int recover_dir(const char *dir, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, is_ring, alphasort), first = 0;

	for (int i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;

		buf_addf(&path, "%s/%s", dir, entries[i]->d_name);
		int rc = recover_one(path.data, is_forced, each, arg, first ? NULL : err);
		first = first ? first : rc;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return first;
}

/* <log>.ring, <log>.1.ring and so on; -ENOENT if none exists. */
static int recover_log(const char *log, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err)
{
	int rc = -ENOENT;

	for (int i = 0; i < LINKS_MAX; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		struct stat st;

		buf_adds(&path, log);
		if (i)
			buf_addf(&path, ".%d", i);
		buf_adds(&path, ".ring");
		if (lstat(path.data, &st) < 0)
			continue;
		rc = recover_one(path.data, is_forced, each, arg, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

bool pfwlog_is_recoverable(const char *path)
{
	struct stat st;

	if (ends_with(path, ".ring") || ends_with(path, ".pfw") || ends_with(path, ".pfw.gz"))
		return true;
	return !stat(path, &st) && S_ISDIR(st.st_mode) && count_rings(path) > 0;
}

int pfwlog_recover(const char *path, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err)
{
	struct stat st;

	if (ends_with(path, ".ring"))
		return recover_one(path, is_forced, each, arg, err);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return recover_dir(path, is_forced, each, arg, err);
	int rc = recover_log(path, is_forced, each, arg, err);
	if (rc == -ENOENT && access(path, F_OK) == 0)
		return 0; /* complete, as far as can be determined */
	return rc == -ENOENT ? err_set(err, ENOENT, "log or ring '%s' not found", path) : rc;
}
