#include "live/watch.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Finds the process that owns a board, by its pid in our namespace.
 *
 * A program in a container writes its pid in the container's namespace, which here may be another process or none.
 * So the process with that pid is accepted only if it has mapped the board; otherwise the processes of other pid
 * namespaces that have this pid there are searched.
 */

#define STATUS_BYTES_MAX 65536
#define ENVIRON_BYTES_MAX (1u << 20)
#define RING_VARIABLE "SONDE_RING="

/* "NSpid: 4711 12 1", outermost to innermost; 0 if it is in our own pid namespace. */
static pid_t inner_pid(pid_t pid, struct buf *text)
{
	static const char key[] = "\nNSpid:";
	char path[64], *end;
	const char *at;
	long numbers = 0, last = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	buf_reset(text);
	if (fs_read_file(AT_FDCWD, path, STATUS_BYTES_MAX, text, NULL) < 0 || !(at = strstr(text->data, key)))
		return 0;
	for (at += strlen(key); *at && *at != '\n'; at = end, numbers++) {
		long number = strtol(at, &end, 10);

		if (end == at)
			break;
		last = number;
	}
	return numbers > 1 ? (pid_t)last : 0;
}

static pid_t find_inside(pid_t inner, const struct stat *board, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	DIR *processes = opendir("/proc");
	pid_t found = 0;

	for (struct dirent *e; processes && !found && (e = readdir(processes));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 0 && inner_pid(pid, &text) == inner && maps_have(pid, board, name) == 1)
			found = pid;
	}
	if (processes)
		closedir(processes);
	return found;
}

/*
 * Returns 0 if the owner has exited. If we may not read a process's mappings, its pid is accepted, except for pid 1,
 * which exists in every container too.
 */
static pid_t live_board_owner(int board_fd, const char *name, pid_t pid)
{
	struct stat board;
	pid_t inside;
	int has_it;

	if (pid <= 0 || fstat(board_fd, &board))
		return 0;
	has_it = maps_have(pid, &board, name);
	if (has_it == 1)
		return pid;
	inside = find_inside(pid, &board, name);
	if (inside)
		return inside;
	return pid > 1 && (has_it == -EACCES || has_it == -EPERM) ? pid : 0;
}

/*
 * Was the process started with this ring directory? A program can write any pid there, and must not be able to claim
 * processes of others.
 */
static bool live_is_started_with(pid_t pid, int dirfd)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64];
	struct stat ours, its;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (pid <= 0 || fstat(dirfd, &ours) || fs_read_file(AT_FDCWD, path, ENVIRON_BYTES_MAX, &text, NULL) < 0)
		return false;
	for (const char *at = text.data, *end = at + text.len; at && at < end; at += strlen(at) + 1)
		if (strncmp(at, RING_VARIABLE, strlen(RING_VARIABLE)) == 0)
			return stat(at + strlen(RING_VARIABLE), &its) == 0 && its.st_dev == ours.st_dev &&
					its.st_ino == ours.st_ino;
	return false;
}

#define RINGS_MAX 2000
#define ENTRIES_MAX 1000    /* per ring */
#define SETTLED_NS 50000000 /* a younger mtime may be followed by another change with the same mtime */
#define METRICS_GUESS 16    /* initial guess of a program's metrics */
#define BOARD ".board"
#define ANNOUNCED ".process"
#define ANNOUNCED_BYTES_MAX 64

static const char *const usual_places[] = { "/dev/shm", NULL };

void live_watch_init(struct live_watch *w, const char *const *places)
{
	*w = (struct live_watch){ .places = places ? places : usual_places };
}

static void close_entry(struct live_entry *e)
{
	if (e->board_fd >= 0)
		close(e->board_fd);
	if (e->stat_fd >= 0)
		close(e->stat_fd);
	e->board_fd = e->stat_fd = -1;
	live_group_close(&e->group_files);
}

static void release_ring(struct live_ring *r)
{
	for (size_t i = 0; i < r->entry_count; i++)
		close_entry(&r->entries[i]);
	free(r->entries);
	if (r->fd >= 0)
		close(r->fd);
}

void live_watch_release(struct live_watch *w)
{
	for (size_t i = 0; i < w->ring_count; i++)
		release_ring(&w->rings[i]);
	free(w->rings);
	*w = (struct live_watch){ .rings = NULL };
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* The mtime to compare with next time; zero for a recent change, so that the directory is scanned again. */
static struct timespec settled(struct timespec changed)
{
	int64_t age_ns = clock_real_ns() - ((int64_t)changed.tv_sec * 1000000000 + changed.tv_nsec);

	return age_ns > SETTLED_NS ? changed : (struct timespec){ 0, 0 };
}

static void *grow(void *items, size_t count, size_t *cap, size_t size)
{
	size_t more = *cap ? 2 * *cap : 1; /* most programs have one process */
	void *bigger;

	if (count < *cap)
		return items;
	bigger = realloc(items, more * size);
	if (bigger)
		*cap = more;
	return bigger;
}

/* PID.SUFFIX */
static bool is_of(const char *name, const char *suffix)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 12 && strcmp(name + digits, suffix) == 0;
}

int live_watch_announce(int dirfd, pid_t pid, struct sonde_err *err)
{
	char name[32], text[32];
	int n = snprintf(text, sizeof(text), "%lld\n", (long long)clock_mono_ns());

	snprintf(name, sizeof(name), "%d" ANNOUNCED, (int)pid);
	return fs_replace_file(dirfd, name, text, (size_t)n, err);
}

/* Identifies the process by its board. */
static int identify_board(int dirfd, const char *file, struct live_entry *e)
{
	struct sonde_segment head;
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = openat(dirfd, file, flags | O_NOATIME);

	/* Frequent reads must not update atime each time; only the owner may use O_NOATIME. */
	e->board_fd = fd < 0 && errno == EPERM ? openat(dirfd, file, flags) : fd;
	if (e->board_fd < 0 || live_board_head(e->board_fd, &head) < 0)
		return -EBADMSG;
	e->pid = live_board_owner(e->board_fd, file, head.pid);
	e->start_mono_ns = head.start_mono_ns;
	return 0;
}

/* Identifies the process by its announcement: its pid, and a time by which it was running. */
static int identify_announced(int dirfd, const char *file, struct live_entry *e)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (fs_read_file(dirfd, file, ANNOUNCED_BYTES_MAX, &text, NULL) < 0 || !text.len)
		return -EBADMSG;
	e->pid = (pid_t)strtol(file, NULL, 10);
	e->start_mono_ns = strtoll(text.data, NULL, 10);
	return live_is_started_with(e->pid, dirfd) ? 0 : -ESRCH;
}

static int open_entry(int dirfd, const char *file, struct live_entry *e)
{
	struct live_process p;
	char path[64];
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	*e = (struct live_entry){ .board_fd = -1, .stat_fd = -1, .metric_count = METRICS_GUESS };
	if ((is_of(file, BOARD) ? identify_board(dirfd, file, e) : identify_announced(dirfd, file, e)) < 0)
		return -EBADMSG;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)e->pid);
	e->stat_fd = e->pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (e->stat_fd < 0 || live_process_poll(&p, e->stat_fd, e->start_mono_ns) < 0)
		return -ESRCH;
	snprintf(e->file, sizeof(e->file), "%.20s", file);
	/* The name in the ring directory, or else the process's name. */
	if (fs_read_file(dirfd, LIVE_APP_FILE, LIVE_NAME_BYTES - 1, &text, NULL) == 0 && text.len)
		snprintf(e->app, LIVE_NAME_BYTES, "%s", text.data);
	else
		snprintf(e->app, LIVE_NAME_BYTES, "%s", p.name);
	live_container_of(e->pid, e->container_id, sizeof(e->container_id), e->container, sizeof(e->container));
	live_container_cgroup(e->pid, &e->cgroup);
	return 0;
}

static struct live_entry *find_entry(struct live_ring *r, const char *file)
{
	for (size_t i = 0; i < r->entry_count; i++)
		if (strcmp(r->entries[i].file, file) == 0)
			return &r->entries[i];
	return NULL;
}

static int add_entry(struct live_ring *r, int dirfd, const char *file)
{
	struct live_entry *e = find_entry(r, file), *bigger;

	if (e) {
		e->is_seen = true;
		return 0;
	}
	if (r->entry_count == ENTRIES_MAX)
		return 0;
	bigger = grow(r->entries, r->entry_count, &r->entry_cap, sizeof(*r->entries));
	if (!bigger)
		return -ENOMEM;
	r->entries = bigger;
	e = &r->entries[r->entry_count];
	if (open_entry(dirfd, file, e) < 0) {
		close_entry(e);
		return 0;
	}
	e->is_seen = true;
	r->entry_count++;
	return 0;
}

/* A process with a board does not need its announcement any more. */
static bool has_board(const struct live_ring *r, pid_t pid)
{
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entries[i].board_fd >= 0 && r->entries[i].pid == pid)
			return true;
	return false;
}

/* Scans a directory that has changed. */
static int scan_dir(struct live_ring *r)
{
	int copy = openat(r->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	size_t kept = 0;

	if (!dir && copy >= 0)
		close(copy);
	live_clock_read(&r->clock, r->fd);
	for (size_t i = 0; i < r->entry_count; i++)
		r->entries[i].is_seen = false;
	for (struct dirent *d; dir && rc == 0 && (d = readdir(dir));)
		if (is_of(d->d_name, BOARD) || is_of(d->d_name, ANNOUNCED))
			rc = add_entry(r, r->fd, d->d_name);
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entries[i].board_fd < 0 && has_board(r, r->entries[i].pid))
			r->entries[i].is_seen = false;
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entries[i].is_seen)
			r->entries[kept++] = r->entries[i];
		else
			close_entry(&r->entries[i]);
	r->entry_count = kept;
	return rc;
}

/* One fstat if nothing has changed. The directory must be ours and writable only by us; a removed one has no links. */
static int revisit(struct live_ring *r)
{
	struct stat st;

	r->is_seen = r->fd >= 0 && fstat(r->fd, &st) == 0 && st.st_nlink && st.st_uid == getuid() &&
			!(st.st_mode & 022);
	if (!r->is_seen || is_same_time(st.st_mtim, r->time))
		return 0;
	r->time = settled(st.st_mtim);
	return scan_dir(r);
}

static bool is_known(const struct live_watch *w, const char *path)
{
	for (size_t i = 0; i < w->ring_count; i++)
		if (strcmp(w->rings[i].path, path) == 0)
			return true;
	return false;
}

static int add_ring(struct live_watch *w, const char *path)
{
	struct live_ring *bigger;

	if (w->ring_count == RINGS_MAX || is_known(w, path))
		return 0;
	bigger = grow(w->rings, w->ring_count, &w->ring_cap, sizeof(*w->rings));
	if (!bigger)
		return -ENOMEM;
	w->rings = bigger;
	w->rings[w->ring_count] = (struct live_ring){ .clock = { .tick_s = NAN } };
	snprintf(w->rings[w->ring_count].path, sizeof(w->rings[0].path), "%s", path);
	w->rings[w->ring_count].fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	w->ring_count++;
	return revisit(&w->rings[w->ring_count - 1]);
}

static int find_rings(struct live_watch *w, const char *place, struct timespec *time)
{
	char prefix[32], path[300];
	struct stat st;
	DIR *dir;
	int rc = 0;

	if (stat(place, &st) || is_same_time(st.st_mtim, *time))
		return 0;
	*time = settled(st.st_mtim);
	snprintf(prefix, sizeof(prefix), "sonde-%u.", (unsigned)getuid());
	dir = opendir(place);
	for (struct dirent *d; dir && rc == 0 && (d = readdir(dir));)
		if (strncmp(d->d_name, prefix, strlen(prefix)) == 0 &&
				(size_t)snprintf(path, sizeof(path), "%s/%s", place, d->d_name) < sizeof(path))
			rc = add_ring(w, path);
	if (dir)
		closedir(dir);
	return rc;
}

int live_watch_refresh(struct live_watch *w, int64_t age_ns, struct sonde_err *err)
{
	int64_t now_ns = clock_mono_ns();
	int rc = 0;
	size_t kept = 0;

	if (w->refreshed_ns && now_ns - w->refreshed_ns < age_ns)
		return 0;
	w->refreshed_ns = now_ns;
	for (size_t i = 0; i < w->ring_count && rc == 0; i++)
		rc = revisit(&w->rings[i]);
	for (size_t i = 0; rc == 0 && w->places[i] && i < LIVE_PLACES_MAX; i++)
		rc = find_rings(w, w->places[i], &w->place_times[i]);
	for (size_t i = 0; i < w->ring_count; i++)
		if (w->rings[i].is_seen)
			w->rings[kept++] = w->rings[i];
		else
			release_ring(&w->rings[i]);
	w->ring_count = kept;
	for (size_t i = 0; i < w->ring_count; i++)
		live_clock_set(&w->rings[i].clock);
	return rc < 0 ? err_sys(err, -rc, "cannot find running programs") : 0;
}

int live_watch_read(struct live_entry *e, int64_t age_ns, bool has_histograms, struct live_board *b,
		const struct live_process **p)
{
	int64_t now_ns = clock_mono_ns();
	int rc = e->stat_fd < 0 ? -ESRCH : 0;

	if (rc == 0 && now_ns - e->read_ns >= age_ns) {
		/* An open file refers to the same process forever: its start time was checked when it was opened. */
		rc = live_process_poll(&e->process, e->stat_fd, INT64_MAX);
		e->read_ns = now_ns;
	}
	if (rc == 0 && e->board_fd < 0)
		b->metric_count = b->histogram_count = 0;
	else if (rc == 0)
		rc = live_board_poll(b, e->board_fd, e->metric_count, has_histograms);
	if (rc == 0)
		e->metric_count = b->metric_count;
	if (rc == -ESRCH)
		close_entry(e);
	*p = &e->process;
	return rc;
}
