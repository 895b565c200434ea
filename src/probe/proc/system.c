/*
 * The system probe: samples CPUs, memory, disks, interfaces, pressure, cgroups and
 * each process of the tree several times a second, from files that stay open.
 *
 * The exact CPU time of processes too short to be sampled comes from the perf
 * source: each thread's event reports its run time when it exits (the table task).
 * That works for every user; taskstats would need CAP_NET_ADMIN, and rusage covers
 * only children that were waited for.
 */
#include "base/clock.h"
#include "base/json.h"
#include "probe/perf/source.h"
#include "probe/probe.h"
#include "probe/proc/energy.h"
#include "probe/proc/processes.h"
#include "probe/proc/series.h"
#include "probe/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READERS_MAX 32

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
	uint64_t readings, told;
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
	uint64_t rows = s->counters.rows - s->told;
	s->told = s->counters.rows;
	probe_count(s->host, &probe_system, rows, 0);
	return rows;
}

static void open_groups(struct system *s, pid_t pid)
{
	const struct probe_target *t = &s->host->target;
	s->reader_count += series_open_cgroups(s->readers + s->reader_count, READERS_MAX - s->reader_count, pid,
			t->kind == PROBE_CGROUP ? t->cgroup : NULL);
}

/* The first process of the container executes the program: its cgroups are known now, and its counts start. */
static void meet_container(struct system *s, int64_t now_ns)
{
	int32_t pid = s->host->tasks->container;
	if (!pid || s->has_container)
		return;
	s->has_container = true;
	open_groups(s, pid);
	s->due_ns = now_ns;
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
	meet_container(s, now_ns);
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
	probe_count(s->host, &probe_system, s->counters.rows - s->told, 0);
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
