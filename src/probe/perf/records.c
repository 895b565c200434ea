/* Processes each type of record and calls the interested probes; see source.h. */
#include "probe/perf/cursor.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/perf-ring.h"
#include "probe/perf/source.h"
#include "probe/tasks.h"

#include <string.h>

static void on_comm(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	int32_t pid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	const uint8_t *nul = memchr(c.at, '\0', cursor_left(&c));
	if (c.is_bad || !nul)
		return;
	tasks_name(s->host->tasks, pid, tid, (const char *)c.at, (size_t)(nul - c.at));
	struct task *process = r->misc & PERF_RECORD_MISC_COMM_EXEC ? tasks_process(s->host->tasks, pid) : NULL;
	if (process) {
		if (process->side != TASK_PROGRAM)
			process->lost_before = s->lost;
		tasks_execute(s->host->tasks, process, r->ts_ns);
		if (process->is_kept && !process->space && process->start_ns != STORE_NULL)
			process->start_ns = process->on_ns = r->ts_ns; /* the command: before its exec it was sonde */
		space_drop(process->space);
		process->space = space_new();
		process->exe = STORE_NULL;
	}
}

static void on_mmap(struct perf_source *s, const struct perf_record *r)
{
	struct decoded_mmap m;
	if (!decode_mmap(r, &m) || m.pid < 0)
		return;
	struct task *process = tasks_process(s->host->tasks, m.pid);
	if (!process || process->side != TASK_PROGRAM)
		return;
	struct mapping one = { .start = m.start, .end = m.start + m.bytes, .offset = m.offset };
	one.module = modules_get(&s->modules, m.pid, m.path, m.build_id, m.build_id_bytes);
	if (!one.module)
		return;
	if (!process->space)
		perf_source_space(s, process);
	if (process->exe == STORE_NULL && one.module->kind == MODULE_ELF)
		process->exe = store_strings_of(&s->host->sink->strings, m.path); /* exec maps the executable first */
	if (one.module->kind == MODULE_MEMORY)
		one.offset = one.start;
	space_map(&process->space, &one);
	struct store_mapping row = { .ts_ns = r->ts_ns,
		.pid = m.pid,
		.start = (int64_t)m.start,
		.bytes = (int64_t)m.bytes,
		.offset = (int64_t)one.offset,
		.module = one.module->number };
	store_sink_add(s->host->sink, STORE_TABLE_MAPPING, &row);
}

/*
 * Context switches give the exact run time of each thread, if none was lost. The kernel's count for a thread is not
 * always its own: the kernel may swap the events of threads that alternate on a CPU.
 */
static bool has_run_time(const struct perf_source *s, const struct task *k)
{
	return (s->wants.has_switches || s->wants.has_run_times) && s->lost == k->lost_before;
}

static void record_losses(const struct perf_source *s, struct task *k)
{
	if (k)
		k->lost_before = s->lost;
}

static void on_task(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	int32_t pid = (int32_t)cursor_u32(&c), ppid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	if (c.is_bad)
		return;
	if (r->type == PERF_RECORD_FORK) {
		tasks_fork(s->host->tasks, pid, tid, ppid, r->ts_ns);
		record_losses(s, tasks_find(s->host->tasks, tid));
		return;
	}
	tasks_exit(s->host->tasks, pid, tid, r->ts_ns);
	struct task *k = tasks_find(s->host->tasks, tid);
	if (k && has_run_time(s, k) && k->on_ns != STORE_NULL && (k->start_ns != STORE_NULL || k->is_kept)) {
		k->run_ns = task_ran_until(k, r->ts_ns); /* a thread exits on a CPU */
		k->is_timed = true;
	}
}

const struct perf_opened *perf_opened_of(const struct perf_source *s, uint64_t id)
{
	const uint64_t *at = map_get_int(&s->private->by_id, id);
	return at ? &s->private->opened[*at - 1] : NULL;
}

/* An inherited event at its thread's exit: its value and time running, which is the CPU time of the thread. */
static void on_read(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	const struct perf_opened *o = perf_opened_of(s, r->id);
	int32_t pid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	cursor_skip(&c, 8);
	int64_t run_ns = (int64_t)cursor_u64(&c);
	if (c.is_bad || !o || !o->is_leader || run_ns < 0)
		return;
	const struct task *k = tasks_find(s->host->tasks, tid);
	if (!k || !k->is_timed)
		tasks_ran(s->host->tasks, pid, tid, run_ns);
	s->private->roots[o->root].children_ns += run_ns;
}

/* A thread was forked, or changed namespaces: pairs of device and inode, the PID namespace is the fourth. */
static void on_namespaces(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	cursor_skip(&c, 4);
	int32_t tid = (int32_t)cursor_u32(&c);
	uint64_t count = cursor_u64(&c);
	cursor_skip(&c, PID_NS_INDEX * 16 + 8);
	uint64_t number = cursor_u64(&c);
	if (!c.is_bad && count > PID_NS_INDEX)
		tasks_enter(s->host->tasks, tid, number);
}

static void on_lost(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	if (r->type == PERF_RECORD_LOST)
		cursor_skip(&c, 8);
	s->lost += cursor_u64(&c);
}

static bool is_engine(struct perf_source *s, const struct perf_record *r)
{
	bool has_engine = s->host->options.has_engine && r->tid > 0;
	struct task *k = has_engine ? tasks_get(s->host->tasks, r->pid, r->tid) : NULL;
	if (k && k->side != TASK_PROGRAM && k->lost_before != s->lost) {
		k->lost_before = s->lost;
		tasks_execute(s->host->tasks, k, r->ts_ns); /* the exec of the program may be among the lost records */
	}
	return k && k->side != TASK_PROGRAM;
}

static void on_switch(struct perf_source *s, const struct perf_record *r)
{
	if (r->tid > 0)
		tasks_switch(s->host->tasks, r->pid, r->tid, r->misc & PERF_RECORD_MISC_SWITCH_OUT, r->ts_ns);
	if (s->wants.on_switch && !is_engine(s, r))
		s->wants.on_switch(s->wants.sched, r);
}

static void on_throttle(struct perf_source *s, const struct perf_record *r)
{
	(void)r;
	s->private->throttled++;
}

static void on_sched_point(struct perf_source *s, const struct perf_record *r, bool is_wakeup)
{
	const struct perf_source_private *p = s->private;
	size_t bytes, at = is_wakeup ? p->wake_pid_at : p->prev_pid_at;
	const uint8_t *raw = decode_raw(r, &bytes);
	struct perf_sched_point point = { .record = r, .is_wakeup = is_wakeup };
	if (!raw || at + 4 > bytes || (!is_wakeup && p->prev_state_at + 8 > bytes) || !s->wants.on_point)
		return;
	memcpy(&point.tid, raw + at, 4);
	if (!is_wakeup)
		memcpy(&point.state, raw + p->prev_state_at, 8);
	s->wants.on_point(s->wants.sched, &point);
}

static void on_sample(struct perf_source *s, const struct perf_record *r)
{
	struct perf_sample sample;
	const struct perf_opened *o = perf_opened_of(s, r->id);
	if (!o || (o->role != ROLE_WAKE && o->role != ROLE_POINT && is_engine(s, r)))
		return;
	if (o->role == ROLE_POINT) {
		const struct perf_point *p = s->wants.points[o->event];
		size_t bytes;
		const uint8_t *raw = decode_raw(r, &bytes);
		if (raw && p->on_point)
			p->on_point(p->state, p, r, raw, bytes);
	} else if (o->role == ROLE_SWITCH || o->role == ROLE_WAKE) {
		on_sched_point(s, r, o->role == ROLE_WAKE);
	} else if (o->role == ROLE_SAMPLE && s->wants.on_sample && decode_sample(r, s->private->sample_type, &sample)) {
		sample.event = o->event;
		s->wants.on_sample(s->wants.cpu, &sample);
	} else if (o->role == ROLE_WAIT && s->wants.on_wait && decode_sample(r, s->private->sample_type, &sample)) {
		s->wants.on_wait(s->wants.sched, &sample);
	}
}

static void (*const takers[])(struct perf_source *, const struct perf_record *) = {
	[PERF_RECORD_LOST] = on_lost,
	[PERF_RECORD_COMM] = on_comm,
	[PERF_RECORD_EXIT] = on_task,
	[PERF_RECORD_THROTTLE] = on_throttle,
	[PERF_RECORD_FORK] = on_task,
	[PERF_RECORD_READ] = on_read,
	[PERF_RECORD_SAMPLE] = on_sample,
	[PERF_RECORD_MMAP2] = on_mmap,
	[PERF_RECORD_LOST_SAMPLES] = on_lost,
	[PERF_RECORD_SWITCH] = on_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = on_switch,
	[PERF_RECORD_NAMESPACES] = on_namespaces,
};

void perf_consume(struct perf_source *s, const struct perf_record *r)
{
	if (r->type < sizeof(takers) / sizeof(*takers) && takers[r->type])
		takers[r->type](s, r);
}
