/* Opens the tracepoints for all threads of a process on every CPU, and merges their records in time order. */
#include "probe/syscall/perf-calls.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/vec.h"
#include "probe/perf/cursor.h"
#include "probe/perf/perf-private.h"
#include "probe/syscall/syscall-table.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 4096
#define ROOTS_MAX 64 /* existing threads: each has its events, which are read for lost counts */
#define RING_BYTES ((size_t)8 << 20)
#define RINGS_BYTES ((size_t)64 << 20) /* total */
#define RING_BYTES_MIN ((size_t)256 << 10)
#define LATE_NS 1000000  /* older records have reached their ring; later ones count as out of order */
#define RECORD_BYTES 256 /* more than any of our records */

enum { BEGIN, END, POINTS };

struct opening {
	struct point_calls *calls;
	bool is_command;
	int64_t ids[POINTS];
	struct buf filter; /* of recorded call numbers */
	size_t ring_bytes;
	int32_t roots[ROOTS_MAX];
	size_t root_count;
};

static bool is_of_interest(int64_t number)
{
	return number < SYSCALLS_MAX && (syscall_rows[number].name || deferred_is_closing(number));
}

static int find_points(struct opening *o, struct sonde_err *err)
{
	struct point_calls *c = o->calls;
	CLEANUP(buf_release) struct buf format = BUF_INIT;
	int error = 0;
	o->ids[BEGIN] = perf_find_point("raw_syscalls", "sys_enter", &format, &error);
	bool has_all = o->ids[BEGIN] >= 0 && perf_point_field(format.data, " id;", &c->number_at) &&
			perf_point_field(format.data, " args[6];", &c->args_at);
	o->ids[END] = perf_find_point("raw_syscalls", "sys_exit", &format, &error);
	has_all = has_all && o->ids[END] >= 0 && perf_point_field(format.data, " id;", &c->end_number_at) &&
			perf_point_field(format.data, " ret;", &c->ret_at);
	if (has_all)
		return 0;
	err_set(err, ENOENT, "the tracepoints of system calls are not there: tracefs %s",
			error == EACCES ? "is closed to this user" : "is not mounted");
	err_hint(err, PROBE_HINT_SETUP);
	return -ENOENT;
}

static int keep(struct point_calls *c, int fd)
{
	if (!VEC_GROW(c->fds, c->fd_cap, c->fd_count + 1, VEC_MAX))
		return -ENOMEM;
	c->fds[c->fd_count++] = fd;
	return 0;
}

static struct ring *ring_of(const struct point_calls *c, uint32_t cpu)
{
	for (size_t i = 0; i < c->ring_count; i++)
		if (c->rings[i]->cpu == cpu)
			return c->rings[i];
	return NULL;
}

static int give_ring(struct opening *o, int fd, uint32_t cpu)
{
	struct point_calls *c = o->calls;
	const struct ring *known = ring_of(c, cpu);
	if (known)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, known->fd) ? -errno : 0;
	struct ring *r = calloc(1, sizeof(*r));
	int rc = r ? ring_map(r, fd, cpu, o->ring_bytes) : -ENOMEM;
	if (rc)
		free(r);
	else
		c->rings[c->ring_count++] = r;
	return rc;
}

/* Opens one of the two events of a thread on a CPU. The first also reports thread exits. */
static int open_one(struct opening *o, int which, pid_t tid, uint32_t cpu)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_TRACEPOINT,
		.config = (uint64_t)o->ids[which],
		.sample_period = 1,
		.sample_type = DECODE_BASE | PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = o->is_command,
		.task = which == BEGIN,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(o->ring_bytes / 4) };
	uint64_t id;
	int fd = (int)syscall(SYS_perf_event_open, &a, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	int rc = keep(o->calls, fd);
	if (rc) {
		close(fd);
		return rc;
	}
	rc = give_ring(o, fd, cpu);
	if (!rc && (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, o->filter.data) || ioctl(fd, PERF_EVENT_IOC_ID, &id)))
		rc = -errno;
	if (!rc && which == BEGIN && !map_put_int(&o->calls->begins, id, NULL))
		rc = -ENOMEM;
	return rc;
}

static int open_thread(struct opening *o, pid_t tid)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	for (uint32_t cpu = 0; cpu < (uint32_t)cpus && cpu < CPUS_MAX; cpu++)
		for (int which = 0; which < POINTS; which++) {
			int rc = open_one(o, which, tid, cpu);
			if (rc == -ENODEV)
				break; /* the CPU is offline */
			if (rc)
				return rc;
		}
	return 0;
}

static bool has_root(const struct opening *o, int32_t tid)
{
	for (size_t i = 0; i < o->root_count; i++)
		if (o->roots[i] == tid)
			return true;
	return false;
}

/* Opens all threads of a process; repeats until there are no new ones, since unseen threads create children too. */
static int open_process(struct opening *o, pid_t pid)
{
	char path[48];
	size_t before;
	int rc = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	do {
		before = o->root_count;
		CLEANUP(cleanup_dir) DIR *dir = opendir(path);
		for (struct dirent *d; !rc && dir && (d = readdir(dir));) {
			int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);
			if (tid <= 0 || has_root(o, tid))
				continue;
			rc = o->root_count < ROOTS_MAX ? open_thread(o, tid) : -E2BIG;
			rc = rc == -ESRCH ? 0 : rc;
			if (!rc)
				o->roots[o->root_count++] = tid;
		}
	} while (!rc && o->root_count != before);
	for (size_t i = 0; !rc && i < o->calls->fd_count; i++)
		ioctl(o->calls->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	return rc;
}

static int create_rings(struct opening *o)
{
	struct point_calls *c = o->calls;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	o->ring_bytes = RING_BYTES;
	while (o->ring_bytes > RING_BYTES_MIN && o->ring_bytes * cpus > RINGS_BYTES)
		o->ring_bytes /= 2;
	c->rings = calloc(cpus, sizeof(*c->rings));
	c->next_ns = calloc(cpus, sizeof(*c->next_ns));
	c->untraced_heads = calloc(cpus, sizeof(*c->untraced_heads));
	return !c->rings || !c->next_ns || !c->untraced_heads ? -ENOMEM : deferred_init(&c->late);
}

/* A user other than root must detach before the exec of a setuid program, and only ptrace stops show it in time. */
static int check_rights(struct sonde_err *err)
{
	if (geteuid())
		return err_set(err, EPERM, "only root may watch system calls by tracepoints");
	if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILES, 0, 0))
		return err_set(err, ENOSYS, "this kernel cannot report whether processes share descriptors (kcmp)");
	return 0;
}

int point_calls_open(struct point_calls *c, const struct probe_target *t, struct sonde_err *err)
{
	struct opening o = { .calls = c, .is_command = t->kind == PROBE_COMMAND, .filter = BUF_INIT };
	*c = (struct point_calls){ .is_on = true };
	int rc = check_rights(err);
	rc = rc ? rc : find_points(&o, err);
	if (rc) {
		c->is_on = false;
		return rc;
	}
	decode_shift_ns = perf_clock_shift_ns();
	/* The filter of call numbers: "(id>=0&&id<=9)||(id>=16&&id<=20)". */
	for (int64_t first = 0, last; first < SYSCALLS_MAX; first = last + 1) {
		last = first;
		if (!is_of_interest(first))
			continue;
		while (is_of_interest(last + 1))
			last++;
		buf_addf(&o.filter, "%s(id>=%d&&id<=%d)", o.filter.len ? "||" : "", (int)first, (int)last);
	}
	rc = create_rings(&o);
	if (!rc)
		rc = o.is_command ? open_thread(&o, t->pid) : open_process(&o, t->pid);
	buf_release(&o.filter);
	if (rc) {
		err_sys(err, -rc, "cannot open the tracepoints of system calls");
		point_calls_release(c);
	}
	return rc;
}

void point_calls_release(struct point_calls *c)
{
	if (!c->is_on)
		return;
	for (size_t i = 0; i < c->ring_count; i++) {
		ring_unmap(c->rings[i]);
		free(c->rings[i]);
	}
	for (size_t i = 0; i < c->fd_count; i++)
		close(c->fds[i]);
	free(c->fds);
	free(c->rings);
	free(c->next_ns);
	free(c->untraced_heads);
	map_release(&c->begins);
	deferred_release(&c->late);
	*c = (struct point_calls){ .is_on = false };
}

/* Records. */

size_t point_calls_fds(const struct point_calls *c, int *fds, size_t room)
{
	size_t n = 0;
	for (; n < c->ring_count && n < room; n++)
		fds[n] = c->rings[n]->fd;
	return n;
}

/* Uses the kernel's count, which is updated before the call with the lost record continues. */
static uint64_t count_lost(const struct point_calls *c)
{
	uint64_t sum = 0, values[2]; /* events, lost */
	for (size_t i = 0; i < c->fd_count; i++)
		if (read(c->fds[i], values, sizeof(values)) == sizeof(values))
			sum += values[1];
	return sum;
}

static void look(struct point_calls *c)
{
	for (size_t i = 0; i < c->ring_count; i++)
		ring_read_head(c->rings[i]);
}

static bool is_before_untraced_heads(const struct point_calls *c)
{
	for (size_t i = 0; i < c->ring_count; i++)
		if (c->rings[i]->tail < c->untraced_heads[i])
			return true;
	return false;
}

void point_calls_mark(struct point_calls *c, bool is_last)
{
	c->until_ns = is_last ? INT64_MAX - 1 : clock_mono_ns() - LATE_NS;
	look(c);
	uint64_t lost = count_lost(c);
	bool is_untraced = lost != c->lost || (c->is_untraced && is_before_untraced_heads(c));
	for (size_t i = 0; lost != c->lost && i < c->ring_count; i++)
		c->untraced_heads[i] = c->rings[i]->head;
	c->lost = lost;
	if (is_untraced || c->is_untraced)
		deferred_set_untraced(&c->late, is_untraced);
	c->is_untraced = is_untraced;
}

static uint64_t get(const uint8_t *raw, size_t bytes, size_t at)
{
	uint64_t v = UINT64_MAX;
	if (at + sizeof(v) <= bytes)
		memcpy(&v, raw + at, sizeof(v));
	return v;
}

/* Decodes a record as an entry or exit of a call; false if it is neither. */
static bool point_of(const struct point_calls *c, const struct perf_record *r, struct deferred_point *p, bool *is_begin)
{
	size_t bytes;
	const uint8_t *raw = r->type == PERF_RECORD_SAMPLE ? decode_raw(r, &bytes) : NULL;
	if (!raw)
		return false;
	*is_begin = map_get_int(&c->begins, r->id) != NULL;
	*p = (struct deferred_point){ .pid = r->pid, .tid = r->tid, .cpu = r->cpu, .ts_ns = r->ts_ns };
	p->number = (int64_t)get(raw, bytes, *is_begin ? c->number_at : c->end_number_at);
	p->ret = (int64_t)get(raw, bytes, c->ret_at);
	for (size_t i = 0; *is_begin && i < 6; i++)
		p->args[i] = get(raw, bytes, c->args_at + 8 * i);
	return true;
}

/* The thread of an EXIT record: pid, the parent's pid, tid. */
static void ended(const struct perf_record *r, int32_t *pid, int32_t *tid)
{
	struct cursor at = { .at = r->body, .end = r->body + r->bytes };
	*pid = (int32_t)cursor_u32(&at);
	cursor_skip(&at, 4);
	*tid = (int32_t)cursor_u32(&at);
}

static void take(struct point_calls *c, const struct perf_record *r)
{
	struct deferred_point p;
	bool is_begin;
	int32_t pid, tid;
	if (point_of(c, r, &p, &is_begin)) {
		if (is_begin)
			deferred_on_enter(&c->late, &p);
		else
			deferred_on_exit(&c->late, &p);
	} else if (r->type == PERF_RECORD_EXIT) {
		ended(r, &pid, &tid);
		deferred_thread_ended(&c->late, pid, tid, r->ts_ns);
	} else if (r->type == PERF_RECORD_LOST) {
		deferred_lost(&c->late, r->ts_ns);
	}
}

/* Of the records written while names were read, only calls that invalidate names matter. */
static void see_ahead(struct point_calls *c, struct ring *ring)
{
	_Alignas(8) uint8_t bytes[RECORD_BYTES];
	struct perf_event_header h;
	struct perf_record r;
	struct deferred_point p;
	bool is_begin;
	int32_t pid, tid;
	ring->seen = ring->tail;
	while (ring_peek_ahead(ring, bytes, sizeof(bytes), &h)) {
		if (h.size > sizeof(bytes) || !decode_record((const void *)bytes, &r))
			continue;
		if (point_of(c, &r, &p, &is_begin) && is_begin)
			deferred_names_on_seen(&c->late.names, &p);
		if (r.type == PERF_RECORD_EXIT) {
			ended(&r, &pid, &tid);
			deferred_names_forget(&c->late.names, pid);
		}
	}
}

static void peek(struct point_calls *c, size_t i)
{
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(c->rings[i], &is_bad);
	c->next_ns[i] = h ? decode_time(h) : INT64_MAX;
}

static size_t earliest(const struct point_calls *c)
{
	size_t first = 0;
	for (size_t i = 1; i < c->ring_count; i++)
		if (c->next_ns[i] < c->next_ns[first])
			first = i;
	return first;
}

size_t point_calls_consume(struct point_calls *c, const char *events, size_t bytes)
{
	size_t at = 0;
	for (size_t i = 0; i < c->ring_count; i++)
		peek(c, i);
	for (;;) {
		const struct syscall_event *e = (const void *)(events + at);
		bool has_event = bytes - at >= sizeof(*e) && e->bytes >= sizeof(*e) && e->bytes <= bytes - at;
		size_t i = earliest(c);
		if (has_event && e->ts_ns <= c->next_ns[i] && e->ts_ns <= c->until_ns) {
			deferred_watched(&c->late, e);
			at += e->bytes;
		} else if (c->next_ns[i] <= c->until_ns) {
			struct ring *ring = c->rings[i];
			struct perf_record r;
			bool is_bad = false;
			const struct perf_event_header *h = ring_peek(ring, &is_bad);
			if (h && decode_record(h, &r))
				take(c, &r);
			if (h)
				ring_next(ring, h);
			peek(c, i);
		} else {
			break;
		}
	}
	for (size_t i = 0; i < c->ring_count; i++)
		ring_give_back(c->rings[i]);
	if (deferred_names_read(&c->late.names)) {
		look(c);
		for (size_t i = 0; i < c->ring_count; i++)
			see_ahead(c, c->rings[i]);
		if (count_lost(c) != c->lost)
			deferred_names_forget(&c->late.names, 0);
	}
	return at;
}
