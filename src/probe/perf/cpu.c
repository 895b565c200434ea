/*
 * The CPU probe: samples threads by cycles or by a clock of their CPU time.
 *
 * Cycles are sampled if there are hardware counters and kernel samples are allowed, else cpu-clock; --events adds or
 * replaces events. A sample always stands for true seconds: a clock's period is time, and for cycles the weight is the
 * time that the thread was on a CPU since its previous sample, from its context switches.
 */
#include "base/json.h"
#include "probe/perf/perf-private.h"
#include "probe/perf/source.h"
#include "probe/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNSAMPLED_PERIODS 10 /* less unsampled time is not reported */

const struct probe_ops probe_cpu;

struct cpu {
	struct probe_host *host;
	struct perf_source *source;
	int64_t event_ids[PROBE_EVENTS_MAX];
	bool is_clock[PROBE_EVENTS_MAX];
	bool has_time; /* samples of the first event stand for the time since the previous one */
	const char *names[PROBE_EVENTS_MAX + 1]; /* of the sampled events; NULL-terminated */
	uint64_t samples, cut;
	int64_t sampled_ns, unsampled_ns, surplus_ns, finished_ns;
};

/* Returns the CPU time that a sample stands for; STORE_NULL: it counts something else. */
static int64_t weight_of(const struct cpu *c, const struct perf_sample *s, struct task *k)
{
	if (c->is_clock[s->event])
		return (int64_t)s->period;
	int64_t ran_ns = c->has_time && s->event == 0 && k ? task_ran_until(k, s->record->ts_ns) : STORE_NULL;
	if (ran_ns == STORE_NULL)
		return STORE_NULL;
	int64_t weight_ns = ran_ns - k->weighed_ns;
	k->weighed_ns = ran_ns;
	return weight_ns;
}

static void on_sample(void *state, const struct perf_sample *s)
{
	struct cpu *c = state;
	const struct perf_record *r = s->record;
	if (r->tid <= 0)
		return; /* idle time belongs to no thread */
	struct task *k = tasks_get(c->host->tasks, r->pid, r->tid);
	bool is_kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL, is_cut = false;
	int64_t weight_ns = weight_of(c, s, k);
	struct store_sample row = { .ts_ns = r->ts_ns,
		.process = probe_process(c->host, r->pid, r->ts_ns),
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
		.event = c->event_ids[s->event],
		.weight_ns = weight_ns,
		.count = (int64_t)s->period,
		.is_kernel = is_kernel,
		.stack = chain_of(c->source, s, is_kernel, &is_cut) };
	store_sink_add(c->host->sink, STORE_TABLE_SAMPLE, &row);
	c->samples++;
	c->cut += is_cut;
	c->sampled_ns += weight_ns == STORE_NULL ? 0 : weight_ns;
	if (k) {
		k->samples++;
		k->sampled_ns += weight_ns == STORE_NULL ? 0 : weight_ns;
	}
}

/*
 * A thread's clock first fires after a full period, so shorter threads are never
 * sampled, and the last partial period of the others is not either. Its length is
 * known exactly: it becomes one row of the event "unsampled" without a stack, so that
 * all weights sum to the CPU time.
 */
static void on_gone(void *state, const struct task *k)
{
	struct cpu *c = state;
	if ((!c->is_clock[0] && !c->has_time) || k->run_ns == STORE_NULL)
		return;
	/* The kernel may swap the events of alternating threads: a sample is one thread's, its time another's. */
	int64_t rest_ns = k->run_ns - k->sampled_ns - c->surplus_ns;
	c->surplus_ns = rest_ns < 0 ? -rest_ns : 0;
	if (rest_ns <= 0)
		return;
	int64_t ts_ns = k->end_ns == STORE_NULL ? c->finished_ns : k->end_ns;
	struct store_sample row = { .ts_ns = ts_ns,
		.process = probe_process(c->host, k->pid, ts_ns),
		.pid = k->pid,
		.tid = k->tid,
		.cpu = STORE_NULL,
		.event = store_strings_of(&c->host->sink->strings, "unsampled"),
		.weight_ns = rest_ns,
		.count = STORE_NULL,
		.is_kernel = STORE_NULL,
		.stack = STORE_NULL };
	store_sink_add(c->host->sink, STORE_TABLE_SAMPLE, &row);
	c->unsampled_ns += row.weight_ns;
}

/* Can it be sampled? Returns 0 or -errno. A virtual machine may have no hardware counters at all. */
static int try_event(const struct perf_event_name *e, bool has_kernel)
{
	struct perf_event_attr a = { .type = e->type,
		.size = sizeof(a),
		.config = e->config,
		.freq = 1,
		.sample_freq = 1,
		.disabled = 1,
		.exclude_kernel = !has_kernel,
		.exclude_hv = !has_kernel };
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static bool can_count(const struct perf_event_name *e)
{
	int rc = try_event(e, false);
	return rc != -ENOENT && rc != -EOPNOTSUPP; /* attach reports other failures */
}

static bool is_of_cycles(const char *name)
{
	return !strcmp(name, "cycles") || !strcmp(name, "ref-cycles");
}

/* Returns the event of that name. Falls back from cycles to the clock: it shows where the time goes, too. */
static const struct perf_event_name *choose(struct probe_host *host, const char *name, struct sonde_err *err)
{
	const struct perf_event_name *e = perf_event_find(name);
	struct sonde_err why = SONDE_ERR_INIT;
	if (!e)
		err_set(err, EINVAL, "unknown event '%s'", name);
	if (!e || can_count(e))
		return e;
	err_set(&why, ENOENT, "this machine cannot count '%s'", name);
	if (is_of_cycles(name)) {
		err_set(&why, ENOENT, "this machine cannot count '%s': cpu-clock was sampled instead", name);
		probe_remark(host, &probe_cpu, &why);
		return perf_event_find("cpu-clock");
	}
	if (err)
		*err = why;
	return NULL;
}

static int choose_all(struct cpu *c, struct probe_host *host, const char *const *names, struct sonde_err *err)
{
	for (unsigned i = 0; i < PROBE_EVENTS_MAX && names[i]; i++) {
		const struct perf_event_name *e = choose(host, names[i], err);
		if (!e)
			return -EINVAL;
		c->names[i] = e->name;
		c->event_ids[i] = store_strings_of(&host->sink->strings, e->name);
		c->is_clock[i] = e->is_clock;
	}
	return 0;
}

static int open_cpu(struct probe_host *host, void **state, struct sonde_err *err)
{
	/*
	 * Without kernel cycles, a sample would include the time of preceding system calls: then cpu-clock is better.
	 */
	const char *const usual[] = { try_event(perf_event_find("cycles"), true) ? "cpu-clock" : "cycles", NULL };
	struct perf_source *source = perf_source_get(host);
	struct cpu *c = source ? calloc(1, sizeof(*c)) : NULL;
	if (!c)
		return err_sys(err, ENOMEM, "cannot sample");
	int rc = choose_all(c, host, host->options.events ? host->options.events : usual, err);
	if (rc) {
		free(c);
		return rc;
	}
	host->options.events = c->names;
	c->has_time = c->names[0] && is_of_cycles(c->names[0]);
	c->host = host;
	c->source = source;
	source->wants.has_samples = true;
	source->wants.has_run_times = c->has_time;
	source->wants.cpu = c;
	source->wants.on_sample = on_sample;
	host->tasks->on_gone = on_gone;
	host->tasks->arg = c;
	*state = c;
	return 0;
}

static int attach_cpu(void *state, struct sonde_err *err)
{
	struct cpu *c = state;
	struct sonde_err why = SONDE_ERR_INIT;
	int rc = perf_source_attach(c->source, err);
	if (rc || c->source->has_kernel)
		return rc;
	c->has_time = false;
	err_set(&why, EACCES, "user code only: the kernel's share is not visible to this user");
	err_hint(&why, PROBE_HINT_SETUP);
	probe_remark(c->host, &probe_cpu, &why);
	return 0;
}

static size_t cpu_fds(void *state, int *fds, size_t room)
{
	struct cpu *c = state;
	return perf_source_fds(c->source, fds, room);
}

static uint64_t pass_cpu(void *state, int64_t now_ns)
{
	struct cpu *c = state;
	return perf_source_pass(c->source, now_ns, false);
}

static void finish_cpu(void *state, int64_t now_ns)
{
	struct cpu *c = state;
	c->finished_ns = now_ns;
	perf_source_pass(c->source, now_ns, true);
	probe_count(c->host, &probe_cpu, c->samples, c->source->lost);
}

/* Explains why a busy program has few or no samples. */
static void conclude_cpu(void *state)
{
	const struct cpu *c = state;
	struct sonde_err why = SONDE_ERR_INIT;
	int64_t all_ns = c->sampled_ns + c->unsampled_ns, periods_ns = UNSAMPLED_PERIODS * 1000000000ll;
	if (c->unsampled_ns <= c->sampled_ns || c->unsampled_ns * c->host->options.freq_hz < periods_ns)
		return;
	err_set(&why, ENODATA, "%.0f %% of the CPU time is of threads that ran too little to be sampled",
			100.0 * (double)c->unsampled_ns / (double)all_ns);
	err_hint(&why, "a higher --freq samples more of them");
	probe_remark(c->host, &probe_cpu, &why);
}

static void report_cpu(void *state, struct json *j)
{
	struct cpu *c = state;
	json_kstr(j, "event", c->names[0]);
	json_kint(j, "freq_hz", c->host->options.freq_hz);
	json_kint(j, "sampled_ns", c->sampled_ns);
	json_kint(j, "unsampled_ns", c->unsampled_ns);
	json_kstr(j, "stacks",
			c->source->stack_bytes                                         ? "eh_frame"
					: c->host->options.stacks == PROBE_STACKS_NONE ? "none"
										       : "frame pointers");
	const struct depth *d = &c->source->private->depth;
	if (d->count)
		json_kuint(j, "stack_bytes", d->bytes[d->on]);
	json_kuint(j, "cut_stacks", c->cut);
	json_kuint(j, "throttled", c->source->private->throttled);
}

static void free_cpu(void *state)
{
	struct cpu *c = state;
	c->source->wants.on_sample = NULL;
	c->host->tasks->on_gone = NULL;
	c->source->wants.has_samples = c->source->wants.has_run_times = false;
	c->host->options.events = NULL; /* they are part of c */
	free(c);
}

const struct probe_ops probe_cpu = {
	.name = "cpu",
	.doc = "where the CPU time goes: samples with user and kernel stacks",
	.open = open_cpu,
	.attach = attach_cpu,
	.fds = cpu_fds,
	.pass = pass_cpu,
	.finish = finish_cpu,
	.conclude = conclude_cpu,
	.report = report_cpu,
	.free = free_cpu,
};
