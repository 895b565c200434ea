/* Discovers new segments in a ring directory, and their processes; see drain.h. */
#include "base/cleanup.h"
#include "base/vec.h"
#include "calls/calls-find.h"
#include "calls/calls-hash.h"
#include "calls/calls-text.h"
#include "probe/syscall/exec-image.h"
#include "record/drain.h"
#include "store/hash.h"

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

#define TEXT_BYTES_MAX (1u << 20)

/* Tables of calls. */

#define NAME_OF_CATEGORY(NAME, bit, word) [bit] = #NAME,
#define NAME_OF(NAME, word) #NAME,
static const char *const categories[] = { SONDE_CATEGORIES(NAME_OF_CATEGORY) NULL };
static const char *const kinds[] = { CALL_KINDS(NAME_OF) NULL };
static const char *const bytes_words[] = { CALL_BYTES(NAME_OF) NULL };
static const char *const waits[] = { CALL_WAITS(NAME_OF) NULL };
static const char *const dfts[] = { CALL_DFTS(NAME_OF) NULL };

/* The number of a value, or `unknown`: another build may have values that we do not. */
static uint8_t value_of(const char *const *names, const char *word, uint8_t unknown)
{
	for (uint8_t i = 0; names[i]; i++)
		if (!strcmp(names[i], word))
			return i;
	return unknown;
}

/* One line of calls-text.h; false if it is not one. */
static bool parse_row(char *line, struct call_info *row)
{
	char *fields[7];
	for (size_t i = 0; i < 7; i++) {
		fields[i] = strsep(&line, " ");
		if (!fields[i])
			return false;
	}
	uint8_t category = value_of(categories, fields[1], UINT8_MAX);
	if (line || strlen(fields[0]) >= sizeof(row->name) || strlen(fields[6]) >= sizeof(row->names) ||
			category == UINT8_MAX)
		return false;
	*row = (struct call_info){ .category = category,
		.kind = value_of(kinds, fields[2], CALL_KIND_OTHER),
		.bytes = value_of(bytes_words, fields[3], CALL_BYTES_UNKNOWN),
		.wait = value_of(waits, fields[4], CALL_WAIT_NONE),
		.dft = value_of(dfts, fields[5], CALL_DFT_NO) };
	row->mask = row->dft == CALL_DFT_ONLY ? SONDE_CAT_DFTRACER
					      : 1u << category | (row->dft == CALL_DFT_ALSO ? SONDE_CAT_DFTRACER : 0);
	stpcpy(row->name, fields[0]);
	stpcpy(row->names, fields[6]);
	return true;
}

static struct ring_calls *new_table(uint64_t hash, const struct call_info *rows, uint32_t count)
{
	struct ring_calls *t = calloc(1, sizeof(*t) + count * sizeof(*t->ids));
	if (t)
		*t = (struct ring_calls){ .hash = hash, .rows = rows, .count = count };
	return t;
}

/* A process may have written anything there: only a text with the right hash is a table. */
static struct ring_calls *load(const struct ring_dir *ring, uint64_t hash)
{
	char name[CALLS_FILE_BYTES];
	struct stat st;
	calls_file_name(name, hash);
	CLEANUP(cleanup_fd) int fd = openat(ring->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > TEXT_BYTES_MAX)
		return NULL;
	CLEANUP(cleanup_free) char *text = calloc(1, (size_t)st.st_size + 1);
	if (!text || read(fd, text, (size_t)st.st_size) != (ssize_t)st.st_size ||
			store_hash(text, (size_t)st.st_size, 0) != hash)
		return NULL;
	/* One row per line. */
	char *rest = text;
	uint32_t count = 0;
	struct call_info *rows = calloc(CALLS_ROWS_MAX, sizeof(*rows));
	for (char *line; rows && (line = strsep(&rest, "\n")) && *line && count < CALLS_ROWS_MAX; count++)
		if (!parse_row(line, &rows[count])) {
			free(rows);
			return NULL;
		}
	struct ring_calls *t = rows ? new_table(hash, rows, count) : NULL;
	if (!t)
		free(rows);
	return t;
}

struct ring_calls *ring_calls_find(struct ring_calls **all, const struct ring_dir *ring, uint64_t hash,
		struct sonde_err *err)
{
	struct ring_calls *t = *all;
	while (t && t->hash != hash)
		t = t->next;
	if (t)
		return t;
	t = hash == CALLS_HASH ? new_table(hash, call_info, CALL_COUNT) : load(ring, hash);
	if (!t) {
		err_set(err, ENOTSUP,
				"ring '%s' was written by another build of libsonde: its table of calls is %016llx, "
				"ours is %016llx, and it has no valid file 'calls-%016llx'",
				ring->path.data, (unsigned long long)hash, (unsigned long long)CALLS_HASH,
				(unsigned long long)hash);
		err_hint(err, "use the version of sonde that libsonde was installed with");
		return NULL;
	}
	t->next = *all;
	*all = t;
	return t;
}

void ring_calls_free(struct ring_calls *all)
{
	for (struct ring_calls *next; all; all = next) {
		next = all->next;
		if (all->rows != call_info)
			free((void *)(uintptr_t)all->rows);
		free(all);
	}
}

/* Processes. */

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
		if (!VEC_GROW(keys, cap, count + 1, VEC_MAX))
			break;
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
