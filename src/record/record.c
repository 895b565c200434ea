/* The recorder's life: bundle, ring, command, drain, run.json. See record.h. */
#include "record/record.h"

#include "base/fs.h"
#include "launch/launch.h"
#include "record/drain.h"
#include "record/runjson.h"
#include "store/run.h"
#include "tracer/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define PASS_MS_MIN 1  /* between passes while events pour in */
#define PASS_MS_MAX 20 /* and while nothing happens */
#define BUSY_EVENTS 256
#define FLUSH_INTERVAL_NS 1000000000
#define AWAITED_PASSES 50          /* for a forked child of which nothing is seen yet: one second */
#define SCARCE_BYTES (64ull << 20) /* a control group with less memory: rows wait for company in small numbers only */
#define SCARCE_EVENTS 8192

struct recorder {
	const struct record_options *o;
	struct store_run run;
	struct ring_dir ring;
	struct store_sink sink;
	struct drain drain;
	struct launch launch;
	struct run_facts facts;
	bool has_ring, has_sink, has_drain, has_launch;
	struct sonde_err reason;
	int64_t flushed_ns;
	uint64_t unflushed_events, unflushed_max;
};

static int write_run_json(struct recorder *r, struct sonde_err *err)
{
	struct buf text = BUF_INIT;
	runjson_write(&text, &r->facts);
	int rc = store_run_write_json(r->run.dirfd, &text, err);
	buf_release(&text);
	return rc;
}

/* The tracer failing to start does not fail the run. */
static void start_trace(struct recorder *r)
{
	struct sonde_err err = SONDE_ERR_INIT;
	r->facts.trace_state = "off";
	if (!r->o->has_trace)
		return;
	if (ring_dir_create(&r->ring, r->run.path, &r->o->ring, &err) ||
			drain_init(&r->drain, &r->ring, &r->sink, true, &err)) {
		r->reason = err;
		r->facts.trace_state = "failed";
		r->facts.trace_reason = r->reason.text;
		return;
	}
	r->has_ring = r->has_drain = true;
	r->facts.trace_state = "ran";
	r->facts.drain = &r->drain;
	r->facts.ring = r->ring.path.data;
}

static void preload_value(struct buf *out, const char *library)
{
	const char *theirs = getenv("LD_PRELOAD");
	bool is_last = theirs && strstr(theirs, "libasan.so"); /* which insists on being first */
	buf_adds(out, "LD_PRELOAD=");
	if (is_last)
		buf_addf(out, "%s:", theirs);
	buf_adds(out, library);
	if (theirs && *theirs && !is_last)
		buf_addf(out, ":%s", theirs);
}

static int find_library(struct buf *out, struct sonde_err *err)
{
	const char *given = getenv("SONDE_LIBRARY");
	if (given && *given) {
		buf_adds(out, given);
	} else {
		int rc = fs_prefix(out, err);
		if (rc)
			return rc;
		buf_adds(out, "/lib/libsonde.so");
	}
	return access(out->data, R_OK) ? err_sys(err, errno, "cannot read '%s'", out->data) : 0;
}

/* The loader splits LD_PRELOAD at blanks and colons: a path with one gets another name, in the ring directory. */
static int avoid_separators(const struct ring_dir *ring, struct buf *library, struct sonde_err *err)
{
	if (!strpbrk(library->data, " :"))
		return 0;
	if (symlinkat(library->data, ring->fd, "libsonde.so"))
		return err_sys(err, errno, "cannot link '%s' into '%s'", library->data, ring->path.data);
	buf_reset(library);
	buf_addf(library, "%s/libsonde.so", ring->path.data);
	return 0;
}

static int start_command(struct recorder *r, struct sonde_err *err)
{
	struct buf library = BUF_INIT, preload = BUF_INIT, ring = BUF_INIT;
	const char *env[3] = { NULL };
	struct launch_spec spec = { .argv = r->o->argv, .env = env };
	struct sonde_err why = SONDE_ERR_INIT;
	if (r->has_ring && (find_library(&library, &why) || avoid_separators(&r->ring, &library, &why))) {
		r->reason = why;
		r->facts.trace_state = "failed";
		r->facts.trace_reason = r->reason.text;
	} else if (r->has_ring) {
		preload_value(&preload, library.data);
		buf_addf(&ring, "SONDE_RING=%s", r->ring.path.data);
		env[0] = preload.data;
		env[1] = ring.data;
	}
	int rc = launch_start(&r->launch, &spec, err);
	r->has_launch = true;
	buf_release(&library);
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
	drain_checkpoint(&r->drain);
	store_sink_flush(&r->sink);
	r->flushed_ns = now;
	r->unflushed_events = 0;
}

/*
 * A process that needs more room makes a file in the ring directory: that wakes us,
 * so that it gets its old, warm chunks back before it has used up many new ones.
 */
static int watch_growth(const struct recorder *r)
{
	int fd = r->has_ring ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;
	if (fd >= 0 && inotify_add_watch(fd, r->ring.path.data, IN_CREATE) < 0) {
		close(fd);
		fd = -1; /* then only the clock wakes us */
	}
	return fd;
}

static void forget_growth(int fd)
{
	char events[4096];
	while (read(fd, events, sizeof(events)) > 0)
		;
}

static int next_wait(uint64_t events, int wait_ms)
{
	if (events > BUSY_EVENTS)
		return PASS_MS_MIN;
	return wait_ms * 2 > PASS_MS_MAX ? PASS_MS_MAX : wait_ms * 2;
}

/* Drain until the command has ended; faster while much comes in. */
static void watch(struct recorder *r)
{
	int growth = watch_growth(r), wait_ms = PASS_MS_MIN;
	struct pollfd fds[] = { { .fd = r->launch.pidfd, .events = POLLIN },
		{ .fd = r->launch.signalfd, .events = POLLIN }, { .fd = growth, .events = POLLIN } };
	for (;;) {
		int n = poll(fds, 3, r->has_drain ? wait_ms : -1);
		if (n > 0 && fds[1].revents)
			launch_forward_signals(&r->launch);
		if (n > 0 && fds[0].revents)
			break;
		if (!r->has_drain)
			continue;
		if (n > 0 && fds[2].revents)
			forget_growth(growth);
		uint64_t events = drain_pass(&r->drain);
		wait_ms = next_wait(events, wait_ms);
		flush_now_and_then(r, events);
	}
	if (growth >= 0)
		close(growth);
}

/* The command has ended, its children perhaps not. One that was just forked may take a moment to show up. */
static void watch_others(struct recorder *r)
{
	unsigned awaited = 0;
	while (r->has_drain && r->o->is_following) {
		uint64_t events = drain_pass(&r->drain);
		if (r->drain.first_live < r->drain.process_count)
			awaited = 0;
		else if (awaited++ == AWAITED_PASSES || !drain_awaits(&r->drain))
			return;
		struct pollfd signals = { .fd = r->launch.signalfd, .events = POLLIN };
		if (poll(&signals, 1, PASS_MS_MAX) > 0)
			return; /* whoever interrupts us wants an end */
		flush_now_and_then(r, events);
	}
}

static void count_losses(struct recorder *r)
{
	if (!r->has_drain)
		return;
	const struct sonde_control *c = r->ring.control;
	r->facts.dropped = c->blind_events;
	r->facts.blind = c->blind_forks;
	drain_losses(&r->drain, &r->facts.dropped, &r->facts.filtered, &r->facts.blind);
	if (!r->drain.process_count && !r->facts.trace_reason)
		r->facts.trace_reason =
				"no process could be traced: the command is static, setuid or of another architecture";
}

static void finish(struct recorder *r, struct record_result *result)
{
	struct buf text = BUF_INIT;
	if (r->has_drain) {
		__atomic_store_n(&r->ring.control->is_on, 0, __ATOMIC_RELEASE);
		drain_finish(&r->drain);
	}
	count_losses(r);
	r->facts.end_mono_ns = clock_mono_ns();
	r->facts.state = "complete";
	r->facts.ring = NULL;
	r->facts.sink = &r->sink;
	store_sink_flush(&r->sink);
	result->events = r->has_drain ? r->drain.events : 0;
	result->processes = r->has_drain ? r->drain.process_count : 0;
	result->dropped = r->facts.dropped;
	result->filtered = r->facts.filtered;
	result->blind = r->facts.blind;
	result->bytes = store_sink_bytes(&r->sink);
	result->lost_rows = store_sink_lost(&r->sink);
	runjson_write(&text, &r->facts);
	int rc = store_sink_close(&r->sink, &result->trouble);
	r->has_sink = false;
	unlinkat(r->run.tablesfd, "define.tbl", 0); /* only a recovery would have needed it */
	store_run_write_json(r->run.dirfd, &text, rc ? NULL : &result->trouble);
	buf_release(&text);
}

static void release(struct recorder *r, bool is_kept)
{
	if (r->has_sink)
		store_sink_close(&r->sink, NULL);
	if (r->has_drain)
		drain_release(&r->drain);
	if (r->has_ring) {
		ring_dir_remove(&r->ring);
		ring_dir_release(&r->ring);
	}
	if (r->has_launch)
		launch_release(&r->launch);
	if (!is_kept && r->run.path)
		fs_remove_tree(AT_FDCWD, r->run.path);
	store_run_release(&r->run);
}

int record_run(const struct record_options *o, struct record_result *result, struct sonde_err *err)
{
	struct recorder r = { .o = o, .run = STORE_RUN_INIT, .ring = RING_DIR_INIT };
	r.unflushed_max = limits_memory_bytes() < SCARCE_BYTES ? SCARCE_EVENTS : UINT64_MAX;
	r.facts = (struct run_facts){ .state = "recording",
		.name = o->name ? o->name : o->argv[0],
		.argv = o->argv,
		.start_real_ns = clock_real_ns(),
		.start_mono_ns = clock_mono_ns(),
		.end_mono_ns = STORE_NULL };
	int rc = launch_check(o->argv[0], err);
	if (!rc && (rc = store_run_create(&r.run, o->dir, r.facts.name, err)))
		rc = rc == -ENOENT || rc == -EACCES ? -EIO : rc; /* not to be taken for the command's failure */
	if (rc)
		return rc;
	rc = store_sink_open(&r.sink, r.run.tablesfd, err);
	r.has_sink = !rc;
	if (!rc) {
		start_trace(&r);
		rc = write_run_json(&r, err);
	}
	if (!rc)
		rc = start_command(&r, err);
	if (!rc) {
		watch(&r);
		rc = launch_wait(&r.launch, &result->status, err);
		drain_exited(&r.drain, r.launch.pid, result->status);
		r.facts.has_status = true;
		r.facts.status = result->status;
		watch_others(&r);
		finish(&r, result);
		buf_adds(&result->path, r.run.path);
	}
	release(&r, !rc);
	return rc;
}

void record_result_release(struct record_result *r)
{
	buf_release(&r->path);
}
