/* spawn-command: what a command of ours gets, its status, its output, and the failures. */
#include "../support.h"

#include "base/buf.h"
#include "launch/spawn-command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGV(...) ((char *[]){ __VA_ARGS__, NULL })
#define OURS { JOB_FD_OURS, JOB_FD_OURS, JOB_FD_OURS }

static char sh[] = "sh", option[] = "-c";

static void output_of(struct launch_command *c, char *const *argv, const char *want)
{
	struct buf out = BUF_INIT;
	c->argv = argv;
	assert_int_equal(launch_output(c, 20000, &out, NULL), 0);
	assert_string_equal(out.data, want);
	buf_release(&out);
}

static void output_is(struct launch_command *c, char *script, const char *want)
{
	output_of(c, ARGV(sh, option, script), want);
}

static void both_streams_are_captured_in_order(void **state)
{
	struct launch_command c = { .fds = { JOB_FD_NULL } };
	char script[] = "echo one; echo two >&2; cat";
	output_is(&c, script, "one\ntwo\n");
}

static void stderr_can_stay_ours(void **state)
{
	struct launch_command c = { .fds = { JOB_FD_NULL, JOB_FD_NULL, JOB_FD_OURS } };
	char script[] = "echo one; echo '# two' >&2";
	output_is(&c, script, "one\n");
}

static void a_wait_status_is_returned(void **state)
{
	struct launch_command c = { .fds = OURS };
	char exits[] = "exit 7", dies[] = "kill -TERM $$";
	c.argv = ARGV(sh, option, exits);
	assert_int_equal(WEXITSTATUS(launch_run(&c, NULL)), 7);
	c.argv = ARGV(sh, option, dies);
	assert_int_equal(WTERMSIG(launch_run(&c, NULL)), SIGTERM);
	assert_int_equal(launch_reap(getpid()), -1);
}

static void failures_have_a_sentence(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf out = BUF_INIT;
	char missing[] = "/no/such/program", fails[] = "echo why; exit 3", hangs[] = "exec sleep 1000";
	struct launch_command c = { .argv = ARGV(missing), .fds = OURS };
	pid_t pid;
	assert_int_equal(launch_spawn(&c, &pid, &err), -ENOENT);
	assert_string_equal(err.text, "cannot execute '/no/such/program': No such file or directory");
	c.argv = ARGV(sh, option, fails);
	assert_int_equal(launch_output(&c, -1, &out, &err), -EIO);
	assert_string_equal(out.data, "why\n");
	assert_string_equal(err.text, "'sh' failed");
	c.argv = ARGV(sh, option, hangs);
	assert_int_equal(launch_output(&c, 50, &out, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "'sh' timed out");
	buf_release(&out);
}

static void the_environment_can_be_replaced(void **state)
{
	char set[] = "SPAWNED=yes", path[] = "PATH=/usr/bin:/bin", script[] = "echo $SPAWNED$HOME";
	struct launch_command c = { .env = ARGV(set, path) };
	output_is(&c, script, "yes\n");
}

static void signals_are_as_wanted(void **state)
{
	/* Lines of /proc: which signals are blocked and ignored. SIGUSR1 is bit 9. */
	char sed[] = "sed", quiet[] = "-n", script[] = "s/^Sig\\(Blk\\|Ign\\):.*\\(..\\)..$/\\2/p",
	     file[] = "/proc/self/status";
	char *const argv[] = { sed, quiet, script, file, NULL }; /* not by a shell, which changes its signals */
	struct launch_command c = { .fds = { JOB_FD_NULL } };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	sigset_t usr1, none;
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigaction(SIGUSR1, &ignore, &old);
	c.mask = &usr1;
	output_of(&c, argv, "02\n02\n");
	c.mask = &none;
	c.has_usual_signals = true;
	output_of(&c, argv, "00\n00\n");
	sigaction(SIGUSR1, &old, NULL);
}

static void groups_and_sessions(void **state)
{
	char group[] = "set -- $(cat /proc/$$/stat); test $5 = $$ && test $6 != $$ && echo group";
	char session[] = "set -- $(cat /proc/$$/stat); test $5 = $$ && test $6 = $$ && echo session";
	struct launch_command c = { .has_own_group = true };
	output_is(&c, group, "group\n");
	c = (struct launch_command){ .has_own_session = true };
	output_is(&c, session, "session\n");
}

static void other_descriptors(void **state)
{
	char script[] = "test -e /proc/self/fd/20 && echo open || echo closed";
	struct launch_command c = { .fds = { JOB_FD_NULL } };
	assert_int_equal(dup2(0, 20), 20);
	output_is(&c, script, "open\n");
	c.has_only_streams = true;
	output_is(&c, script, "closed\n");
	close(20);
}

/* More than a pipe holds, and more than is kept: the command is not blocked. */
static void long_output_is_cut(void **state)
{
	struct buf out = BUF_INIT;
	char script[] = "head -c 3000000 /dev/zero";
	struct launch_command c = { .argv = ARGV(sh, option, script) };
	assert_int_equal(launch_output(&c, -1, &out, NULL), 0);
	assert_true(out.len > 1000000 && out.len <= 1 << 20);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_streams_are_captured_in_order),
		cmocka_unit_test(stderr_can_stay_ours),
		cmocka_unit_test(a_wait_status_is_returned),
		cmocka_unit_test(failures_have_a_sentence),
		cmocka_unit_test(the_environment_can_be_replaced),
		cmocka_unit_test(signals_are_as_wanted),
		cmocka_unit_test(groups_and_sessions),
		cmocka_unit_test(other_descriptors),
		cmocka_unit_test(long_output_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
