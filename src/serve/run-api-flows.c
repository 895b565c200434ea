/*
 * Arrows between threads: which thread started a process, and which one woke a thread.
 *
 * A process begins at its parent's thread. An off-CPU interval ends because its waker thread woke it; the waker is
 * known if the kernel's tracepoints were available.
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "model/dimensions.h"

#define FLOWS_DEFAULT 1000

struct flows {
	struct json j;
	const struct run_api *v;
	struct run_api_window w;
	int64_t count, limit;
};

static void write_int(struct json *j, int64_t n)
{
	if (n == STORE_NULL)
		json_null(j);
	else
		json_int(j, n);
}

struct end {
	int64_t ts_ns, process, tid;
};

/* false: the limit was reached. */
static bool add(struct flows *f, const char *kind, const struct end *from, const struct end *to)
{
	if (from->ts_ns >= f->w.to_ns || to->ts_ns < f->w.from_ns)
		return true;
	if (f->count++ >= f->limit)
		return false;
	json_array(&f->j);
	json_str(&f->j, kind);
	json_int(&f->j, from->ts_ns - f->v->start_ns);
	write_int(&f->j, from->process);
	write_int(&f->j, from->tid);
	json_int(&f->j, to->ts_ns - f->v->start_ns);
	write_int(&f->j, to->process);
	write_int(&f->j, to->tid);
	json_end(&f->j);
	return true;
}

/*
 * An exec creates a new process entry with the same pid: no arrow. A running parent may have no row yet, but its pid
 * is known.
 */
static void add_spawns(struct flows *f)
{
	size_t count;
	const struct store_process *all = model_processes(f->v->run, &count);

	for (size_t i = 0; i < count; i++) {
		const struct store_process *p = &all[i];
		const struct store_process *parent = p->parent == STORE_NULL ? NULL
									     : model_process(f->v->run, p->parent);
		struct end to = { p->start_ns, p->process, p->pid };
		struct end from = { p->start_ns, p->parent, parent ? parent->pid : p->ppid };

		if (from.process == STORE_NULL || from.tid == to.tid || to.ts_ns == STORE_NULL)
			continue;
		if (!add(f, "spawn", &from, &to))
			return;
	}
}

static int on_waits(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct flows *f = arg;
	const struct store_column *c = b->columns;

	for (size_t i = 0; i < b->rows; i++) {
		struct end from = { c[STORE_SCHED_wake_ns].ints[i], STORE_NULL, c[STORE_SCHED_waker_tid].ints[i] };
		struct end to = { 0, c[STORE_SCHED_process].ints[i], c[STORE_SCHED_tid].ints[i] };
		int64_t dur_ns = c[STORE_SCHED_dur_ns].ints[i];

		if (from.ts_ns == STORE_NULL || from.tid == STORE_NULL || from.tid <= 0 || dur_ns == STORE_NULL ||
				from.tid == to.tid ||
				__builtin_add_overflow(c[STORE_SCHED_ts_ns].ints[i], dur_ns, &to.ts_ns))
			continue;
		if (!add(f, "wake", &from, &to))
			return 1;
	}
	return 0;
}

/* Arguments from, to, limit: ["spawn" or "wake", time, process, thread, time, process, thread] per arrow. */
int run_api_answer_flows(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct flows f = { .v = v, .limit = FLOWS_DEFAULT };
	int rc = run_api_query_window(v, q, &f.w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &f.limit, err);
	if (rc < 0)
		return rc;
	struct store_scan_opts opts = { .has_range = true, .from_ns = f.w.from_ns, .to_ns = f.w.to_ns, .threads = 1 };

	pthread_mutex_lock(&v->model);
	json_init(&f.j, out, false);
	json_object(&f.j);
	json_key(&f.j, "flows");
	json_array(&f.j);
	add_spawns(&f);
	if (model_table(v->run, STORE_TABLE_SCHED))
		rc = store_scan(model_table(v->run, STORE_TABLE_SCHED), &opts, on_waits, &f, err);
	json_end(&f.j);
	json_kbool(&f.j, "is_all", f.count <= f.limit);
	json_end(&f.j);
	pthread_mutex_unlock(&v->model);
	return rc < 0 ? rc : 0;
}
