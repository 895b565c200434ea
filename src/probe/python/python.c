/*
 * Python frames in the stacks of samples.
 *
 * The Python frames of a sample are read as soon as the sample is seen in the ring, before its turn in time order. To
 * keep the delay short, the recorder is woken when the next sample of a busy Python thread is due. The program is never
 * stopped: frames read after its thread has run for more than LATE_NS since its sample are discarded; on a busy
 * machine, where we are late, the thread mostly had to wait too. Neither side blocks: without Python processes the cost
 * is one check per new sample.
 */
#include "base/clock.h"
#include "base/json.h"
#include "probe/perf/source.h"
#include "probe/perf/stack-table.h"
#include "probe/perf/unwind.h"
#include "probe/python/layout.h"
#include "probe/python/walk.h"
#include "probe/tasks.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LATE_NS 10000000
#define POLL_NS 2000000    /* between polls while there is Python */
#define POLL_NS_MIN 500000 /* minimum */
#define AFTER_NS 30000     /* delay until a sample is in its ring */
#define FIRST_POLL_NS 4000000
#define FIRST_POLL_NS_MAX 200000000
#define WAITING_MAX 4096 /* stacks of samples that are still in the ring */
#define FRAMES_KEPT 512  /* capacity that an entry keeps */
#define BUSY_MAX 64
#define SWITCHES_MAX 65536 /* threads */
#define HURRY_NICE (-15)
#define HURRY_SLICE_NS 100000

/*
 * One chain of a sample's native frames and its thread's Python frames.
 *
 * Every call of the interpreter's eval function runs one segment of Python frames, from an entry frame inwards; in the
 * chain the segment replaces that call. The two were read at slightly different times: if their counts differ, calls
 * and segments are matched from the outermost one, and for a truncated chain from the innermost, so that the Python
 * frames complete it.
 */
struct merge_native {
	const struct frame *frames; /* innermost first */
	size_t count;
	bool is_cut;
};

enum merge_result {
	MERGE_NATIVE,  /* no call of the interpreter: nothing to merge */
	MERGE_JOINED,  /* each call got its segment */
	MERGE_PARTLY,  /* the counts differed */
	MERGE_MISSING, /* calls of the interpreter, but the Python frames are unknown */
};

/* Adds the chain and sets *stack to its number. python NULL: unknown. */
enum merge_result merge_add(struct stacks *s, const struct merge_native *native, const struct python_stack *python,
		int64_t *stack);

static bool is_eval(const struct frame *f)
{
	const struct python_image *image = f->module ? f->module->python : NULL;
	return image && f->address >= image->eval_start && f->address < image->eval_end;
}

static size_t count_evals(const struct merge_native *n)
{
	size_t evals = 0;
	for (size_t i = 0; i < n->count; i++)
		evals += is_eval(&n->frames[i]);
	return evals;
}

static size_t count_stretches(const struct python_stack *p)
{
	size_t stretches = 0;
	for (size_t i = 0; p && i < p->count; i++)
		stretches += p->frames[i].is_entry;
	return stretches;
}

/* Adds one segment, outermost frame first; *left: Python frames not added yet. */
static int64_t add_stretch(struct stacks *s, const struct python_stack *p, size_t *left, int64_t stack)
{
	while (*left) {
		const struct python_frame *f = &p->frames[--*left];
		stack = stacks_add(s, stack, f->module, f->address);
		if (*left && p->frames[*left - 1].is_entry)
			break;
	}
	return stack;
}

enum merge_result merge_add(struct stacks *s, const struct merge_native *native, const struct python_stack *python,
		int64_t *stack)
{
	size_t evals = count_evals(native), stretches = count_stretches(python);
	size_t left = python ? python->count : 0, missing = 0;
	bool is_joined = stretches && (evals || native->is_cut);
	if (is_joined && native->is_cut)
		for (; stretches > evals; stretches--)
			*stack = add_stretch(s, python, &left, *stack);
	if (native->is_cut && evals > stretches)
		missing = evals - stretches; /* the outermost calls have none */
	for (size_t i = native->count; i-- > 0;) {
		const struct frame *f = &native->frames[i];
		if (is_joined && left && is_eval(f) && !(missing && missing--))
			*stack = add_stretch(s, python, &left, *stack);
		else
			*stack = stacks_add(s, *stack, f->module, f->address);
	}
	if (!is_joined)
		return evals ? MERGE_MISSING : MERGE_NATIVE;
	return evals == stretches ? MERGE_JOINED : MERGE_PARTLY;
}

const struct probe_ops probe_python;

struct waiting {
	int32_t tid;
	int64_t ts_ns;
	struct python_stack stack;
};

struct busy {
	int32_t tid;
	int64_t ts_ns; /* of its last sample */
};

struct python {
	struct probe_host *host;
	struct perf_source *source;
	struct python_functions functions;
	struct map processes; /* pid -> struct python_process * */
	struct map switches;  /* tid -> time of its last switch * 2, + 1 if it was switched out */
	struct memory memory;
	struct waiting waiting[WAITING_MAX];
	size_t first, next; /* entries in between are pending; modulo WAITING_MAX */
	struct busy busy[BUSY_MAX];
	bool is_here; /* a Python process was seen */
	int64_t looked_ns, poll_ns;
	uint64_t read, joined, partly, missing, late, torn;
	int64_t lag_ns, lag_max_ns, read_ns;
	uint32_t version;
};

/* Reading. */

static struct python_process *process_of(struct python *y, pid_t pid)
{
	uint64_t *at = map_put_int(&y->processes, (uint64_t)pid, NULL);
	if (at && !*at) {
		struct python_process *p = calloc(1, sizeof(*p));
		if (p) {
			p->pid = pid;
			p->codes.functions = &y->functions;
		}
		*at = (uint64_t)(uintptr_t)p;
	}
	return at ? (struct python_process *)(uintptr_t)*at : NULL;
}

static void advise(struct python *y, pid_t pid, struct sonde_err *why, int error)
{
	err_prefix(why, "process %d", (int)pid);
	if (error == EPERM)
		err_hint(why,
				"reading another's memory needs that it is a child of the recorder, or root, or "
				"CAP_SYS_PTRACE, or kernel.yama.ptrace_scope=0");
	probe_remark(y->host, &probe_python, why);
}

/*
 * The accuracy depends on waking in time, also on a busy machine: no timer slack, a short slice (Linux 6.12, for all
 * users) and, if permitted, a higher priority. Only for the recorder, which runs for microseconds at a time; the
 * program was forked before.
 */
static void hurry(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr), .policy = SCHED_OTHER, .nice = HURRY_NICE, .runtime = HURRY_SLICE_NS };
	prctl(PR_SET_TIMERSLACK, 1000ul);
	if (!syscall(SYS_sched_setattr, 0, &attr, 0))
		return;
	attr.nice = getpriority(PRIO_PROCESS, 0);
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static struct python_process *inspect(struct python *y, pid_t pid)
{
	const struct task *task = tasks_find(y->host->tasks, pid);
	struct python_process *p = task && task->space ? process_of(y, pid) : NULL;
	struct sonde_err why = SONDE_ERR_INIT;
	if (!p)
		return NULL;
	y->memory.error = 0;
	python_process_inspect(p, task->space, &y->memory, &why);
	if (why.text[0] && y->memory.error != ESRCH)
		advise(y, pid, &why, y->memory.error);
	if (p->state != PYTHON_READY)
		return NULL;
	y->version = p->layout.version;
	if (!y->is_here)
		hurry();
	y->is_here = true;
	return p;
}

static void on_look_switch(void *state, const struct perf_record *r)
{
	struct python *y = state;
	if (r->tid <= 0 || !map_get_int(&y->processes, (uint64_t)r->pid) || y->switches.count > SWITCHES_MAX)
		return;
	uint64_t *at = map_put_int(&y->switches, (uint64_t)r->tid, NULL);
	uint64_t now = (uint64_t)r->ts_ns * 2 + ((r->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0);
	if (at && now > *at)
		*at = now;
}

/* Returns how long a thread may have run since its sample. */
static int64_t lag_of(struct python *y, const struct perf_record *r, int64_t now_ns)
{
	const uint64_t *at = map_get_int(&y->switches, (uint64_t)r->tid);
	int64_t last_ns = at ? (int64_t)(*at / 2) : 0;
	return at && *at & 1 && last_ns >= r->ts_ns ? last_ns - r->ts_ns : now_ns - r->ts_ns;
}

/* A sample was just written. */
static void on_look(void *state, const struct perf_record *r)
{
	struct python *y = state;
	struct python_process *p = r->tid > 0 ? inspect(y, r->pid) : NULL;
	int64_t now_ns = clock_mono_ns();
	if (!p)
		return;
	/* Replaces its last time, or that of the thread that was seen longest ago. */
	struct busy *oldest = y->busy;
	for (size_t i = 0; i < BUSY_MAX && oldest->tid != r->tid; i++)
		if (y->busy[i].tid == r->tid || y->busy[i].ts_ns < oldest->ts_ns)
			oldest = &y->busy[i];
	*oldest = (struct busy){ r->tid, r->ts_ns };
	int64_t lag_ns = lag_of(y, r, now_ns);
	if (lag_ns > LATE_NS || y->next - y->first == WAITING_MAX) {
		y->late++;
		return;
	}
	struct waiting *w = &y->waiting[y->next % WAITING_MAX];
	y->memory.now_ns = now_ns;
	int rc = python_walk(p, r->tid, &y->memory, &w->stack);
	y->read_ns += clock_mono_ns() - now_ns;
	if (rc == -EPERM) {
		struct sonde_err why = SONDE_ERR_INIT;
		err_sys(&why, EPERM, "cannot read the interpreter's memory");
		advise(y, r->pid, &why, EPERM);
	}
	y->torn += rc == -EAGAIN;
	if (rc || !w->stack.count)
		return;
	w->tid = r->tid;
	w->ts_ns = r->ts_ns;
	y->next++;
	y->read++;
	y->lag_ns += lag_ns;
	y->lag_max_ns = lag_ns > y->lag_max_ns ? lag_ns : y->lag_max_ns;
}

/* Joining. */

static void drop(struct waiting *w)
{
	w->tid = 0;
	if (w->stack.cap > FRAMES_KEPT)
		python_stack_release(&w->stack);
}

static struct waiting *find_waiting(struct python *y, int32_t tid, int64_t ts_ns)
{
	for (; y->first < y->next; y->first++) {
		struct waiting *w = &y->waiting[y->first % WAITING_MAX];
		if (w->tid && w->ts_ns >= ts_ns - LATE_NS)
			break;
		drop(w);
	}
	for (size_t i = y->first; i < y->next; i++) {
		struct waiting *w = &y->waiting[i % WAITING_MAX];
		if (w->tid == tid && w->ts_ns == ts_ns)
			return w;
	}
	return NULL;
}

static int64_t add_frames(void *state, const struct perf_record *r, const struct frame *frames, size_t count,
		bool is_cut, int64_t stack)
{
	struct python *y = state;
	struct merge_native native = { frames, count, is_cut };
	struct waiting *w = find_waiting(y, r->tid, r->ts_ns);
	enum merge_result how = merge_add(&y->source->stacks, &native, w ? &w->stack : NULL, &stack);
	if (w)
		drop(w);
	y->joined += how == MERGE_JOINED;
	y->partly += how == MERGE_PARTLY;
	y->missing += how == MERGE_MISSING;
	return stack;
}

/* The probe. */

static int open_python(struct probe_host *host, void **state, struct sonde_err *err)
{
	struct perf_source *source = perf_source_get(host);
	struct python *y = source ? calloc(1, sizeof(*y)) : NULL;
	if (!y)
		return err_sys(err, ENOMEM, "cannot read Python frames");
	y->host = host;
	y->source = source;
	y->functions.modules = &source->modules;
	y->poll_ns = FIRST_POLL_NS;
	*state = y;
	return 0;
}

static int attach_python(void *state, struct sonde_err *err)
{
	struct python *y = state;
	if (!y->source->wants.has_samples && !y->source->wants.has_switches)
		return err_set(err, EINVAL, "Python frames belong to samples: the probes cpu or sched have to run too");
	int rc = perf_source_attach(y->source, err);
	if (rc)
		return rc;
	y->looked_ns = clock_mono_ns();
	y->source->wants.python = y;
	y->source->wants.on_look = on_look;
	y->source->wants.on_look_switch = on_look_switch;
	y->source->wants.add_frames = add_frames;
	return 0;
}

/* When the next sample of a busy thread is expected; else the poll interval, as its clock stops in a wait. */
static int64_t due_python(void *state)
{
	struct python *y = state;
	if (!y->is_here)
		return y->poll_ns <= FIRST_POLL_NS_MAX ? y->looked_ns + y->poll_ns : INT64_MAX;
	int64_t period_ns = 1000000000 / (int64_t)y->host->options.freq_hz;
	int64_t due_ns = y->looked_ns + POLL_NS;
	for (size_t i = 0; i < BUSY_MAX && y->busy[i].tid; i++) {
		int64_t next_ns = y->busy[i].ts_ns + period_ns + AFTER_NS;
		if (next_ns > y->looked_ns && next_ns < due_ns)
			due_ns = next_ns;
	}
	return due_ns > y->looked_ns + POLL_NS_MIN ? due_ns : y->looked_ns + POLL_NS_MIN;
}

static uint64_t pass_python(void *state, int64_t now_ns)
{
	struct python *y = state;
	uint64_t taken = perf_source_pass(y->source, now_ns, false);
	y->looked_ns = now_ns;
	if (!y->is_here && y->poll_ns <= FIRST_POLL_NS_MAX)
		y->poll_ns *= 2;
	return taken;
}

static void finish_python(void *state, int64_t now_ns)
{
	struct python *y = state;
	perf_source_pass(y->source, now_ns, true);
	probe_count(y->host, &probe_python, y->joined + y->partly, y->missing);
}

static void report_python(void *state, struct json *j)
{
	struct python *y = state;
	if (!y->is_here)
		return;
	struct buf version = BUF_INIT;
	buf_addf(&version, "%u.%u.%u", y->version >> 24, y->version >> 16 & 0xff, y->version >> 8 & 0xff);
	json_kstr(j, "version", version.data);
	buf_release(&version);
	json_kuint(j, "joined_partly", y->partly);
	json_kuint(j, "late", y->late);
	json_kuint(j, "torn", y->torn);
	json_kint(j, "lag_mean_ns", y->read ? y->lag_ns / (int64_t)y->read : 0);
	json_kint(j, "lag_max_ns", y->lag_max_ns);
	json_kint(j, "lag_bound_ns", LATE_NS);
	json_kint(j, "read_ns", y->read_ns);
}

static void free_python(void *state)
{
	struct python *y = state;
	if (y->source->wants.python == y) {
		y->source->wants.on_look = NULL;
		y->source->wants.on_look_switch = NULL;
		y->source->wants.add_frames = NULL;
	}
	for (size_t i = 0; i < y->processes.count; i++)
		python_process_free((struct python_process *)(uintptr_t)map_value(&y->processes, i));
	for (size_t i = 0; i < WAITING_MAX && i < y->next; i++)
		python_stack_release(&y->waiting[i].stack);
	map_release(&y->processes);
	map_release(&y->switches);
	python_functions_release(&y->functions);
	free(y);
}

const struct probe_ops probe_python = {
	.name = "python",
	.doc = "functions and lines of CPython programs, in the stacks of samples",
	.open = open_python,
	.attach = attach_python,
	.due_ns = due_python,
	.pass = pass_python,
	.finish = finish_python,
	.report = report_python,
	.free = free_python,
};
