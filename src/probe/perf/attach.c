/* Attaches to the target: a command, a process, a cgroup, the machine; see source.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/vec.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/perf-ring.h"
#include "probe/perf/unwind.h"
#include "probe/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIELD_AT_MAX 4096
#define CPUS_MAX 4096

/* Tracepoints by name: their ids and fields, from tracefs. */

bool perf_point_field(const char *format, const char *field, size_t *at)
{
	const char *found = strstr(format, field);
	const char *offset = found ? strstr(found, "offset:") : NULL;
	if (!offset)
		return false;
	*at = (size_t)strtoul(offset + strlen("offset:"), NULL, 10);
	return *at < FIELD_AT_MAX;
}

int64_t perf_find_point(const char *system, const char *name, struct buf *format, int *error)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[160];
	*error = ENOENT;
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", roots[i], system, name);
		int64_t id = perf_number_in(path, -1);
		if (id < 0) {
			*error = access(path, R_OK) && errno == EACCES ? EACCES : *error;
			continue;
		}
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", roots[i], system, name);
		buf_reset(format);
		if (!fs_read_file(AT_FDCWD, path, 65536, format, NULL))
			return id;
	}
	return -1;
}

void perf_source_want(struct perf_source *s, struct perf_point *p)
{
	p->id = -1;
	if (s->wants.point_count < PERF_POINTS_MAX)
		s->wants.points[s->wants.point_count++] = p;
}

static void find_wanted_points(struct perf_source *s)
{
	CLEANUP(buf_release) struct buf format = BUF_INIT;
	for (size_t i = 0; i < s->wants.point_count; i++) {
		struct perf_point *p = s->wants.points[i];
		int error;
		p->id = perf_find_point(p->system, p->name, &format, &error);
		if (p->id >= 0 && p->on_format(p->state, p, format.data))
			continue;
		if (p->id >= 0)
			err_set(&p->why, ENOTSUP, "the tracepoint %s of this kernel has other fields", p->name);
		else
			err_set(&p->why, error, "tracefs %s",
					error == EACCES ? "is closed to this user" : "is not mounted");
		err_hint(&p->why, PROBE_HINT_SETUP);
		p->id = -1;
	}
}

#define FIRST_PID_NAMESPACE 0xeffffffc /* inode number of /proc/self/ns/pid there (PROC_PID_INIT_INO) */

/* Only tracepoints report why a thread was switched out, and its waker. */
static void find_sched_points(struct perf_source *s)
{
	struct perf_source_private *p = s->private;
	CLEANUP(buf_release) struct buf format = BUF_INIT;
	struct stat namespace;
	int error;
	/* Elsewhere the ids in records are those of our namespace, and could name another thread. */
	if (stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino != FIRST_PID_NAMESPACE) {
		p->switch_id = p->wake_id = -1;
		err_set(&s->points_why, ENOTSUP,
				"reasons and wakers of context switches are unknown: tracepoints have the thread ids "
				"of another PID namespace");
		return;
	}
	int64_t id = perf_find_point("sched", "sched_switch", &format, &error);
	if (id >= 0 && perf_point_field(format.data, "prev_pid;", &p->prev_pid_at) &&
			perf_point_field(format.data, "prev_state;", &p->prev_state_at))
		p->switch_id = id;
	/* sched_waking runs in the waker; sched_wakeup may run on the target CPU, in the context of any thread. */
	id = perf_find_point("sched", "sched_waking", &format, &error);
	if (id >= 0 && perf_point_field(format.data, " pid;", &p->wake_pid_at))
		p->wake_id = id;
	if (p->switch_id >= 0 && p->wake_id >= 0)
		return;
	p->switch_id = p->wake_id = -1;
	err_set(&s->points_why, error, "reasons and wakers of context switches are unknown: tracefs %s",
			error == EACCES ? "is closed to this user" : "is not mounted");
	err_hint(&s->points_why, PROBE_HINT_SETUP);
}

/* Targets. */

/* "0-3,8": the online CPUs. */
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
	return p->cpu_count ? 0 : err_set(err, ENODEV, "cannot list the CPUs");
}

static int add_root(struct perf_source_private *p, int32_t pid, int32_t tid)
{
	if (!VEC_GROW(p->roots, p->root_cap, p->root_count + 1, PERF_ROOTS_MAX))
		return -ENOMEM;
	p->roots[p->root_count++] = (struct perf_root){ .pid = pid, .tid = tid };
	return 0;
}

static int attach_process(struct perf_source *s, struct sonde_err *err)
{
	char path[32];
	pid_t pid = s->host->target.pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	CLEANUP(cleanup_dir) DIR *dir = opendir(path);
	int rc = dir ? 0 : err_sys(err, errno, "cannot watch process %d", pid);
	for (struct dirent *e; !rc && dir && (e = readdir(dir));) {
		int32_t tid = (int32_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0)
			continue;
		rc = add_root(s->private, pid, tid);
		if (rc)
			err_sys(err, -rc, "cannot watch process %d: too many threads", pid);
		else
			rc = perf_open_place(s, tid, 0, (unsigned)s->private->root_count - 1, err);
		struct task *k = tasks_get(s->host->tasks, pid, tid);
		if (k) {
			k->is_kept = true;
			k->before_ns = perf_ran_ns(k);
			k->before_ns = k->before_ns == STORE_NULL ? 0 : k->before_ns;
			k->on_ns = clock_mono_ns(); /* assumed to run; if not, its first switch corrects it */
		}
	}
	return rc;
}

int perf_source_on_start(struct perf_source *s, int32_t pid, struct sonde_err *err)
{
	if (add_root(s->private, pid, pid))
		return err_sys(err, ENOMEM, "cannot watch process %d", (int)pid);
	return perf_open_place(s, pid, 0, (unsigned)s->private->root_count - 1, err);
}

static int attach_target(struct perf_source *s, struct sonde_err *err)
{
	pid_t pid = s->host->target.pid;
	if (s->host->target.kind == PROBE_PID)
		return attach_process(s, err);
	if (add_root(s->private, pid, pid))
		return err_sys(err, ENOMEM, "cannot watch processes");
	if (s->host->target.kind == PROBE_CGROUP) {
		CLEANUP(cleanup_fd) int fd = open(s->host->target.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, errno, "cannot open the control group '%s'", s->host->target.cgroup);
		int rc = perf_open_place(s, fd, PERF_FLAG_PID_CGROUP, 0, err);
		if (rc == -EBADF || rc == -EINVAL)
			err_hint(err,
					"perf needs a directory of cgroup2 (here perhaps below /sys/fs/cgroup/unified) "
					"or of the v1 controller perf_event");
		return rc;
	}
	if (s->host->target.kind == PROBE_MACHINE)
		return perf_open_place(s, -1, 0, 0, err);
	tasks_fork(s->host->tasks, pid, pid, getpid(), clock_mono_ns());
	struct task *k = tasks_find(s->host->tasks, pid);
	if (k)
		k->is_kept = true;
	return perf_open_place(s, pid, 0, 0, err);
}

static void enable(struct perf_source *s)
{
	const struct perf_source_private *p = s->private;
	for (size_t i = 0; i < p->opened_count; i++)
		if (!p->opened[i].is_sized)
			ioctl(p->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	perf_use_size(s);
}

/* "monotonic  50000  0": seconds and nanoseconds by which our time namespace's clock is ahead of the kernel's. */
int64_t perf_clock_shift_ns(void)
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
	s->wants.has_run_times |= s->host->options.has_engine; /* to subtract the engine's time */
	decode_shift_ns = perf_clock_shift_ns();
	/* With several events, or an event that does not count time, the stack size is fixed. */
	const struct probe_options *o = &s->host->options;
	if (UNWIND_IS_HERE && o->stacks == PROBE_STACKS_AUTO && (s->wants.has_samples || s->wants.has_switches)) {
		bool is_one = s->wants.has_samples && o->events[0] && !o->events[1];
		depth_init(&s->private->depth, o->freq_hz, !is_one || !perf_event_find(o->events[0])->is_clock);
		s->stack_bytes = s->private->depth.bytes[0];
	}
	p->sample_type = DECODE_BASE;
	if (s->host->options.stacks != PROBE_STACKS_NONE)
		p->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (s->stack_bytes)
		p->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (s->wants.has_switches)
		find_sched_points(s);
	find_wanted_points(s);
	rc = attach_target(s, err);
	if (!rc && s->host->target.kind != PROBE_COMMAND)
		enable(s);
	return rc;
}
