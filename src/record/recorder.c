#include "record/recorder.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "probe/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define PASS_MS_MIN 1  /* pass interval at a high event rate */
#define PASS_MS_MAX 20 /* and at a low one */
#define IDLE_MS 100    /* and without events: a process that needs more room wakes us */
#define PROBES_MS 100  /* poll interval of probes without a ring */
#define BUSY_EVENTS 256
#define FLOOD_EVENTS 2048 /* a full chunk or more: pass again at once, so that the ring need not grow */
#define GROWTH_SIGNAL SIGRTMAX

/* Isolation and timeout. */

bool isolation_has_own_pids(const struct job_isolation *place)
{
	return place && (place->kind == JOB_SANDBOX || place->kind == JOB_CONTAINER);
}

/* The process that we start is its client */
static bool isolation_has_engine(const struct job_isolation *place)
{
	return place && place->kind == JOB_CONTAINER;
}

bool isolation_has_own_programs(const struct job_isolation *place)
{
	return place && (place->kind == JOB_CONTAINER || (place->kind == JOB_SANDBOX && place->root));
}

/* Libraries that GPU runtimes load are next to libsonde: see src/tracer/env-expose.c. */
static bool find_gpu_library(char *out, size_t size, const char *library)
{
	const char *slash = strrchr(library, '/');
	int n = slash ? snprintf(out, size, "%.*s/sonde/libsonde-gpu.so", (int)(slash - library), library) : -1;
	return n > 0 && (size_t)n < size && !access(out, R_OK);
}

int placed_init(struct placed *p, const struct job_isolation *asked, const char *ring, const char *library,
		struct sonde_err *err)
{
	*p = (struct placed){ .place = *asked, .hold = BUF_INIT };
	/*
	 * See launch/container-init.c. Without it, probes do not see a daemon's containers, and a warning is printed.
	 */
	if (p->place.kind == JOB_CONTAINER && !fs_prefix(&p->hold, NULL)) {
		buf_adds(&p->hold, "/libexec/sonde/sonde-hold");
		if (!buf_error(&p->hold) && !access(p->hold.data, X_OK))
			p->place.hold = p->hold.data;
	}
	if (!isolation_has_own_pids(asked) || !library || !*library)
		return 0;
	p->mounts = calloc(asked->mount_count + 3, sizeof(*p->mounts));
	if (!p->mounts)
		return err_sys(err, ENOMEM, "cannot place the command");
	if (asked->mount_count)
		memcpy(p->mounts, asked->mounts, asked->mount_count * sizeof(*p->mounts));
	p->mounts[asked->mount_count] = (struct job_mount){ .source = ring, .target = ring };
	p->mounts[asked->mount_count + 1] = (struct job_mount){ .source = library,
		.target = library,
		.is_read_only = true };
	p->place.mounts = p->mounts;
	p->place.mount_count = asked->mount_count + 2;
	if (find_gpu_library(p->gpu_library, sizeof(p->gpu_library), library))
		p->mounts[p->place.mount_count++] = (struct job_mount){ .source = p->gpu_library,
			.target = p->gpu_library,
			.is_read_only = true };
	return 0;
}

void placed_release(struct placed *p)
{
	free(p->mounts);
	buf_release(&p->hold);
	p->mounts = NULL;
}

void ladder_init(struct ladder *s, int64_t timeout_ns, const struct job_ladder *how)
{
	*s = (struct ladder){ .due_ns = timeout_ns > 0 ? clock_mono_ns() + timeout_ns : INT64_MAX,
		.how = { .interrupt_ns = PLACE_INTERRUPT_NS, .terminate_ns = PLACE_TERMINATE_NS } };
	if (how)
		s->how = *how;
}

void ladder_climb(struct ladder *s, struct launch *l)
{
	static const struct job_ladder at_once = JOB_LADDER_KILL;
	const struct {
		int signal;
		int64_t wait_ns;
	} rungs[] = { { SIGINT, s->how.interrupt_ns }, { SIGTERM, s->how.terminate_ns } };
	while (s->rung < 2 && rungs[s->rung].wait_ns <= 0)
		s->rung++;
	if (s->rung < 2) {
		launch_signal_tree(l, rungs[s->rung].signal, NULL);
		s->due_ns = clock_mono_ns() + rungs[s->rung].wait_ns;
	} else {
		launch_end(l, &at_once, NULL);
		s->due_ns = INT64_MAX;
	}
	s->rung++;
}

void ladder_finish(struct ladder *s, struct launch *l)
{
	const struct job_ladder rest = { .terminate_ns = s->rung < 2 ? s->how.terminate_ns : 0 };
	if (s->rung)
		launch_end(l, &rest, NULL);
}

/*
 * Events that the recorder waits for.
 *
 * The ring directory is watched by F_NOTIFY and not by inotify: closing an inotify descriptor takes tens of
 * milliseconds (an RCU grace period), at the end of every recording. The signal is sent to this thread, which blocks
 * it.
 */

static void ignore(int number)
{
	(void)number;
}

static bool request_notices(int dir)
{
	struct f_owner_ex us = { .type = F_OWNER_TID, .pid = gettid() };
	return !fcntl(dir, F_SETSIG, GROWTH_SIGNAL) && !fcntl(dir, F_NOTIFY, DN_CREATE | DN_MULTISHOT) &&
			!fcntl(dir, F_SETOWN_EX, &us);
}

static void forget_growth(const struct waker *w)
{
	struct signalfd_siginfo info[16];
	while (read(w->fds[WAKE_GROWTH].fd, info, sizeof(info)) > 0)
		;
}

void waker_init(struct waker *w, struct probe_set *probes, const char *ring, int pidfd, int signals)
{
	int fds[WAKER_FDS_MAX];
	size_t n = probe_set_fds(probes, fds, WAKER_FDS_MAX - WAKE_PROBES);
	w->probes = probes;
	w->wait_ms = ring ? PASS_MS_MIN : 0;
	w->is_flooded = false;
	w->idle_ms = PASS_MS_MAX;
	w->fds[WAKE_END].fd = pidfd;
	w->fds[WAKE_SIGNAL].fd = signals;
	w->fds[WAKE_GROWTH].fd = -1;
	w->ring = ring ? open(ring, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (w->ring >= 0) {
		/* Installed before anything can send it: then the signal is harmless in every thread. */
		struct sigaction harmless = { .sa_handler = ignore, .sa_flags = SA_RESTART };
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, GROWTH_SIGNAL);
		sigaction(GROWTH_SIGNAL, &harmless, NULL); /* exec resets it to the default */
		pthread_sigmask(SIG_BLOCK, &set, &w->old_mask);
		w->fds[WAKE_GROWTH].fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		if (request_notices(w->ring)) /* if unsupported, only the timeout wakes us */
			w->idle_ms = IDLE_MS;
	}
	for (size_t i = 0; i < n; i++)
		w->fds[WAKE_PROBES + i].fd = fds[i];
	w->count = WAKE_PROBES + n;
	for (size_t i = 0; i < w->count; i++)
		w->fds[i].events = POLLIN;
}

void wakeup_interval(struct waker *w, uint64_t events)
{
	int max = events ? PASS_MS_MAX : w->idle_ms;
	w->is_flooded = events > FLOOD_EVENTS;
	if (events > BUSY_EVENTS && w->wait_ms)
		w->wait_ms = PASS_MS_MIN;
	else
		w->wait_ms = 2 * w->wait_ms > max ? max : 2 * w->wait_ms;
}

static int64_t longest_ns(const struct waker *w)
{
	if (w->wait_ms)
		return w->is_flooded ? 0 : w->wait_ms * 1000000ll;
	return probe_set_is_idle(w->probes) ? INT64_MAX : PROBES_MS * 1000000ll;
}

bool waker_wait(struct waker *w, int64_t until_ns)
{
	int64_t now = clock_mono_ns(), due = probe_set_due_ns(w->probes), wait_ns = longest_ns(w);
	due = due < until_ns ? due : until_ns;
	if (due != INT64_MAX && due - now < wait_ns)
		wait_ns = due > now ? due - now : 0;
	struct timespec t = { .tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000 };
	int n = ppoll(w->fds, w->count, wait_ns == INT64_MAX ? NULL : &t, NULL);
	bool is_ready = false;
	for (size_t i = 0; i < w->count; i++) {
		if (n <= 0)
			w->fds[i].revents = 0;
		if (i < WAKE_PROBES)
			continue;
		is_ready |= (w->fds[i].revents & POLLIN) != 0;
		if (w->fds[i].revents & (POLLHUP | POLLERR))
			w->fds[i].fd = -1; /* its thread has exited: it would stay readable */
	}
	if (w->fds[WAKE_GROWTH].revents)
		forget_growth(w);
	return is_ready;
}

void waker_release(struct waker *w)
{
	if (w->ring < 0)
		return;
	close(w->ring);
	if (w->fds[WAKE_GROWTH].fd >= 0) {
		forget_growth(w);
		close(w->fds[WAKE_GROWTH].fd);
	}
	pthread_sigmask(SIG_SETMASK, &w->old_mask, NULL);
}

/* Services for probes. */

/* The process image with this pid at that time: the newest that had started, else the oldest known. */
static int64_t process_of(void *arg, int64_t pid, int64_t ts_ns)
{
	struct recorder *r = arg;
	const struct task *task = r->drain.has_foreign_pids ? tasks_find(r->probes.host.tasks, (int32_t)pid) : NULL;
	if (r->drain.has_foreign_pids)
		pid = task ? task->inner_pid : 0;
	const struct drain_process *p = pid ? drain_by_pid(&r->drain, (int32_t)pid) : NULL;
	const struct drain_process *before = p;
	while (before && before->start_ns > ts_ns && before->parent) {
		before = drain_by_number(&r->drain, before->parent);
		if (before && before->pid == pid)
			p = before;
		else
			break;
	}
	return p ? p->number : STORE_NULL;
}

static void process_ended(void *arg, int64_t number, int64_t end_ns)
{
	struct recorder *r = arg;
	drain_ended(&r->drain, (uint32_t)number, end_ns);
}

static int64_t call_id(void *arg, const char *name)
{
	struct recorder *r = arg;
	return drain_call_id(&r->drain, name, r->o->ring.categories);
}

static void on_image_start(void *arg, const struct probe_image *image)
{
	struct recorder *r = arg;
	drain_adopt(&r->drain, image);
}

static void on_image_exit(void *arg, int32_t pid, int status)
{
	struct recorder *r = arg;
	drain_exited(&r->drain, pid, status);
}

static void count_call(void *arg, const struct store_io *row)
{
	struct recorder *r = arg;
	drain_count(&r->drain, row);
}

static bool is_on(const struct recorder *r, const char *name)
{
	for (size_t i = 0; i < r->probes.count; i++)
		if (!strcmp(r->probes.status[i].ops->name, name))
			return r->probes.status[i].state == PROBE_RAN;
	return false;
}

void recorder_open_probes(struct recorder *r)
{
	struct probe_options options = r->o->probe;
	options.includes = r->o->ring.includes;
	options.excludes = r->o->ring.excludes;
	options.min_dur_ns = r->o->ring.min_dur_ns;
	options.has_tracer = r->has_drain;
	options.has_own_pids = isolation_has_own_pids(r->o->place);
	options.has_engine = isolation_has_engine(r->o->place) && r->o->target.kind != PROBE_MACHINE;
	r->drain.sink = &r->sink; /* holds the names of calls, with or without a tracer */
	probe_set_open(&r->probes, r->o->probes, &options, &r->sink);
	r->probes.host.call_id = call_id;
	if (r->has_drain) {
		r->probes.host.begin_image = on_image_start;
		r->probes.host.end_image = on_image_exit;
		r->probes.host.count_call = count_call;
		r->drain.has_syscalls = is_on(r, "syscalls");
	}
	r->probes.host.process_of = r->has_drain ? process_of : NULL;
	r->probes.host.process_ended = r->has_drain ? process_ended : NULL;
	r->probes.host.arg = r;
	if (r->has_drain)
		r->drain.probes = &r->probes.host;
	r->has_probes = true;
	r->facts.probes = &r->probes;
}

void recorder_attach_probes(void *arg, pid_t pid)
{
	struct recorder *r = arg;
	struct probe_target target = { .kind = r->o->target.kind == PROBE_MACHINE ? PROBE_MACHINE : PROBE_COMMAND,
		.pid = pid };
	probe_set_attach(&r->probes, &target);
}

void recorder_on_program(void *arg, pid_t pid)
{
	struct recorder *r = arg;
	probe_set_on_start(&r->probes, pid);
}

void recorder_pass_probes(void *arg)
{
	struct recorder *r = arg;
	probe_set_pass(&r->probes);
}
