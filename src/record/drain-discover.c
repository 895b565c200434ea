/* Discovers new segments in a ring directory, and their processes; see drain.h. */
#include "base/cleanup.h"
#include "probe/syscall/exec-image.h"
#include "record/drain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void watch(struct drain *d, struct drain_process *p)
{
	p->pidfd = -1;
	if (d->epollfd < 0 || d->has_foreign_pids)
		return;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = p };
	if (p->pidfd >= 0)
		epoll_ctl(d->epollfd, EPOLL_CTL_ADD, p->pidfd, &e);
}

/* Go programs make system calls directly, even when libc is loaded. */
static bool is_go(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && image_is_go(fd);
}

static struct drain_process *add_process(struct drain *d, const struct sonde_segment *s)
{
	if (d->process_count == d->process_cap) {
		size_t cap = d->process_cap ? 2 * d->process_cap : 64;
		struct drain_process **more = realloc(d->processes, cap * sizeof(*more));
		if (!more)
			return NULL;
		d->processes = more;
		struct drain_process **live = realloc(d->live, cap * sizeof(*live));
		if (!live)
			return NULL;
		d->live = live;
		d->process_cap = cap;
	}
	struct drain_process *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->number = s->process;
	p->pid = s->pid;
	p->ppid = s->parent_pid;
	p->parent = s->parent;
	p->is_forked = s->parent != 0;
	p->start_ns = s->start_mono_ns;
	p->end_ns = p->exe = p->cwd = STORE_NULL;
	d->processes[d->process_count++] = d->live[d->live_count++] = p;
	bool is_new;
	uint64_t *at = map_put_int(&d->by_number, p->number, NULL);
	if (at)
		*at = d->process_count;
	at = map_put_int(&d->by_pid, (uint64_t)(uint32_t)p->pid, &is_new);
	struct drain_process *before = at && !is_new ? d->processes[*at - 1] : NULL;
	if (before && !p->parent) {
		p->parent = before->number;
		p->ppid = before->ppid;
	}
	if (at)
		*at = d->process_count;
	if (!p->parent) {
		struct drain_process *parent = drain_by_pid(d, p->ppid);
		p->parent = parent && parent != p ? parent->number : 0;
	}
	watch(d, p);
	p->has_kernel_calls = d->has_syscalls && is_go(p->pid);
	return p;
}

void drain_adopt(struct drain *d, const struct probe_image *image)
{
	const struct drain_process *parent = image->parent ? drain_by_pid(d, image->parent) : NULL;
	const struct drain_process *known = drain_by_pid(d, image->pid);
	if (known && !known->is_done && known->start_ns >= image->ts_ns)
		return; /* it has a ring after all */
	struct sonde_segment s = { .process = __atomic_fetch_add(&d->ring->control->next_process, 1, __ATOMIC_RELAXED),
		.pid = image->pid,
		.parent_pid = image->parent,
		.parent = parent ? parent->number : 0,
		.start_mono_ns = image->ts_ns };
	struct drain_process *p = add_process(d, &s);
	if (!p)
		return;
	p->is_adopted = true;
	if (image->exe.data)
		p->exe = store_strings_id(&d->sink->strings, image->exe.data, image->exe.bytes);
	if (image->cwd.data)
		p->cwd = store_strings_id(&d->sink->strings, image->cwd.data, image->cwd.bytes);
	char *argv = image->argv.data ? arena_copy(&d->arena, image->argv.data, image->argv.bytes) : NULL;
	if (argv)
		p->argv = (struct store_text){ .data = argv, .bytes = image->argv.bytes };
}

void drain_pair(struct drain *d, uint64_t ticks, int64_t mono_ns)
{
	if (d->epollfd < 0 && d->ring->control->clock == SONDE_CLOCK_TICKS)
		tick_line_add(&d->line, ticks, mono_ns);
}

static void add_segment(struct drain *d, struct sonde_segment *s, size_t bytes)
{
	struct drain_process *p = drain_by_number(d, s->process);
	struct ring_calls *calls = p ? p->calls : ring_calls_find(&d->calls, d->ring, s->calls_hash, &d->calls_why);
	if (!p && calls)
		p = add_process(d, s);
	if (p)
		p->calls = calls;
	struct drain_segment *seg = p && p->segment_count < SONDE_SEGMENTS_MAX ? calloc(1, sizeof(*seg)) : NULL;
	if (!seg) {
		munmap(s, bytes);
		return;
	}
	seg->at = s;
	seg->bytes = bytes;
	seg->number = s->number;
	seg->chunk_count = (uint32_t)((bytes - SONDE_SEGMENT_HEAD_BYTES) / SONDE_CHUNK_BYTES);
	if (seg->chunk_count > SONDE_CHUNKS_MAX)
		seg->chunk_count = SONDE_CHUNKS_MAX;
	drain_pair(d, s->start_ticks, s->start_mono_ns);
	p->segments[p->segment_count++] = seg;
}

static void map_segment(struct drain *d, const char *name, uint64_t key)
{
	struct stat st;
	int fd = openat(d->ring->fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)SONDE_SEGMENT_HEAD_BYTES &&
			st.st_size < INT_MAX) {
		size_t bytes = (size_t)st.st_size;
		int sharing = d->epollfd >= 0 ? MAP_SHARED : MAP_PRIVATE;
		struct sonde_segment *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing, fd, 0);
		if (s != MAP_FAILED) {
			bool is_whole = __atomic_load_n(&s->magic, __ATOMIC_ACQUIRE) == SONDE_SEGMENT_MAGIC &&
					s->version == SONDE_SHM_VERSION && s->kind == SONDE_SEGMENT_RING &&
					((uint64_t)s->process << 16 | s->number) == key;
			if (is_whole) {
				map_put_int(&d->by_segment, key, NULL);
				add_segment(d, s, bytes);
			} else {
				munmap(s, bytes);
			}
		}
	}
	close(fd);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* In the order of process numbers, so that a parent precedes its child. */
void drain_discover(struct drain *d)
{
	uint64_t *keys = NULL;
	size_t count = 0, cap = 0;
	int fd = openat(d->ring->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		unsigned process, number;
		int end = 0;
		if (sscanf(e->d_name, "%u.%u%n", &process, &number, &end) != 2 || e->d_name[end] ||
				number >= SONDE_SEGMENTS_MAX ||
				map_get_int(&d->by_segment, (uint64_t)process << 16 | number))
			continue;
		if (count == cap) {
			cap = cap ? 2 * cap : 64;
			uint64_t *more = realloc(keys, cap * sizeof(*more));
			if (!more)
				break;
			keys = more;
		}
		keys[count++] = (uint64_t)process << 16 | number;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (count)
		qsort(keys, count, sizeof(*keys), by_key);
	for (size_t i = 0; i < count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%u.%u", (unsigned)(keys[i] >> 16), (unsigned)(keys[i] & 0xffff));
		map_segment(d, name, keys[i]);
	}
	free(keys);
}
