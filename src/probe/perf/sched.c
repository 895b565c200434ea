/*
 * The scheduler probe: when threads were off-CPU, and why.
 *
 * SWITCH records, available to every user for his own threads, report when a thread
 * was switched out and whether it was preempted. The tracepoints sched_switch and
 * sched_waking add the thread state and the waker, if tracefs is readable.
 */
#include "base/clock.h"
#include "base/json.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/source.h"
#include "probe/tasks.h"

#include <errno.h>
#include <stdlib.h>

const struct probe_ops probe_sched;

/* The kernel's states of a thread that is switched out (sched_switch's print format). */
static const struct {
	int64_t bits;
	const char *word;
} states[] = {
	{ 0x1, "sleep" }, { 0x2, "disk" }, { 0x4, "stopped" }, { 0x8, "traced" }, { 0x30, "ended" },
	{ 0x80, "sleep" }, /* idle: sleeps without counting as load */
};
#define STATES (sizeof(states) / sizeof(*states))
#define STATE_PREEMPTED 0x100
#define LONG_NS 10000000 /* a wait that is sampled if it has no stack yet */
#define LOOKS_MAX 16     /* per pass */

struct sched {
	struct probe_host *host;
	struct perf_source *source;
	int64_t ids[STATES], preempted, wait;
	uint64_t rows;
};

static void emit(struct sched *s, const struct task *k, int64_t dur_ns, int64_t next_cpu)
{
	const struct task_off *off = &k->off;
	struct probe_host *host = s->host;
	struct store_sched row = { .ts_ns = off->off_ns,
		.dur_ns = dur_ns,
		.process = probe_process(host, k->pid, off->off_ns),
		.pid = k->pid,
		.tid = k->tid,
		.cpu = off->cpu,
		.next_cpu = next_cpu,
		.state = off->state,
		.wake_ns = off->wake_ns,
		.waker_pid = off->waker_pid,
		.waker_tid = off->waker_tid,
		.stack = off->stack };
	store_sink_add(host->sink, STORE_TABLE_SCHED, &row);
	s->rows++;
}

static int64_t state_word(const struct sched *s, int64_t state)
{
	if (!(state & 0xff) || state & STATE_PREEMPTED)
		return s->preempted;
	for (size_t i = 0; i < STATES; i++)
		if (state & states[i].bits)
			return s->ids[i];
	return s->wait;
}

/* Uses the stack read from outside if it was read before the wait ended at `end_ns`. */
static void use_wait_sample(struct task *k, int64_t end_ns)
{
	if (k->off.stack == STORE_NULL && k->off.looked_ns && k->off.looked_ns < end_ns)
		k->off.stack = k->off.look;
}

static bool should_sample(const struct sched *s, const struct task *k, int64_t now_ns)
{
	const struct task_off *off = &k->off;
	return off->off_ns != STORE_NULL && off->stack == STORE_NULL && !off->looked_ns &&
			now_ns - off->off_ns >= LONG_NS && off->state != s->preempted && k->end_ns == STORE_NULL &&
			k->side == TASK_PROGRAM;
}

static void on_switch(void *state, const struct perf_record *r)
{
	struct sched *s = state;
	struct task *k = r->tid > 0 ? tasks_get(s->host->tasks, r->pid, r->tid) : NULL;
	if (!k)
		return;
	if (!(r->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		if (k->off.off_ns != STORE_NULL) {
			use_wait_sample(k, r->ts_ns);
			emit(s, k, r->ts_ns - k->off.off_ns, r->cpu);
		}
		k->off.off_ns = STORE_NULL;
		k->off.state = k->off.stack = STORE_NULL;
		return;
	}
	int64_t stack = k->off.off_ns == STORE_NULL ? k->off.stack : STORE_NULL;
	int64_t said = k->off.off_ns == STORE_NULL ? k->off.state : STORE_NULL; /* from the tracepoint just before */
	if (said == STORE_NULL || !s->source->has_points)
		said = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? s->preempted : s->wait;
	k->off = (struct task_off){ .off_ns = r->ts_ns,
		.cpu = r->cpu,
		.state = said,
		.wake_ns = STORE_NULL,
		.waker_pid = STORE_NULL,
		.waker_tid = STORE_NULL,
		.stack = stack };
}

static void on_wait(void *state, const struct perf_sample *sample)
{
	struct sched *s = state;
	bool is_cut;
	struct task *k = sample->record->tid > 0 ? tasks_get(s->host->tasks, sample->record->pid, sample->record->tid)
						 : NULL;
	if (k && k->off.off_ns == STORE_NULL)
		k->off.stack = chain_of(s->source, sample, true, &is_cut);
}

static void on_point(void *state, const struct perf_sched_point *p)
{
	struct sched *s = state;
	struct task *k = p->tid > 0 ? tasks_find(s->host->tasks, p->tid) : NULL;
	if (!k || k->side != TASK_PROGRAM)
		return;
	if (!p->is_wakeup) {
		if (k->off.off_ns == STORE_NULL)
			k->off.state = state_word(s, p->state);
	} else if (k->off.off_ns != STORE_NULL && k->off.wake_ns == STORE_NULL) {
		k->off.wake_ns = p->record->ts_ns;
		k->off.waker_pid = p->record->pid;
		k->off.waker_tid = p->record->tid;
	}
}

static int open_sched(struct probe_host *host, void **state, struct sonde_err *err)
{
	struct perf_source *source = perf_source_get(host);
	struct sched *s = source ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return err_sys(err, ENOMEM, "cannot watch the scheduler");
	for (size_t i = 0; i < STATES; i++)
		s->ids[i] = store_strings_of(&host->sink->strings, states[i].word);
	s->preempted = store_strings_of(&host->sink->strings, "preempted");
	s->wait = store_strings_of(&host->sink->strings, "wait");
	s->host = host;
	s->source = source;
	source->wants.has_switches = true;
	source->wants.sched = s;
	source->wants.on_switch = on_switch;
	source->wants.on_point = on_point;
	source->wants.on_wait = on_wait;
	*state = s;
	return 0;
}

static int attach_sched(void *state, struct sonde_err *err)
{
	struct sched *s = state;
	int rc = perf_source_attach(s->source, err);
	if (!rc && !s->source->has_points)
		probe_remark(s->host, &probe_sched, &s->source->points_why);
	return rc;
}

static size_t sched_fds(void *state, int *fds, size_t room)
{
	struct sched *s = state;
	return s->source->wants.has_samples ? 0 : perf_source_fds(s->source, fds, room); /* else cpu returns them */
}

static uint64_t pass_sched(void *state, int64_t now_ns)
{
	struct sched *s = state;
	uint64_t taken = perf_source_pass(s->source, now_ns, false);
	/* Stacks of threads that have waited long enough, a few per pass. */
	const struct tasks *t = s->host->tasks;
	unsigned looks = 0;
	for (size_t i = 0; s->source->stack_bytes && i < t->count && looks < LOOKS_MAX; i++) {
		struct task *k = t->all[i];
		if (!should_sample(s, k, now_ns))
			continue;
		k->off.look = wait_sample(s->source, k);
		k->off.looked_ns = clock_mono_ns();
		looks++;
	}
	return taken;
}

static void finish_sched(void *state, int64_t now_ns)
{
	struct sched *s = state;
	perf_source_pass(s->source, now_ns, true);
	for (size_t i = 0; i < s->host->tasks->count; i++) {
		struct task *k = s->host->tasks->all[i];
		if (k->off.off_ns != STORE_NULL && k->end_ns == STORE_NULL) {
			use_wait_sample(k, INT64_MAX);
			emit(s, k, STORE_NULL, STORE_NULL); /* it still waits */
		}
		k->off.off_ns = STORE_NULL;
	}
	probe_count(s->host, &probe_sched, s->rows, s->source->lost);
}

static void report_sched(void *state, struct json *j)
{
	struct sched *s = state;
	json_kbool(j, "has_stacks", s->source->has_waits || s->source->stack_bytes);
	json_kstr(j, "reasons", s->source->has_points ? "tracepoints" : "switch records");
}

static void free_sched(void *state)
{
	struct sched *s = state;
	s->source->wants.on_switch = NULL;
	s->source->wants.on_point = NULL;
	s->source->wants.on_wait = NULL;
	s->source->wants.has_switches = false;
	free(s);
}

const struct probe_ops probe_sched = {
	.name = "sched",
	.doc = "when threads waited or were pushed aside: context switches, with reason and waker",
	.open = open_sched,
	.attach = attach_sched,
	.fds = sched_fds,
	.pass = pass_sched,
	.finish = finish_sched,
	.report = report_sched,
	.free = free_sched,
};
