/* The recorder's main sequence: run directory, ring, command, drain, run.json. See record.h. */
#include "record/record.h"

#include "base/cleanup.h"
#include "record/recorder.h"
#include "tracer/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLUSH_INTERVAL_NS 1000000000
#define PROBE_MS 20                /* poll interval of probes without their own */
#define OTHERS_MS 20               /* poll interval after the command has exited, while descendants run */
#define AWAITED_PASSES 50          /* for a forked child without a ring yet: one second */
#define SCARCE_BYTES (64ull << 20) /* a cgroup with less memory gets small row buffers */
#define SCARCE_EVENTS 8192
#define NO_LIMIT_BYTES (1ull << 60) /* cgroup v1 reports a larger number for "unlimited" */

static int write_run_json(struct recorder *r, struct sonde_err *err)
{
	struct buf text = BUF_INIT;
	runjson_write(&text, &r->facts);
	int rc = store_run_write_json(r->run.dirfd, &text, err);
	buf_release(&text);
	return rc;
}

/* A tracer that cannot start does not fail the run. */
static void start_trace(struct recorder *r)
{
	struct sonde_err err = SONDE_ERR_INIT;
	r->facts.trace_state = "off";
	if (!r->o->argv || !probe_is_wanted(r->o->probes, "trace"))
		return;
	struct ring_options ring = r->o->ring;
	if (!probe_is_wanted(r->o->probes, "gpu"))
		ring.categories &= ~(uint32_t)SONDE_CAT_GPU;
	if (ring_dir_create(&r->ring, r->run.path, &ring, &err) ||
			drain_init(&r->drain, &r->ring, &r->sink, true, &err)) {
		r->reason = err;
		r->facts.trace_state = "failed";
		r->facts.trace_reason = r->reason.text;
		return;
	}
	r->has_ring = r->has_drain = true;
	r->drain.board = r->o->board;
	r->drain.board_arg = r->o->board_arg;
	r->drain.has_foreign_pids = isolation_has_own_pids(r->o->place);
	r->facts.trace_state = "ran";
	r->facts.drain = &r->drain;
	r->facts.ring = r->ring.path.data;
	r->facts.ring_id = r->ring.id;
}

static int start_command(struct recorder *r, struct sonde_err *err)
{
	struct buf preload = BUF_INIT, ring = BUF_INIT;
	const char *env[RECORD_ENV_MAX + 3] = { NULL };
	size_t env_count = 0;
	struct launch_spec spec = { .argv = r->o->argv,
		.env = env,
		.ready = recorder_attach_probes,
		.meanwhile = recorder_pass_probes,
		.met = recorder_on_program,
		.arg = r,
		.file_limit = &r->file_limit };
	struct placed placed = { .hold = BUF_INIT };
	struct sonde_err why = SONDE_ERR_INIT;
	if (r->has_ring && preload_library(&r->ring, &r->library, &why)) {
		r->reason = why;
		r->facts.trace_state = "failed";
		r->facts.trace_reason = r->reason.text;
	} else if (r->has_ring) {
		r->probes.host.options.ring = r->ring.path.data;
		r->probes.host.options.library = r->library.data;
		preload_value(&preload, r->library.data);
		buf_addf(&ring, "SONDE_RING=%s", r->ring.path.data);
		env[env_count++] = preload.data;
		env[env_count++] = ring.data;
	}
	for (size_t i = 0; r->o->env && r->o->env[i] && i < RECORD_ENV_MAX; i++)
		env[env_count++] = r->o->env[i];
	int rc = 0;
	if (r->o->place)
		rc = placed_init(&placed, r->o->place, r->ring.path.data, preload.len ? r->library.data : NULL, err);
	spec.place = r->o->place ? &placed.place : NULL;
	spec.is_kept = r->o->timeout_ns > 0;
	spec.is_bound = r->o->is_bound;
	if (!rc) {
		rc = launch_start(&r->launch, &spec, err);
		r->has_launch = true;
	}
	placed_release(&placed);
	buf_release(&preload);
	buf_release(&ring);
	return rc;
}

static void flush_now_and_then(struct recorder *r, uint64_t events)
{
	int64_t now = clock_mono_ns();
	r->unflushed_events += events;
	if (now - r->flushed_ns < FLUSH_INTERVAL_NS && r->unflushed_events < r->unflushed_max)
		return;
	if (r->has_drain)
		drain_checkpoint(&r->drain);
	store_sink_flush(&r->sink);
	r->flushed_ns = now;
	r->unflushed_events = 0;
}

/* The ring first: it assigns threads to process images. */
static void pass(struct recorder *r, struct waker *w, bool is_probe_ready)
{
	uint64_t events = r->has_drain ? drain_pass(&r->drain) : 0;
	int64_t now = clock_mono_ns();
	wakeup_interval(w, events);
	if (is_probe_ready || now >= probe_set_due_ns(&r->probes) || now - r->probed_ns >= PROBE_MS * 1000000ll) {
		events += probe_set_pass(&r->probes);
		r->probed_ns = now;
	}
	flush_now_and_then(r, events);
}

/* Drain until the command exits; more often at high event rates. */
static void watch(struct recorder *r)
{
	struct waker w;
	int64_t look_ns = r->o->look && r->has_drain ? clock_mono_ns() + r->o->look_after_ns : INT64_MAX;
	waker_init(&w, &r->probes, r->has_drain ? r->ring.path.data : NULL, r->launch.pidfd, r->launch.signalfd);
	ladder_init(&r->ladder, r->o->timeout_ns, r->o->ladder);
	for (;;) {
		bool is_ready = waker_wait(&w, look_ns < r->ladder.due_ns ? look_ns : r->ladder.due_ns);
		if (w.fds[WAKE_SIGNAL].revents)
			launch_forward_signals(&r->launch);
		if (w.fds[WAKE_END].revents)
			break;
		if (clock_mono_ns() >= r->ladder.due_ns)
			ladder_climb(&r->ladder, &r->launch);
		pass(r, &w, is_ready);
		launch_poll(&r->launch);
		if (clock_mono_ns() >= look_ns) {
			ring_dir_boards(&r->ring, r->o->look, r->o->board_arg);
			look_ns = INT64_MAX;
		}
	}
	waker_release(&w);
}

/* The command has exited, its children perhaps not. A newly forked child may take a moment to create its ring. */
static void watch_others(struct recorder *r)
{
	unsigned awaited = 0;
	while (r->has_drain && r->o->is_following) {
		uint64_t events = drain_pass(&r->drain);
		events += probe_set_pass(&r->probes);
		if (r->drain.live_count)
			awaited = 0;
		else if (awaited++ == AWAITED_PASSES || !drain_awaits(&r->drain))
			return;
		struct pollfd signals = { .fd = r->launch.signalfd, .events = POLLIN };
		if (poll(&signals, 1, OTHERS_MS) > 0)
			return; /* a signal stops the recording */
		flush_now_and_then(r, events);
	}
}

static int check_target(const struct probe_target *t, struct sonde_err *err)
{
	if (t->kind == PROBE_CGROUP) {
		/* Otherwise only probes of the whole machine would run. */
		CLEANUP(cleanup_fd) int fd = open(t->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, errno, "cannot observe the control group '%s'", t->cgroup);
		if (faccessat(fd, "cgroup.procs", F_OK, 0))
			return err_set(err, EINVAL, "cannot observe '%s': not a cgroup", t->cgroup);
		return 0;
	}
	CLEANUP(cleanup_fd) int pidfd = t->kind == PROBE_PID ? (int)syscall(SYS_pidfd_open, t->pid, 0) : -1;
	if (t->kind == PROBE_PID && pidfd < 0)
		return err_sys(err, errno, "cannot observe process %d", (int)t->pid);
	return 0;
}

/* Observe running processes until they exit, the time is up or a signal arrives. */
static int observe(struct recorder *r, struct sonde_err *err)
{
	const struct probe_target *t = &r->o->target;
	int64_t until_ns = r->o->duration_ns ? clock_mono_ns() + r->o->duration_ns : INT64_MAX;
	sigset_t ends, old;
	struct waker w;
	CLEANUP(cleanup_fd) int pidfd = t->kind == PROBE_PID ? (int)syscall(SYS_pidfd_open, t->pid, 0) : -1;
	if (t->kind == PROBE_PID && pidfd < 0)
		return err_sys(err, errno, "cannot observe process %d", (int)t->pid);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &old);
	CLEANUP(cleanup_fd) int signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	probe_set_attach(&r->probes, t);
	if (probe_set_is_idle(&r->probes))
		return err_set(err, EACCES, "no probe can observe that: %s", r->probes.status[0].why.text);
	write_run_json(r, NULL); /* the state of the probes is known now */
	waker_init(&w, &r->probes, NULL, pidfd, signals);
	do {
		bool is_ready = waker_wait(&w, until_ns);
		pass(r, &w, is_ready);
	} while (!w.fds[WAKE_SIGNAL].revents && !w.fds[WAKE_END].revents && clock_mono_ns() < until_ns);
	waker_release(&w);
	struct signalfd_siginfo info;
	while (read(signals, &info, sizeof(info)) > 0)
		; /* consume them: the run directory must still be finished */
	sigprocmask(SIG_SETMASK, &old, NULL);
	return 0;
}

static void count_losses(struct recorder *r)
{
	static const char unseen[] =
			"no process could be traced: the command is static, setuid or of another architecture";
	static const char no_room[] = "no process could be traced: the tracer finds no room for events there";
	if (!r->has_drain)
		return;
	const struct sonde_control *c = r->ring.control;
	r->facts.dropped = c->untraced_events;
	r->facts.untraced = c->untraced_forks;
	drain_losses(&r->drain, &r->facts.dropped, &r->facts.filtered, &r->facts.untraced);
	if (r->drain.calls_why.text[0])
		r->facts.trace_reason = r->drain.calls_why.text;
	if (!r->drain.process_count && !r->facts.trace_reason)
		r->facts.trace_reason = c->untraced_forks ? no_room : unseen;
}

static void finish(struct recorder *r, struct record_result *result)
{
	struct buf text = BUF_INIT;
	if (r->has_drain) {
		__atomic_store_n(&r->ring.control->is_on, 0, __ATOMIC_RELEASE);
		while (drain_pass(&r->drain))
			; /* maps pids to processes for the probes, which may report more */
	}
	probe_set_finish(&r->probes);
	if (r->has_drain)
		drain_finish(&r->drain);
	count_losses(r);
	r->facts.cpu_ns = clock_cpu_ns();
	r->facts.end_mono_ns = clock_mono_ns();
	r->facts.state = "complete";
	r->facts.ring = NULL;
	r->facts.sink = &r->sink;
	store_sink_flush(&r->sink);
	result->trace_state = r->facts.trace_state;
	if (r->facts.trace_reason)
		err_set(&result->trace_why, EINVAL, "%s", r->facts.trace_reason);
	memcpy(result->probes, r->probes.status, sizeof(result->probes));
	result->probe_count = r->probes.count;
	result->cpu_ns = r->facts.cpu_ns;
	result->wall_ns = r->facts.end_mono_ns - r->facts.start_mono_ns;
	result->events = r->has_drain ? r->drain.events : 0;
	result->processes = r->has_drain ? r->drain.process_count : 0;
	result->dropped = r->facts.dropped;
	result->filtered = r->facts.filtered;
	result->untraced = r->facts.untraced;
	result->bytes = store_sink_bytes(&r->sink);
	result->lost_rows = store_sink_lost(&r->sink);
	runjson_write(&text, &r->facts);
	int rc = store_sink_close(&r->sink, &result->trouble);
	r->has_sink = false;
	unlinkat(r->run.tablesfd, "define.tbl", 0); /* only recovery needs it */
	store_run_write_json(r->run.dirfd, &text, rc ? NULL : &result->trouble);
	buf_release(&text);
}

static void release(struct recorder *r, bool is_kept)
{
	if (r->has_sink)
		store_sink_close(&r->sink, NULL);
	if (r->has_probes)
		probe_set_release(&r->probes);
	if (r->has_drain)
		drain_release(&r->drain);
	if (r->has_ring) {
		ring_dir_remove(&r->ring);
		ring_dir_release(&r->ring);
	}
	if (r->has_launch)
		launch_release(&r->launch);
	buf_release(&r->library);
	if (is_kept)
		store_run_release(&r->run);
	else
		store_run_discard(&r->run);
}

/* The memory limit of the command, or the one of our cgroup; 0: none. */
static uint64_t memory_max(const struct job_isolation *place)
{
	uint64_t ours = limits_memory_bytes();
	return place && place->limits.memory_bytes ? place->limits.memory_bytes : ours > NO_LIMIT_BYTES ? 0 : ours;
}

/* Run the command until it exits. */
static int run_command(struct recorder *r, struct record_result *result, struct sonde_err *err)
{
	int rc = start_command(r, err);
	if (rc)
		return rc;
	write_run_json(r, NULL); /* the state of the probes is known now, in case we are killed */
	watch(r);
	rc = launch_wait(&r->launch, &result->status, err);
	if (r->has_drain)
		drain_exited(&r->drain, launch_inner_pid(&r->launch), result->status);
	r->facts.has_status = true;
	r->facts.status = result->status;
	r->facts.oom_kills = result->oom_kills = launch_oom_kills(&r->launch);
	r->facts.memory_max_bytes = result->memory_max_bytes = memory_max(r->o->place);
	if (launch_usage(&r->launch, &r->usage))
		r->facts.usage = &r->usage;
	result->has_timed_out = r->ladder.rung > 0;
	ladder_finish(&r->ladder, &r->launch);
	watch_others(r);
	return rc;
}

static const char *name_of(const struct record_options *o)
{
	static const char *const
			kinds[] = { [PROBE_PID] = "process", [PROBE_CGROUP] = "cgroup", [PROBE_MACHINE] = "machine" };
	return o->name ? o->name : o->argv ? o->argv[0] : kinds[o->target.kind];
}

/* From the checks to the complete run. */
static int record(struct recorder *r, struct record_result *result, struct sonde_err *err)
{
	const struct record_options *o = r->o;
	/* Checked first: a run that cannot start must not replace another. */
	int rc = !o->argv                                      ? check_target(&o->target, err)
			: isolation_has_own_programs(o->place) ? 0
							       : launch_check(o->argv[0], err);
	if (!rc && (rc = writers_create_run(&r->run, o->dir, r->facts.name, o->is_forced, err)))
		rc = rc == -ENOENT || rc == -EACCES ? -EIO : rc; /* not a failure of the command */
	if (rc)
		return rc;
	rc = store_sink_open(&r->sink, r->run.tablesfd, err);
	r->has_sink = !rc;
	if (!rc) {
		start_trace(r);
		recorder_open_probes(r);
		rc = write_run_json(r, err);
	}
	if (!rc)
		rc = o->argv ? run_command(r, result, err) : observe(r, err);
	if (!rc) {
		finish(r, result);
		buf_adds(&result->path, r->run.path);
	}
	release(r, !rc);
	return rc;
}

int record_run(const struct record_options *o, struct record_result *result, struct sonde_err *err)
{
	struct recorder r = { .o = o, .run = STORE_RUN_INIT, .ring = RING_DIR_INIT, .library = BUF_INIT };
	r.unflushed_max = limits_memory_bytes() < SCARCE_BYTES ? SCARCE_EVENTS : UINT64_MAX;
	r.facts = (struct run_facts){ .state = "recording",
		.name = name_of(o),
		.argv = o->argv,
		.observed = o->argv ? NULL : &o->target,
		.filters = o->filters,
		.start_real_ns = clock_real_ns(),
		.start_mono_ns = clock_mono_ns(),
		.end_mono_ns = STORE_NULL,
		.cpu_ns = STORE_NULL };
	/* A file size limit (ulimit -f) is an error of a write, not our death: what was recorded before it is kept. */
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, &r.file_limit);
	int rc = record(&r, result, err);
	sigaction(SIGXFSZ, &r.file_limit, NULL);
	return rc;
}

void record_result_release(struct record_result *r)
{
	buf_release(&r->path);
}
