/* job: plain processes: what the command gets, how its end is told, and that nothing of it stays. */
#include "jobs.h"

#include "base/clock.h"
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BURN_NS 100000000 /* of acts burn */

static void exit_codes_are_exact(void **state)
{
	static const char *const codes[] = { "exit 0", "exit 1", "exit 42", "exit 255" };
	static const int want[] = { 0, 1, 42, 255 };
	for (size_t i = 0; i < 4; i++) {
		struct job_spec spec = JOB_SPEC_INIT;
		spec.argv = ARGV("sh", "-c", codes[i]);
		int status = waited(started(&spec));
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), want[i]);
	}
}

static void signals_are_exact(void **state)
{
	static const char *const kills[] = { "kill -TERM $$", "kill -KILL $$", "kill -USR1 $$" };
	static const int want[] = { SIGTERM, SIGKILL, SIGUSR1 };
	for (size_t i = 0; i < 3; i++) {
		struct job_spec spec = JOB_SPEC_INIT;
		spec.argv = ARGV("sh", "-c", kills[i]);
		int status = waited(started(&spec));
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), want[i]);
	}
}

static void what_cannot_be_executed(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct job *j = NULL;
	spec.argv = ARGV("/no/such/program");
	assert_int_equal(launch_exit_code(job_start(&j, &spec, &err)), 127);
	assert_string_equal(err.text, "cannot execute '/no/such/program': No such file or directory");
	spec.argv = ARGV("/etc/passwd");
	assert_int_equal(launch_exit_code(job_start(&j, &spec, &err)), 126);
	spec.argv = ARGV("true");
	spec.cwd = "/no/such/directory";
	assert_int_equal(launch_exit_code(job_start(&j, &spec, &err)), 0);
	assert_string_equal(err.text, "cannot enter the directory '/no/such/directory': No such file or directory");
	assert_null(j);
	assert_int_equal(children_of_ours(), 0);
}

static void streams_directory_environment(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	setenv("SONDE_TEST_TAKEN", "x", 1);
	setenv("SONDE_TEST_KEPT", "kept", 1);
	spec.argv = ARGV("sh", "-c", "read -r a; echo $?; pwd; echo \"$A,${SONDE_TEST_TAKEN-none},$SONDE_TEST_KEPT\"");
	spec.cwd = "/usr/bin";
	spec.env = (const char *const[]){ "A=1", "A=2", "SONDE_TEST_TAKEN", NULL };
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	assert_string_equal(text, "1\n/usr/bin\n2,none,kept\n");
	free(text);
	assert_int_equal(waited(h.job), 0);
}

static void stdout_and_stderr_may_swap(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	int ends[2];
	char text[16] = "";
	assert_int_equal(pipe(ends), 0);
	int saved = dup(2);
	dup2(ends[1], 2);
	close(ends[1]);
	spec.fds[1] = 2;
	spec.fds[2] = JOB_FD_NULL;
	spec.argv = ARGV("sh", "-c", "echo out; echo err >&2");
	int status = waited(started(&spec));
	dup2(saved, 2);
	close(saved);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], text, sizeof(text) - 1), 4);
	assert_string_equal(text, "out\n");
	assert_int_equal(read(ends[0], text, sizeof(text)), 0);
	close(ends[0]);
}

static void descriptors_that_it_keeps(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 57), other = fcntl(0, F_DUPFD, 58);
	spec.inherit = &kept;
	spec.inherit_count = 1;
	spec.argv = ARGV(ACTS, "descriptors");
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	assert_string_equal(text, "0\n1\n2\n57\n");
	free(text);
	assert_int_equal(waited(h.job), 0);
	close(kept);
	close(other);
}

static void pinned_to_its_cpus(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	cpu_set_t ours, one;
	sched_getaffinity(0, sizeof(ours), &ours);
	int cpu = 0;
	while (!CPU_ISSET(cpu, &ours))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	spec.cpus = &one;
	spec.argv = ARGV("sed", "-n", "s/^Cpus_allowed_list:[[:space:]]*//p", "/proc/self/status");
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	assert_int_equal(atol(text), cpu);
	assert_null(strpbrk(text, ",-"));
	free(text);
	assert_int_equal(waited(h.job), 0);
}

static void signals_are_the_usual_ones(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGINT, SIG_IGN);
	spec.argv = ARGV("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status");
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_string_equal(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	free(text);
	assert_int_equal(waited(h.job), 0);
}

static void waits_until_a_time(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	spec.argv = ARGV("sleep", "1000");
	struct job *j = started(&spec);
	struct pollfd ended = { .fd = job_pidfd(j), .events = POLLIN };
	assert_int_equal(job_wait(j, clock_mono_ns() + 20000000, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "'sleep' has not ended in time");
	assert_false(job_has_ended(j));
	assert_int_equal(poll(&ended, 1, 0), 0);
	assert_int_equal(kill(job_pid(j), SIGKILL), 0);
	assert_int_equal(poll(&ended, 1, 60000), 1);
	assert_true(job_has_ended(j));
	assert_int_equal(job_wait(j, 0, &err), 0); /* readable means that the answer is there */
	assert_int_equal(job_status(j), SIGKILL);
	job_free(j);
}

static void usage_is_of_all_that_were_waited_for(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct job_usage usage;
	struct sonde_err err = SONDE_ERR_INIT;
	char line[9000];
	snprintf(line, sizeof(line), "%s burn; %s burn", ACTS, ACTS);
	spec.argv = ARGV("sh", "-c", line);
	struct job *j = started(&spec);
	assert_ok(job_wait(j, FOR_EVER, &err), &err);
	job_usage(j, &usage);
	int64_t cpu_ns = usage.user_ns + usage.system_ns;
	assert_true(cpu_ns >= 2LL * BURN_NS);
	assert_true(usage.wall_ns > 0);
	job_free(j);
}

static void memory_is_of_the_largest(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct job_usage usage;
	spec.argv = ARGV(ACTS, "grow");
	struct job *j = started(&spec);
	struct sonde_err err = SONDE_ERR_INIT;
	assert_ok(job_wait(j, FOR_EVER, &err), &err);
	job_usage(j, &usage);
	assert_true(usage.max_rss_bytes >= 200 << 20);
	job_free(j);
	spec.argv = ARGV("true"); /* smaller than this test, whose copy it was for a moment: not to be told */
	j = started(&spec);
	char *ballast = malloc(64 << 20);
	assert_ok(job_wait(j, FOR_EVER, &err), &err);
	free(ballast);
	job_usage(j, &usage);
	assert_true(usage.max_rss_bytes == -1 || usage.max_rss_bytes > 0);
	job_free(j);
}

static void daemon_is_gone(const struct job_ladder *ladder)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	spec.argv = ARGV(ACTS, "daemon");
	struct heard h = heard_start(&spec);
	char *line = heard_line(&h);
	pid_t pid = (pid_t)atol(line);
	assert_true(is_alive(pid));
	assert_ok(job_wait(h.job, FOR_EVER, &err), &err);
	assert_int_equal(job_status(h.job), 0);
	assert_true(is_alive(pid));
	assert_ok(job_end(h.job, ladder, &err), &err);
	assert_false(is_alive(pid));
	assert_int_equal(job_status(h.job), 0); /* the command's own */
	job_free(h.job);
	free(line);
	close(h.out);
	assert_int_equal(children_of_ours(), 0);
}

static void a_deaf_daemon_is_ended(void **state)
{
	const struct job_ladder ladder = { 20000000, 20000000 };
	const struct job_ladder kill = JOB_LADDER_KILL;
	daemon_is_gone(&ladder);
	daemon_is_gone(&kill);
}

static void free_ends_it_too(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV(ACTS, "daemon");
	struct heard h = heard_start(&spec);
	char *line = heard_line(&h);
	job_free(h.job);
	assert_false(is_alive((pid_t)atol(line)));
	free(line);
	close(h.out);
}

/* Every process of it holds the pipe: its end is theirs. */
static void one_that_keeps_forking_is_ended(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	const struct job_ladder kill = JOB_LADDER_KILL;
	struct sonde_err err = SONDE_ERR_INIT;
	spec.argv = ARGV(ACTS, "runner");
	struct heard h = heard_start(&spec);
	free(heard_line(&h));
	assert_ok(job_end(h.job, &kill, &err), &err);
	free(heard_text(&h));
	job_free(h.job);
	assert_int_equal(children_of_ours(), 0);
}

static void the_ladder_asks_first(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	const struct job_ladder ladder = { .interrupt_ns = 60000000000, .terminate_ns = 60000000000 };
	struct sonde_err err = SONDE_ERR_INIT;
	spec.argv = ARGV("sh", "-c", "trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done");
	struct heard h = heard_start(&spec);
	free(heard_line(&h));
	assert_ok(job_end(h.job, &ladder, &err), &err);
	assert_true(WIFEXITED(job_status(h.job)));
	assert_int_equal(WEXITSTATUS(job_status(h.job)), 7);
	job_free(h.job);
	close(h.out);
}

static void each_process_gets_a_signal_once(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	spec.argv = ARGV(ACTS, "counts");
	struct heard h = heard_start(&spec);
	for (int i = 0; i < 3; i++)
		free(heard_line(&h)); /* three of them, ready */
	assert_ok(job_signal(h.job, SIGUSR1, &err), &err);
	for (int i = 0; i < 3; i++) {
		char *line = heard_line(&h);
		assert_string_equal(line, "once");
		free(line);
	}
	job_free(h.job);
	char *rest = heard_text(&h);
	assert_string_equal(rest, "");
	free(rest);
}

static void several_at_once_do_not_mix(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct heard h[4];
	pid_t pids[4];
	spec.argv = ARGV(ACTS, "daemon");
	for (int i = 0; i < 4; i++) {
		h[i] = heard_start(&spec);
		char *line = heard_line(&h[i]);
		pids[i] = (pid_t)atol(line);
		free(line);
	}
	for (int i = 0; i < 4; i++) {
		job_free(h[i].job);
		close(h[i].out);
		for (int k = 0; k < 4; k++)
			assert_int_equal(is_alive(pids[k]), k > i);
	}
}

static void our_own_signals_and_children_stay(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	sigset_t before, after;
	int reaper = -1;
	sigprocmask(SIG_BLOCK, NULL, &before);
	spec.argv = ARGV("true");
	struct job *j = started(&spec);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* whoever waits for any child meets none of ours */
	assert_int_equal(errno, ECHILD);
	assert_int_equal(waited(j), 0);
	sigprocmask(SIG_BLOCK, NULL, &after);
	for (int i = 1; i < NSIG; i++)
		assert_int_equal(sigismember(&before, i), sigismember(&after, i));
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	assert_int_equal(reaper, 0);
}

static void ignored_sigchld_is_no_trouble(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV("sh", "-c", "exit 3");
	signal(SIGCHLD, SIG_IGN);
	int status = waited(started(&spec));
	signal(SIGCHLD, SIG_DFL);
	assert_int_equal(WEXITSTATUS(status), 3);
}

/* Who dies without a word leaves nothing behind: the keeper sees its socket close. */
static void our_death_ends_it(void **state)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (!pid) {
		struct job_spec spec = JOB_SPEC_INIT;
		struct job *j;
		spec.argv = ARGV(ACTS, "daemon");
		spec.fds[1] = ends[1];
		_exit(job_start(&j, &spec, NULL) ? 1 : (pause(), 0));
	}
	close(ends[1]);
	struct heard h = { .out = ends[0] };
	char *line = heard_line(&h);
	pid_t daemon = (pid_t)atol(line);
	assert_true(is_alive(daemon));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 6000 && is_alive(daemon); i++)
		usleep(10000);
	assert_false(is_alive(daemon));
	free(line);
	close(ends[0]);
}

static void a_killed_keeper_is_told(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spec.fds[0] = ends[0];
	spec.argv = ARGV("sh", "-c", "read -r go; kill -KILL $PPID; exec sleep 1000");
	struct job *j = started(&spec);
	assert_int_equal(write(ends[1], "\n", 1), 1);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(job_wait(j, FOR_EVER, &err), -ECHILD);
	assert_string_equal(err.text, "the supervisor of 'sh' was killed: its exit status is unknown");
	pid_t pid = job_pid(j);
	job_free(j);
	for (int i = 0; i < 6000 && is_alive(pid); i++)
		usleep(10000);
	assert_false(is_alive(pid));
}

static void *start_in_a_thread(void *arg)
{
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *j = NULL;
	(void)arg;
	spec.argv = ARGV("sleep", "1000");
	return job_start(&j, &spec, NULL) ? NULL : j;
}

static void a_thread_that_ends_takes_nothing_along(void **state)
{
	pthread_t thread;
	void *j = NULL;
	struct sonde_err err = SONDE_ERR_INIT;
	assert_int_equal(pthread_create(&thread, NULL, start_in_a_thread, NULL), 0);
	pthread_join(thread, &j);
	assert_non_null(j);
	assert_int_equal(job_wait(j, clock_mono_ns() + 50000000, &err), -ETIMEDOUT);
	job_free(j);
}

static void limits_need_a_place(void **state)
{
	struct job_isolation place = { .kind = JOB_PROCESS, .limits = { .pids = 10 } };
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct job *j = NULL;
	spec.argv = ARGV("true");
	spec.place = &place;
	assert_int_equal(job_start(&j, &spec, &err), -ENOTSUP);
	assert_string_equal(err.text, "a plain process has no limits");
}

static void memory_that_is_short(void **state)
{
	struct job_spec spec = JOB_SPEC_INIT;
	spec.argv = ARGV("true");
	for (size_t good = 0;; good++) {
		struct job *j = NULL;
		struct sonde_err err = SONDE_ERR_INIT;
		alloc_fail_after(good);
		int rc = job_start(&j, &spec, &err);
		bool has_failed = alloc_has_failed();
		alloc_fail_never();
		if (!rc) {
			assert_false(has_failed);
			assert_int_equal(waited(j), 0);
			break;
		}
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(children_of_ours(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes_are_exact),
		cmocka_unit_test(signals_are_exact),
		cmocka_unit_test(what_cannot_be_executed),
		cmocka_unit_test(streams_directory_environment),
		cmocka_unit_test(stdout_and_stderr_may_swap),
		cmocka_unit_test(descriptors_that_it_keeps),
		cmocka_unit_test(pinned_to_its_cpus),
		cmocka_unit_test(signals_are_the_usual_ones),
		cmocka_unit_test(waits_until_a_time),
		cmocka_unit_test(usage_is_of_all_that_were_waited_for),
		cmocka_unit_test(memory_is_of_the_largest),
		cmocka_unit_test(a_deaf_daemon_is_ended),
		cmocka_unit_test(free_ends_it_too),
		cmocka_unit_test(one_that_keeps_forking_is_ended),
		cmocka_unit_test(the_ladder_asks_first),
		cmocka_unit_test(each_process_gets_a_signal_once),
		cmocka_unit_test(several_at_once_do_not_mix),
		cmocka_unit_test(our_own_signals_and_children_stay),
		cmocka_unit_test(ignored_sigchld_is_no_trouble),
		cmocka_unit_test(our_death_ends_it),
		cmocka_unit_test(a_killed_keeper_is_told),
		cmocka_unit_test(a_thread_that_ends_takes_nothing_along),
		cmocka_unit_test(limits_need_a_place),
		cmocka_unit_test(memory_that_is_short),
	};
	return RUN_TESTS(tests);
}
