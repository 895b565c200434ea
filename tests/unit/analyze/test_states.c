/* Time of threads: scheduling states, what they waited for, CPU profiles. */
#include "truth.h"

#include <stdio.h>

static void task(struct truth *t, int tid, const char *name, int64_t start_ns, int64_t end_ns, int64_t run_ns)
{
	truth_row(t, "task", "process pid tid start_ns end_ns name run_ns", "1 10 %d %lld %lld %s %lld", tid,
			(long long)(T0 + start_ns), (long long)(T0 + end_ns), name, (long long)run_ns);
}

/* wake_ns < 0, dur_ns < 0 and stack 0: null. */
static void off(struct truth *t, int tid, int64_t at_ns, int64_t dur_ns, const char *state, int64_t wake_ns, int stack)
{
	char wake[32] = "-", dur[32] = "-", place[32] = "-";

	if (wake_ns >= 0)
		snprintf(wake, sizeof(wake), "%lld", (long long)(T0 + wake_ns));
	if (dur_ns >= 0)
		snprintf(dur, sizeof(dur), "%lld", (long long)dur_ns);
	if (stack)
		snprintf(place, sizeof(place), "%d", stack);
	truth_row(t, "sched", "ts_ns dur_ns process pid tid state wake_ns stack", "%lld %s 1 10 %d %s %s %s",
			(long long)(T0 + at_ns), dur, tid, state, wake, place);
}

/* Each state gets its time; the rest of a thread's lifetime is running. */
static void states_add_up_to_lifetimes(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	task(&t, 11, "worker", 200 * MS, 700 * MS, 250 * MS);
	task(&t, 10, "main", 0, 1 * S, 300 * MS);
	/* Sleeps 400 ms, of which the last 100 ms are after the wakeup. */
	off(&t, 10, 100 * MS, 400 * MS, "sleep", 400 * MS, 0);
	off(&t, 10, 600 * MS, 150 * MS, "disk", -1, 0);
	off(&t, 10, 800 * MS, 100 * MS, "preempted", -1, 0);
	off(&t, 10, 900 * MS, 50 * MS, "traced", -1, 0);
	/* A wakeup after the end does not make a wait longer, and one before its start does not make it negative. */
	off(&t, 11, 300 * MS, 100 * MS, "disk", 500 * MS, 0);
	off(&t, 11, 500 * MS, 50 * MS, "sleep", 450 * MS, 0);
	off(&t, 11, 600 * MS, 100 * MS, "idle", -1, 0);
	off(&t, 11, 700 * MS, 10 * MS, "ended", -1, 0);
	truth_analyze(&t, NULL);
	truth_expect(&t, "states",
			"life_ns 1500000000\n"
			"running_ns 550000000\n"
			"runnable_ns 250000000\n"
			"sleep_ns 300000000\n"
			"disk_ns 250000000\n"
			"wait_ns 100000000\n"
			"stopped_ns 50000000\n"
			"by_thread:\n"
			"1 10 10 1000000000 300000000 200000000 300000000 150000000 0 50000000 main\n"
			"1 10 11 500000000 250000000 50000000 0 100000000 100000000 0 worker\n");
	truth_analyze(&t, &(struct analyze_opts){ .top = 1, .threads = 1, .part = { 0, 1 } });
	truth_table(&t, "states", "by_thread",
			"1 10 10 1000000000 300000000 200000000 300000000 150000000 0 50000000 main\n"
			"of 2\n");
	truth_end(&t);
}

/* The kernel's CPU time is exact: a difference above the tolerance means that switches were lost. */
static void lost_switches_are_corrected(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	/* 900 ms not off, but ran 500: the excess was waiting. */
	task(&t, 10, "excess", 0, 1 * S, 500 * MS);
	off(&t, 10, 0, 100 * MS, "sleep", -1, 0);
	/* 200 ms not off, but ran 600: half of each wait was running. */
	task(&t, 11, "deficit", 0, 1 * S, 600 * MS);
	off(&t, 11, 0, 600 * MS, "sleep", -1, 0);
	off(&t, 11, 700 * MS, 200 * MS, "disk", -1, 0);
	/* Within 1 ms and 2 % of it nothing is corrected. */
	task(&t, 12, "near", 0, 1 * S, 500 * MS);
	off(&t, 12, 0, 489 * MS, "sleep", -1, 0);
	task(&t, 13, "near2", 0, 1 * S, 500 * MS);
	off(&t, 13, 0, 511 * MS, "sleep", -1, 0);
	/* More than its lifetime cannot be right. */
	task(&t, 14, "wrong", 0, 1 * S, 1100 * MS);
	off(&t, 14, 0, 300 * MS, "sleep", -1, 0);
	/* The last switch is after the exit: the lifetime ends there. */
	task(&t, 15, "late", 0, 400 * MS, 100 * MS);
	off(&t, 15, 0, 450 * MS, "sleep", -1, 0);
	truth_analyze(&t, NULL);
	truth_table(&t, "states", "by_thread",
			"1 10 10 1000000000 500000000 0 100000000 0 400000000 0 excess\n"
			"1 10 11 1000000000 600000000 0 300000000 100000000 0 0 deficit\n"
			"1 10 12 1000000000 511000000 0 489000000 0 0 0 near\n"
			"1 10 13 1000000000 489000000 0 511000000 0 0 0 near2\n"
			"1 10 14 1000000000 700000000 0 300000000 0 0 0 wrong\n"
			"1 10 15 450000000 100000000 0 350000000 0 0 0 late\n");
	truth_end(&t);
}

static void what_is_not_reported_is_unknown(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_row(&t, "task", "process pid tid name", "1 10 10 main"); /* no start, no end, no CPU time */
	off(&t, 10, 100 * MS, 400 * MS, "wait", -1, 0);
	off(&t, 10, 900 * MS, -1, "wait", -1, 0); /* until the end of the run */
	truth_row(&t, "task", "process pid tid start_ns end_ns name run_ns", "1 10 11 500 2000001000 clipped -");
	truth_analyze(&t, NULL);
	truth_expect(&t, "states",
			"life_ns 2000000000\n"
			"running_ns 1500000000\n"
			"runnable_ns 0\n"
			"sleep_ns -\n"
			"disk_ns -\n"
			"wait_ns 500000000\n"
			"stopped_ns 0\n"
			"by_thread:\n"
			"1 10 10 1000000000 500000000 0 - - 500000000 0 main\n"
			"1 10 11 1000000000 1000000000 0 0 0 0 0 clipped\n");
	truth_end(&t);

	truth_start(&t);
	task(&t, 10, "main", 0, 1 * S, 300 * MS);
	truth_analyze(&t, NULL);
	truth_expect(&t, "states", "absent context switches were not recorded\n");
	truth_expect(&t, "offcpu", "absent context switches were not recorded\n");
	truth_expect(&t, "cpu", "absent CPU samples were not recorded\n");
	truth_end(&t);
}

/* 1 main, 2 work, 3 pthread_mutex_lock in libc, 4 futex_wait, 5 read in libc, 6 recv in libc, 7 do_nanosleep. */
static void add_stacks(struct truth *t)
{
	truth_modules(t);
	truth_stack(t, 1, 0, 2, "main");
	truth_stack(t, 2, 1, 2, "work");
	truth_stack(t, 3, 2, 3, "pthread_mutex_lock");
	truth_stack(t, 4, 3, 1, "futex_wait");
	truth_stack(t, 5, 1, 3, "read");
	truth_stack(t, 6, 2, 3, "recv");
	truth_stack(t, 7, 1, 1, "do_nanosleep");
	truth_stack(t, 8, 1, 1, "asm_exc_page_fault");
	truth_stack(t, 9, 8, 1, "clear_page");
	truth_stack(t, 10, 2, 2, "handle_mm_fault"); /* of the program, not of the kernel */
}

static void waits_have_reasons(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_stacks(&t);
	task(&t, 10, "main", 0, 1 * S, 100 * MS);
	off(&t, 10, 0, 100 * MS, "sleep", -1, 4);             /* the lock decides, not the futex inside */
	off(&t, 10, 100 * MS, 60 * MS, "sleep", 140 * MS, 4); /* 40 ms until the wakeup */
	off(&t, 10, 200 * MS, 50 * MS, "sleep", -1, 6);
	off(&t, 10, 300 * MS, 30 * MS, "sleep", -1, 7);
	off(&t, 10, 400 * MS, 20 * MS, "disk", -1, 5);      /* a read without kernel frames may be of anything */
	off(&t, 10, 500 * MS, 200 * MS, "sleep", -1, 0);    /* no stack */
	off(&t, 10, 700 * MS, 70 * MS, "preempted", -1, 4); /* waits for nothing */
	off(&t, 10, 800 * MS, 10 * MS, "ended", -1, 4);
	off(&t, 10, 820 * MS, 5 * MS, "sleep", 815 * MS, 9); /* woken before: all of it */
	truth_analyze(&t, NULL);
	truth_expect(&t, "offcpu",
			"total_ns 445000000\n"
			"known_ns 245000000\n"
			"by_reason:\n"
			"lock 140000000 0.571429 2\n"
			"network 50000000 0.204082 1\n"
			"sleep 30000000 0.122449 1\n"
			"other 20000000 0.0816327 1\n"
			"page fault 5000000 0.0204082 1\n"
			"tree:\n"
			"0 main 245000000 0\n"
			"1 work 190000000 0\n"
			"2 pthread_mutex_lock 140000000 0\n"
			"3 futex_wait 140000000 140000000\n"
			"2 recv 50000000 50000000\n"
			"1 do_nanosleep 30000000 30000000\n"
			"1 read 20000000 20000000\n"
			"1 asm_exc_page_fault 5000000 0\n"
			"2 clear_page 5000000 5000000\n");
	truth_end(&t);
}

static void sample(struct truth *t, int64_t at_ns, int tid, int stack, int64_t weight_ns, int is_kernel)
{
	char place[32] = "-";

	if (stack)
		snprintf(place, sizeof(place), "%d", stack);
	truth_row(t, "sample", "ts_ns process pid tid event weight_ns count is_kernel stack",
			"%lld 1 10 %d cpu-clock %lld 1 %d %s", (long long)(T0 + at_ns), tid, (long long)weight_ns,
			is_kernel, place);
}

static void profiles_have_self_and_total(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_stacks(&t);
	truth_stack(&t, 11, 2, 2, "work"); /* recursion */
	task(&t, 10, "main", 0, 1 * S, 400 * MS);
	task(&t, 11, "other", 0, 1 * S, 50 * MS);
	sample(&t, 0, 10, 1, 10 * MS, 0);
	sample(&t, 10 * MS, 10, 2, 20 * MS, 0);
	sample(&t, 30 * MS, 10, 11, 40 * MS, 0);
	sample(&t, 70 * MS, 10, 9, 8 * MS, 1);
	sample(&t, 80 * MS, 10, 8, 4 * MS, 1);
	sample(&t, 90 * MS, 10, 10, 2 * MS, 0);
	sample(&t, 95 * MS, 11, 0, 1 * MS, 0);
	truth_analyze(&t,
			&(struct analyze_opts){ .threads = 1,
					.part = { 0, 1 },
					.cpu_filters = "work:red,page:,:blue,x" });
	truth_expect(&t, "cpu",
			"cpu_ns 450000000\n"
			"samples 7\n"
			"sampled_ns 85000000\n"
			"kernel_ns 12000000\n"
			"fault_ns 12000000\n"
			"by_function:\n"
			"work 60000000 0.705882 62000000 /bin/program\n"
			"main 10000000 0.117647 84000000 /bin/program\n"
			"clear_page 8000000 0.0941176 8000000 [kernel]\n"
			"asm_exc_page_fault 4000000 0.0470588 12000000 [kernel]\n"
			"handle_mm_fault 2000000 0.0235294 2000000 /bin/program\n"
			"tree:\n"
			"0 main 84000000 10000000\n"
			"1 work 62000000 20000000\n"
			"2 work 40000000 40000000\n"
			"2 handle_mm_fault 2000000 2000000\n"
			"1 asm_exc_page_fault 12000000 4000000\n"
			"2 clear_page 8000000 8000000\n"
			"groups:\n"
			"work red 60000000 0.705882 1\n"
			"page - 12000000 0.141176 2\n"
			"x - 4000000 0.0470588 1\n");
	truth_analyze(&t, &(struct analyze_opts){ .threads = 1, .part = { 0, 1 }, .top = 2 });
	truth_table(&t, "cpu", "by_function",
			"work 60000000 0.705882 62000000 /bin/program\n"
			"main 10000000 0.117647 84000000 /bin/program\n"
			"of 5\n");
	truth_end(&t);
}

/* Functions below half a percent of the time are not in the tree; siblings are sorted by time. */
static void small_branches_are_cut(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_modules(&t);
	truth_stack(&t, 1, 0, 2, "main");
	truth_stack(&t, 2, 1, 2, "light");
	truth_stack(&t, 3, 1, 2, "heavy");
	truth_stack(&t, 4, 1, 2, "edge");
	truth_stack(&t, 5, 1, 2, "below");
	truth_stack(&t, 6, 3, 2, "inner");
	sample(&t, 0, 10, 2, 200, 0);
	sample(&t, 1, 10, 3, 700, 0);
	sample(&t, 2, 10, 4, 5, 0);
	sample(&t, 3, 10, 5, 4, 0);
	sample(&t, 4, 10, 6, 91, 0);
	truth_analyze(&t, NULL);
	truth_table(&t, "cpu", "tree",
			"0 main 1000 0\n"
			"1 heavy 791 700\n"
			"2 inner 91 91\n"
			"1 light 200 200\n"
			"1 edge 5 5\n"
			"of 6\n");
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_add_up_to_lifetimes),
		cmocka_unit_test(lost_switches_are_corrected),
		cmocka_unit_test(what_is_not_reported_is_unknown),
		cmocka_unit_test(waits_have_reasons),
		cmocka_unit_test(profiles_have_self_and_total),
		cmocka_unit_test(small_branches_are_cut),
	};

	return RUN_TESTS(tests);
}
