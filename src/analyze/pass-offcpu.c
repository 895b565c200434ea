/*
 * Off-CPU: what threads waited for, by the stack with which they left the CPU. The number of switches per second with
 * a stack is limited; the time of the others is reported separately, and reasons cover only those with a stack. A
 * wait ends at the wakeup: on a busy machine the thread then waits for a CPU, which is not caused by the lock, disk
 * or network.
 */
#include "analyze/calltree.h"
#include "analyze/pass-results.h"
#include "calls/calls-find.h"
#include "store/schema.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Reasons. */

/* Parts of function names, most specific first: the first row that matches any frame of a stack decides. */
static const struct {
	const char *part;
	enum wait_reason reason;
} parts[] = {
	{ "lll_lock_wait", WAIT_LOCK },
	{ "pthread_mutex_lock", WAIT_LOCK },
	{ "pthread_mutex_timedlock", WAIT_LOCK },
	{ "pthread_mutex_clocklock", WAIT_LOCK },
	{ "pthread_rwlock_", WAIT_LOCK },
	{ "pthread_spin_lock", WAIT_LOCK },
	{ "take_gil", WAIT_LOCK },
	{ "rwsem_down_", WAIT_LOCK },
	{ "mutex_lock_slowpath", WAIT_LOCK },
	{ "flock_lock_inode", WAIT_LOCK },
	{ "posix_lock_inode", WAIT_LOCK },
	{ "PyThread_acquire_lock", WAIT_CONDITION }, /* Python's queues, joins and events wait here, its locks rarely */
	{ "pthread_cond_", WAIT_CONDITION },
	{ "pthread_barrier", WAIT_CONDITION },
	{ "pthread_clockjoin", WAIT_CONDITION },
	{ "pthread_join", WAIT_CONDITION },
	{ "sem_wait", WAIT_CONDITION },
	{ "sem_timedwait", WAIT_CONDITION },
	{ "do_new_sem_wait", WAIT_CONDITION },
	{ "do_nanosleep", WAIT_SLEEP },
	{ "hrtimer_nanosleep", WAIT_SLEEP },
	{ "tcp_recvmsg", WAIT_NETWORK },
	{ "tcp_sendmsg", WAIT_NETWORK },
	{ "sk_wait_data", WAIT_NETWORK },
	{ "sk_stream_wait", WAIT_NETWORK },
	{ "inet_csk_accept", WAIT_EVENT }, /* an idle server */
	{ "inet_csk_wait_for_connect", WAIT_EVENT },
	{ "inet_stream_connect", WAIT_NETWORK },
	{ "skb_wait_for_more_packets", WAIT_NETWORK },
	{ "unix_stream_read", WAIT_NETWORK },
	{ "unix_stream_data_wait", WAIT_NETWORK },
	{ "inet_wait_for_connect", WAIT_NETWORK },
	{ "exc_page_fault", WAIT_FAULT },
	{ "io_schedule", WAIT_DISK },
	{ "folio_wait", WAIT_DISK },
	{ "blk_mq_", WAIT_DISK },
	{ "submit_bio_wait", WAIT_DISK },
	{ "jbd2_", WAIT_DISK },
	{ "pipe_read", WAIT_PIPE },
	{ "pipe_write", WAIT_PIPE },
	{ "n_tty_read", WAIT_PIPE },
	{ "do_epoll_wait", WAIT_EVENT },
	{ "do_sys_poll", WAIT_EVENT },
	{ "do_select", WAIT_EVENT },
	{ "do_wait", WAIT_CHILD },
	{ "futex_wait", WAIT_CONDITION },
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

static const char *wait_reason_word(int reason)
{
	static const char *const words[WAIT_REASONS] = { "lock", "condition", "network", "disk", "page fault", "pipe",
		"event", "child", "sleep", "other" };

	return words[reason];
}

static size_t first_match(const char *function, size_t best)
{
	for (size_t i = 0; i < best; i++)
		if (strstr(function, parts[i].part))
			return i;
	return best;
}

/*
 * The call that a thread waits in, for stacks that end there: without kernel frames a read may be of a file, a pipe
 * or a socket, and is not reported.
 */
static enum wait_reason call_reason(const char *function)
{
	static const enum wait_reason reasons[CALL_WAIT_COUNT] = {
		[CALL_WAIT_NONE] = WAIT_OTHER,
		[CALL_WAIT_FD] = WAIT_OTHER,
		[CALL_WAIT_NETWORK] = WAIT_NETWORK,
		[CALL_WAIT_EVENT] = WAIT_EVENT,
		[CALL_WAIT_CHILD] = WAIT_CHILD,
		[CALL_WAIT_SLEEP] = WAIT_SLEEP,
		[CALL_WAIT_LOCK] = WAIT_LOCK,
		[CALL_WAIT_CONDITION] = WAIT_CONDITION,
		[CALL_WAIT_DISK] = WAIT_DISK,
	};
	const struct call_info *info = calls_find(function, strlen(function));

	return info ? reasons[info->wait] : WAIT_OTHER;
}

static enum wait_reason wait_reason_of(struct model_stacks *stacks, int64_t stack)
{
	enum wait_reason otherwise = WAIT_OTHER;
	const struct model_frame *innermost;
	size_t best = PARTS;

	if (stack != STORE_NULL && model_stack_place(stacks, stack, &innermost) && !innermost->is_kernel &&
			innermost->function)
		otherwise = call_reason(innermost->function);
	for (; stack != STORE_NULL; stack = model_stack_parent(stacks, stack)) {
		const struct model_frame *frames;
		size_t count = model_stack_place(stacks, stack, &frames);

		for (size_t i = 0; i < count; i++)
			best = frames[i].function ? first_match(frames[i].function, best) : best;
	}
	return best < PARTS ? parts[best].reason : otherwise;
}

bool wait_is_fault(struct model_stacks *stacks, int64_t stack)
{
	for (; stack != STORE_NULL; stack = model_stack_parent(stacks, stack)) {
		const struct model_frame *frames;
		size_t count = model_stack_place(stacks, stack, &frames);

		for (size_t i = 0; i < count; i++)
			if (frames[i].function && frames[i].is_kernel &&
					(strstr(frames[i].function, "exc_page_fault") ||
							strstr(frames[i].function, "handle_mm_fault")))
				return true;
		if (count && !frames[count - 1].is_kernel)
			return false; /* kernel frames are innermost */
	}
	return false;
}

/* The pass. */

enum { Q_COUNT, Q_DUR };

static void fill_waited(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const int64_t *ts = rows->ints[STORE_SCHED_ts_ns], *wake = rows->ints[STORE_SCHED_wake_ns];

	(void)arg;
	for (size_t i = 0; i < rows->count; i++) {
		out[i] = rows->ints[STORE_SCHED_dur_ns][i];
		if (out[i] != STORE_NULL && wake[i] != STORE_NULL && wake[i] >= ts[i] && wake[i] - ts[i] < out[i])
			out[i] = wake[i] - ts[i];
	}
}

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct engine_derive waited = { .fill = fill_waited,
		.need_count = 3,
		.needs = { STORE_SCHED_ts_ns, STORE_SCHED_dur_ns, STORE_SCHED_wake_ns } };
	struct engine_query by_stack = { "off the CPUs by stack", 2, { STORE_SCHED_stack, STORE_SCHED_state },
		ENGINE_NONE, 2, { { ENGINE_COUNT, ENGINE_NONE } } };
	int column = a->plans[STORE_TABLE_SCHED] ? engine_plan_derive(a->plans[STORE_TABLE_SCHED], &waited) : 0;

	if (column < 0)
		return err_sys(err, ENOMEM, "cannot account for waits");
	by_stack.aggregates[Q_DUR] = (struct engine_aggregate){ ENGINE_TIME, column };
	((struct offcpu *)state)->by_stack = analyze_query(a, STORE_TABLE_SCHED, &by_stack);
	return 0;
}

/* A preempted thread does not wait for anything, nor does one that has exited. */
static bool is_wait(const struct analyze *a, int64_t state)
{
	const char *word = model_cname(a->run, state);

	return !word || (strcmp(word, "preempted") != 0 && strcmp(word, "ended") != 0);
}

static const struct analyze_column columns[] = {
	{ "reason", "REASON", ANALYZE_TEXT },
	{ "total_ns", "TIME", ANALYZE_SUM_NS },
	{ "share", "SHARE", ANALYZE_RATIO },
	{ "count", "COUNT", ANALYZE_COUNT },
};

static void show(struct analyze *a, struct analyze_section *s, const struct offcpu *o)
{
	struct analyze_table *t = analyze_table(s, "by_reason", "Waits by reason", columns, 4, 0);
	struct analyze_rank ranks[WAIT_REASONS];

	analyze_int(s, "total_ns", "waited", ANALYZE_SUM_NS, o->total_ns);
	analyze_int(s, "known_ns", "with stack", ANALYZE_SUM_NS, o->known_ns);
	for (int i = 0; i < WAIT_REASONS; i++)
		ranks[i] = (struct analyze_rank){ o->ns[i], (size_t)i };
	analyze_rank(ranks, WAIT_REASONS);
	for (int i = 0; i < WAIT_REASONS; i++) {
		size_t r = ranks[i].index;

		if (!o->counts[r] && !o->ns[r])
			continue;
		analyze_cell_text(t, wait_reason_word((int)r));
		analyze_cell_int(t, o->ns[r]);
		analyze_cell_real(t, o->known_ns ? (double)o->ns[r] / (double)o->known_ns : 0);
		analyze_cell_int(t, o->counts[r]);
	}
	(void)a;
}

static int sort_out(struct analyze *a, struct offcpu *o, struct calltree *tree, const struct engine_groups *g)
{
	int rc = 0;

	for (size_t i = 0; i < g->count && rc == 0; i++) {
		int64_t stack = engine_key(g, i, 0), ns = engine_sum(g, Q_DUR, i);
		enum wait_reason reason;

		if (!is_wait(a, engine_key(g, i, 1)))
			continue;
		o->total_ns += ns;
		if (stack == STORE_NULL)
			continue;
		reason = wait_reason_of(tree->stacks, stack);
		o->known_ns += ns;
		o->ns[reason] += ns;
		o->counts[reason] += (int64_t)engine_count(g, Q_COUNT, i);
		if (ns > o->most_ns[reason]) {
			o->most_ns[reason] = ns;
			o->most_stack[reason] = stack;
		}
		rc = calltree_add(tree, stack, ns);
	}
	return rc;
}

/* Finds the program's function in the stack with the longest wait: the innermost outside the kernel and libc. */
static void name_worst(struct analyze *a, struct offcpu *o, struct model_stacks *stacks)
{
	for (int r = 0; r < WAIT_REASONS; r++) {
		if (!o->most_ns[r])
			continue;
		for (int64_t at = o->most_stack[r]; at != STORE_NULL && !o->where[r];
				at = model_stack_parent(stacks, at)) {
			const struct model_frame *frames;
			size_t count = model_stack_place(stacks, at, &frames);

			for (size_t i = 0; i < count && !o->where[r]; i++)
				if (frames[i].function && !frames[i].is_kernel && frames[i].module &&
						!strstr(frames[i].module, "/libc.so") &&
						!strstr(frames[i].module, "/libpthread"))
					o->where[r] = arena_strdup(&a->arena, model_frame_label(&frames[i]));
		}
	}
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct offcpu *o = state;
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_SCHED, o->by_stack);
	struct calltree tree = { .count = 0 };
	struct model_stacks *stacks = NULL;
	int rc;

	if (!g->count || g->is_over) {
		analyze_absent(s, "context switches were not recorded");
		return 0;
	}
	rc = model_stacks_open(&stacks, a->run, err);
	if (rc == 0)
		rc = calltree_init(&tree, stacks);
	if (rc == 0)
		rc = sort_out(a, o, &tree, g);
	if (rc == 0) {
		show(a, s, o);
		calltree_show(&tree, a, s);
		name_worst(a, o, stacks);
	}
	calltree_release(&tree);
	model_stacks_free(stacks);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot account for waits") : rc;
}

const struct analyze_pass analyze_pass_offcpu = { .key = "offcpu",
	.title = "Off-CPU",
	.state_bytes = sizeof(struct offcpu),
	.plan = plan,
	.finish = finish };
