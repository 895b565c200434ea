/* Records of all rings in the order of time, to those who want them; see source.h. */
#include "probe/perf/source.h"

#include "base/clock.h"
#include "probe/perf/cursor.h"
#include "probe/perf/decode.h"
#include "probe/perf/private.h"
#include "probe/tasks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_NS 2000000 /* a record this old has reached its ring */
#define EMIT_INTERVAL_NS 1000000000
#define LOOKS_MAX 64

struct perf_source *perf_source_get(struct probe_host *host)
{
	if (host->perf)
		return host->perf;
	struct perf_source *s = calloc(1, sizeof(*s));
	struct perf_source_private *p = s ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		free(s);
		return NULL;
	}
	s->host = host;
	s->private = p;
	p->has_build_ids = p->has_losses = true;
	p->switch_id = p->wake_id = -1;
	modules_init(&s->modules, host->sink);
	stacks_init(&s->stacks, host->sink);
	host->perf = s;
	return s;
}

void perf_source_free(struct perf_source *s)
{
	if (!s)
		return;
	struct perf_source_private *p = s->private;
	for (size_t i = 0; i < p->ring_count; i++) {
		ring_unmap(p->rings[i]);
		free(p->rings[i]);
	}
	for (size_t i = 0; i < p->opened_count; i++)
		close(p->opened[i].fd);
	map_release(&p->by_id);
	stacks_release(&s->stacks);
	modules_release(&s->modules);
	free(p->rings);
	free(p->next_ns);
	free(p->opened);
	free(p->roots);
	free(p->cpus);
	free(p);
	free(s);
}

int perf_source_attach(struct perf_source *s, struct sonde_err *err)
{
	struct perf_source_private *p = s->private;
	if (!p->was_attached) {
		p->was_attached = true;
		p->attach_rc = perf_attach(s, &p->attach_err);
		s->host->tasks->is_fed = !p->attach_rc;
	}
	if (p->attach_rc && err)
		*err = p->attach_err;
	return p->attach_rc;
}

bool perf_source_is_on(const struct perf_source *s)
{
	return s->private->was_attached && !s->private->attach_rc;
}

size_t perf_source_fds(struct perf_source *s, int *fds, size_t room)
{
	size_t n = 0;
	for (; n < s->private->ring_count && n < room; n++)
		fds[n] = s->private->rings[n]->fd;
	return n;
}

const struct space *perf_source_space(struct perf_source *s, struct task *process)
{
	if (!process->space && process->end_ns == STORE_NULL)
		process->space = space_read(&s->modules, process->pid);
	if (!process->space)
		process->space = space_new(); /* it is gone: do not ask again */
	return process->space;
}

/* What each kind of record means. */

static void take_comm(struct perf_source *s, const struct perf_record *r)
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
			process->start_ns = process->on_ns = r->ts_ns; /* the command: until here it was ours */
		space_drop(process->space);
		process->space = space_new();
		process->exe = STORE_NULL;
	}
}

static void take_mmap(struct perf_source *s, const struct perf_record *r)
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
		process->exe = store_strings_of(&s->host->sink->strings, m.path); /* an exec maps the program first */
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
 * Context switches say exactly how long each thread ran, if none was lost. What the kernel counts for a thread
 * is not always its own: threads that take turns on a CPU may be given each other's events.
 */
static bool has_run_time(const struct perf_source *s, const struct task *k)
{
	return (s->wants.has_switches || s->wants.has_run_times) && s->lost == k->lost_before;
}

static void note_losses(const struct perf_source *s, struct task *k)
{
	if (k)
		k->lost_before = s->lost;
}

static void take_task(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	int32_t pid = (int32_t)cursor_u32(&c), ppid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	if (c.is_bad)
		return;
	if (r->type == PERF_RECORD_FORK) {
		tasks_fork(s->host->tasks, pid, tid, ppid, r->ts_ns);
		note_losses(s, tasks_find(s->host->tasks, tid));
		return;
	}
	tasks_exit(s->host->tasks, pid, tid, r->ts_ns);
	struct task *k = tasks_find(s->host->tasks, tid);
	if (k && has_run_time(s, k) && k->on_ns != STORE_NULL && (k->start_ns != STORE_NULL || k->is_kept)) {
		k->run_ns = task_ran_until(k, r->ts_ns); /* whoever ends does so on a CPU */
		k->is_timed = true;
	}
}

static const struct perf_opened *opened_of(const struct perf_source *s, uint64_t id)
{
	const uint64_t *at = map_get_int(&s->private->by_id, id);
	return at ? &s->private->opened[*at - 1] : NULL;
}

/* An inherited event at its thread's end: value and time it was counting, which is the time that the thread ran. */
static void take_read(struct perf_source *s, const struct perf_record *r)
{
	struct cursor c = { .at = r->body, .end = r->body + r->bytes };
	const struct perf_opened *o = opened_of(s, r->id);
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

/* Of a thread that was forked, or went elsewhere: pairs of a device and a number, that of the PIDs the fourth. */
static void take_namespaces(struct perf_source *s, const struct perf_record *r)
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

static void take_lost(struct perf_source *s, const struct perf_record *r)
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
		tasks_execute(s->host->tasks, k,
				r->ts_ns); /* that it began to be the program may be among what was lost */
	}
	return k && k->side != TASK_PROGRAM;
}

static void take_switch(struct perf_source *s, const struct perf_record *r)
{
	if (r->tid > 0)
		tasks_switch(s->host->tasks, r->pid, r->tid, r->misc & PERF_RECORD_MISC_SWITCH_OUT, r->ts_ns);
	if (s->wants.on_switch && !is_engine(s, r))
		s->wants.on_switch(s->wants.sched, r);
}

static void take_throttle(struct perf_source *s, const struct perf_record *r)
{
	(void)r;
	s->private->throttled++;
}

static void take_point(struct perf_source *s, const struct perf_record *r, bool is_wakeup)
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

static void take_wanted(struct perf_source *s, const struct perf_record *r, unsigned i)
{
	const struct perf_point *p = s->wants.points[i];
	size_t bytes;
	const uint8_t *raw = decode_raw(r, &bytes);
	if (raw && p->on_point)
		p->on_point(p->state, p, r, raw, bytes);
}

static void take_sample(struct perf_source *s, const struct perf_record *r)
{
	struct perf_sample sample;
	const struct perf_opened *o = opened_of(s, r->id);
	if (!o || (o->role != ROLE_WAKE && o->role != ROLE_POINT && is_engine(s, r)))
		return;
	if (o->role == ROLE_POINT) {
		take_wanted(s, r, o->event);
	} else if (o->role == ROLE_SWITCH || o->role == ROLE_WAKE) {
		take_point(s, r, o->role == ROLE_WAKE);
	} else if (o->role == ROLE_SAMPLE && s->wants.on_sample && decode_sample(r, s->private->sample_type, &sample)) {
		sample.event = o->event;
		s->wants.on_sample(s->wants.cpu, &sample);
	} else if (o->role == ROLE_WAIT && s->wants.on_wait && decode_sample(r, s->private->sample_type, &sample)) {
		s->wants.on_wait(s->wants.sched, &sample);
	}
}

static void (*const takers[])(struct perf_source *, const struct perf_record *) = {
	[PERF_RECORD_LOST] = take_lost,
	[PERF_RECORD_COMM] = take_comm,
	[PERF_RECORD_EXIT] = take_task,
	[PERF_RECORD_THROTTLE] = take_throttle,
	[PERF_RECORD_FORK] = take_task,
	[PERF_RECORD_READ] = take_read,
	[PERF_RECORD_SAMPLE] = take_sample,
	[PERF_RECORD_MMAP2] = take_mmap,
	[PERF_RECORD_LOST_SAMPLES] = take_lost,
	[PERF_RECORD_SWITCH] = take_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = take_switch,
	[PERF_RECORD_NAMESPACES] = take_namespaces,
};

/* The rings, merged. */

static void look_next(struct perf_source *s, size_t i)
{
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(s->private->rings[i], &is_bad);
	s->lost += is_bad;
	s->private->next_ns[i] = h ? decode_time(h) : INT64_MAX;
}

static bool take_next(struct perf_source *s, size_t i)
{
	struct ring *ring = s->private->rings[i];
	struct perf_record r;
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(ring, &is_bad);
	if (!h)
		return false;
	if (h->type < sizeof(takers) / sizeof(*takers) && takers[h->type] && decode_record(h, &r))
		takers[h->type](s, &r);
	ring_next(ring, h);
	look_next(s, i);
	return true;
}

static size_t earliest(const struct perf_source_private *p)
{
	size_t first = 0;
	for (size_t i = 1; i < p->ring_count; i++)
		if (p->next_ns[i] < p->next_ns[first])
			first = i;
	return first;
}

/* A ring that fills up cannot wait for the others. */
static bool is_pressed(const struct perf_source_private *p)
{
	for (size_t i = 0; i < p->ring_count; i++)
		if (p->rings[i]->head - p->rings[i]->tail > p->rings[i]->bytes / 4 * 3)
			return true;
	return false;
}

/* New samples that have been seen, until the switches of all rings are known. */
struct looks {
	struct perf_record records[LOOKS_MAX];
	size_t count;
};

static void show_looks(struct perf_source *s, struct looks *l)
{
	for (size_t i = 0; i < l->count; i++)
		s->wants.on_look(s->wants.python, &l->records[i]);
	l->count = 0;
}

/* Show what is new to who cannot wait for its turn: switches at once, samples after them. */
static void look_ahead(struct perf_source *s, struct ring *ring, struct looks *l)
{
	struct {
		struct perf_event_header head;
		uint8_t body[DECODE_SAMPLE_BYTES];
	} bytes;
	struct perf_event_header h;
	while (ring_look_ahead(ring, &bytes, sizeof(bytes), &h)) {
		struct perf_record r;
		if (h.type == PERF_RECORD_SWITCH && h.size <= sizeof(bytes) && decode_record(&bytes.head, &r))
			s->wants.on_look_switch(s->wants.python, &r);
		if (h.type != PERF_RECORD_SAMPLE || h.size < sizeof(bytes))
			continue;
		bytes.head.size = sizeof(bytes);
		const struct perf_opened *o = decode_record(&bytes.head, &r) ? opened_of(s, r.id) : NULL;
		if (!o || (o->role != ROLE_SAMPLE && o->role != ROLE_WAIT))
			continue;
		if (l->count == LOOKS_MAX)
			show_looks(s, l);
		l->records[l->count] = r;
		l->records[l->count++].body = NULL;
	}
}

uint64_t perf_source_pass(struct perf_source *s, int64_t now_ns, bool is_last)
{
	struct perf_source_private *p = s->private;
	uint64_t taken = 0;
	if (!perf_source_is_on(s) || !p->ring_count || (p->passed_ns == now_ns && !is_last))
		return 0;
	p->passed_ns = now_ns;
	struct looks looks;
	looks.count = 0;
	for (size_t i = 0; i < p->ring_count; i++)
		ring_look(p->rings[i]);
	for (size_t i = 0; i < p->ring_count; i++) {
		if (s->wants.on_look)
			look_ahead(s, p->rings[i], &looks);
		look_next(s, i);
	}
	if (s->wants.on_look)
		show_looks(s, &looks);
	int64_t until_ns = is_last || is_pressed(p) ? INT64_MAX - 1 : now_ns - LATE_NS;
	for (size_t i = earliest(p); p->next_ns[i] <= until_ns; i = earliest(p), taken++) {
		if (!take_next(s, i))
			break;
		if ((taken & 63) == 63)
			ring_give_back(p->rings[i]);
	}
	for (size_t i = 0; i < p->ring_count; i++)
		ring_give_back(p->rings[i]);
	if (now_ns - p->emitted_ns > EMIT_INTERVAL_NS) {
		tasks_emit_ended(s->host->tasks, now_ns - EMIT_INTERVAL_NS);
		p->emitted_ns = now_ns;
	}
	if (is_last && !p->has_read_roots) {
		p->has_read_roots = true;
		perf_read_roots(s);
		stacks_name(&s->stacks);
	}
	return taken;
}
