/* Rows of processes and threads, written once everything about them is known. */
#include "record/drain.h"
#include "record/emit.h"

#include <signal.h>
#include <sys/wait.h>

static const uint64_t *exit_status(const struct drain *d, int64_t pid)
{
	return map_get_int(&d->exits, (uint64_t)(uint32_t)pid);
}

static void on_exit_status(const struct drain *d, struct store_process *row)
{
	const uint64_t *known = exit_status(d, row->pid);
	int status = known ? (int)(*known - 1) : 0;
	row->exit_code = known && WIFEXITED(status) ? WEXITSTATUS(status) : STORE_NULL;
	row->exit_signal = known && WIFSIGNALED(status) ? WTERMSIG(status) : STORE_NULL;
}

static const char *const untraced_words[] = {
	[SONDE_UNTRACED_NO] = NULL,
	[SONDE_UNTRACED_STATIC] = "a static program",
	[SONDE_UNTRACED_SETUID] = "a setuid program",
	[SONDE_UNTRACED_FOREIGN] = "a program of another architecture or C library",
	[SONDE_UNTRACED_SECCOMP] = "started after system calls were forbidden",
	[SONDE_UNTRACED_UNREACHABLE] = "libsonde cannot be reached from its root directory",
};

static const char *untraced_word(uint32_t why)
{
	return why < sizeof(untraced_words) / sizeof(*untraced_words) ? untraced_words[why] : NULL;
}

static void emit_unseen(struct drain *d, const struct untraced_child *b)
{
	struct store_process row = store_process_nulls;
	/* The state of a child without any events, as text. */
	const char *why = untraced_word(b->why);
	buf_reset(&d->scratch);
	if (b->path)
		buf_addf(&d->scratch, "not traced%s%s", why ? ": " : "", why ? why : "");
	else if (d->epollfd >= 0 && !kill(b->pid, 0) && !exit_status(d, b->pid))
		buf_adds(&d->scratch, "running");
	else
		buf_adds(&d->scratch, "ended without a call");
	row.pid = b->pid;
	row.ppid = b->parent->pid;
	row.parent = b->parent->number;
	row.start_ns = b->start_ns;
	row.exe = b->path ? store_strings_of(&d->sink->strings, b->path) : b->parent->exe;
	row.state = store_strings_of(&d->sink->strings, d->scratch.data);
	on_exit_status(d, &row);
	store_sink_add(d->sink, STORE_TABLE_PROCESS, &row);
}

static int64_t state_of(struct drain *d, struct drain_process *p)
{
	buf_reset(&d->scratch);
	if (p->state) {
		buf_adds(&d->scratch, p->state);
	} else if (p->exec_path) {
		const char *why = untraced_word(p->exec_untraced);
		buf_addf(&d->scratch, "became '%s', which is not traced%s%s", p->exec_path, why ? ": " : "",
				why ? why : "");
	} else {
		buf_adds(&d->scratch, p->is_done && p->end_ns != STORE_NULL ? "ended" : "unknown");
	}
	return store_strings_of(&d->sink->strings, d->scratch.data);
}

static void emit_threads(struct drain *d, const struct drain_process *p)
{
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct drain_thread *t = &p->threads[i];
		struct store_thread row = { .process = p->number,
			.pid = t->pid,
			.tid = t->tid,
			.start_ns = t->start_ns,
			.end_ns = t->last_ns,
			.name = STORE_NULL,
			.events = (int64_t)t->events };
		store_sink_add(d->sink, STORE_TABLE_THREAD, &row);
	}
}

/* A pass sees an exit late; a probe's kernel record of it is exact. */
static int64_t end_of(const struct drain_process *p)
{
	bool is_reported = p->kernel_exit_ns > p->start_ns && p->end_ns != STORE_NULL && p->kernel_exit_ns < p->end_ns;
	return is_reported ? p->kernel_exit_ns : p->end_ns;
}

static void emit_process(struct drain *d, struct drain_process *p)
{
	struct store_process row = { .process = p->number,
		.pid = p->pid,
		.ppid = p->ppid,
		.parent = p->parent ? p->parent : STORE_NULL,
		.start_ns = p->start_ns,
		.end_ns = end_of(p),
		.exe = p->exe,
		.cwd = p->cwd,
		.argv = p->argv.data ? &p->argv : NULL,
		.exit_code = STORE_NULL,
		.exit_signal = STORE_NULL,
		.events = (int64_t)p->events,
		.dropped = (int64_t)p->dropped,
		.filtered = (int64_t)p->filtered,
		.state = state_of(d, p) };
	if (drain_by_pid(d, p->pid) == p)
		on_exit_status(d, &row);
	store_sink_add(d->sink, STORE_TABLE_PROCESS, &row);
	emit_threads(d, p);
	symbols_free(p->symbols);
	p->symbols = NULL;
	p->is_written = true;
}

/* A forked child runs its parent's program. */
static void inherit(struct drain *d, struct drain_process *p)
{
	const struct drain_process *parent = p->exe == STORE_NULL && p->is_forked ? drain_by_number(d, p->parent)
										  : NULL;
	if (!parent)
		return;
	p->exe = parent->exe;
	p->cwd = parent->cwd;
	p->argv = parent->argv;
}

void emit_processes(struct drain *d, bool is_last)
{
	for (size_t i = 0; i < d->process_count; i++) {
		struct drain_process *p = d->processes[i];
		bool is_known = p->is_done && (p->state || exit_status(d, p->pid));
		if (p->is_written || (!is_known && !is_last))
			continue;
		inherit(d, p);
		emit_process(d, p);
	}
	for (size_t i = 0; is_last && i < d->untraced_count; i++)
		if (drain_is_unseen(d, &d->untraced[i]))
			emit_unseen(d, &d->untraced[i]);
}
