#include "probe/proc/processes.h"

#include "base/map.h"
#include "probe/proc/delay.h"
#include "probe/proc/procfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_AT_ONCE 32 /* processes per reading; if there are more they take turns */
#define PROCESSES_MAX 65536

enum { CPU, USER, SYSTEM, RSS, THREADS, MINOR, MAJOR, READ, WRITE, CHARS_READ, CHARS_WRITTEN, DELAY, COUNTERS };

static const struct {
	const char *name, *unit;
	bool is_total;
} kinds[COUNTERS] = {
	[CPU] = { "process.cpu_ns", "ns", true },
	[USER] = { "process.user_ns", "ns", true },
	[SYSTEM] = { "process.system_ns", "ns", true },
	[RSS] = { "process.rss_bytes", "bytes", false },
	[THREADS] = { "process.threads", "threads", false },
	[MINOR] = { "process.minor_faults", "faults", true },
	[MAJOR] = { "process.major_faults", "faults", true },
	[READ] = { "process.read_bytes", "bytes", true },
	[WRITE] = { "process.write_bytes", "bytes", true },
	[CHARS_READ] = { "process.read_chars", "bytes", true },
	[CHARS_WRITTEN] = { "process.write_chars", "bytes", true },
	[DELAY] = { "process.run_delay_ns", "ns", true },
};

struct process {
	int32_t pid;
	int stat, io, schedstat;
	struct delays delays; /* if it has or had several threads */
	struct counter counters[COUNTERS];
};

struct processes {
	struct process *all;
	size_t count, cap, turn;
	uint64_t version;
	struct map known; /* pid -> index + 1, 0 when gone */
};

struct processes *processes_new(void)
{
	struct processes *p = calloc(1, sizeof(*p));
	if (p)
		p->version = UINT64_MAX;
	return p;
}

static int open_of(int32_t pid, const char *file)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* A process that starts during the run counts from zero, an older one from its first reading. */
static void name_counters(struct counters *c, struct process *one, bool is_new)
{
	for (unsigned i = 0; i < COUNTERS; i++) {
		counter_init(c, &one->counters[i], kinds[i].name, kinds[i].unit, kinds[i].is_total, one->pid);
		one->counters[i].has_base = is_new;
	}
}

static void add(struct processes *p, struct counters *c, const struct task *k)
{
	uint64_t *at = map_put_int(&p->known, (uint64_t)(uint32_t)k->pid, NULL);
	if (!at || *at)
		return;
	if (p->count == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 16;
		struct process *more = cap <= PROCESSES_MAX ? realloc(p->all, cap * sizeof(*more)) : NULL;
		if (!more)
			return;
		p->all = more;
		p->cap = cap;
	}
	struct process one = { .pid = k->pid, .stat = open_of(k->pid, "stat") };
	if (one.stat < 0)
		return; /* already exited: its exact CPU time comes with the exit record */
	one.io = open_of(k->pid, "io");
	one.schedstat = open_of(k->pid, "schedstat");
	name_counters(c, &one, k->start_ns != STORE_NULL && !k->before_ns);
	if (k->start_ns != STORE_NULL && k->before_ns) { /* until then it was part of the container engine */
		one.counters[CPU].has_base = true;
		one.counters[CPU].base = (double)k->before_ns;
	}
	p->all[p->count++] = one;
	*at = 1;
}

static void drop(struct processes *p, struct counters *c, size_t i)
{
	struct process *one = &p->all[i];
	uint64_t *at = map_get_int(&p->known, (uint64_t)(uint32_t)one->pid);
	for (unsigned k = 0; k < COUNTERS; k++)
		counter_finish(c, &one->counters[k]);
	close(one->stat);
	if (one->io >= 0)
		close(one->io);
	if (one->schedstat >= 0)
		close(one->schedstat);
	delays_release(&one->delays);
	if (at)
		*at = 0;
	p->all[i] = p->all[--p->count];
}

void processes_free(struct processes *p, struct counters *c)
{
	if (!p)
		return;
	while (p->count)
		drop(p, c, p->count - 1);
	map_release(&p->known);
	free(p->all);
	free(p);
}

/* Without fork records: finds the children of known processes. */
static void follow_children(struct tasks *tasks, struct buf *room, int64_t now_ns)
{
	for (size_t i = 0, known = tasks->count; i < known; i++) {
		struct task *parent = tasks->all[i];
		char path[64];
		tasks_execute(tasks, parent, now_ns);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent->pid, parent->tid);
		int fd = parent->end_ns == STORE_NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		char *end = feed_text(fd, room) ? room->data : NULL;
		close(fd);
		for (char *at = end; at && *at;) {
			int32_t pid = (int32_t)strtol(at, &end, 10);
			if (end == at)
				break;
			at = end;
			if (pid > 0 && !tasks_find(tasks, pid)) {
				struct task *k = tasks_process(tasks, pid);
				if (k)
					k->ppid = tasks->all[i]->pid;
			}
		}
	}
}

static void find_new(struct processes *p, const struct tasks *tasks, struct counters *c)
{
	if (p->version == tasks->version)
		return;
	p->version = tasks->version;
	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->all[i]->pid == tasks->all[i]->tid && tasks->all[i]->end_ns == STORE_NULL &&
				tasks->all[i]->side == TASK_PROGRAM)
			add(p, c, tasks->all[i]);
}

static void take_clock(struct process *one, struct counters *c)
{
	struct timespec t;
	clockid_t clock = (clockid_t)(~(unsigned)one->pid << 3 | 2); /* same encoding as clock_getcpuclockid */
	if (!clock_gettime(clock, &t))
		counter_set(c, &one->counters[CPU], (double)t.tv_sec * 1e9 + (double)t.tv_nsec);
}

/* proc(5): the numbers follow the name, which may contain any byte. */
static bool take_stat(struct process *one, struct counters *c, const char *text)
{
	static const struct {
		unsigned field, counter;
	} wanted[] = { { 10, MINOR }, { 12, MAJOR }, { 14, USER }, { 15, SYSTEM }, { 20, THREADS }, { 24, RSS } };
	const char *at = strrchr(text, ')');
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
	size_t next = 0;
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return false;
	at += 3;
	for (unsigned field = 4; next < sizeof(wanted) / sizeof(*wanted) && *at; field++) {
		char *end;
		double value = (double)strtoll(at, &end, 10);
		if (end == at)
			break;
		at = end;
		if (field != wanted[next].field)
			continue;
		unsigned k = wanted[next++].counter;
		counter_set(c, &one->counters[k], value * (k == RSS ? page : k == USER || k == SYSTEM ? tick : 1));
	}
	return true;
}

static void take_io(struct process *one, struct counters *c, const char *text)
{
	static const struct {
		const char *key;
		unsigned counter;
	} wanted[] = { { "rchar: ", CHARS_READ }, { "wchar: ", CHARS_WRITTEN }, { "\nread_bytes: ", READ },
		{ "\nwrite_bytes: ", WRITE } };
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const char *at = strstr(text, wanted[i].key);
		if (at)
			counter_set(c, &one->counters[wanted[i].counter],
					(double)strtoull(at + strlen(wanted[i].key), NULL, 10));
	}
}

/* For one thread from a file that is kept open, for several the sum over their files. */
static void take_delay(struct process *one, struct counters *c, struct buf *room)
{
	char *end;
	uint64_t sum_ns;
	if (one->counters[THREADS].last > 1 || one->delays.count) {
		if (delays_read(&one->delays, one->pid, c->now_ns, room, &sum_ns))
			counter_set(c, &one->counters[DELAY], (double)sum_ns);
	} else if (one->schedstat >= 0 && feed_text(one->schedstat, room)) {
		strtoull(room->data, &end, 10);
		if (end != room->data)
			counter_set(c, &one->counters[DELAY], (double)strtoull(end, NULL, 10));
	}
}

static bool read_one(struct process *one, struct counters *c, struct buf *room)
{
	if (!feed_text(one->stat, room) || !take_stat(one, c, room->data))
		return false;
	take_clock(one, c);
	if (one->io >= 0 && feed_text(one->io, room))
		take_io(one, c, room->data);
	take_delay(one, c, room);
	return true;
}

static void note_end(struct tasks *tasks, int32_t pid, int64_t now_ns)
{
	struct task *k = tasks_find(tasks, pid);
	if (k && !tasks->is_fed && k->end_ns == STORE_NULL)
		tasks_exit(tasks, pid, pid, now_ns);
}

void processes_read(struct processes *p, struct tasks *tasks, struct counters *c, struct buf *room)
{
	if (!tasks->is_fed)
		follow_children(tasks, room, c->now_ns);
	find_new(p, tasks, c);
	size_t turns = p->count < READ_AT_ONCE ? p->count : READ_AT_ONCE;
	for (size_t i = 0; i < turns && p->count; i++) {
		p->turn = (p->turn + 1) % p->count;
		if (read_one(&p->all[p->turn], c, room))
			continue;
		note_end(tasks, p->all[p->turn].pid, c->now_ns);
		drop(p, c, p->turn);
	}
}
