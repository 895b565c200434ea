/*
 * Each diagnosis rule at its thresholds: a run that it must report, and runs that differ from it by one step across one
 * of the thresholds, which it must not. Runs last a second, so a finding needs 10 ms.
 */
#include "truth.h"

#include <stdio.h>
#include <string.h>

static void expect(struct truth *t, const char *rule, bool is_found)
{
	truth_analyze(t, NULL);
	if (truth_has_finding(t, rule) != is_found)
		fail_msg("%s is %sreported", rule, is_found ? "not " : "");
	if (!is_found)
		return;
	/* A finding says what it is, by which figures, and what to do next. */
	assert_true(strlen(truth_cell(t, "diagnosis", "diagnosis", rule, "what")) > 10);
	assert_non_null(strpbrk(truth_cell(t, "diagnosis", "diagnosis", rule, "evidence"), "0123456789"));
	assert_true(strncmp(truth_cell(t, "diagnosis", "diagnosis", rule, "next"), "sonde ", 6) == 0);
}

static void expect_cell(struct truth *t, const char *rule, const char *column, const char *text)
{
	assert_string_equal(truth_cell(t, "diagnosis", "diagnosis", rule, column), text);
}

static void begin(struct truth *t)
{
	truth_start(t);
	bundle_file(&t->bundle, 1, STORE_NULL, "/data/a");
	bundle_file(&t->bundle, 2, STORE_NULL, "/data/b");
	truth_row(t, "process", "process pid exe", "1 10 /bin/one");
}

/* Small reads and writes. */

static void add_calls(struct truth *t, const char *call, int count, int64_t dur_ns, int file, int64_t bytes)
{
	for (int i = 0; i < count; i++)
		truth_call(t, call, i * 100000LL, dur_ns, file, bytes);
}

static bool is_tiny(const char *call, const char *buffered, int count, int buffered_count, int64_t dur_ns,
		int64_t bytes)
{
	struct truth t;
	bool is_found;

	begin(&t);
	add_calls(&t, call, count, dur_ns, 1, bytes);
	add_calls(&t, buffered, buffered_count, dur_ns, 1, bytes);
	truth_analyze(&t, NULL);
	is_found = truth_has_finding(&t, strcmp(call, "read") == 0 ? "tiny_reads" : "tiny_writes");
	truth_end(&t);
	return is_found;
}

static void small_accesses(void **state)
{
	struct truth t;

	(void)state;
	assert_true(is_tiny("read", "fread", 1000, 0, 20000, 100));
	assert_false(is_tiny("read", "fread", 999, 0, 20000, 100)); /* too few */
	assert_true(is_tiny("read", "fread", 1000, 0, 20000, 4095));
	assert_false(is_tiny("read", "fread", 1000, 0, 20000, 4096)); /* too large */
	/* 100 bytes each are 2 large accesses instead of 1000: 0.998 of the time could be saved, of at least 10 ms. */
	assert_true(is_tiny("read", "fread", 1000, 0, 10021, 100));
	assert_false(is_tiny("read", "fread", 1000, 0, 10019, 100));
	assert_true(is_tiny("read", "fread", 600, 600, 20000, 100));
	assert_false(is_tiny("read", "fread", 600, 601, 20000, 100)); /* most are buffered */
	assert_true(is_tiny("write", "fwrite", 1000, 0, 20000, 100));
	assert_false(is_tiny("write", "fwrite", 999, 0, 20000, 100));

	begin(&t);
	add_calls(&t, "read", 1000, 20000, 1, 100);
	add_calls(&t, "read", 2000, 20000, 2, 10);
	expect(&t, "tiny_reads", true);
	expect_cell(&t, "tiny_reads", "what", "2 files are read a few bytes at a time");
	expect_cell(&t, "tiny_reads", "evidence", "2000 calls on /data/b moved 10 bytes each and took 0.040 s");
	expect_cell(&t, "tiny_reads", "recoverable_ns", "59940000"); /* 20 ms * (1 - 2/1000) + 40 ms * (1 - 1/2000) */
	expect_cell(&t, "tiny_reads", "from_ns", "0");
	expect_cell(&t, "tiny_reads", "to_ns", "200000004"); /* 12 of the 60 intervals */
	assert_non_null(strstr(truth_cell(&t, "diagnosis", "diagnosis", "tiny_reads", "next"),
			"sonde events --table io --path /data/b runs/"));
	assert_false(truth_has_finding(&t, "tiny_writes"));
	truth_end(&t);
}

/* Repeated opens and stats. */

static bool is_repeated(const char *call, const char *rule, int count, int processes, int64_t dur_ns)
{
	struct truth t;
	bool is_found;

	begin(&t);
	for (int i = 1; i < processes; i++)
		truth_row(&t, "process", "process pid exe", "%d %d /bin/one", i + 1, 10 * i + 10);
	add_calls(&t, call, count, dur_ns, 1, 0);
	truth_analyze(&t, NULL);
	is_found = truth_has_finding(&t, rule);
	truth_end(&t);
	return is_found;
}

static void repeated_calls(void **state)
{
	struct truth t;

	(void)state;
	assert_true(is_repeated("open", "repeated_opens", 50, 1, 1 * MS));
	assert_false(is_repeated("open", "repeated_opens", 49, 1, 1 * MS));
	assert_true(is_repeated("open", "repeated_opens", 100, 2, 1 * MS)); /* once in each process is needed */
	assert_false(is_repeated("open", "repeated_opens", 99, 2, 1 * MS));
	assert_true(is_repeated("stat", "repeated_stats", 100, 1, 1 * MS));
	assert_false(is_repeated("stat", "repeated_stats", 99, 1, 1 * MS));
	assert_true(is_repeated("open", "repeated_opens", 50, 1, 204082)); /* 49 of 50 could be saved: 10 ms */
	assert_false(is_repeated("open", "repeated_opens", 50, 1, 204081));

	begin(&t);
	add_calls(&t, "open", 50, 1 * MS, 1, 3);
	add_calls(&t, "open", 100, 1 * MS, 2, 3);
	expect(&t, "repeated_opens", true);
	expect_cell(&t, "repeated_opens", "what", "2 paths are opened repeatedly");
	expect_cell(&t, "repeated_opens", "evidence", "/data/b was opened 100 times, which took 0.100 s");
	expect_cell(&t, "repeated_opens", "recoverable_ns", "148000000");
	truth_end(&t);
}

/* Bound by I/O or input: spans compute and load, calls read. */

static void span(struct truth *t, const char *category, int64_t from_ns, int64_t dur_ns)
{
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open", "%lld %lld 1 10 10 %s %s 0 0",
			(long long)(T0 + from_ns), (long long)dur_ns, category, category);
}

static void io_bound(void **state)
{
	struct truth t;

	(void)state;
	begin(&t);
	truth_call(&t, "read", 0, 500 * MS, 1, 1000000);
	expect(&t, "io_bound", true);
	expect_cell(&t, "io_bound", "recoverable_ns", "500000000");
	expect_cell(&t, "io_bound", "evidence",
			"for 0.500 s of 1.000 s calls were in progress, for 0.500 s without compute");
	truth_end(&t);

	begin(&t);
	truth_call(&t, "read", 0, 500 * MS - 1, 1, 1000000);
	expect(&t, "io_bound", false);
	truth_end(&t);

	begin(&t);
	truth_call(&t, "read", 0, 900 * MS, 1, 1000000);
	span(&t, "compute", 100 * MS, 300 * MS); /* hides a third of it */
	expect(&t, "io_bound", true);
	expect_cell(&t, "io_bound", "recoverable_ns", "400000000"); /* only as much as the rest of the run can hide */
	truth_end(&t);

	begin(&t);
	truth_call(&t, "read", 0, 900 * MS, 1, 1000000);
	span(&t, "compute", 100 * MS, 401 * MS);
	expect(&t, "io_bound", false);
	truth_end(&t);
}

static void input_waits(void **state)
{
	struct truth t;

	(void)state;
	begin(&t);
	span(&t, "reader", 0, 300 * MS);
	span(&t, "compute", 200 * MS, 150 * MS); /* 200 ms of loading are not overlapped */
	expect(&t, "input_waits", true);
	expect_cell(&t, "input_waits", "recoverable_ns", "150000000"); /* not more than there is compute */
	expect_cell(&t, "input_waits", "evidence",
			"for 0.200 s of 1.000 s the application did I/O without computing; "
			"it computed for 0.150 s");
	truth_end(&t);

	begin(&t);
	span(&t, "reader", 0, 300 * MS);
	span(&t, "compute", 200 * MS - 1, 500 * MS);
	expect(&t, "input_waits", false);
	truth_end(&t);

	begin(&t);
	span(&t, "reader", 0, 300 * MS); /* no compute known */
	expect(&t, "input_waits", false);
	truth_end(&t);
}

/* Imbalance: processes of one program. */

static void worker(struct truth *t, int process, int parent, const char *exe, int64_t io_ns)
{
	char above[16] = "-";

	if (parent)
		snprintf(above, sizeof(above), "%d", parent);
	truth_row(t, "process", "process pid parent exe", "%d %d %s %s", process, 100 + process, above, exe);
	if (io_ns)
		truth_row(t, "io", "ts_ns dur_ns process pid tid call file ret errnum size",
				"1000 %lld %d %d %d read 1 100 0 100", (long long)io_ns, process, 100 + process,
				100 + process);
}

static bool is_imbalanced(int64_t most_ns, int64_t other_ns, int others, const char *exe)
{
	struct truth t;
	bool is_found;

	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	worker(&t, 1, 0, "/bin/parent", 0);
	worker(&t, 2, 1, "/bin/worker", most_ns);
	for (int i = 0; i < others; i++)
		worker(&t, 3 + i, 1, exe, other_ns);
	truth_analyze(&t, NULL);
	is_found = truth_has_finding(&t, "imbalance");
	truth_end(&t);
	return is_found;
}

static void imbalance(void **state)
{
	struct truth t;

	(void)state;
	assert_true(is_imbalanced(300 * MS, 100 * MS, 2, "/bin/worker"));
	assert_false(is_imbalanced(300 * MS - 1, 100 * MS, 2, "/bin/worker")); /* less than three times as much */
	assert_false(is_imbalanced(300 * MS, 100 * MS, 1, "/bin/worker"));     /* two are no team */
	assert_false(is_imbalanced(300 * MS, 100 * MS, 2, "/bin/other"));      /* another job */
	assert_true(is_imbalanced(101 * MS, 1 * MS, 2, "/bin/worker"));
	assert_false(is_imbalanced(101 * MS - 1, 1 * MS, 2, "/bin/worker")); /* below a tenth of the run */

	/* The parent runs the same program, but has another job. */
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	worker(&t, 1, 0, "/bin/worker", 500 * MS);
	worker(&t, 2, 1, "/bin/worker", 20 * MS);
	worker(&t, 3, 1, "/bin/worker", 20 * MS);
	expect(&t, "imbalance", false);
	truth_end(&t);

	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	worker(&t, 1, 0, "/bin/worker", 500 * MS);
	worker(&t, 2, 1, "/bin/worker", 20 * MS);
	worker(&t, 3, 1, "/bin/worker", 620 * MS);
	worker(&t, 4, 1, "/bin/worker", 20 * MS);
	expect(&t, "imbalance", true);
	expect_cell(&t, "imbalance", "evidence",
			"process 3 spent 0.620 s in calls on files, the 2 other workers 0.020 s each");
	expect_cell(&t, "imbalance", "recoverable_ns", "400000000");
	truth_end(&t);
}

/* CPU time, waiting for CPUs, locks, faults. */

static void task(struct truth *t, int64_t run_ns)
{
	truth_row(t, "task", "process pid tid start_ns end_ns name run_ns", "1 10 10 1000 1000001000 main %lld",
			(long long)run_ns);
}

static void off(struct truth *t, int64_t at_ns, int64_t dur_ns, const char *state, int stack)
{
	char place[16] = "-";

	if (stack)
		snprintf(place, sizeof(place), "%d", stack);
	truth_row(t, "sched", "ts_ns dur_ns process pid tid state stack", "%lld %lld 1 10 10 %s %s",
			(long long)(T0 + at_ns), (long long)dur_ns, state, place);
}

static void sample(struct truth *t, int64_t at_ns, int stack, int64_t weight_ns)
{
	truth_row(t, "sample", "ts_ns process pid tid event weight_ns count is_kernel stack",
			"%lld 1 10 10 cpu-clock %lld 1 0 %d", (long long)(T0 + at_ns), (long long)weight_ns, stack);
}

/* Stacks: 1 main, 2 pthread_mutex_lock, 3 recv, 4 exc_page_fault, 5 inner. */
static void begin_with_stacks(struct truth *t)
{
	begin(t);
	truth_modules(t);
	truth_stack(t, 1, 0, 2, "main");
	truth_stack(t, 2, 1, 3, "pthread_mutex_lock");
	truth_stack(t, 3, 1, 3, "recv");
	truth_stack(t, 4, 1, 1, "exc_page_fault");
	truth_stack(t, 5, 1, 2, "inner");
}

static bool is_cpu_bound(int64_t run_ns, int64_t runnable_ns)
{
	struct truth t;
	bool is_found;

	begin_with_stacks(&t);
	task(&t, run_ns);
	sample(&t, 0, 1, 1 * MS);
	if (runnable_ns)
		off(&t, 0, runnable_ns, "preempted", 0);
	truth_analyze(&t, NULL);
	is_found = truth_has_finding(&t, "cpu_bound");
	truth_end(&t);
	return is_found;
}

static void cpu_bound(void **state)
{
	struct truth t;

	(void)state;
	assert_true(is_cpu_bound(800 * MS, 0));
	assert_false(is_cpu_bound(800 * MS - 1, 0));
	assert_true(is_cpu_bound(200 * MS, 600 * MS)); /* would have run */
	assert_false(is_cpu_bound(200 * MS, 600 * MS - 1));
	assert_false(is_cpu_bound(200 * MS - 1, 700 * MS));

	begin_with_stacks(&t);
	task(&t, 900 * MS);
	sample(&t, 0, 5, 3 * MS);
	sample(&t, 5 * MS, 1, 1 * MS);
	expect(&t, "cpu_bound", true);
	expect_cell(&t, "cpu_bound", "recoverable_ns", "750000000"); /* without the costliest function */
	expect_cell(&t, "cpu_bound", "evidence", "0.900 s of CPU time in 1.000 s, most of it in inner");
	truth_end(&t);
}

static bool waits_for_cpu(int64_t run_ns, int64_t runnable_ns, int64_t sleep_ns)
{
	struct truth t;
	bool is_found;

	begin_with_stacks(&t);
	task(&t, run_ns);
	off(&t, 0, runnable_ns, "preempted", 0);
	off(&t, runnable_ns, sleep_ns, "sleep", 0);
	truth_analyze(&t, NULL);
	is_found = truth_has_finding(&t, "run_queue");
	truth_end(&t);
	return is_found;
}

static void run_queue(void **state)
{
	struct truth t;

	(void)state;
	assert_true(waits_for_cpu(800 * MS, 200 * MS, 0)); /* a fifth of the lifetime, a quarter of the running time */
	assert_false(waits_for_cpu(800 * MS + 8, 200 * MS - 8, 0));
	assert_true(waits_for_cpu(0, 200 * MS, 800 * MS));
	assert_false(waits_for_cpu(0, 200 * MS - 1, 800 * MS + 1));

	begin_with_stacks(&t);
	task(&t, 600 * MS);
	off(&t, 0, 400 * MS, "preempted", 0);
	expect(&t, "run_queue", true);
	expect_cell(&t, "run_queue", "recoverable_ns", "400000000");
	expect_cell(&t, "run_queue", "evidence", "threads ran for 0.600 s and were runnable for 0.400 s, on 2 CPUs");
	truth_end(&t);
}

static void lock_bound(void **state)
{
	struct truth t;

	(void)state;
	begin_with_stacks(&t);
	off(&t, 0, 100 * MS, "sleep", 2); /* all of what has a stack: the other 100 ms count, too */
	off(&t, 200 * MS, 100 * MS, "sleep", 0);
	expect(&t, "lock_bound", true);
	expect_cell(&t, "lock_bound", "recoverable_ns", "200000000");
	assert_memory_equal(truth_cell(&t, "diagnosis", "diagnosis", "lock_bound", "evidence"),
			"threads waited 0.200 s for locks in 1.000 s, most in main; 1 waits were sampled", 78);
	truth_end(&t);

	begin_with_stacks(&t);
	off(&t, 0, 200 * MS - 1, "sleep", 2);
	expect(&t, "lock_bound", false);
	truth_end(&t);
}

static void network_bound(void **state)
{
	struct truth t;

	(void)state;
	begin_with_stacks(&t);
	off(&t, 0, 500 * MS, "sleep", 3);
	expect(&t, "network_bound", true);
	truth_end(&t);

	begin_with_stacks(&t);
	off(&t, 0, 500 * MS - 1, "sleep", 3);
	expect(&t, "network_bound", false);
	truth_end(&t);

	begin_with_stacks(&t); /* no stacks: the time in calls; accept does not count */
	truth_call(&t, "recv", 100 * MS, 300 * MS, 2, 10);
	truth_call(&t, "send", 500 * MS, 200 * MS, 2, 10);
	truth_call(&t, "accept", 700 * MS, 200 * MS, 2, 10);
	expect(&t, "network_bound", true);
	expect_cell(&t, "network_bound", "recoverable_ns", "500000000");
	expect_cell(&t, "network_bound", "evidence",
			"threads spent 0.500 s in calls that send, receive and connect and waited 0.000 s for "
			"sockets, in 1.000 s");
	truth_end(&t);

	begin_with_stacks(&t); /* half of the time off the CPUs was waiting for one */
	task(&t, 200 * MS);
	truth_call(&t, "recv", 0, 900 * MS, 2, 10);
	off(&t, 0, 400 * MS, "sleep", 0);
	off(&t, 400 * MS, 400 * MS, "preempted", 0);
	expect(&t, "network_bound", false);
	truth_end(&t);
}

static void page_faults(void **state)
{
	struct truth t;

	(void)state;
	begin_with_stacks(&t);
	sample(&t, 0, 4, 20 * MS);
	sample(&t, 30 * MS, 1, 80 * MS);
	truth_row(&t, "counter", "ts_ns name value", "2000 process.minor_faults 1234");
	expect(&t, "page_faults", true);
	expect_cell(&t, "page_faults", "recoverable_ns", "20000000");
	expect_cell(&t, "page_faults", "evidence",
			"0.020 s of 0.100 s of CPU time went to page faults; up to 1234 faults in one process");
	truth_end(&t);

	begin_with_stacks(&t);
	sample(&t, 0, 4, 20 * MS - 1);
	sample(&t, 30 * MS, 1, 80 * MS + 1);
	expect(&t, "page_faults", false);
	truth_end(&t);
}

static bool has_neighbour(int64_t user_ns, int64_t steal_ns, int64_t own_ns, int64_t runnable_ns)
{
	struct truth t;
	bool is_found;

	begin_with_stacks(&t);
	task(&t, own_ns);
	sample(&t, 0, 1, 1 * MS);
	off(&t, 0, runnable_ns, "preempted", 0);
	truth_row(&t, "counter", "ts_ns name value", "2000 cpu.all.user_ns %lld", (long long)user_ns);
	truth_row(&t, "counter", "ts_ns name value", "2000 cpu.all.nice_ns 0");
	truth_row(&t, "counter", "ts_ns name value", "2000 cpu.all.system_ns 0");
	truth_row(&t, "counter", "ts_ns name value", "2000 cpu.all.steal_ns %lld", (long long)steal_ns);
	truth_analyze(&t, NULL);
	is_found = truth_has_finding(&t, "noisy_neighbour");
	if (is_found) {
		char evidence[300];

		snprintf(evidence, sizeof(evidence),
				"other processes used %.3f s of CPU time, this run %.3f s while its threads waited "
				"%.3f s for a CPU; stolen "
				"%.3f s; CPU pressure for 0.000 s",
				user_ns > own_ns ? (double)(user_ns - own_ns) / 1e9 : 0, (double)own_ns / 1e9,
				(double)runnable_ns / 1e9, (double)steal_ns / 1e9);
		expect_cell(&t, "noisy_neighbour", "evidence", evidence);
		expect_cell(&t, "noisy_neighbour", "next", "ps -eo pid,pcpu,comm --sort=-pcpu");
	}
	truth_end(&t);
	return is_found;
}

static void noisy_neighbour(void **state)
{
	(void)state;
	assert_true(has_neighbour(100 * MS, 101 * MS, 50 * MS, 1)); /* stolen: above 5 % of two CPUs */
	assert_false(has_neighbour(100 * MS, 100 * MS, 50 * MS, 1));
	assert_true(has_neighbour(701 * MS, 0, 350 * MS, 200 * MS + 1)); /* others used 351 ms */
	assert_false(has_neighbour(701 * MS, 0, 350 * MS, 200 * MS));    /* a fifth of the wall time */
	assert_false(has_neighbour(700 * MS, 0, 350 * MS, 300 * MS));    /* as much as this run */
	assert_true(has_neighbour(331 * MS, 0, 30 * MS, 300 * MS));
	assert_false(has_neighbour(330 * MS, 0, 30 * MS, 300 * MS)); /* 30 % of the wall time */
}

/* The next command is one to paste: a path that is too long for it is left out as a whole. */
static void next_commands_are_whole(void **state)
{
	struct truth t;

	(void)state;
	for (int is_long = 0; is_long < 2; is_long++) {
		char name[2000] = "/data/a b";
		const char *next;

		if (is_long)
			memset(name + 1, 'x', 1500);
		truth_start(&t);
		bundle_file(&t.bundle, 1, STORE_NULL, name);
		truth_row(&t, "process", "process pid exe", "1 10 /bin/one");
		add_calls(&t, "open", 50, 1 * MS, 1, 3);
		truth_analyze(&t, NULL);
		next = truth_cell(&t, "diagnosis", "diagnosis", "repeated_opens", "next");
		if (is_long)
			assert_string_equal(next, "sonde summary --top 20 --json");
		else
			assert_true(strncmp(next, "sonde events --table io --path '/data/a b' runs/", 48) == 0);
		truth_end(&t);
	}
}

/* The costliest first; a run of no length has none. */
static void order_of_findings(void **state)
{
	struct truth t;

	(void)state;
	begin(&t);
	add_calls(&t, "read", 1000, 20000, 1, 100);
	add_calls(&t, "open", 50, 1 * MS, 1, 3);
	truth_call(&t, "read", 300 * MS, 600 * MS, 2, 10000000);
	truth_analyze(&t, NULL);
	assert_string_equal(truth_cell(&t, "diagnosis", "diagnosis", "io_bound", "rule"), "io_bound");
	assert_int_equal(analyze_find(t.result, "diagnosis")->tables->rows, 3);
	assert_memory_equal(analyze_find(t.result, "diagnosis")->tables->values[0].text.data, "io_bound", 8);
	assert_memory_equal(analyze_find(t.result, "diagnosis")->tables->values[7].text.data, "repeated_opens", 14);
	assert_memory_equal(analyze_find(t.result, "diagnosis")->tables->values[14].text.data, "tiny_reads", 10);
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_accesses),
		cmocka_unit_test(repeated_calls),
		cmocka_unit_test(io_bound),
		cmocka_unit_test(input_waits),
		cmocka_unit_test(imbalance),
		cmocka_unit_test(cpu_bound),
		cmocka_unit_test(run_queue),
		cmocka_unit_test(lock_bound),
		cmocka_unit_test(network_bound),
		cmocka_unit_test(page_faults),
		cmocka_unit_test(noisy_neighbour),
		cmocka_unit_test(next_commands_are_whole),
		cmocka_unit_test(order_of_findings),
	};

	return RUN_TESTS(tests);
}
