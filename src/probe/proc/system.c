/*
 * The system probe: samples CPUs, memory, disks, interfaces, pressure, cgroups and
 * each process of the tree several times a second, from files that stay open.
 *
 * The exact CPU time of processes too short to be sampled comes from the perf
 * source: each thread's event reports its run time when it exits (the table task).
 * That works for every user; taskstats would need CAP_NET_ADMIN, and rusage covers
 * only children that were waited for. The source also reports which processes exist; without it we follow
 * /proc/PID/task/PID/children and may miss a process that lives shorter than the sampling interval.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/procfs.h"
#include "base/vec.h"
#include "probe/perf/source.h"
#include "probe/probe.h"
#include "probe/proc/energy.h"
#include "probe/proc/series.h"
#include "probe/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define READ_AT_ONCE 32 /* processes per reading; if there are more they take turns */
#define PROCESSES_MAX 65536
#define THREADS_MAX 1024
#define DELAYS_INTERVAL_NS 100000000
#define DELAYS_INTERVAL_OF_ONE_NS 2000000
/* The rows of scope PROCESS are the last of series.def, from this file on. */
#define FIRST_FILE SERIES_FILE_PROCESS_CLOCK
#define FILE_COUNT (SERIES_FILES - FIRST_FILE)
#define COUNTERS_MAX 16
#define READERS_MAX 32

struct processes;

/*
 * Time that the threads of a process were runnable, which the kernel reports per thread. They are read at most ten
 * times a second, and less often if there are many, so that the recorder spends at most 1/300 of a CPU on it.
 */
struct delays {
	struct delay {
		int32_t tid;
		uint64_t ns;
	} * threads; /* alive at the last reading */
	size_t count;
	uint64_t gone_ns; /* sum of the exited threads */
	int64_t due_ns;
};

struct process {
	int32_t pid;
	int fds[FILE_COUNT];  /* -1: it has no such file, or we may not read it */
	struct delays delays; /* if it has or had several threads */
	int64_t thread_count;
	struct counter counters[COUNTERS_MAX];
};

struct processes {
	struct process *all;
	size_t count, cap, turn;
	uint64_t version;
	struct map known; /* pid -> index + 1, 0 when gone */
	struct {
		const struct series_row *first;
		size_t count;
	} rows[FILE_COUNT];
};

/* "run delay slices" */
static bool read_delay(int dirfd, const char *tid, uint64_t *ns)
{
	char path[32], text[128];
	snprintf(path, sizeof(path), "%.16s/schedstat", tid);
	return proc_read(dirfd, path, text, sizeof(text)) > 0 && proc_number(text, NULL, 1, ns);
}

/* Sums the entries of `before` that are missing in `now`. */
static uint64_t sum_of_gone(const struct delays *before, const struct delay *now, size_t count)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < before->count; i++) {
		size_t k = 0;
		while (k < count && now[k].tid != before->threads[i].tid)
			k++;
		sum_ns += k == count ? before->threads[i].ns : 0;
	}
	return sum_ns;
}

/* Returns false if a reading is not due yet, or if there are too many threads. */
static bool delays_read(struct delays *d, int32_t pid, int64_t now_ns, uint64_t *sum_ns)
{
	char path[32];
	size_t count = 0, cap = 0;
	struct delay *now = NULL;
	if (now_ns < d->due_ns)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	CLEANUP(cleanup_dir) DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir)) && VEC_GROW(now, cap, count + 1, THREADS_MAX);) {
		now[count].tid = (int32_t)strtol(e->d_name, NULL, 10);
		count += now[count].tid > 0 && read_delay(dirfd(dir), e->d_name, &now[count].ns);
	}
	d->gone_ns += count ? sum_of_gone(d, now, count) : 0;
	d->due_ns = now_ns + DELAYS_INTERVAL_NS + (int64_t)count * DELAYS_INTERVAL_OF_ONE_NS;
	if (!count || count == THREADS_MAX) { /* a sum over some of them would be wrong */
		free(now);
		return false;
	}
	free(d->threads);
	d->threads = now;
	d->count = count;
	*sum_ns = d->gone_ns;
	for (size_t i = 0; i < count; i++)
		*sum_ns += now[i].ns;
	return true;
}

static struct processes *processes_new(void)
{
	struct processes *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->version = UINT64_MAX;
	for (size_t i = 0; i < FILE_COUNT; i++)
		p->rows[i].first = series_of_file(FIRST_FILE + i, &p->rows[i].count);
	return p;
}

static int open_of(int32_t pid, const char *file)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct counter *counter_of(const struct processes *p, struct process *one, const struct series_row *s)
{
	return &one->counters[s - p->rows[0].first];
}

static void add(struct processes *p, struct counters *c, const struct task *k)
{
	uint64_t *at = map_put_int(&p->known, (uint64_t)(uint32_t)k->pid, NULL);
	if (!at || *at || !VEC_GROW(p->all, p->cap, p->count + 1, PROCESSES_MAX))
		return;
	struct process one = { .pid = k->pid };
	for (size_t i = 0; i < FILE_COUNT; i++)
		one.fds[i] = *series_files[FIRST_FILE + i].path ? open_of(k->pid, series_files[FIRST_FILE + i].path)
								: -1;
	if (one.fds[SERIES_FILE_PROCESS_STAT - FIRST_FILE] < 0)
		return; /* already exited: its exact CPU time comes with the exit record */
	/* A process that starts during the run counts from zero, an older one from its first reading. */
	bool is_new = k->start_ns != STORE_NULL && !k->before_ns;
	for (const struct series_row *s = p->rows[0].first; s < series_rows + series_count; s++) {
		char name[64];
		snprintf(name, sizeof(name), "%s.%s", series_files[s->file].prefix, s->name);
		counter_init(c, counter_of(p, &one, s), name, s->unit, s->is_total, one.pid);
		counter_of(p, &one, s)->has_base = is_new;
	}
	if (k->start_ns != STORE_NULL && k->before_ns) { /* until then it was part of the container engine */
		one.counters[0].has_base = true;
		one.counters[0].base = (double)k->before_ns;
	}
	p->all[p->count++] = one;
	*at = 1;
}

static void drop(struct processes *p, struct counters *c, size_t i)
{
	struct process *one = &p->all[i];
	uint64_t *at = map_get_int(&p->known, (uint64_t)(uint32_t)one->pid);
	for (unsigned k = 0; k < COUNTERS_MAX; k++)
		counter_finish(c, &one->counters[k]);
	for (size_t k = 0; k < FILE_COUNT; k++)
		if (one->fds[k] >= 0)
			close(one->fds[k]);
	free(one->delays.threads);
	if (at)
		*at = 0;
	p->all[i] = p->all[--p->count];
}

/* NULL is fine */
static void processes_free(struct processes *p, struct counters *c)
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
		char *end = series_text(fd, room) ? room->data : NULL;
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

/* Reads the rows of a file from its text; false if the process has exited. */
static bool read_rows(const struct processes *p, struct process *one, struct counters *c, size_t file, const char *text)
{
	struct proc_stat stat;
	bool is_stat = series_files[FIRST_FILE + file].format == SERIES_STAT;
	const struct series_row *s = p->rows[file].first;
	if (is_stat && (!proc_stat_parse(&stat, text) || proc_has_exited(&stat)))
		return false;
	for (size_t i = 0; i < p->rows[file].count; i++, s++) {
		double value = is_stat ? (double)stat.fields[s->column] * series_scale(s) : series_value(s, text);
		if (!isnan(value))
			counter_set(c, counter_of(p, one, s), value);
	}
	if (is_stat)
		one->thread_count = stat.fields[PROC_THREADS];
	return true;
}

static bool read_one(const struct processes *p, struct process *one, struct counters *c, struct buf *room)
{
	uint64_t sum_ns;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		/* The file of the process is that of its first thread: if there are several, sum over theirs. */
		if (i == SERIES_FILE_PROCESS_SCHEDSTAT - FIRST_FILE && (one->thread_count > 1 || one->delays.count)) {
			if (delays_read(&one->delays, one->pid, c->now_ns, &sum_ns))
				counter_set(c, counter_of(p, one, p->rows[i].first), (double)sum_ns);
		} else if (one->fds[i] >= 0 && series_text(one->fds[i], room)) {
			if (!read_rows(p, one, c, i, room->data))
				return false;
		} else if (i == SERIES_FILE_PROCESS_STAT - FIRST_FILE) {
			return false;
		}
	}
	/* The exact CPU time. */
	struct timespec t;
	clockid_t clock = (clockid_t)(~(unsigned)one->pid << 3 | 2); /* same encoding as clock_getcpuclockid */
	if (!clock_gettime(clock, &t))
		counter_set(c, &one->counters[0], (double)t.tv_sec * 1e9 + (double)t.tv_nsec);
	return true;
}

static void processes_read(struct processes *p, struct tasks *tasks, struct counters *c, struct buf *room)
{
	if (!tasks->is_fed)
		follow_children(tasks, room, c->now_ns);
	/* Processes have started or exited since the last reading. */
	if (p->version != tasks->version) {
		p->version = tasks->version;
		for (size_t i = 0; i < tasks->count; i++)
			if (tasks->all[i]->pid == tasks->all[i]->tid && tasks->all[i]->end_ns == STORE_NULL &&
					tasks->all[i]->side == TASK_PROGRAM)
				add(p, c, tasks->all[i]);
	}
	size_t turns = p->count < READ_AT_ONCE ? p->count : READ_AT_ONCE;
	for (size_t i = 0; i < turns && p->count; i++) {
		p->turn = (p->turn + 1) % p->count;
		if (read_one(p, &p->all[p->turn], c, room))
			continue;
		/* Without exit records, this is how its end is known. */
		int32_t pid = p->all[p->turn].pid;
		struct task *k = tasks_find(tasks, pid);
		if (k && !tasks->is_fed && k->end_ns == STORE_NULL)
			tasks_exit(tasks, pid, pid, c->now_ns);
		drop(p, c, p->turn);
	}
}

/* The probe. */

const struct probe_ops probe_system;

struct system {
	struct probe_host *host;
	struct counters counters;
	struct series_reader readers[READERS_MAX];
	size_t reader_count;
	struct processes *processes;
	struct energy energy;
	struct sonde_err no_energy; /* why energy is unavailable; "" if it is available */
	struct buf room;
	bool has_container; /* the start of the program's container was seen */
	int64_t interval_ns, due_ns;
	uint64_t readings;
};

static int open_system(struct probe_host *host, void **state, struct sonde_err *err)
{
	struct system *s = calloc(1, sizeof(*s));
	if (!s || !(s->processes = processes_new())) {
		free(s);
		return err_sys(err, ENOMEM, "cannot read counters");
	}
	buf_init(&s->room, (size_t)8 << 20);
	s->host = host;
	s->counters.sink = host->sink;
	s->interval_ns = 1000000000 / (host->options.rate_hz ? host->options.rate_hz : 10);
	*state = s;
	/* The perf source reports forks and exact CPU times, even if cpu and sched are off. */
	perf_source_get(host);
	return 0;
}

static uint64_t read_all(struct system *s, int64_t now_ns)
{
	bool has_text = false;
	uint64_t before = s->counters.rows;
	s->counters.now_ns = now_ns;
	for (size_t i = 0; i < s->reader_count; i++) {
		/* Two readers of /proc/stat share its text: of all these files it costs the kernel most. */
		bool is_same = i && s->readers[i].file == SERIES_FILE_SCHED &&
				s->readers[i - 1].file == SERIES_FILE_CPU;
		has_text = is_same ? has_text : series_text(s->readers[i].fd, &s->room);
		if (has_text)
			series_parse(&s->readers[i], &s->counters, &s->room);
	}
	energy_read(&s->energy, &s->counters);
	processes_read(s->processes, s->host->tasks, &s->counters, &s->room);
	s->readings++;
	return s->counters.rows - before;
}

static void open_groups(struct system *s, pid_t pid)
{
	const struct probe_target *t = &s->host->target;
	s->reader_count += series_open_cgroups(s->readers + s->reader_count, READERS_MAX - s->reader_count, pid,
			t->kind == PROBE_CGROUP ? t->cgroup : NULL);
}

static int attach_system(void *state, struct sonde_err *err)
{
	struct system *s = state;
	const struct probe_target *t = &s->host->target;
	struct sonde_err why = SONDE_ERR_INIT;
	(void)err;
	bool is_second = s->host->options.is_second;
	for (enum series_file_id i = 0; !is_second && i < SERIES_FILES && s->reader_count < READERS_MAX; i++)
		if (series_files[i].scope == SERIES_MACHINE)
			s->reader_count += series_open(&s->readers[s->reader_count], i, NULL);
	if (!is_second)
		energy_open(&s->energy, ENERGY_DIR, &s->no_energy);
	if (t->kind != PROBE_MACHINE && !s->host->options.has_engine)
		open_groups(s, t->pid);
	if (s->host->perf && perf_source_attach(s->host->perf, &why)) {
		err_prefix(&why, "processes that live shorter than %g s may be missed", (double)s->interval_ns / 1e9);
		probe_remark(s->host, &probe_system, &why);
		if (t->kind == PROBE_COMMAND || t->kind == PROBE_PID)
			tasks_process(s->host->tasks, t->pid);
	}
	int64_t now_ns = clock_mono_ns();
	read_all(s, now_ns);
	s->due_ns = now_ns + s->interval_ns;
	return 0;
}

static int64_t due_system(void *state)
{
	const struct system *s = state;
	return s->due_ns;
}

static uint64_t pass_system(void *state, int64_t now_ns)
{
	struct system *s = state;
	if (s->host->perf)
		perf_source_pass(s->host->perf, now_ns, false);
	/* The first process of the container executes the program: its cgroups are known now, and its counts start. */
	int32_t pid = s->host->tasks->container;
	if (pid && !s->has_container) {
		s->has_container = true;
		open_groups(s, pid);
		s->due_ns = now_ns;
	}
	if (now_ns < s->due_ns)
		return 0;
	s->due_ns += s->interval_ns;
	if (s->due_ns <= now_ns)
		s->due_ns = now_ns + s->interval_ns; /* late: skipped readings are not made up */
	return read_all(s, now_ns);
}

static void finish_system(void *state, int64_t now_ns)
{
	struct system *s = state;
	if (s->host->perf)
		perf_source_pass(s->host->perf, now_ns, true);
	read_all(s, now_ns);
	processes_free(s->processes, &s->counters);
	s->processes = NULL;
	for (size_t i = 0; i < s->reader_count; i++)
		series_close(&s->readers[i], &s->counters);
	s->reader_count = 0;
	energy_close(&s->energy, &s->counters);
	probe_count(s->host, &probe_system, s->counters.rows, 0);
}

static void report_system(void *state, struct json *j)
{
	const struct system *s = state;
	json_kint(j, "rate_hz", 1000000000 / s->interval_ns);
	json_kuint(j, "readings", s->readings);
	if (s->no_energy.text[0])
		json_kstr(j, "no_energy", s->no_energy.text);
}

static void free_system(void *state)
{
	struct system *s = state;
	processes_free(s->processes, &s->counters);
	for (size_t i = 0; i < s->reader_count; i++)
		series_close(&s->readers[i], &s->counters);
	energy_close(&s->energy, &s->counters);
	counters_release(&s->counters);
	buf_release(&s->room);
	free(s);
}

const struct probe_ops probe_system = {
	.name = "system",
	.doc = "counters of the machine, its control groups and each process",
	.open = open_system,
	.attach = attach_system,
	.due_ns = due_system,
	.pass = pass_system,
	.finish = finish_system,
	.report = report_system,
	.free = free_system,
};
