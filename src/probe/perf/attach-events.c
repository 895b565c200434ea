/*
 * Opens the events of one target on every CPU, and the rings that they write to; see perf-private.h.
 *
 * If the kernel refuses an event, it is retried with fewer features: without namespaces, without kernel samples,
 * without attributes that older kernels do not support.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/vec.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/perf-ring.h"
#include "probe/perf/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES_MIN \
	((size_t)256 << 10) /* doubled with switches, times eight with tracepoints: each is a few records */
#define RING_BYTES_MAX ((size_t)8 << 20)
#define ORDINARY_WATERMARK ((uint32_t)128 << 10)
#define SAMPLE_BYTES 512 /* without its stack */
#define RING_MS 100      /* of data in a ring */
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* clang-format off */
const struct perf_event_name perf_event_names[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false },
	{ NULL, 0, 0, false },
};
/* clang-format on */

const struct perf_event_name *perf_event_find(const char *name)
{
	for (const struct perf_event_name *e = perf_event_names; e->name; e++)
		if (!strcmp(e->name, name))
			return e;
	return NULL;
}

/* ax bx cx dx si di bp sp ip, r8 .. r15: bits 0-8 and 16-23 of <asm/perf_regs.h>. */
const uint64_t perf_user_regs_mask = 0xff01ff;
const uint8_t perf_user_regs_dwarf[PERF_USER_REGS] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };

int64_t perf_number_in(const char *path, int64_t none)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *end;
	if (fs_read_file(AT_FDCWD, path, 64, &text, NULL))
		return none;
	long long v = strtoll(text.data, &end, 10);
	return end == text.data ? none : v;
}

static void set_user_only(const struct perf_source *s, struct perf_event_attr *a)
{
	a->exclude_kernel = !s->has_kernel;
	a->exclude_hv = !s->has_kernel;
	a->exclude_callchain_kernel = !s->has_kernel;
}

static void base_attr(const struct perf_source *s, struct perf_event_attr *a)
{
	enum probe_target_kind kind = s->host->target.kind;
	*a = (struct perf_event_attr){ .size = sizeof(*a),
		.sample_type = DECODE_BASE,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING | (s->private->has_losses ? PERF_FORMAT_LOST : 0),
		.disabled = 1,
		.inherit = kind == PROBE_COMMAND || kind == PROBE_PID,
		.enable_on_exec = kind == PROBE_COMMAND,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1 };
	set_user_only(s, a);
}

static void sample(const struct perf_source *s, struct perf_event_attr *a, const struct perf_event_name *e,
		uint32_t stack_bytes)
{
	const struct probe_options *o = &s->host->options;
	a->type = e->type;
	a->config = e->config;
	a->sample_type = s->private->sample_type;
	if (e->is_clock)
		a->sample_period = 1000000000 / o->freq_hz; /* integer: each sample stands for exactly that */
	else
		a->freq = 1, a->sample_freq = o->freq_hz;
	if (a->sample_type & PERF_SAMPLE_STACK_USER) {
		a->sample_regs_user = perf_user_regs_mask;
		a->sample_stack_user = stack_bytes;
		a->exclude_callchain_user = 1; /* we unwind user stacks ourselves */
	}
}

static int open_event(struct perf_source *s, struct perf_event_attr *a, pid_t pid, uint32_t cpu, unsigned long flags)
{
	for (;;) {
		int fd = (int)syscall(SYS_perf_event_open, a, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC | flags);
		if (fd >= 0)
			return fd;
		if (errno == EACCES && a->namespaces) {
			s->private->has_namespaces = false; /* root only: tasks.c reads /proc instead */
			a->namespaces = 0;
		} else if ((errno == EACCES || errno == EPERM) && s->has_kernel && a->type != PERF_TYPE_TRACEPOINT) {
			s->has_kernel = false;
			set_user_only(s, a);
		} else if (errno == EINVAL && a->read_format & PERF_FORMAT_LOST) {
			s->private->has_losses = false; /* before Linux 6.0 */
			a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		} else if (errno == EINVAL && a->build_id) {
			s->private->has_build_ids = false;
			a->build_id = 0;
		} else {
			return -errno;
		}
	}
}

static int advise(int error, struct sonde_err *err)
{
	int64_t paranoid = perf_number_in(PARANOID, STORE_NULL);
	if (paranoid == STORE_NULL)
		return err_set(err, ENOSYS, "the kernel was built without perf events");
	if (error != EACCES && error != EPERM)
		return err_sys(err, error, "cannot open perf events");
	err_sys(err, error, "cannot open perf events (perf_event_paranoid is %lld)", (long long)paranoid);
	if (paranoid > 2)
		err_hint(err, PROBE_HINT_SETUP);
	else
		err_hint(err,
				"observing others needs root or CAP_PERFMON; in a container: --cap-add PERFMON "
				"--security-opt seccomp=unconfined");
	return -error;
}

static int keep(struct perf_source_private *p, const struct perf_opened *o)
{
	uint64_t id, *at;
	if (!VEC_GROW(p->opened, p->opened_cap, p->opened_count + 1, VEC_MAX))
		return -ENOMEM;
	if (ioctl(o->fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	at = map_put_int(&p->by_id, id, NULL);
	if (!at)
		return -ENOMEM;
	p->opened[p->opened_count++] = *o;
	*at = p->opened_count;
	return 0;
}

static size_t ring_bytes(const struct perf_source *s)
{
	uint64_t wanted = (uint64_t)s->host->options.freq_hz * (1 + s->wants.has_switches) *
			(s->stack_bytes + SAMPLE_BYTES) * RING_MS / 1000;
	size_t bytes = RING_BYTES_MIN << s->wants.has_switches << 2 * (s->private->switch_id >= 0);
	while ((s->wants.has_samples || s->wants.has_switches) && bytes < wanted && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

static int give_ring(struct perf_source *s, int fd, uint32_t cpu, size_t slot)
{
	struct perf_source_private *p = s->private;
	if (slot < p->ring_count)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->rings[slot]->fd) ? -errno : 0;
	struct ring *r = calloc(1, sizeof(*r));
	int rc = r ? ring_map(r, fd, cpu, ring_bytes(s)) : -ENOMEM;
	if (rc) {
		free(r);
		return rc;
	}
	p->next_ns[p->ring_count] = INT64_MAX;
	p->rings[p->ring_count++] = r;
	return 0;
}

struct place {
	pid_t pid; /* or the descriptor of a cgroup */
	unsigned long flags;
	unsigned root;
	size_t slot; /* of the CPU */
};

static int open_one(struct perf_source *s, struct perf_event_attr *a, const struct place *at, struct perf_opened *o)
{
	uint32_t cpu = s->private->cpus[at->slot];
	a->wakeup_watermark = (uint32_t)(ring_bytes(s) / 2);
	if (geteuid() && a->wakeup_watermark > ORDINARY_WATERMARK)
		a->wakeup_watermark = ORDINARY_WATERMARK; /* without root, rings may be smaller than requested */
	o->fd = open_event(s, a, at->pid, cpu, at->flags);
	if (o->fd < 0)
		return o->fd;
	o->root = at->root;
	int rc = give_ring(s, o->fd, cpu, at->slot);
	if (!rc)
		rc = keep(s->private, o);
	if (rc)
		close(o->fd);
	return rc;
}

static void open_points(struct perf_source *s, const struct place *at)
{
	const struct {
		enum perf_role role;
		int64_t id;
	} points[] = { { ROLE_SWITCH, s->private->switch_id }, { ROLE_WAKE, s->private->wake_id } };
	for (size_t i = 0; i < 2 && points[i].id >= 0; i++) {
		struct perf_event_attr a;
		struct perf_opened o = { .role = points[i].role };
		base_attr(s, &a);
		a.type = PERF_TYPE_TRACEPOINT;
		a.config = (uint64_t)points[i].id;
		a.sample_period = 1;
		a.sample_type |= PERF_SAMPLE_RAW;
		a.exclude_kernel = a.exclude_hv = 0;
		int rc = open_one(s, &a, at, &o);
		if (rc) {
			s->private->switch_id = s->private->wake_id = -1;
			err_sys(&s->points_why, -rc,
					"reasons and wakers of context switches are unknown: cannot open tracepoints");
			err_hint(&s->points_why, PROBE_HINT_SETUP);
			return;
		}
		s->has_points = true;
	}
}

/* Opens the tracepoints that probes want. System-wide ones: once, and enabled now, since no exec enables them. */
static void open_wanted(struct perf_source *s, const struct place *at)
{
	for (unsigned i = 0; i < s->wants.point_count; i++) {
		struct perf_point *want = s->wants.points[i];
		struct perf_event_attr a;
		struct perf_opened o = { .role = ROLE_POINT, .event = i };
		struct place place = *at;
		if (want->id < 0 || (want->is_wide && at->root))
			continue;
		base_attr(s, &a);
		a.type = PERF_TYPE_TRACEPOINT;
		a.config = (uint64_t)want->id;
		a.sample_period = 1;
		a.sample_type |= PERF_SAMPLE_RAW;
		a.exclude_kernel = a.exclude_hv = 0;
		if (want->is_wide) {
			a.inherit = a.enable_on_exec = a.disabled = 0;
			place.pid = -1;
			place.flags = 0;
		}
		int rc = open_one(s, &a, &place, &o);
		want->is_open = !rc;
		if (rc) {
			want->id = -1;
			err_sys(&want->why, -rc, "cannot open the tracepoint %s", want->name);
			err_hint(&want->why, "run it as root, or with CAP_PERFMON");
		}
	}
}

/* Samples the stacks of threads that are switched out, at most at the sampling frequency to bound the cost. */
static void open_waits(struct perf_source *s, const struct place *at)
{
	static const struct perf_event_name switches = { "context-switches", PERF_TYPE_SOFTWARE,
		PERF_COUNT_SW_CONTEXT_SWITCHES, false };
	struct perf_event_attr a;
	struct perf_opened o = { .role = ROLE_WAIT };
	if (!s->wants.has_switches || !s->has_kernel || s->host->options.stacks == PROBE_STACKS_NONE)
		return; /* they are in the kernel: without access to kernel samples they are never seen */
	base_attr(s, &a);
	sample(s, &a, &switches, s->stack_bytes);
	s->has_waits = !open_one(s, &a, at, &o);
}

static int open_leader(struct perf_source *s, const struct place *at)
{
	struct perf_event_attr a;
	struct perf_opened o = { .role = ROLE_COUNT, .is_leader = true };
	base_attr(s, &a);
	/* The leader also reports forks, names, mappings, switches, and each thread's CPU time at its exit. */
	a.task = a.comm = a.comm_exec = a.mmap = a.mmap2 = 1;
	a.build_id = s->private->has_build_ids;
	a.namespaces = s->host->options.has_engine && s->private->has_namespaces;
	a.inherit_stat = a.inherit;
	a.context_switch = s->wants.has_switches || s->wants.has_run_times;
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_TASK_CLOCK;
	if (s->wants.has_samples && s->private->depth.count < 2) {
		sample(s, &a, perf_event_find(s->host->options.events[0]), s->stack_bytes);
		o.role = ROLE_SAMPLE;
	}
	return open_one(s, &a, at, &o);
}

/* Opens the same event with several stack sizes, one of which is enabled; the leader counts in any case. */
static int open_sizes(struct perf_source *s, const struct place *at, struct sonde_err *err)
{
	const struct depth *d = &s->private->depth;
	for (unsigned i = 0; d->count > 1 && i < d->count; i++) {
		struct perf_event_attr a;
		struct perf_opened o = { .role = ROLE_SAMPLE, .is_sized = true, .size = i };
		base_attr(s, &a);
		sample(s, &a, perf_event_find(s->host->options.events[0]), d->bytes[i]);
		a.enable_on_exec &= i == d->on;
		int rc = open_one(s, &a, at, &o);
		if (rc)
			return err_sys(err, -rc, "cannot sample '%s'", s->host->options.events[0]);
	}
	return 0;
}

static int open_further(struct perf_source *s, const struct place *at, struct sonde_err *err)
{
	const char *const *names = s->host->options.events;
	for (unsigned i = 1; s->wants.has_samples && names && names[0] && names[i]; i++) {
		struct perf_event_attr a;
		struct perf_opened o = { .role = ROLE_SAMPLE, .event = i };
		base_attr(s, &a);
		sample(s, &a, perf_event_find(names[i]), s->stack_bytes);
		int rc = open_one(s, &a, at, &o);
		if (rc)
			return err_sys(err, -rc, "cannot sample '%s'", names[i]);
	}
	return 0;
}

int perf_open_place(struct perf_source *s, pid_t pid, unsigned long flags, unsigned root, struct sonde_err *err)
{
	for (size_t i = 0; i < s->private->cpu_count; i++) {
		struct place at = { .pid = pid, .flags = flags, .root = root, .slot = i };
		int rc = open_leader(s, &at);
		if (rc == -ESRCH && root)
			return 0; /* a thread that has exited meanwhile */
		if (rc == -ENODEV && i)
			continue; /* an offline CPU */
		if (rc)
			return rc == -ENOENT && s->wants.has_samples && s->host->options.events
					? err_set(err, ENOENT, "this machine cannot count '%s'",
							  s->host->options.events[0])
					: advise(-rc, err);
		rc = open_sizes(s, &at, err);
		if (!rc)
			rc = open_further(s, &at, err);
		if (rc)
			return rc;
		open_waits(s, &at);
		open_points(s, &at);
		open_wanted(s, &at);
	}
	return 0;
}

void perf_use_size(struct perf_source *s)
{
	const struct perf_source_private *p = s->private;
	for (size_t i = 0; i < p->opened_count; i++)
		if (p->opened[i].is_sized && p->opened[i].size != p->depth.on)
			ioctl(p->opened[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < p->opened_count; i++)
		if (p->opened[i].is_sized && p->opened[i].size == p->depth.on)
			ioctl(p->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}
