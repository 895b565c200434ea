/* Starting, stopping and resuming tracing in a process. */
#include "image.h"

#include "bind.h"
#include "pfw/line-write.h"
#include "pfw/pfwlog.h"
#include "region.h"
#include "ringplace.h"
#include "settings.h"
#include "tracer/fds.h"
#include "tracer/raw-syscall.h"
#include "tracer/tracer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * filter: which files are traced.
 *
 * DFTRACER_DATA_DIR is a colon-separated list of prefixes, compared as text: /data/a also matches /data/ab. `all`, or
 * an empty list, matches everything. Never traced: pipes, sockets and other files without a path, terminals, /proc,
 * /sys, traces (.pfw, .pfw.gz) and Python sources (.py).
 */

#define PREFIXES_MAX 256

static struct {
	bool is_all, is_strict;
	unsigned count;
	const char *prefix[PREFIXES_MAX];
	size_t bytes[PREFIXES_MAX];
	char text[3 * SETTING_TEXT_BYTES];
} filter;

static const char *const never_starts[] = { "/proc/", "/sys/", "/dev/pts/", "/dev/tty", "/dev/ptmx", "/memfd:" };
static const char *const never_names[] = { "pipe:", "socket:", "anon_inode:" };
static const char *const never_ends[] = { ".pfw", ".pfw.gz", ".py" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A relative prefix is relative to the program's initial working directory. */
static size_t add_prefix(const char *from, size_t n, char *at, size_t room)
{
	size_t have = 0;
	if (from[0] != '/') {
		long cwd = sys2(SYS_getcwd, at, room);
		have = cwd > 0 ? (size_t)cwd - 1 : 0;
		if (have + 1 < room)
			at[have++] = '/';
		if (n >= 2 && from[0] == '.' && from[1] == '/')
			from += 2, n -= 2;
	}
	if (have + n + 1 > room || filter.count == PREFIXES_MAX)
		return 0;
	memcpy(at + have, from, n);
	at[have + n] = '\0';
	filter.prefix[filter.count] = at;
	filter.bytes[filter.count++] = have + n;
	return have + n + 1;
}

static void filter_set(const char *data_dirs, const struct settings *s)
{
	const char *list = data_dirs ? data_dirs : s->data_dirs;
	size_t used = 0;
	filter.count = 0;
	filter.is_strict = s->is_strict;
	filter.is_all = !*list && !s->is_strict;
	while (*list) {
		size_t n = strcspn(list, ":");
		if (n == 3 && !memcmp(list, "all", 3))
			filter.is_all = true;
		else if (n)
			used += add_prefix(list, n, filter.text + used, sizeof(filter.text) - used);
		list += n + (list[n] == ':');
	}
}

static bool starts(const char *path, const char *with)
{
	return !strncmp(path, with, strlen(with));
}

static bool ends_with(const char *path, size_t n, const char *with)
{
	size_t k = strlen(with);
	return n >= k && !memcmp(path + n - k, with, k);
}

/* True if the path has a component "." or "..". */
static bool is_crooked(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/.")); p++)
		if (p[2] == '/' || !p[2] || (p[2] == '.' && (p[3] == '/' || !p[3])))
			return true;
	return false;
}

/* 0 or 1; -1 for a path that must be resolved first (relative, or with "." or ".."). */
static int filter_is_wanted(const char *path)
{
	size_t n = strlen(path);
	if (bind_is_pending)
		bind_calls();
	for (size_t i = 0; i < COUNT(never_ends); i++)
		if (ends_with(path, n, never_ends[i]))
			return 0;
	if (path[0] != '/') {
		for (size_t i = 0; i < COUNT(never_names); i++)
			if (starts(path, never_names[i]))
				return 0;
		return filter.is_all ? 1 : filter.is_strict ? 0 : -1;
	}
	for (size_t i = 0; i < COUNT(never_starts); i++)
		if (starts(path, never_starts[i]))
			return 0;
	if (filter.is_all)
		return 1;
	if (is_crooked(path))
		return -1;
	for (unsigned i = 0; i < filter.count; i++)
		if (!strncmp(path, filter.prefix[i], filter.bytes[i]))
			return 1;
	return 0;
}

/*
 * Messages on stderr, by DFTRACER_LOG_LEVEL. Without it nothing is printed.
 *
 * ERROR: the log cannot be written. WARN: a configured file cannot be read, or a rule is invalid. INFO: the path of
 * the log. DEBUG: all settings.
 */

#define LINE_BYTES (2 * PFWLOG_PATH_BYTES)

/* dftracer: WHAT 'ABOUT': WHY */
static void say(const char *what, const char *about, const char *why)
{
	char line[LINE_BYTES], *at = PUT(line, "dftracer: ");
	if (strlen(what) + strlen(about) + (why ? strlen(why) : 0) + 32 > sizeof(line))
		return;
	at = put_text(at, what);
	at = PUT(at, " '");
	at = put_text(at, about);
	*at++ = '\'';
	if (why) {
		at = PUT(at, ": ");
		at = put_text(at, why);
	}
	*at++ = '\n';
	sys3(SYS_write, 2, line, at - line);
}

#define PROCESS_BYTES_MAX (16ull << 20) /* of ring; if it is full, calls wait for the helper */
#define BATCH_BYTES (256u << 10)
#define BATCH_GZIP_BYTES (1u << 20) /* of a member */
#define BATCH_BYTES_MAX (64u << 20)

struct settings image_settings;
bool image_has_args;

static struct {
	uint32_t is_changing; /* atomic flag */
	uint32_t count;       /* initializations not yet finalized */
	bool is_on;
	bool is_preload, is_binding, has_bound;
	uint32_t categories;
	struct pfwlog_setup setup;
	struct pfwlog_clock clock;
} image;

bool image_is_on(void)
{
	return image.is_on;
}

int64_t image_real_minus_mono_ns(void)
{
	return image.clock.real_minus_mono_ns;
}

static void lock(void)
{
	for (unsigned i = 0; i < 100000 && __atomic_exchange_n(&image.is_changing, 1, __ATOMIC_ACQUIRE); i++)
		sys0(SYS_sched_yield); /* bounded: a fork may have copied the flag */
}

static void unlock(void)
{
	__atomic_store_n(&image.is_changing, 0, __ATOMIC_RELEASE);
}

/* The recorded categories: DFTracer records calls on files and processes, but not sockets or libc's internal calls. */
static uint32_t wanted_categories(const struct settings *s)
{
	uint32_t posix = SONDE_CAT_DATA | SONDE_CAT_OPEN | SONDE_CAT_META | SONDE_CAT_DIR | SONDE_CAT_SYNC |
			SONDE_CAT_MAP | SONDE_CAT_AIO | SONDE_CAT_PROCESS;
	uint32_t calls = (s->has_posix ? posix : 0) | (s->has_stdio ? SONDE_CAT_STDIO : 0);
	return s->has_io && calls ? calls | SONDE_CAT_DFTRACER : 0;
}

static void clock_read(void)
{
	struct timespec mono, day;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	image.clock.ticks = __builtin_ia32_rdtsc();
	clock_gettime(CLOCK_REALTIME, &day);
	image.clock.mono_ns = (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec;
	image.clock.last_ticks = image.clock.ticks;
	image.clock.last_mono_ns = image.clock.mono_ns;
	image.clock.real_minus_mono_ns = (int64_t)day.tv_sec * 1000000000 + day.tv_nsec - image.clock.mono_ns;
}

static uint64_t batch_bytes(const struct settings *s)
{
	uint64_t least = s->has_compression ? BATCH_GZIP_BYTES : BATCH_BYTES, told = (uint64_t)s->buffer_bytes;
	return told < least ? least : told > BATCH_BYTES_MAX ? BATCH_BYTES_MAX : told;
}

/* The ring. */

static void control_fill(uint32_t number)
{
	struct sonde_control *c = tracer.control;
	c->overflow = SONDE_OVERFLOW_BLOCK;
	c->recorder_pid = (int32_t)sys0(SYS_getpid);
	c->process_bytes_max = PROCESS_BYTES_MAX;
	c->next_process = number;
	c->reserved[PFWLOG_NEXT_ID] = 1;
}

/* Forget descriptors and directories known by ids of another ring. */
static void forget_files(void)
{
	if (fds)
		fds_closed_range(0, FDS_MAX);
	tracer.cwd = 0;
}

/*
 * The first ring of this process, or another one after a finalize. Ids are not reused, because old ones may be
 * cached.
 */
static int ring_begin(const char *ring)
{
	if (!tracer_open_control(ring))
		return -EIO;
	if (!tracer.epoch) {
		if (!tracer_switch_on())
			return -EIO;
		tracer.categories = 0;
		control_fill(tracer.process + 1);
		return 0;
	}
	control_fill(tracer.process + 1);
	forget_files();
	return ring_start() ? 0 : -ENOSPC;
}

static int start_writing(void)
{
	const char *ring = ring_place_make(image.setup.path);
	int rc = ring ? ring_begin(ring) : -ENOSPC;
	if (!rc)
		rc = helper_start(&image.setup, &image.clock);
	if (rc) {
		tracer.categories = 0;
		if (ring)
			ring_place_remove();
		return rc;
	}
	image.is_on = true;
	tracer.categories = SONDE_CAT_SPAN | SONDE_CAT_FUNC | (image.is_binding ? image.categories : 0);
	return 0;
}

/* Forked children, and exit. */

static bool on_fork_child(void)
{
	helper_forget();
	unlock();
	region_forget();
	if (!image.is_on)
		return false;
	image.setup.is_lazy = true;
	image.setup.resume_bytes = -1;
	log_name_of_child(&image.setup, (int32_t)sys0(SYS_getpid));
	clock_read();
	const char *ring = ring_place_make(image.setup.path);
	uint32_t number = tracer.process + 1;
	if (!ring || !tracer_open_control(ring)) {
		tracer.categories = 0;
		image.is_on = false;
		return false;
	}
	control_fill(number);
	forget_files();
	return true;
}

static void on_ring_ready(void)
{
	if (helper_start(&image.setup, &image.clock)) {
		tracer.categories = 0;
		image.is_on = false;
	}
}

/* Write everything recorded to the log and complete it. */
static void finish(void)
{
	if (!image.is_on || tracer.is_seccomped || tracer.clock == CLOCK_FORBIDDEN)
		return;             /* left to `sonde recover` */
	if (!tracer.alive->epoch) { /* a child that recorded nothing */
		image.is_on = false;
		tracer.categories = 0;
		return;
	}
	tracer.categories = 0;
	ring_close_runs();
	image.setup.resume_bytes = helper_finish(&image.setup.resume_events);
	image.is_on = false;
}

static void ends(void)
{
	int kept_errno = errno;
	lock();
	finish();
	unlock();
	errno = kept_errno;
}

/* exec failed: continue the log as if it had not been finished. */
static void on_exec_failed(void)
{
	int kept_errno = errno;
	lock();
	if (!image.is_on && image.count && tracer.epoch && !tracer.is_seccomped) {
		bool is_child = !tracer.alive->epoch; /* created by daemon() */
		image.setup.is_lazy = is_child;
		if (is_child) {
			helper_forget();
			region_forget();
			image.setup.resume_bytes = -1;
			log_name_of_child(&image.setup, (int32_t)sys0(SYS_getpid));
		}
		start_writing();
	}
	unlock();
	errno = kept_errno;
}

static void before_privilege_change(void)
{
	if (image.is_on)
		helper_stop();
}

static const struct tracer_ops ops = {
	.on_fork_child = on_fork_child,
	.on_ring_ready = on_ring_ready,
	.on_chunk = region_chunk_taken,
	.on_chunk_full = helper_poke,
	.is_wanted = filter_is_wanted,
	.on_exit = ends,
	.on_exec_failed = on_exec_failed,
	.before_privilege_change = before_privilege_change,
};

/* Initialize and finalize. */

/* Signals that kill the process: write the log, then let the signal take effect. */
static void on_signal(int number)
{
	ends();
	signal(number, SIG_DFL);
	raise(number);
}

static int begin(const struct image_options *wish)
{
	settings_read(&image_settings);
	if (!image_settings.is_enabled)
		return 1;
	tracer_init();
	tracer.ops = &ops;
	image.is_preload = wish->is_preload;
	image.is_binding = wish->is_binding && (wish->is_preload || image_settings.init == INIT_FUNCTION);
	image.categories = wanted_categories(&image_settings);
	filter_set(wish->data_dirs, &image_settings);
	const struct settings *s = &image_settings;
	struct pfwlog_setup *u = &image.setup;
	u->generation = (char)s->format;
	u->has_args = image_has_args = s->has_metadata;
	u->has_tids = s->has_tids;
	u->is_gzip = s->has_compression;
	u->is_strict = s->is_strict;
	u->is_lazy = false;
	u->ppid = (int32_t)sys0(SYS_getppid);
	u->pid = wish->process_id >= 0 ? wish->process_id : (int32_t)sys0(SYS_getpid);
	u->categories = image.categories;
	u->unit_ns = settings_unit_ns(s);
	u->is_selective = s->aggregation == AGGREGATE_SELECTIVE;
	u->interval_ns = s->is_aggregating && (!u->is_selective || *s->rules) ? s->interval_ms * 1000000 : 0;
	memcpy(u->rules, s->rules, sizeof(u->rules));
	u->batch_bytes = batch_bytes(s);
	u->resume_bytes = -1;
	log_name_describe(u, s, image.categories != 0 && image.is_binding);
	int rc = log_name_make(&image.setup, wish->log_file, &image_settings, wish->is_preload);
	if (rc)
		return rc;
	clock_read();
	family_begin();
	rc = start_writing();
	if (!rc && image_settings.binds_signals) {
		static const int numbers[] = { SIGSEGV, SIGUSR1, SIGABRT, SIGHUP, SIGTERM, SIGINT };
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			struct sigaction old,
					mine = { .sa_handler = on_signal,
						.sa_flags = (int)(SA_NODEFER | SA_RESETHAND) };
			if (!sigaction(numbers[i], NULL, &old) && old.sa_handler == SIG_DFL)
				sigaction(numbers[i], &mine, NULL); /* the program's handler is kept */
		}
	}
	if (!rc && image.is_binding && image.categories)
		bind_calls();
	return rc;
}

int image_begin(const struct image_options *wish)
{
	int rc = 0, kept_errno = errno;
	lock();
	if (!image.is_on) {
		rc = begin(wish);
		/* Tracing started or failed: rc is -errno; 1 means disabled. */
		const struct pfwlog_setup *u = &image.setup;
		if (rc <= 0) {
			if (image_settings.log_level >= LEVEL_WARN && image_settings.unread)
				say("cannot read", image_settings.unread, NULL);
			if (image_settings.log_level >= LEVEL_WARN && *image_settings.rules) {
				static struct aggregation_rules rules;
				rules_read(&rules, image_settings.rules);
				if (rules.broken)
					say("leaves out rules that make no sense in", image_settings.aggregation_file,
							NULL);
			}
			if (image_settings.log_level >= LEVEL_ERROR && rc < 0)
				say("cannot write", u->path, strerrordesc_np(-rc));
			if (image_settings.log_level >= LEVEL_INFO && !rc)
				say("writes", u->path, NULL);
			if (image_settings.log_level >= LEVEL_DEBUG && !rc)
				say("has settings", u->facts, NULL);
		}
	}
	if (!rc)
		image.count++;
	unlock();
	if (rc < 0 && image_settings.throws_error)
		abort();
	errno = kept_errno;
	return rc;
}

void image_end(void)
{
	int kept_errno = errno;
	lock();
	if (image.count > (image.is_preload ? 1u : 0u) && --image.count == 0)
		finish();
	unlock();
	errno = kept_errno;
}

void image_finish(void)
{
	ends();
}
