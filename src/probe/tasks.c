#include "probe/tasks.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "probe/perf/addrspace.h"
#include "probe/probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TASKS_MAX (1u << 22) /* maximum number of thread ids */
#define NAME_BYTES_MAX 64
#define AWAITED_MAX 65536 /* exited threads kept until their CPU time is known */

struct tasks_private {
	struct probe_host *host;
	struct map by_tid; /* tid -> pointer, 0 after exit */
	size_t cap;
	int64_t last_number;
	uint64_t pid_namespace; /* ours */
};

/* "NSpid: 4711 12 1": outermost to innermost. */
int32_t task_inner_tid(int32_t pid, int32_t tid)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64], *end;
	int32_t last = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (fs_read_file(AT_FDCWD, path, 65536, &text, NULL))
		return 0;
	const char *line = strstr(text.data, "\nNSpid:");
	for (const char *at = line ? line + strlen("\nNSpid:") : "\n"; *at != '\n' && *at; at = end) {
		int32_t v = (int32_t)strtol(at, &end, 10);
		if (end == at)
			break;
		last = v;
	}
	return last;
}

/* Returns the inode of a process's PID namespace; 0 if unknown. */
static uint64_t namespace_of(const char *process)
{
	char path[48];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
	return stat(path, &st) ? 0 : st.st_ino;
}

struct tasks *tasks_new(struct probe_host *host)
{
	struct tasks *t = calloc(1, sizeof(*t));
	struct tasks_private *p = t ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		free(t);
		return NULL;
	}
	p->host = host;
	p->pid_namespace = namespace_of("self");
	t->private = p;
	return t;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		space_drop(t->all[i]->space);
		free(t->all[i]);
	}
	map_release(&t->private->by_tid);
	free(t->all);
	free(t->private);
	free(t);
}

struct task *tasks_find(const struct tasks *t, int32_t tid)
{
	const uint64_t *at = map_get_int(&t->private->by_tid, (uint64_t)(uint32_t)tid);
	return at ? (struct task *)(uintptr_t)*at : NULL;
}

static struct task *add(struct tasks *t, int32_t pid, int32_t tid)
{
	uint64_t *at = map_put_int(&t->private->by_tid, (uint64_t)(uint32_t)tid, NULL);
	bool has_room = at && VEC_GROW(t->all, t->private->cap, t->count + 1, TASKS_MAX);
	struct task *k = has_room ? calloc(1, sizeof(*k)) : NULL;
	if (!k)
		return NULL;
	*k = (struct task){ .pid = pid,
		.tid = tid,
		.ppid = STORE_NULL,
		.start_ns = STORE_NULL,
		.end_ns = STORE_NULL,
		.number = STORE_NULL,
		.parent = STORE_NULL,
		.exe = STORE_NULL,
		.name = STORE_NULL,
		.run_ns = STORE_NULL,
		.on_ns = STORE_NULL,
		.off = { .off_ns = STORE_NULL, .state = STORE_NULL, .stack = STORE_NULL } };
	*at = (uint64_t)(uintptr_t)k;
	t->all[t->count++] = k;
	t->version += pid == tid;
	return k;
}

static void set_side(struct tasks *t, struct task *k, enum task_side side)
{
	const struct probe_host *host = t->private->host;
	k->side = side;
	if (side != TASK_PROGRAM || k->pid != k->tid)
		return;
	k->inner_pid = host->options.has_own_pids ? task_inner_tid(k->pid, k->tid) : k->pid;
	if (!host->process_of)
		k->number = ++t->private->last_number;
}

/* Without namespace records, or if they are late, /proc still has the namespace while the process lives. */
static bool has_kernel_calls(const struct tasks *t, int32_t pid)
{
	char name[16];
	snprintf(name, sizeof(name), "%d", pid);
	uint64_t theirs = namespace_of(name);
	return theirs && theirs != t->private->pid_namespace;
}

/* Its parent is unknown: perhaps the parent's main thread has exited. */
static enum task_side side_of_stranger(const struct tasks *t, int32_t pid, int32_t tid)
{
	const struct task *process = pid == tid ? NULL : tasks_find(t, pid);
	if (process || !t->private->host->options.has_engine)
		return process ? process->side : TASK_PROGRAM;
	return has_kernel_calls(t, pid) ? TASK_PROGRAM : TASK_ENGINE;
}

/* The thread existed before the recording: its name is in /proc while it lives. */
static void learn_name(struct tasks *t, struct task *k)
{
	char path[48];
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", k->pid, k->tid);
	if (!fs_read_file(AT_FDCWD, path, NAME_BYTES_MAX, &name, NULL) && name.len)
		k->name = store_strings_id(&t->private->host->sink->strings, name.data,
				name.len - (name.data[name.len - 1] == '\n'));
}

struct task *tasks_get(struct tasks *t, int32_t pid, int32_t tid)
{
	struct task *k = tasks_find(t, tid);
	if (k && (k->pid == pid || pid <= 0))
		return k;
	enum task_side side = side_of_stranger(t, pid, tid);
	k = add(t, pid, tid);
	if (k) {
		set_side(t, k, side);
		learn_name(t, k);
	}
	return k;
}

struct task *tasks_process(struct tasks *t, int32_t pid)
{
	return tasks_get(t, pid, pid);
}

void tasks_fork(struct tasks *t, int32_t pid, int32_t tid, int32_t ppid, int64_t ts_ns)
{
	const struct task *parent = tasks_find(t, ppid);
	enum task_side side = parent ? parent->side : side_of_stranger(t, pid, tid);
	struct task *k = add(t, pid, tid);
	if (!k)
		return;
	set_side(t, k, side);
	k->start_ns = ts_ns;
	k->ppid = pid == tid ? ppid : STORE_NULL;
	k->name = parent ? parent->name : STORE_NULL;
	if (pid == tid && parent) {
		k->space = space_share(parent->space);
		k->parent = parent->number;
		k->exe = parent->exe;
	}
	if (pid != tid && parent)
		k->ppid = parent->ppid;
}

void tasks_name(struct tasks *t, int32_t pid, int32_t tid, const char *name, size_t bytes)
{
	struct task *k = tasks_get(t, pid, tid);
	if (k)
		k->name = store_strings_id(&t->private->host->sink->strings, name, bytes);
}

void tasks_on_start(struct tasks *t, int32_t pid)
{
	struct task *k = add(t, pid, pid);
	if (!k)
		return;
	k->side = TASK_ENTERED;
	k->is_kept = true;
	learn_name(t, k);
}

void tasks_enter(struct tasks *t, int32_t tid, uint64_t pid_namespace)
{
	struct task *k = tasks_find(t, tid);
	if (k && k->side == TASK_ENGINE && pid_namespace != t->private->pid_namespace)
		k->side = TASK_ENTERED;
}

void tasks_execute(struct tasks *t, struct task *k, int64_t ts_ns)
{
	if (k->side == TASK_PROGRAM || (k->side == TASK_ENGINE && !has_kernel_calls(t, k->pid)))
		return;
	int64_t before_ns = task_ran_until(k, ts_ns);
	set_side(t, k, TASK_PROGRAM);
	k->before_ns = before_ns == STORE_NULL ? 0 : before_ns;
	k->start_ns = ts_ns;
	k->on_ns = t->is_fed ? ts_ns : STORE_NULL;
	k->ran_ns = k->weighed_ns = 0;
	k->ppid = k->parent = STORE_NULL; /* the engine's */
	t->container = t->container ? t->container : k->pid;
	t->version++;
}

void tasks_exit(struct tasks *t, int32_t pid, int32_t tid, int64_t ts_ns)
{
	struct task *k = tasks_get(t, pid, tid);
	if (!k)
		return;
	k->end_ns = ts_ns;
	t->version += pid == tid;
}

void tasks_ran(struct tasks *t, int32_t pid, int32_t tid, int64_t run_ns)
{
	struct task *k = tasks_get(t, pid, tid);
	if (k)
		k->run_ns = run_ns + (k->run_ns == STORE_NULL ? 0 : k->run_ns);
}

void tasks_switch(struct tasks *t, int32_t pid, int32_t tid, bool is_off, int64_t ts_ns)
{
	struct task *k = tasks_get(t, pid, tid);
	if (!k)
		return;
	if (is_off && k->on_ns != STORE_NULL)
		k->ran_ns += ts_ns - k->on_ns;
	k->on_ns = is_off ? STORE_NULL : ts_ns;
}

int64_t task_ran_until(const struct task *k, int64_t ts_ns)
{
	return k->on_ns == STORE_NULL ? STORE_NULL : k->ran_ns + ts_ns - k->on_ns;
}

static void emit(struct tasks *t, const struct task *k)
{
	struct probe_host *host = t->private->host;
	if (k->side != TASK_PROGRAM)
		return;
	if (t->on_gone)
		t->on_gone(t->arg, k);
	int64_t when = k->end_ns != STORE_NULL ? k->end_ns : INT64_MAX;
	struct store_task row = { .process = probe_process(host, k->pid, when),
		.pid = k->pid,
		.tid = k->tid,
		.ppid = k->ppid,
		.start_ns = k->start_ns,
		.end_ns = k->end_ns,
		.name = k->name,
		.run_ns = k->run_ns,
		.samples = (int64_t)k->samples };
	store_sink_add(host->sink, STORE_TABLE_TASK, &row);
	if (host->process_ended && k->pid == k->tid && k->end_ns != STORE_NULL && row.process != STORE_NULL)
		host->process_ended(host->arg, row.process, k->end_ns);
	if (k->number != STORE_NULL) {
		struct store_process process = store_process_nulls;
		process.process = k->number;
		process.pid = k->pid;
		process.ppid = k->ppid;
		process.parent = k->parent;
		process.start_ns = k->start_ns;
		process.end_ns = k->end_ns;
		process.exe = k->exe == STORE_NULL ? k->name : k->exe;
		process.state = store_strings_of(&host->sink->strings, k->end_ns == STORE_NULL ? "running" : "ended");
		store_sink_add(host->sink, STORE_TABLE_PROCESS, &process);
	}
}

static void forget(struct tasks *t, struct task *k)
{
	uint64_t *at = map_get_int(&t->private->by_tid, (uint64_t)(uint32_t)k->tid);
	if (at && *at == (uint64_t)(uintptr_t)k)
		*at = 0;
	space_drop(k->space);
	free(k);
}

static bool is_due(const struct tasks *t, const struct task *k, int64_t before_ns)
{
	/* Its CPU time may be known only at the end: see read_roots in perf/source.c. */
	return k->end_ns != STORE_NULL && k->end_ns < before_ns &&
			!(k->is_kept || (t->is_fed && k->run_ns == STORE_NULL && t->count < AWAITED_MAX));
}

/* Writes all rows first: a thread's row refers to its process, which may be removed in the same pass. */
void tasks_emit_ended(struct tasks *t, int64_t before_ns)
{
	size_t kept = 0, count = t->count;
	for (size_t i = 0; i < count; i++)
		if (is_due(t, t->all[i], before_ns))
			emit(t, t->all[i]);
	for (size_t i = 0; i < count; i++) {
		struct task *k = t->all[i];
		if (is_due(t, k, before_ns))
			forget(t, k);
		else
			t->all[kept++] = k;
	}
	t->count = kept;
}

void tasks_emit(struct tasks *t)
{
	for (size_t i = 0; i < t->count; i++)
		emit(t, t->all[i]);
	for (size_t i = 0; i < t->count; i++)
		forget(t, t->all[i]);
	t->count = 0;
}
