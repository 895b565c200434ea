/* The table of probes, and the functions that drive them all. See probe.h. */
#include "base/json.h"
#include "probe/probe.h"

#include "base/clock.h"
#include "probe/perf/source.h"
#include "probe/tasks.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define FILES_MIN 512 /* minimum for open files */

/* X(name): its ops are probe_<name>. */
#define PROBES(X) X(cpu) X(sched) X(system) X(python) X(block) X(gpu) X(net) X(syscalls)

#define DECLARE(name) extern const struct probe_ops probe_##name;
#define ROW(name) &probe_##name,
#define NAME(name) #name,

PROBES(DECLARE)
const struct probe_ops *const probe_table[] = { PROBES(ROW) NULL };
const char *const probe_words[] = { "trace", PROBES(NAME) "all", "none", NULL };

const char *const probe_state_words[] = { [PROBE_OFF] = "off", [PROBE_RAN] = "ran", [PROBE_FAILED] = "failed" };

/* Measures only our own cost: the recorder has one thread. */
static int64_t thread_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool probe_is_wanted(const char *const *names, const char *name)
{
	if (!names || !*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name) || !strcmp(*names, "all"))
			return true;
	return false;
}

/* Probes with a higher cost must be enabled explicitly, by name or by option. */
static bool is_switched_on(const char *const *names, const struct probe_ops *ops)
{
	if (!ops->option)
		return probe_is_wanted(names, ops->name);
	for (; names && *names; names++)
		if (!strcmp(*names, ops->name))
			return true;
	return false;
}

/* -ENODEV does not count as a failure. */
static void fail(struct probe_set *s, size_t i, int rc, const struct sonde_err *why)
{
	s->status[i].state = rc == -ENODEV ? PROBE_OFF : PROBE_FAILED;
	s->status[i].why = *why;
	if (s->states[i])
		s->status[i].ops->free(s->states[i]);
	s->states[i] = NULL;
}

/* Probes keep many files open; the store and the command must not run out of descriptors. */
static int check_files(struct sonde_err *err)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max >= FILES_MIN)
		return 0;
	err_set(err, EMFILE, "only %llu files may be open here", (unsigned long long)limit.rlim_max);
	err_hint(err, "ulimit -n %d allows more", FILES_MIN);
	return -EMFILE;
}

void probe_set_open(struct probe_set *s, const char *const *names, const struct probe_options *options,
		struct store_sink *sink)
{
	memset(s, 0, sizeof(*s));
	s->host.options = *options;
	s->host.sink = sink;
	s->host.tasks = tasks_new(&s->host);
	for (size_t i = 0; i < PROBES_MAX && probe_table[i]; i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		s->status[i] = (struct probe_status){ .ops = probe_table[i] };
		s->count = i + 1;
		if (!is_switched_on(names, probe_table[i]))
			continue;
		int rc = s->host.tasks ? check_files(&err) : err_sys(&err, ENOMEM, "cannot start");
		rc = rc ? rc : probe_table[i]->open(&s->host, &s->states[i], &err);
		if (rc)
			fail(s, i, rc, &err);
		else
			s->status[i].state = PROBE_RAN;
	}
}

void probe_set_attach(struct probe_set *s, const struct probe_target *target)
{
	s->host.target = *target;
	/* Only for the recorder: the command has already been forked. */
	struct rlimit limit;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < FILES_MIN) {
		s->old_files = limit.rlim_cur;
		limit.rlim_cur = FILES_MIN;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (size_t i = 0; i < s->count; i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		int64_t from = thread_cpu_ns();
		int rc = s->states[i] && s->status[i].ops->attach ? s->status[i].ops->attach(s->states[i], &err) : 0;
		if (rc)
			fail(s, i, rc, &err);
		s->status[i].cpu_ns += thread_cpu_ns() - from;
	}
}

/* Probes that follow the program. */
static void remark_followers(struct probe_set *s, const struct sonde_err *why)
{
	static const struct probe_ops *const followers[] = { &probe_cpu, &probe_sched, &probe_system };
	for (size_t i = 0; i < sizeof(followers) / sizeof(*followers); i++)
		probe_remark(&s->host, followers[i], why);
}

void probe_set_on_start(struct probe_set *s, pid_t pid)
{
	struct sonde_err why = SONDE_ERR_INIT;
	if (s->host.tasks)
		tasks_on_start(s->host.tasks, pid);
	if (s->host.perf && perf_source_is_on(s->host.perf) && perf_source_on_start(s->host.perf, pid, &why)) {
		err_prefix(&why, "the program in the container");
		remark_followers(s, &why);
	}
}

bool probe_set_is_idle(const struct probe_set *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->states[i])
			return false;
	return true;
}

size_t probe_set_fds(struct probe_set *s, int *fds, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->states[i] && s->status[i].ops->fds)
			n += s->status[i].ops->fds(s->states[i], fds + n, room - n);
	return n;
}

int64_t probe_set_due_ns(struct probe_set *s)
{
	int64_t due = INT64_MAX;
	for (size_t i = 0; i < s->count; i++)
		if (s->states[i] && s->status[i].ops->due_ns) {
			int64_t one = s->status[i].ops->due_ns(s->states[i]);
			due = one < due ? one : due;
		}
	return due;
}

uint64_t probe_set_pass(struct probe_set *s)
{
	uint64_t events = 0;
	int64_t now_ns = clock_mono_ns();
	for (size_t i = 0; i < s->count; i++) {
		if (!s->states[i])
			continue;
		int64_t from = thread_cpu_ns();
		events += s->status[i].ops->pass(s->states[i], now_ns);
		s->status[i].cpu_ns += thread_cpu_ns() - from;
	}
	return events;
}

void probe_set_finish(struct probe_set *s)
{
	int64_t now_ns = clock_mono_ns();
	for (size_t i = 0; i < s->count; i++) {
		int64_t from = thread_cpu_ns();
		if (s->states[i] && s->status[i].ops->finish)
			s->status[i].ops->finish(s->states[i], now_ns);
		s->status[i].cpu_ns += thread_cpu_ns() - from;
	}
	/* A daemon's containers are not descendants of its client, which is all that we can follow. */
	struct sonde_err why = SONDE_ERR_INIT;
	if (s->host.options.has_engine && s->host.tasks && !s->host.tasks->container) {
		err_set(&why, ESRCH,
				"no process of the container was seen: "
				"its engine did not start it as a child of its own");
		err_hint(&why, "sonde record --cgroup observes a container that runs already");
		remark_followers(s, &why);
	}
	if (s->host.tasks)
		tasks_emit(s->host.tasks);
	for (size_t i = 0; i < s->count; i++)
		if (s->states[i] && s->status[i].ops->conclude)
			s->status[i].ops->conclude(s->states[i]);
}

void probe_set_write(struct probe_set *s, bool is_over, struct json *j)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct probe_status *p = &s->status[i];
		json_object(j);
		json_kstr(j, "name", p->ops->name);
		json_kstr(j, "state", probe_state_words[p->state]);
		if (p->why.text[0])
			json_kstr(j, "reason", p->why.text);
		if (p->why.hint[0])
			json_kstr(j, "hint", p->why.hint);
		if (p->state == PROBE_RAN && is_over) {
			json_kuint(j, "events", p->events);
			json_kuint(j, "lost", p->lost);
			json_kint(j, "cpu_ns", p->cpu_ns);
			if (s->states[i] && p->ops->report)
				p->ops->report(s->states[i], j);
		}
		json_end(j);
	}
}

void probe_set_release(struct probe_set *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->states[i])
			s->status[i].ops->free(s->states[i]);
		s->states[i] = NULL;
	}
	perf_source_free(s->host.perf);
	/* As it was before attach. */
	struct rlimit limit;
	if (s->old_files && !getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = s->old_files;
		setrlimit(RLIMIT_NOFILE, &limit);
		s->old_files = 0;
	}
	tasks_free(s->host.tasks);
	s->host.perf = NULL;
	s->host.tasks = NULL;
}

bool probe_has_event(const char *name)
{
	return perf_event_find(name) != NULL;
}

int64_t probe_process(const struct probe_host *host, int32_t pid, int64_t ts_ns)
{
	if (host->process_of)
		return host->process_of(host->arg, pid, ts_ns);
	const struct task *k = tasks_find(host->tasks, pid);
	return k ? k->number : STORE_NULL;
}

static struct probe_status *status_of(struct probe_host *host, const struct probe_ops *ops)
{
	struct probe_set *s = (struct probe_set *)(void *)host;
	for (size_t i = 0; i < s->count; i++)
		if (s->status[i].ops == ops)
			return &s->status[i];
	return NULL;
}

void probe_count(struct probe_host *host, const struct probe_ops *ops, uint64_t events, uint64_t lost)
{
	struct probe_status *p = status_of(host, ops);
	if (!p)
		return;
	p->events = events;
	p->lost = lost;
}

void probe_remark(struct probe_host *host, const struct probe_ops *ops, const struct sonde_err *why)
{
	struct probe_status *p = status_of(host, ops);
	if (p && !p->why.text[0])
		p->why = *why;
}

void probe_absent(struct probe_host *host, const struct probe_ops *ops, const struct sonde_err *why)
{
	struct probe_status *p = status_of(host, ops);
	if (!p)
		return;
	p->state = PROBE_OFF;
	p->why = *why;
}
