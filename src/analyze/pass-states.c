/*
 * States: the time of each thread by scheduling state. Off-CPU time comes from context switches, running is the rest,
 * so the states of a thread sum to its lifetime. If switches were lost, the rest differs from the thread's CPU time
 * and is corrected: an excess was waiting, a deficit was not.
 */
#include "analyze/pass.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLACK_NS 1000000 /* tolerated difference between the two measures of running time, */
#define SLACK 0.02       /* plus this share of it */

enum { RUNNING, RUNNABLE, SLEEP, DISK, WAIT, STOPPED, STATES };

/* What a thread waited for, by sched.state; WAIT if the kernel does not report it. */
static const struct {
	const char *word;
	int state; /* RUNNING: none, the thread had exited */
} words[] = { { "preempted", RUNNABLE }, { "sleep", SLEEP }, { "disk", DISK }, { "stopped", STOPPED },
	{ "traced", STOPPED }, { "ended", RUNNING } };

struct states {
	struct analyze *a;
	int by_thread;
	uint8_t *kinds; /* by string id */
	size_t kind_count;
};

enum { Q_BLOCKED, Q_RUNNABLE };

static int kind_of(const struct states *s, int64_t id)
{
	return (uint64_t)id < s->kind_count ? s->kinds[id] : WAIT;
}

static int classify(struct states *s)
{
	s->kind_count = model_name_count(s->a->run);
	s->kinds = arena_alloc(&s->a->arena, s->kind_count + 1);
	if (!s->kinds)
		return -ENOMEM;
	for (size_t id = 0; id < s->kind_count; id++) {
		const char *name = model_cname(s->a->run, (int64_t)id);

		s->kinds[id] = WAIT;
		for (size_t w = 0; name && w < sizeof(words) / sizeof(*words); w++)
			if (strcmp(name, words[w].word) == 0)
				s->kinds[id] = (uint8_t)words[w].state;
	}
	return 0;
}

/* A switch without a recorded end lasts until the end of the range; an exited thread does not wait. */
static int64_t off_ns(const struct states *s, const struct engine_rows *r, size_t i)
{
	int64_t ts_ns = r->ints[STORE_SCHED_ts_ns][i], dur_ns = r->ints[STORE_SCHED_dur_ns][i];

	if (ts_ns == STORE_NULL || kind_of(s, r->ints[STORE_SCHED_state][i]) == RUNNING)
		return 0;
	if (dur_ns == STORE_NULL)
		dur_ns = s->a->end_ns > ts_ns ? s->a->end_ns - ts_ns : 0;
	return dur_ns > 0 ? dur_ns : 0;
}

/* Waiting until the wakeup, runnable after it. */
static int64_t waited_ns(const struct states *s, const struct engine_rows *r, size_t i)
{
	int64_t off = off_ns(s, r, i), wake_ns = r->ints[STORE_SCHED_wake_ns][i], ts_ns = r->ints[STORE_SCHED_ts_ns][i];

	if (kind_of(s, r->ints[STORE_SCHED_state][i]) == RUNNABLE)
		return 0;
	if (wake_ns == STORE_NULL || wake_ns - ts_ns > off)
		return off;
	return wake_ns > ts_ns ? wake_ns - ts_ns : 0;
}

static void fill_blocked(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	for (size_t i = 0; i < rows->count; i++)
		out[i] = waited_ns(arg, rows, i);
}

static void fill_runnable(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	for (size_t i = 0; i < rows->count; i++)
		out[i] = off_ns(arg, rows, i) - waited_ns(arg, rows, i);
}

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct states *s = state;
	struct engine_derive derive = { .fill = fill_blocked,
		.arg = s,
		.need_count = 4,
		.needs = { STORE_SCHED_ts_ns, STORE_SCHED_dur_ns, STORE_SCHED_state, STORE_SCHED_wake_ns } };
	struct engine_query by_thread = { "states", 2, { STORE_SCHED_tid, STORE_SCHED_state }, ENGINE_NONE, 2,
		{ { 0 } } };

	s->a = a;
	s->by_thread = -1;
	if (!a->plans[STORE_TABLE_SCHED] || !model_table(a->run, STORE_TABLE_TASK))
		return 0;
	if (classify(s) < 0)
		return err_sys(err, ENOMEM, "cannot account for thread time");
	by_thread.aggregates[Q_BLOCKED] = (struct engine_aggregate){ ENGINE_TIME,
		engine_plan_derive(a->plans[STORE_TABLE_SCHED], &derive) };
	derive.fill = fill_runnable;
	by_thread.aggregates[Q_RUNNABLE] = (struct engine_aggregate){ ENGINE_TIME,
		engine_plan_derive(a->plans[STORE_TABLE_SCHED], &derive) };
	s->by_thread = analyze_query(a, STORE_TABLE_SCHED, &by_thread);
	return 0;
}

/* Threads. */

struct thread {
	int64_t process, pid, tid, name, life_ns, run_ns;
	int64_t ns[STATES];
};

struct taking {
	struct analyze *a;
	struct thread *threads;
	size_t count, cap;
};

static int64_t life_of(const struct analyze *a, const struct store_task *t)
{
	int64_t from = t->start_ns == STORE_NULL || t->start_ns < a->start_ns ? a->start_ns : t->start_ns;
	int64_t to = t->end_ns == STORE_NULL || t->end_ns > a->end_ns ? a->end_ns : t->end_ns;

	return to > from ? to - from : 0;
}

static int on_tasks(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct taking *t = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		struct store_task row;

		if (!VEC_GROW(t->threads, t->cap, t->count + 1, VEC_MAX))
			return -ENOMEM;
		store_get_task(b, i, &row);
		t->threads[t->count++] = (struct thread){ .process = row.process,
			.pid = row.pid,
			.tid = row.tid,
			.name = row.name,
			.life_ns = life_of(t->a, &row),
			.run_ns = row.run_ns };
	}
	return 0;
}

/* Groups are sorted: returns the first of a thread, if any. */
static size_t first_of(const struct engine_groups *g, int64_t tid)
{
	size_t low = 0, high = g->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (engine_key(g, middle, 0) < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* If a thread id was reused, the first row gets all of it: they cannot be distinguished. */
static void account(const struct states *s, struct thread *t, const struct engine_groups *g)
{
	int64_t off = 0;

	for (size_t i = first_of(g, t->tid); i < g->count && engine_key(g, i, 0) == t->tid; i++) {
		int kind = kind_of(s, engine_key(g, i, 1));

		if (kind != RUNNING)
			t->ns[kind] += engine_sum(g, Q_BLOCKED, i);
		t->ns[RUNNABLE] += engine_sum(g, Q_RUNNABLE, i);
		off += engine_sum(g, Q_BLOCKED, i) + engine_sum(g, Q_RUNNABLE, i);
	}
	t->life_ns = t->life_ns < off ? off : t->life_ns; /* the kernel's last switch is after its exit record */
	t->ns[RUNNING] = t->life_ns - off;
	if (t->run_ns == STORE_NULL)
		return;
	int64_t slack_ns = SLACK_NS + (int64_t)(SLACK * (double)t->run_ns);
	if (t->ns[RUNNING] > t->run_ns + slack_ns) {
		t->ns[WAIT] += t->ns[RUNNING] - t->run_ns;
		t->ns[RUNNING] = t->run_ns;
	} else if (t->ns[RUNNING] < t->run_ns - slack_ns && t->run_ns <= t->life_ns) {
		double kept = (double)(t->life_ns - t->run_ns) / (double)off;

		/* A switch in and the next one out were lost: it ran inside what looks like one wait, in any state. */
		t->ns[RUNNING] = t->life_ns;
		for (int i = 0; i < STATES; i++) {
			t->ns[i] = i == RUNNING ? t->ns[i] : (int64_t)((double)t->ns[i] * kept);
			t->ns[RUNNING] -= i == RUNNING ? 0 : t->ns[i];
		}
	}
}

/* Showing. */

static const struct analyze_column columns[] = {
	{ "process", NULL, ANALYZE_ID },
	{ "pid", "PID", ANALYZE_ID },
	{ "tid", "TID", ANALYZE_ID },
	{ "life_ns", "LIFE", ANALYZE_NS },
	{ "running_ns", "RUNNING", ANALYZE_NS },
	{ "runnable_ns", "RUNNABLE", ANALYZE_NS },
	{ "sleep_ns", "SLEEP", ANALYZE_NS },
	{ "disk_ns", "DISK", ANALYZE_NS },
	{ "wait_ns", "WAIT", ANALYZE_NS },
	{ "stopped_ns", NULL, ANALYZE_NS },
	{ "name", "THREAD", ANALYZE_TEXT },
};

/* If the kernel does not report what threads wait for, sleep and disk are unknown, not zero. */
static int64_t known(const int64_t ns[STATES], int state)
{
	bool is_reported = !ns[WAIT] || ns[SLEEP] || ns[DISK];

	return is_reported || (state != SLEEP && state != DISK) ? ns[state] : STORE_NULL;
}

static void add_all(struct analyze *a, struct analyze_section *s, const struct taking *t)
{
	static const char *const keys[STATES] = { "running_ns", "runnable_ns", "sleep_ns", "disk_ns", "wait_ns",
		"stopped_ns" };
	static const char *const titles[STATES] = { "running", "runnable", "sleep", "disk", "wait", NULL };
	struct analyze_rank *ranks = analyze_ranks(a, t->count);
	struct analyze_table *table;
	int64_t sums[STATES] = { 0 }, life_ns = 0;

	for (size_t i = 0; ranks && i < t->count; i++) {
		life_ns += t->threads[i].life_ns;
		for (int k = 0; k < STATES; k++)
			sums[k] += t->threads[i].ns[k];
		ranks[i] = (struct analyze_rank){ t->threads[i].life_ns, i };
	}
	analyze_rank(ranks, ranks ? t->count : 0);
	analyze_int(s, "life_ns", "thread lifetime", ANALYZE_SUM_NS, life_ns);
	for (int k = 0; k < STATES; k++)
		analyze_int(s, keys[k], titles[k], ANALYZE_SUM_NS, known(sums, k));
	table = analyze_table(s, "by_thread", "Threads", columns, sizeof(columns) / sizeof(*columns), 0);
	for (size_t i = 0; ranks && i < analyze_top(a, t->count); i++) {
		const struct thread *one = &t->threads[ranks[i].index];

		analyze_cell_int(table, one->process);
		analyze_cell_int(table, one->pid);
		analyze_cell_int(table, one->tid);
		analyze_cell_int(table, one->life_ns);
		for (int k = 0; k < STATES; k++)
			analyze_cell_int(table, known(one->ns, k));
		analyze_cell_bytes(table, model_name(a->run, one->name));
	}
	if (table)
		table->all_rows = t->count;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct states *states = state;
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_SCHED, states->by_thread);
	struct store_scan_opts opts = { .threads = 1 };
	struct taking t = { .a = a };
	int rc;

	if (states->by_thread < 0) {
		analyze_absent(s, "context switches were not recorded");
		return 0;
	}
	rc = store_scan(model_table(a->run, STORE_TABLE_TASK), &opts, on_tasks, &t, err);
	for (size_t i = 0; i < t.count; i++)
		account(states, &t.threads[i], g);
	if (rc == 0)
		add_all(a, s, &t);
	free(t.threads);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot account for thread time") : rc;
}

const struct analyze_pass analyze_pass_states = { .key = "states",
	.title = "States",
	.state_bytes = sizeof(struct states),
	.plan = plan,
	.finish = finish };
