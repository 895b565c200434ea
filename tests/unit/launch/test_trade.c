/* Two programs that change places: that they do, that neither can tell, and who is left alone. */
#include "../support.h"

#include "base/clock.h"
#include "launch/scheduling.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLENTY_NS INT64_C(10000000000) /* for what takes a fraction of a second */

static size_t processors(void)
{
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	return (size_t)CPU_COUNT(&all);
}

static pid_t start(void (*body)(void))
{
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		body();
	_exit(0);
}

static int end(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void compute(void)
{
	for (volatile unsigned i = 0;; i++)
		continue;
}

static cpu_set_t first_set;

static bool is_as_before(void)
{
	cpu_set_t now;

	return !sched_getaffinity(0, sizeof(now), &now) && CPU_EQUAL(&first_set, &now);
}

static bool is_childs_as_before(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(is_as_before() ? 0 : 3);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* Ends when its set of processors is ever another one, or that of a child. */
static void ask_all_the_time(void)
{
	sched_getaffinity(0, sizeof(first_set), &first_set);
	for (unsigned i = 1; is_as_before() && (i % 10000 || is_childs_as_before()); i++)
		continue;
}

static void *compute_too(void *arg)
{
	compute();
	return arg;
}

static void compute_twice(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, compute_too, NULL);
	compute();
}

/* As a shell does it. */
static void let_a_child_compute(void)
{
	start(compute);
	pause();
}

static void stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	compute();
}

/* So many trades, or none in that time. */
static uint64_t trades(pid_t a, pid_t b, uint64_t enough, int64_t limit_ns)
{
	struct cpu_swap *t = cpu_swap_start((pid_t[]){ a, b });
	int64_t until_ns = clock_mono_ns() + limit_ns;
	uint64_t count;

	assert_non_null(t);
	while (cpu_swap_count(t) < enough && clock_mono_ns() < until_ns)
		usleep(1000);
	count = cpu_swap_count(t);
	cpu_swap_stop(t);
	return count;
}

/* cmocka's TAP reports its own skip as a failure: a test that cannot run prints the reason and returns. */
static bool has_two(void)
{
	if (processors() < 2)
		print_message("# SKIP one processor\n");
	return processors() >= 2;
}

static void two_programs_change_places(void **state)
{
	pid_t a, b;

	if (!has_two())
		return;
	a = start(compute);
	b = start(let_a_child_compute);
	assert_true(trades(a, b, 10, PLENTY_NS) >= 10);
	end(a);
	end(b);
}

static void neither_can_tell(void **state)
{
	pid_t a, b;

	if (!has_two())
		return;
	if (!priority_is_allowed()) {
		print_message("# SKIP without a real-time class they can, for a hundred thousandth of the time\n");
		return;
	}
	a = start(ask_all_the_time);
	b = start(ask_all_the_time);
	assert_true(trades(a, b, 50, PLENTY_NS) >= 50);
	assert_int_equal(WTERMSIG(end(a)), SIGTERM);
	assert_int_equal(WTERMSIG(end(b)), SIGTERM);
}

static void who_is_pinned_or_has_many_threads_stays(void **state)
{
	void (*const bodies[])(void) = { stay_here, compute_twice };

	for (size_t i = 0; i < 2; i++) {
		pid_t a = start(compute), b = start(bodies[i]);

		usleep(50000);
		assert_int_equal(trades(a, b, 1, 300000000), 0);
		end(a);
		end(b);
	}
}

static void one_that_has_ended_ends_it(void **state)
{
	pid_t a = start(compute), b = start(compute);
	struct cpu_swap *t = cpu_swap_start((pid_t[]){ a, b });
	uint64_t count;

	assert_non_null(t);
	end(a);
	usleep(100000);
	count = cpu_swap_count(t);
	usleep(100000);
	assert_int_equal(cpu_swap_count(t), count);
	cpu_swap_stop(t);
	assert_null(cpu_swap_start((pid_t[]){ a, b }));
	end(b);
	cpu_swap_stop(NULL);
}

static void the_one_that_runs_is_found(void **state)
{
	struct runner r;
	pid_t a = start(let_a_child_compute);
	int64_t until_ns = clock_mono_ns() + PLENTY_NS;

	while ((!runner_find(&r, a) || r.task == a) && clock_mono_ns() < until_ns)
		usleep(1000);
	assert_int_not_equal(r.task, a);
	assert_int_equal(getpgid(r.task), getpgid(a));
	r.cpu = -2;
	assert_false(runner_is_there(&r));
	end(a);
	assert_false(runner_find(&r, a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_programs_change_places),
		cmocka_unit_test(neither_can_tell),
		cmocka_unit_test(who_is_pinned_or_has_many_threads_stays),
		cmocka_unit_test(one_that_has_ended_ends_it),
		cmocka_unit_test(the_one_that_runs_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
