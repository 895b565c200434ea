#include "record/run-json.h"

#include "base/json.h"
#include "calls/calls-hash.h"

#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SONDE_VERSION
#define SONDE_VERSION "unknown"
#endif

static void write_host(struct json *j)
{
	struct utsname u = { 0 };
	uname(&u);
	json_key(j, "host");
	json_object(j);
	json_kstr(j, "name", u.nodename);
	json_kstr(j, "kernel", u.release);
	json_kstr(j, "machine", u.machine);
	json_kint(j, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	json_kint(j, "memory_bytes", (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
	json_end(j);
}

static void write_clock(struct json *j, const struct run_facts *f)
{
	bool is_tsc = f->drain && f->drain->ring->control->clock == SONDE_CLOCK_TICKS;
	json_key(j, "clock");
	json_object(j);
	json_kstr(j, "id", "CLOCK_MONOTONIC");
	json_kstr(j, "source", is_tsc ? "tsc" : "clock_gettime");
	json_kint(j, "start_mono_ns", f->start_mono_ns);
	json_kint(j, "start_real_ns", f->start_real_ns);
	if (is_tsc)
		json_kreal(j, "error_ns", f->drain->line.error_ns);
	json_end(j);
}

static void write_exit(struct json *j, const struct run_facts *f)
{
	json_key(j, "exit");
	if (!f->has_status) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key(j, "code");
	if (WIFEXITED(f->status))
		json_int(j, WEXITSTATUS(f->status));
	else
		json_null(j);
	json_key(j, "signal");
	if (WIFSIGNALED(f->status))
		json_int(j, WTERMSIG(f->status));
	else
		json_null(j);
	if (f->oom_kills > 0)
		json_kint(j, "oom_kills", f->oom_kills);
	if (f->oom_kills > 0 && f->memory_max_bytes)
		json_kuint(j, "memory_max_bytes", f->memory_max_bytes);
	json_end(j);
}

/* Counts are omitted while recording: after a crash they would be stale. */
static void write_probes(struct json *j, const struct run_facts *f)
{
	bool is_over = f->sink != NULL;
	json_key(j, "probes");
	json_array(j);
	json_object(j);
	json_kstr(j, "name", "trace");
	json_kstr(j, "state", f->trace_state);
	if (f->trace_reason)
		json_kstr(j, "reason", f->trace_reason);
	if (f->drain && is_over) {
		const struct drain *d = f->drain;
		json_kuint(j, "processes", d->process_count);
		json_kuint(j, "events", d->events);
		json_kuint(j, "dropped", f->dropped);
		json_kuint(j, "filtered", f->filtered);
		json_kuint(j, "unfinished", d->lost_records);
		json_kuint(j, "damaged", d->broken_chunks + d->broken_records);
		json_kuint(j, "blind_processes", f->untraced);
	}
	json_end(j);
	if (f->probes)
		probe_set_write(f->probes, is_over, j);
	json_end(j);
}

static int64_t ns_of(const struct timeval *t)
{
	return (int64_t)t->tv_sec * 1000000000 + (int64_t)t->tv_usec * 1000;
}

/* A negative value is unknown. */
static void write_known(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	if (value < 0)
		json_null(j);
	else
		json_int(j, value);
}

static void write_usage(struct json *j, const struct rusage *u)
{
	json_key(j, "usage");
	json_object(j);
	json_kint(j, "user_ns", ns_of(&u->ru_utime));
	json_kint(j, "system_ns", ns_of(&u->ru_stime));
	write_known(j, "max_rss_bytes", u->ru_maxrss < 0 ? -1 : u->ru_maxrss * 1024);
	write_known(j, "minor_faults", u->ru_minflt);
	write_known(j, "major_faults", u->ru_majflt);
	write_known(j, "voluntary_switches", u->ru_nvcsw);
	write_known(j, "involuntary_switches", u->ru_nivcsw);
	write_known(j, "read_blocks", u->ru_inblock);
	write_known(j, "write_blocks", u->ru_oublock);
	json_end(j);
}

static void write_filters(struct json *j, const struct run_filters *f)
{
	const struct {
		const char *of;
		const char *const *all;
	} kinds[] = { { "cpu", f->cpu }, { "gpu", f->gpu } };
	json_key(j, "filters");
	json_object(j);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!kinds[i].all || !kinds[i].all[0])
			continue;
		json_key(j, kinds[i].of);
		json_array(j);
		for (const char *const *one = kinds[i].all; *one; one++) {
			const char *colon = strrchr(*one, ':');
			size_t bytes = colon ? (size_t)(colon - *one) : strlen(*one);
			json_object(j);
			json_key(j, "keyword");
			json_strn(j, *one, bytes);
			json_kstr(j, "colour", colon ? colon + 1 : NULL);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
}

void runjson_write(struct buf *out, const struct run_facts *f)
{
	struct json j;
	char cwd[4096];
	const struct store_run_head head = { .version = SONDE_VERSION,
		.calls_hash = CALLS_HASH_TEXT,
		.state = f->state,
		.name = f->name,
		.argv = f->argv };
	store_run_json_start(&j, out, &head);
	json_kstr(&j, "cwd", f->argv && getcwd(cwd, sizeof(cwd)) ? cwd : NULL); /* the command inherits ours */
	write_host(&j);
	write_clock(&j, f);
	if (f->end_mono_ns != STORE_NULL)
		json_kint(&j, "wall_ns", f->end_mono_ns - f->start_mono_ns);
	write_exit(&j, f);
	if (f->observed) {
		const struct probe_target *t = f->observed;
		json_key(&j, "observed");
		json_object(&j);
		if (t->kind == PROBE_PID)
			json_kint(&j, "pid", t->pid);
		else if (t->kind == PROBE_CGROUP)
			json_kstr(&j, "cgroup", t->cgroup);
		else
			json_kbool(&j, "all_cpus", true);
		json_end(&j);
	}
	if (f->filters)
		write_filters(&j, f->filters);
	if (f->usage)
		write_usage(&j, f->usage);
	if (f->cpu_ns != STORE_NULL)
		json_kint(&j, "recorder_cpu_ns", f->cpu_ns);
	write_probes(&j, f);
	if (f->sink) {
		store_run_json_tables(&j, f->sink, NULL, store_sink_lost(f->sink));
		if (f->sink->err.text[0])
			json_kstr(&j, "trouble", f->sink->err.text);
	}
	if (f->ring) {
		json_kstr(&j, "ring_id", f->ring_id);
		json_kstr(&j, "ring", f->ring);
	}
	json_end(&j);
	buf_addc(out, '\n');
}
