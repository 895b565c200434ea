/* Opening perf's events for what is to be watched; see source.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "probe/perf/decode.h"
#include "probe/perf/private.h"
#include "probe/perf/unwind.h"
#include "probe/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 4096
#define RING_BYTES_MIN \
	((size_t)256 << 10) /* twice that with switches, eight times with tracepoints: each is a few records */
#define RING_BYTES_MAX ((size_t)8 << 20)
#define ORDINARY_WATERMARK ((uint32_t)128 << 10)
#define SAMPLE_BYTES 512 /* without its stack */
#define RING_MS 100      /* that a ring holds */
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static int64_t number_in(const char *path, int64_t none)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *end;
	if (fs_read_file(AT_FDCWD, path, 64, &text, NULL))
		return none;
	long long v = strtoll(text.data, &end, 10);
	return end == text.data ? none : v;
}

/* "0-3,8": the CPUs that are on. */
static int read_cpus(struct perf_source_private *p, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/sys/devices/system/cpu/online", 4096, &text, err);
	p->cpus = rc ? NULL : calloc(CPUS_MAX, sizeof(*p->cpus));
	if (!p->cpus)
		return rc ? rc : err_sys(err, ENOMEM, "cannot watch the CPUs");
	for (char *at = text.data, *end; *at; at = end) {
		unsigned long first = strtoul(at, &end, 10), last = first;
		if (end == at)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && p->cpu_count < CPUS_MAX; first++)
			p->cpus[p->cpu_count++] = (uint32_t)first;
		end += *end == ',';
	}
	return p->cpu_count ? 0 : err_set(err, ENODEV, "cannot tell which CPUs there are");
}

/* Tracepoints. */

/* Why a thread was switched out, and who woke it, only tracepoints tell. */
static void find_points(struct perf_source *s)
{
	struct perf_source_private *p = s->private;
	CLEANUP(buf_release) struct buf format = BUF_INIT;
	int error;
	int64_t id = perf_find_point("sched", "sched_switch", &format, &error);
	if (id >= 0 && perf_point_field(format.data, "prev_pid;", &p->prev_pid_at) &&
			perf_point_field(format.data, "prev_state;", &p->prev_state_at))
		p->switch_id = id;
	id = perf_find_point("sched", "sched_wakeup", &format, &error);
	if (id >= 0 && perf_point_field(format.data, " pid;", &p->wake_pid_at))
		p->wake_id = id;
	if (p->switch_id >= 0 && p->wake_id >= 0)
		return;
	p->switch_id = p->wake_id = -1;
	err_set(&s->points_why, error, "reasons and wakers of context switches are unknown: tracefs %s",
			error == EACCES ? "is closed to this user" : "is not mounted");
	err_hint(&s->points_why, PROBE_HINT_SETUP);
}

/* Events. */

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

/* The leader also tells of forks, names, mappings, switches, and of each thread's CPU time at its end. */
static void lead(const struct perf_source *s, struct perf_event_attr *a)
{
	a->task = a->comm = a->comm_exec = a->mmap = a->mmap2 = 1;
	a->build_id = s->private->has_build_ids;
	a->namespaces = s->host->options.has_engine && s->private->has_namespaces;
	a->inherit_stat = a->inherit;
	a->context_switch = s->wants.has_switches || s->wants.has_run_times;
}

static void sample(const struct perf_source *s, struct perf_event_attr *a, const struct perf_event_name *e)
{
	const struct probe_options *o = &s->host->options;
	a->type = e->type;
	a->config = e->config;
	a->sample_type = s->private->sample_type;
	if (e->is_clock)
		a->sample_period = 1000000000 / o->freq_hz; /* whole, so that each sample stands for exactly that */
	else
		a->freq = 1, a->sample_freq = o->freq_hz;
	if (a->sample_type & PERF_SAMPLE_STACK_USER) {
		a->sample_regs_user = perf_user_regs_mask;
		a->sample_stack_user = s->stack_bytes;
		a->exclude_callchain_user = 1; /* we do better */
	}
}

static int open_event(struct perf_source *s, struct perf_event_attr *a, pid_t pid, uint32_t cpu, unsigned long flags)
{
	for (;;) {
		int fd = (int)syscall(SYS_perf_event_open, a, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC | flags);
		if (fd >= 0)
			return fd;
		if (errno == EACCES && a->namespaces) {
			s->private->has_namespaces = false; /* for others than root: tasks.c looks instead */
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
	int64_t paranoid = number_in(PARANOID, STORE_NULL);
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
	if (p->opened_count == p->opened_cap) {
		size_t cap = p->opened_cap ? 2 * p->opened_cap : 32;
		struct perf_opened *more = realloc(p->opened, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->opened = more;
		p->opened_cap = cap;
	}
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
	pid_t pid; /* or the descriptor of a control group */
	unsigned long flags;
	unsigned root;
	size_t slot; /* of the CPU */
};

static int open_one(struct perf_source *s, struct perf_event_attr *a, const struct place *at, struct perf_opened *o)
{
	uint32_t cpu = s->private->cpus[at->slot];
	a->wakeup_watermark = (uint32_t)(ring_bytes(s) / 2);
	if (geteuid() && a->wakeup_watermark > ORDINARY_WATERMARK)
		a->wakeup_watermark = ORDINARY_WATERMARK; /* their rings may come out smaller than wanted */
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

/* What probes want besides. Of everybody: once, and from now on, since nobody's exec switches it on. */
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

/* Where threads are when they are switched out: at most as many a second as samples, so that many cost no more. */
static void open_waits(struct perf_source *s, const struct place *at)
{
	static const struct perf_event_name switches = { "context-switches", PERF_TYPE_SOFTWARE,
		PERF_COUNT_SW_CONTEXT_SWITCHES, false };
	struct perf_event_attr a;
	struct perf_opened o = { .role = ROLE_WAIT };
	if (!s->wants.has_switches || !s->has_kernel || s->host->options.stacks == PROBE_STACKS_NONE)
		return; /* it happens in the kernel: who may not look there sees none */
	base_attr(s, &a);
	sample(s, &a, &switches);
	s->has_waits = !open_one(s, &a, at, &o);
}

static int open_leader(struct perf_source *s, const struct place *at)
{
	struct perf_event_attr a;
	struct perf_opened o = { .role = ROLE_COUNT, .is_leader = true };
	base_attr(s, &a);
	lead(s, &a);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_TASK_CLOCK;
	const char *first = s->host->options.events ? s->host->options.events[0] : "cpu-clock";
	if (s->wants.has_samples) {
		sample(s, &a, perf_event_find(first));
		o.role = ROLE_SAMPLE;
	}
	return open_one(s, &a, at, &o);
}

static int open_further(struct perf_source *s, const struct place *at, struct sonde_err *err)
{
	const char *const *names = s->host->options.events;
	for (unsigned i = 1; s->wants.has_samples && names && names[0] && names[i]; i++) {
		struct perf_event_attr a;
		struct perf_opened o = { .role = ROLE_SAMPLE, .event = i };
		base_attr(s, &a);
		sample(s, &a, perf_event_find(names[i]));
		int rc = open_one(s, &a, at, &o);
		if (rc)
			return err_sys(err, -rc, "cannot sample '%s'", names[i]);
	}
	return 0;
}

static int open_place(struct perf_source *s, pid_t pid, unsigned long flags, unsigned root, struct sonde_err *err)
{
	for (size_t i = 0; i < s->private->cpu_count; i++) {
		struct place at = { .pid = pid, .flags = flags, .root = root, .slot = i };
		int rc = open_leader(s, &at);
		if (rc == -ESRCH && root)
			return 0; /* a thread that has ended meanwhile */
		if (rc == -ENODEV && i)
			continue; /* a CPU that was switched off */
		if (rc)
			return rc == -ENOENT && s->wants.has_samples && s->host->options.events
					? err_set(err, ENOENT, "this machine cannot count '%s'",
							  s->host->options.events[0])
					: advise(-rc, err);
		rc = open_further(s, &at, err);
		if (rc)
			return rc;
		open_waits(s, &at);
		open_points(s, &at);
		open_wanted(s, &at);
	}
	return 0;
}

static int add_root(struct perf_source_private *p, int32_t pid, int32_t tid)
{
	if (p->root_count == p->root_cap) {
		size_t cap = p->root_cap ? 2 * p->root_cap : 8;
		struct perf_root *more = cap <= PERF_ROOTS_MAX ? realloc(p->roots, cap * sizeof(*more)) : NULL;
		if (!more)
			return -ENOMEM;
		p->roots = more;
		p->root_cap = cap;
	}
	p->roots[p->root_count++] = (struct perf_root){ .pid = pid, .tid = tid };
	return 0;
}

static int attach_process(struct perf_source *s, struct sonde_err *err)
{
	char path[32];
	pid_t pid = s->host->target.pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	int rc = dir ? 0 : err_sys(err, errno, "cannot watch process %d", pid);
	for (struct dirent *e; !rc && dir && (e = readdir(dir));) {
		int32_t tid = (int32_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		rc = add_root(s->private, pid, tid);
		if (rc)
			err_sys(err, -rc, "cannot watch process %d: too many threads", pid);
		else
			rc = open_place(s, tid, 0, (unsigned)s->private->root_count - 1, err);
		struct task *k = tasks_get(s->host->tasks, pid, tid);
		if (k) {
			k->is_kept = true;
			k->before_ns = perf_ran_ns(k);
			k->before_ns = k->before_ns == STORE_NULL ? 0 : k->before_ns;
			k->on_ns = clock_mono_ns(); /* if it is not, its first switch takes it on */
		}
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int attach_group(struct perf_source *s, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = open(s->host->target.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot open the control group '%s'", s->host->target.cgroup);
	int rc = open_place(s, fd, PERF_FLAG_PID_CGROUP, 0, err);
	if (rc == -EBADF || rc == -EINVAL)
		err_hint(err,
				"perf needs a directory of cgroup2 (here perhaps below /sys/fs/cgroup/unified) or of "
				"the v1 controller perf_event");
	return rc;
}

static int attach_target(struct perf_source *s, struct sonde_err *err)
{
	pid_t pid = s->host->target.pid;
	if (s->host->target.kind == PROBE_PID)
		return attach_process(s, err);
	if (add_root(s->private, pid, pid))
		return err_sys(err, ENOMEM, "cannot watch processes");
	if (s->host->target.kind == PROBE_CGROUP)
		return attach_group(s, err);
	if (s->host->target.kind == PROBE_MACHINE)
		return open_place(s, -1, 0, 0, err);
	tasks_fork(s->host->tasks, pid, pid, getpid(), clock_mono_ns());
	struct task *k = tasks_find(s->host->tasks, pid);
	if (k)
		k->is_kept = true;
	return open_place(s, pid, 0, 0, err);
}

static void enable(struct perf_source_private *p)
{
	for (size_t i = 0; i < p->opened_count; i++)
		ioctl(p->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* How much of a stack is copied: enough for deep ones, less when there are many samples a second. */
static uint32_t stack_bytes(const struct probe_options *o)
{
	if (!UNWIND_IS_HERE || o->stacks != PROBE_STACKS_AUTO)
		return 0;
	return o->freq_hz <= 500 ? 32768 : o->freq_hz <= 2000 ? 16384 : o->freq_hz <= 8000 ? 4096 : 2048;
}

/* "monotonic  50000  0": seconds and nanoseconds by which our namespace's clock is ahead of the kernel's. */
static int64_t clock_shift_ns(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *end;
	if (fs_read_file(AT_FDCWD, "/proc/self/timens_offsets", 4096, &text, NULL))
		return 0;
	const char *line = strstr(text.data, "monotonic");
	if (!line)
		return 0;
	int64_t seconds = strtoll(line + strlen("monotonic"), &end, 10);
	return seconds * 1000000000 + strtoll(end, NULL, 10);
}

int perf_attach(struct perf_source *s, struct sonde_err *err)
{
	struct perf_source_private *p = s->private;
	int rc = read_cpus(p, err);
	if (rc)
		return rc;
	p->rings = calloc(p->cpu_count, sizeof(struct ring *));
	p->next_ns = calloc(p->cpu_count, sizeof(*p->next_ns));
	if (!p->rings || !p->next_ns)
		return err_sys(err, ENOMEM, "cannot watch the CPUs");
	s->has_kernel = p->has_namespaces = true;
	s->wants.has_run_times |= s->host->options.has_engine; /* the engine's time is told apart by them */
	decode_shift_ns = clock_shift_ns();
	s->stack_bytes = s->wants.has_samples || s->wants.has_switches ? stack_bytes(&s->host->options) : 0;
	p->sample_type = DECODE_BASE;
	if (s->host->options.stacks != PROBE_STACKS_NONE)
		p->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (s->stack_bytes)
		p->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (s->wants.has_switches)
		find_points(s);
	perf_find_wanted_points(s);
	rc = attach_target(s, err);
	if (!rc && s->host->target.kind != PROBE_COMMAND)
		enable(p);
	return rc;
}
