/* job_set_deadline: the keeper ends the tree at its time, whatever we do meanwhile. */
#include "jobs.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUR_NS INT64_C(3600000000000)

static void the_tree_ends_then(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV("sleep", "1000");
	struct job *j = started(&spec);
	assert_int_equal(job_set_deadline(j, clock_mono_ns() + 20000000, NULL), 0);
	assert_int_equal(job_wait(j, FOR_EVER, NULL), 0);
	assert_int_equal(job_status(j), SIGKILL);
	assert_true(job_is_overdue(j));
	job_free(j);
}

static void one_that_has_passed(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV("sleep", "1000");
	struct job *j = started(&spec);
	assert_int_equal(job_set_deadline(j, 0, NULL), 0);
	assert_int_equal(job_wait(j, FOR_EVER, NULL), 0);
	job_free(j);
}

/* Only the last one counts, and what has ended needs none. */
static void it_may_be_put_off(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV("sh", "-c", "read -r go; exit 7");
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	spec.fds[0] = ends[0];
	struct job *j = started(&spec);
	assert_int_equal(job_set_deadline(j, clock_mono_ns() + HOUR_NS, NULL), 0);
	assert_int_equal(job_set_deadline(j, FOR_EVER, NULL), 0);
	assert_int_equal(job_wait(j, clock_mono_ns() + 50000000, NULL), -ETIMEDOUT);
	assert_int_equal(write(ends[1], "\n", 1), 1);
	assert_int_equal(job_wait(j, FOR_EVER, NULL), 0);
	assert_int_equal(WEXITSTATUS(job_status(j)), 7);
	assert_false(job_is_overdue(j));
	assert_int_equal(job_end(j, &(struct job_ladder)JOB_LADDER_KILL, NULL), 0);
	assert_int_equal(job_set_deadline(j, 0, NULL), 0);
	job_free(j);
	close(ends[0]);
	close(ends[1]);
}

/* What is told to a keeper that is about to go costs none of its words. */
static void short_ones_are_told_right(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV("true");
	for (int i = 0; i < 300; i++) {
		struct job *j = started(&spec);
		for (int k = 0; k < 1 + i % 3; k++)
			job_set_deadline(j, clock_mono_ns() + HOUR_NS, NULL);
		assert_int_equal(job_wait(j, FOR_EVER, NULL), 0);
		assert_int_equal(job_status(j), 0);
		job_free(j);
	}
}

/* Who is stopped can do nothing, and its tree ends all the same: daemons too. */
static void even_when_we_are_stopped(void **state)
{
	int ends[2], status;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (!pid) {
		struct job_spec spec = JOB_SPEC_INIT;
		struct job *j;
		spec.argv = ARGV(ACTS, "daemon");
		spec.fds[1] = ends[1];
		if (job_start(&j, &spec, NULL) || job_set_deadline(j, clock_mono_ns() + 200000000, NULL))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	close(ends[1]);
	struct heard h = { .out = ends[0] };
	char *line = heard_line(&h);
	pid_t daemon = (pid_t)atol(line);
	assert_true(daemon > 1);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	for (int i = 0; i < 6000 && is_alive(daemon); i++)
		usleep(10000);
	assert_false(is_alive(daemon));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	free(line);
	close(ends[0]);
}

/* When we die, who was promised it is asked first. */
static void mercy_when_we_die(void **state)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (!pid) {
		struct job_spec spec = JOB_SPEC_INIT;
		struct job *j;
		spec.argv = ARGV("sh", "-c", "trap 'echo asked; exit' TERM; echo $$; while :; do sleep 0.05; done");
		spec.fds[1] = ends[1];
		spec.mercy_ns = HOUR_NS;
		_exit(job_start(&j, &spec, NULL) ? 1 : (pause(), 0));
	}
	close(ends[1]);
	struct heard h = { .out = ends[0] };
	char *line = heard_line(&h);
	assert_true(is_alive((pid_t)atol(line)));
	free(line);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	line = heard_line(&h);
	assert_string_equal(line, "asked");
	free(line);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_ends_then),
		cmocka_unit_test(one_that_has_passed),
		cmocka_unit_test(it_may_be_put_off),
		cmocka_unit_test(short_ones_are_told_right),
		cmocka_unit_test(even_when_we_are_stopped),
		cmocka_unit_test(mercy_when_we_die),
	};
	return RUN_TESTS(tests);
}
