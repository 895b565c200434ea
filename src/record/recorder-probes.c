/* The services of the recorder for its probes, and their start; see recorder.h. */
#include "probe/tasks.h"
#include "record/recorder.h"

#include <string.h>

/* The process image with this pid at that time: the newest that had started, else the oldest known. */
static int64_t process_of(void *arg, int64_t pid, int64_t ts_ns)
{
	struct recorder *r = arg;
	const struct task *task = r->drain.has_foreign_pids ? tasks_find(r->probes.host.tasks, (int32_t)pid) : NULL;
	if (r->drain.has_foreign_pids)
		pid = task ? task->inner_pid : 0;
	const struct drain_process *p = pid ? drain_by_pid(&r->drain, (int32_t)pid) : NULL;
	const struct drain_process *before = p;
	while (before && before->start_ns > ts_ns && before->parent) {
		before = drain_by_number(&r->drain, before->parent);
		if (before && before->pid == pid)
			p = before;
		else
			break;
	}
	return p ? p->number : STORE_NULL;
}

static void process_ended(void *arg, int64_t number, int64_t end_ns)
{
	struct recorder *r = arg;
	drain_ended(&r->drain, (uint32_t)number, end_ns);
}

static int64_t call_id(void *arg, const char *name)
{
	struct recorder *r = arg;
	return drain_call_id(&r->drain, name, r->o->ring.categories);
}

static void begin_image(void *arg, const struct probe_image *image)
{
	struct recorder *r = arg;
	drain_adopt(&r->drain, image);
}

static void end_image(void *arg, int32_t pid, int status)
{
	struct recorder *r = arg;
	drain_exited(&r->drain, pid, status);
}

static void count_call(void *arg, const struct store_io *row)
{
	struct recorder *r = arg;
	drain_count(&r->drain, row);
}

static bool is_on(const struct recorder *r, const char *name)
{
	for (size_t i = 0; i < r->probes.count; i++)
		if (!strcmp(r->probes.status[i].ops->name, name))
			return r->probes.status[i].state == PROBE_RAN;
	return false;
}

void recorder_open_probes(struct recorder *r)
{
	struct probe_options options = r->o->probe;
	options.includes = r->o->ring.includes;
	options.excludes = r->o->ring.excludes;
	options.min_dur_ns = r->o->ring.min_dur_ns;
	options.has_tracer = r->has_drain;
	options.has_own_pids = isolation_has_own_pids(r->o->place);
	options.has_engine = isolation_has_engine(r->o->place) && r->o->target.kind != PROBE_MACHINE;
	r->drain.sink = &r->sink; /* holds the names of calls, with or without a tracer */
	probe_set_open(&r->probes, r->o->probes, &options, &r->sink);
	r->probes.host.call_id = call_id;
	if (r->has_drain) {
		r->probes.host.begin_image = begin_image;
		r->probes.host.end_image = end_image;
		r->probes.host.count_call = count_call;
		r->drain.has_syscalls = is_on(r, "syscalls");
	}
	r->probes.host.process_of = r->has_drain ? process_of : NULL;
	r->probes.host.process_ended = r->has_drain ? process_ended : NULL;
	r->probes.host.arg = r;
	if (r->has_drain)
		r->drain.probes = &r->probes.host;
	r->has_probes = true;
	r->facts.probes = &r->probes;
}

void recorder_attach_probes(void *arg, pid_t pid)
{
	struct recorder *r = arg;
	struct probe_target target = { .kind = r->o->target.kind == PROBE_MACHINE ? PROBE_MACHINE : PROBE_COMMAND,
		.pid = pid };
	probe_set_attach(&r->probes, &target);
}

void recorder_meet_program(void *arg, pid_t pid)
{
	struct recorder *r = arg;
	probe_set_meet(&r->probes, pid);
}

void recorder_pass_probes(void *arg)
{
	struct recorder *r = arg;
	probe_set_pass(&r->probes);
}
