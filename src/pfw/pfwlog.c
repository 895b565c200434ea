/* Opens a log, makes passes over the ring, finishes the log; see pfwlog.h. */
#include "base/jsonscan.h"
#include "calls/calls-hash.h"
#include "pfw/log-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define CLOCK_TRIES 5
#define ROUNDS_MAX 64 /* per call of pfwlog_consume: threads may refer to each other's names */

/* Memory. */

void *log_memory(size_t bytes)
{
	void *at = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (at)
		sys3(SYS_madvise, at, bytes, MADV_DONTFORK);
	return at;
}

static struct pfwlog_state *state_map(int dirfd, int flags, int *error)
{
	struct stat st;
	struct pfwlog_state *state = NULL;
	int fd = (int)sys4(SYS_openat, dirfd, "state", O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	*error = fd < 0 ? fd : 0;
	if (fd < 0)
		return NULL;
	if (flags & O_CREAT)
		*error = (int)sys4(SYS_fallocate, fd, 0, 0, sizeof(*state));
	else if (sys2(SYS_fstat, fd, &st) || st.st_size < (off_t)sizeof(*state))
		*error = -EINVAL;
	if (!*error) {
		state = sys_map(sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd);
		*error = state ? 0 : -ENOMEM;
	}
	sys_close(fd);
	if (state)
		sys3(SYS_madvise, state, sizeof(*state), MADV_DONTFORK);
	return state;
}

/* The clock. */

/*
 * Reads both clocks at once: the closest of a few tries. Events lie between this pair and the first. Recovery reads
 * them too, unless the machine was rebooted since.
 */
static void clock_read(struct pfwlog *log)
{
	struct pfwlog_clock *c = &log->state->clock, pair = *c;
	uint64_t best = UINT64_MAX;
	for (unsigned i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		struct timespec ts = { 0 };
		sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
		int64_t now = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
		uint64_t took = __builtin_ia32_rdtsc() - before;
		if (took < best) {
			best = took;
			pair.last_ticks = before + took / 2;
			pair.last_mono_ns = now;
		}
	}
	if (pair.last_ticks > c->ticks && pair.last_mono_ns > c->mono_ns)
		*c = pair;
}

static void clock_slope(struct pfwlog *log)
{
	const struct pfwlog_clock *c = &log->state->clock;
	uint64_t ticks = c->last_ticks - c->ticks;
	log->ns_per_tick = ticks ? (double)(c->last_mono_ns - c->mono_ns) / (double)ticks : 1;
	if (log->ns_per_tick <= 0 || log->ns_per_tick > 1000)
		log->ns_per_tick = 1;
}

/* Opening. */

static struct pfwlog *log_new(const char *ring)
{
	struct pfwlog *log = log_memory(sizeof(*log));
	if (!log)
		return NULL;
	log->textfd = log->file.fd = -1;
	log->end_at = -1;
	log->dirfd = sys_open(ring, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return log;
}

static bool rules_prepare(struct pfwlog *log)
{
	const struct pfwlog_setup *u = &log->state->setup;
	if (!u->is_selective || !u->interval_ns)
		return true;
	log->rules = log_memory(sizeof(*log->rules));
	if (log->rules)
		rules_read(log->rules, u->rules);
	return log->rules != NULL;
}

static bool log_prepare(struct pfwlog *log)
{
	if (!rules_prepare(log))
		return false;
	if (!names_open(&log->names, log->dirfd, log->state->setup.generation >= 'D') || !text_need(&log->text, 1))
		return false;
	log_head_prepare(log);
	clock_slope(log);
	return true;
}

int log_open_file(struct pfwlog *log)
{
	const struct pfwlog_setup *u = &log->state->setup;
	int rc = log_file_open(&log->file, u->path, u->is_gzip, u->resume_bytes);
	log->now.file_bytes = log->state->done.file_bytes = log->file.bytes;
	return rc;
}

struct pfwlog *pfwlog_open(const char *ring, struct sonde_control *control, uint32_t process, int32_t pid,
		const struct pfwlog_setup *setup, const struct pfwlog_clock *clock, int *error)
{
	struct pfwlog *log = log_new(ring);
	*error = -ENOMEM;
	if (!log)
		return NULL;
	log->control = control;
	log->state = state_map(log->dirfd, O_CREAT | O_EXCL, error);
	if (!log->state)
		log->state = log_memory(sizeof(*log->state)); /* no room: the log cannot be recovered */
	if (!log->state)
		return NULL;
	log->state->setup = *setup;
	log->state->clock = *clock;
	log->state->version = PFWLOG_VERSION;
	log->state->calls_hash = CALLS_HASH;
	log->state->process = process;
	log->state->true_pid = pid;
	*error = log_prepare(log) ? 0 : -ENOMEM;
	if (!*error && !setup->is_lazy)
		*error = log_open_file(log);
	if (*error) {
		pfwlog_free(log);
		return NULL;
	}
	if (setup->resume_bytes >= 0) {
		log->now.is_begun = log->state->done.is_begun = 1;
		log->now.events = log->state->done.events = setup->resume_events;
	}
	__atomic_store_n(&log->state->magic, PFWLOG_MAGIC, __ATOMIC_RELEASE);
	return log;
}

static bool is_whole(const struct pfwlog_state *s)
{
	const struct pfwlog_setup *u = &s->setup;
	return s->magic == PFWLOG_MAGIC && s->version == PFWLOG_VERSION && s->calls_hash == CALLS_HASH &&
			u->generation >= 'C' && u->generation <= 'E' && u->unit_ns > 0 && u->interval_ns >= 0 &&
			memchr(u->path, 0, sizeof(u->path)) && memchr(u->host, 0, sizeof(u->host)) &&
			memchr(u->exe, 0, sizeof(u->exe)) && memchr(u->command, 0, sizeof(u->command)) &&
			memchr(u->cwd, 0, sizeof(u->cwd)) && memchr(u->date, 0, sizeof(u->date)) &&
			memchr(u->facts, 0, sizeof(u->facts)) && memchr(u->rules, 0, sizeof(u->rules)) &&
			memchr(u->affinity, 0, sizeof(u->affinity)) && memchr(s->app, 0, sizeof(s->app)) &&
			memchr(s->used, 0, sizeof(s->used)) && s->done.file_bytes <= INT64_MAX &&
			s->next.file_bytes <= INT64_MAX;
}

/* Clears texts that are not valid JSON: they go into the log, and the program may have overwritten them. */
static void mend(struct pfwlog_state *s)
{
	char whole[sizeof(s->app) + 16];
	char *const members[] = { s->setup.facts, s->app, s->used };
	for (size_t i = 0; i < 3; i++) {
		char *at = put_text(PUT(whole, "{"), i || !*members[i] ? "" : "\"\":0");
		at = put_text(at, members[i]);
		*at++ = '}';
		if (!jsonscan_is_value(whole, (size_t)(at - whole)))
			*members[i] = '\0';
	}
	if (*s->setup.affinity && !jsonscan_is_value(s->setup.affinity, strlen(s->setup.affinity)))
		s->setup.affinity[0] = '\0';
}

static struct sonde_control *control_map(int dirfd)
{
	struct sonde_control *control = NULL;
	struct stat st;
	int fd = (int)sys4(SYS_openat, dirfd, "control", O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd >= 0 && !sys2(SYS_fstat, fd, &st) && st.st_size >= (off_t)sizeof(*control))
		control = sys_map(sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (fd >= 0)
		sys_close(fd);
	return control && control->magic == SONDE_CONTROL_MAGIC && control->version == SONDE_SHM_VERSION ? control
													 : NULL;
}

struct pfwlog *pfwlog_reopen(const char *ring, int *error)
{
	struct pfwlog *log = log_new(ring);
	*error = -ENOMEM;
	if (!log)
		return NULL;
	log->state = state_map(log->dirfd, 0, error);
	log->control = log->state ? control_map(log->dirfd) : NULL;
	if (log->state && (!log->control || !is_whole(log->state)))
		*error = -EINVAL;
	if (log->state && !*error) {
		mend(log->state);
		const struct pfwlog_done *done = log->state->is_applying ? &log->state->next : &log->state->done;
		if (!log_prepare(log))
			*error = -ENOMEM;
		else if (done->is_begun || !log->state->setup.is_lazy)
			*error = log_file_open(&log->file, log->state->setup.path, log->state->setup.is_gzip,
					(int64_t)done->file_bytes);
		log->now = *done;
		names_forget_behind(&log->names, done->text_bytes);
	}
	if (!*error)
		return log;
	pfwlog_free(log);
	return NULL;
}

void pfwlog_add_segment(struct pfwlog *log, struct sonde_segment *segment, size_t bytes)
{
	struct log_segment *s = log->segment_count < SONDE_SEGMENTS_MAX ? log_memory(sizeof(*s)) : NULL;
	if (!s)
		return;
	uint32_t chunks = (uint32_t)((bytes - SONDE_SEGMENT_HEAD_BYTES) / SONDE_CHUNK_BYTES);
	s->at = segment;
	s->chunk_count = chunks < SONDE_CHUNKS_MAX ? chunks : SONDE_CHUNKS_MAX;
	log->segments[log->segment_count++] = s;
}

uint32_t pfwlog_segments(const struct pfwlog *log)
{
	return log->segment_count;
}

/* Passes. */

uint64_t pfwlog_consume(struct pfwlog *log, enum pfwlog_pass pass, bool is_flushed)
{
	uint64_t total = 0, count;
	if (__atomic_load_n(&log->state->is_applying, __ATOMIC_ACQUIRE))
		log_apply_journal(log);
	clock_read(log);
	clock_slope(log);
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		count = log_walk(log, pass, false);
		total += count;
		if (!count || !log->is_waiting)
			break;
	}
	if (pass == PFWLOG_LAST && log->is_waiting)
		total += log_walk(log, pass, true);
	if ((is_flushed && log->touched_count) || log->has_free)
		log_commit(log);
	return total;
}

bool pfwlog_is_waiting(const struct pfwlog *log)
{
	return log->is_waiting;
}

int pfwlog_end(struct pfwlog *log, bool is_recovered)
{
	if (!log->now.is_begun && log->state->setup.is_lazy && !log_has_endings(log))
		return 0; /* no events: no log */
	if (!log->now.is_ended) {
		/* Writes the last records; a writer that died may have written some of them. */
		if (!log->now.is_begun)
			log_head_begin(log);
		log_commit(log);
		log->end_at = (int64_t)log->file.bytes;
		log->end_events = log->now.events;
		log_walk_endings(log);
		log_head_end(log, is_recovered);
		log->now.is_ended = 1;
		log_commit(log);
	}
	if (!log->error && log->state->setup.generation != 'E')
		log->error = log_file_write_end(&log->file, &log->packed);
	return log->error;
}

const struct pfwlog_state *pfwlog_state(const struct pfwlog *log)
{
	return log->state;
}

int64_t pfwlog_end_at(const struct pfwlog *log)
{
	return log->end_at;
}

uint64_t pfwlog_end_events(const struct pfwlog *log)
{
	return log->end_events;
}

void pfwlog_free(struct pfwlog *log)
{
	if (!log)
		return;
	if (log->state)
		sys2(SYS_munmap, log->state, sizeof(*log->state));
	for (uint32_t i = 0; i < log->segment_count; i++)
		sys2(SYS_munmap, log->segments[i], sizeof(*log->segments[i]));
	names_release(&log->names);
	text_release(&log->text);
	text_release(&log->packed);
	log_file_release(&log->file);
	code_free(log->code);
	if (log->rules)
		sys2(SYS_munmap, log->rules, sizeof(*log->rules));
	log_sums_free(log);
	if (log->textfd >= 0)
		sys_close(log->textfd);
	if (log->dirfd >= 0)
		sys_close(log->dirfd);
	sys2(SYS_munmap, log, sizeof(*log));
}
