/* Merges the records of all rings in time order; see source.h. They are processed in records.c. */
#include "probe/perf/source.h"

#include "probe/perf/cursor.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/perf-ring.h"
#include "probe/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LATE_NS 2000000 /* older records have reached their ring */
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
		process->space = space_new(); /* it has exited: do not try again */
	return process->space;
}

/* CPU time of threads for which no record reports it. */

int64_t perf_ran_ns(const struct task *k)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", k->pid, k->tid);
	return perf_number_in(path, STORE_NULL);
}

/* Threads still alive have no exit record; their time is in /proc. */
static int64_t read_living(struct perf_source *s)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < s->host->tasks->count; i++) {
		struct task *k = s->host->tasks->all[i];
		if (k->run_ns != STORE_NULL || k->end_ns != STORE_NULL || (k->start_ns == STORE_NULL && !k->before_ns))
			continue;
		k->run_ns = perf_ran_ns(k);
		if (k->run_ns != STORE_NULL)
			sum_ns += k->run_ns -= k->before_ns;
	}
	return sum_ns;
}

/* Returns the one exited thread without a reported CPU time; NULL if there are several. */
static struct task *find_silent(struct perf_source *s)
{
	struct task *found = NULL;
	for (size_t i = 0; i < s->host->tasks->count; i++) {
		struct task *k = s->host->tasks->all[i];
		if (k->run_ns == STORE_NULL && k->end_ns != STORE_NULL) {
			if (found)
				return NULL;
			found = k;
		}
	}
	return found;
}

/*
 * When threads with equal events alternate on a CPU, the kernel swaps their events
 * instead of disabling and enabling them. So the event that we opened may end up with
 * any thread of the tree, and that thread's exit has no record: only inherited events
 * report. The total is known, though, and that thread used the rest of it.
 */
static void read_roots(struct perf_source *s)
{
	struct perf_source_private *p = s->private;
	bool has_inherit = s->host->target.kind == PROBE_COMMAND || s->host->target.kind == PROBE_PID;
	int64_t rest_ns = 0;
	uint64_t lost = 0;
	for (size_t i = 0; i < p->opened_count; i++) {
		uint64_t values[3] = { 0 }; /* count, time, losses */
		if (read(p->opened[i].fd, values, sizeof(values)) < 16)
			continue;
		rest_ns += has_inherit && p->opened[i].is_leader ? (int64_t)values[1] : 0;
		lost += values[2];
	}
	if (lost > s->lost)
		s->lost = lost; /* a ring that was full to the end has no LOST record */
	for (size_t i = 0; i < p->root_count; i++)
		rest_ns -= p->roots[i].children_ns;
	if (has_inherit)
		rest_ns -= read_living(s);
	struct task *silent = has_inherit ? find_silent(s) : NULL;
	if (silent && rest_ns >= 0)
		silent->run_ns = rest_ns;
}

/* The rings, merged. */

static void peek_next(struct perf_source *s, size_t i)
{
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(s->private->rings[i], &is_bad);
	s->lost += is_bad;
	s->private->next_ns[i] = h ? decode_time(h) : INT64_MAX;
}

static bool consume_next(struct perf_source *s, size_t i)
{
	struct ring *ring = s->private->rings[i];
	struct perf_record r;
	bool is_bad = false;
	const struct perf_event_header *h = ring_peek(ring, &is_bad);
	if (!h)
		return false;
	if (decode_record(h, &r))
		perf_consume(s, &r);
	ring_next(ring, h);
	peek_next(s, i);
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

/* A ring that is almost full cannot wait for the others. */
static bool is_pressed(const struct perf_source_private *p)
{
	for (size_t i = 0; i < p->ring_count; i++)
		if (p->rings[i]->head - p->rings[i]->tail > p->rings[i]->bytes / 4 * 3)
			return true;
	return false;
}

/* New samples, kept until the switches of all rings have been seen. */
struct looks {
	struct perf_record records[LOOKS_MAX];
	size_t count;
};

static void show_samples(struct perf_source *s, struct looks *l)
{
	for (size_t i = 0; i < l->count; i++)
		s->wants.on_look(s->wants.python, &l->records[i]);
	l->count = 0;
}

/* Reports new records before their turn: switches at once, samples after them. */
static void peek_ahead(struct perf_source *s, struct ring *ring, struct looks *l)
{
	struct {
		struct perf_event_header head;
		uint8_t body[DECODE_SAMPLE_BYTES];
	} bytes;
	struct perf_event_header h;
	while (ring_peek_ahead(ring, &bytes, sizeof(bytes), &h)) {
		struct perf_record r;
		if (h.type == PERF_RECORD_SWITCH && h.size <= sizeof(bytes) && decode_record(&bytes.head, &r))
			s->wants.on_look_switch(s->wants.python, &r);
		if (h.type != PERF_RECORD_SAMPLE || h.size < sizeof(bytes))
			continue;
		bytes.head.size = sizeof(bytes);
		const struct perf_opened *o = decode_record(&bytes.head, &r) ? perf_opened_of(s, r.id) : NULL;
		if (!o || (o->role != ROLE_SAMPLE && o->role != ROLE_WAIT))
			continue;
		if (l->count == LOOKS_MAX)
			show_samples(s, l);
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
		ring_read_head(p->rings[i]);
	for (size_t i = 0; i < p->ring_count; i++) {
		if (s->wants.on_look)
			peek_ahead(s, p->rings[i], &looks);
		peek_next(s, i);
	}
	if (s->wants.on_look)
		show_samples(s, &looks);
	int64_t until_ns = is_last || is_pressed(p) ? INT64_MAX - 1 : now_ns - LATE_NS;
	for (size_t i = earliest(p); p->next_ns[i] <= until_ns; i = earliest(p), taken++) {
		if (!consume_next(s, i))
			break;
		if ((taken & 63) == 63)
			ring_give_back(p->rings[i]);
	}
	for (size_t i = 0; i < p->ring_count; i++)
		ring_give_back(p->rings[i]);
	if (p->has_new_depth) {
		p->has_new_depth = false;
		perf_use_size(s);
	}
	if (now_ns - p->emitted_ns > EMIT_INTERVAL_NS) {
		tasks_emit_ended(s->host->tasks, now_ns - EMIT_INTERVAL_NS);
		p->emitted_ns = now_ns;
	}
	if (is_last && !p->has_read_roots) {
		p->has_read_roots = true;
		read_roots(s);
		stacks_name(&s->stacks);
	}
	return taken;
}
