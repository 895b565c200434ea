/* container: a real engine runs a small image; ends are told and nothing stays. Run by tests/launch/containers.t. */
#include "jobs.h"

#include "base/clock.h"
#include "base/fs.h"
#include "launch/container.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const alone[] = { "--network=none", NULL };

static struct job_isolation place_of_image(void)
{
	return (struct job_isolation){ .kind = JOB_CONTAINER,
		.image = getenv("SONDE_TEST_IMAGE"),
		.engine_args = alone };
}

static void ends_are_told(void **state)
{
	static const char *const lines[] = { "exit 0", "exit 42", "sh -c 'kill -KILL $$'; exit $?" };
	static const int want[] = { 0, 42, 137 };
	struct job_isolation place = place_of_image();
	struct job_spec spec = JOB_SPEC_INIT;
	spec.place = &place;
	for (size_t i = 0; i < 3; i++) {
		spec.argv = ARGV("sh", "-c", lines[i]);
		int status = waited(started(&spec));
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), want[i]);
	}
	assert_int_equal(children_of_ours(), 0);
}

static void it_gets_what_was_asked_for(void **state)
{
	char dir[] = "/tmp/sonde-container.XXXXXX", file[64];
	assert_non_null(mkdtemp(dir));
	struct job_mount mount = { .source = dir, .target = "/through" };
	struct job_isolation place = place_of_image();
	struct job_spec spec = JOB_SPEC_INIT;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "word\n", 5), 5);
	close(ends[1]);
	place.mounts = &mount;
	place.mount_count = 1;
	spec.place = &place;
	spec.fds[0] = ends[0];
	spec.cwd = "/tmp";
	spec.env = (const char *const[]){ "SONDE_TEST=a b", NULL };
	spec.argv = ARGV("sh", "-c", "read -r x; echo \"$x,$SONDE_TEST\"; pwd; echo kept > /through/file");
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	assert_string_equal(text, "word,a b\n/tmp\n");
	free(text);
	assert_int_equal(waited(h.job), 0);
	close(ends[0]);
	snprintf(file, sizeof(file), "%s/file", dir);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void memory_is_limited(void **state)
{
	struct job_isolation place = place_of_image();
	struct job_spec spec = JOB_SPEC_INIT;
	place.limits.memory_bytes = 32 << 20;
	spec.place = &place;
	spec.fds[2] = JOB_FD_NULL;
	spec.argv = ARGV("sh", "-c", "x=0123456789; while :; do x=$x$x; done");
	int status = waited(started(&spec));
	assert_int_equal(WEXITSTATUS(status), 137);
}

static void a_deaf_one_is_ended(void **state)
{
	const struct job_ladder ladder = { 200000000, 200000000 };
	struct job_isolation place = place_of_image();
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	spec.place = &place;
	spec.argv = ARGV("sh", "-c",
			"trap '' INT TERM; (trap '' INT TERM; while :; do sleep 1; done) & echo ready; while :; do "
			"sleep 1; done");
	struct heard h = heard_start(&spec);
	free(heard_line(&h));
	pid_t pid = job_pid(h.job);
	assert_true(is_alive(pid));
	assert_ok(job_end(h.job, &ladder, &err), &err);
	assert_false(is_alive(pid));
	job_free(h.job);
	close(h.out);
	assert_int_equal(children_of_ours(), 0);
}

static void it_is_asked_first(void **state)
{
	const struct job_ladder ladder = { 60000000000, 0 };
	struct job_isolation place = place_of_image();
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	spec.place = &place;
	spec.argv = ARGV("sh", "-c", "trap 'exit 9' INT; echo ready; while :; do sleep 0.1; done");
	struct heard h = heard_start(&spec);
	free(heard_line(&h));
	assert_ok(job_end(h.job, &ladder, &err), &err);
	assert_int_equal(WEXITSTATUS(job_status(h.job)), 9);
	job_free(h.job);
	close(h.out);
}

static void commands_in_one_that_stays(void **state)
{
	struct job_isolation place = place_of_image();
	struct sonde_err err = SONDE_ERR_INIT;
	struct container *c = NULL;
	char dir[] = "/tmp/sonde-container.XXXXXX", to[64];
	assert_non_null(mkdtemp(dir));
	const char *const env[] = { "FOR_ALL=yes", NULL };
	assert_ok(container_start(&c, &place, NULL, env, -1, &err), &err);
	pid_t pid = container_pid(c);
	assert_true(is_alive(pid));
	for (int i = 0; i < 2; i++) {
		struct job_spec spec = JOB_SPEC_INIT;
		struct job *j = NULL;
		spec.argv = ARGV("sh", "-c",
				"test $FOR_ALL = yes || exit 1; echo x >> /tmp/file; exit $(wc -l < /tmp/file)");
		assert_ok(container_exec(&j, c, &spec, &err), &err);
		assert_int_equal(WEXITSTATUS(waited(j)), i + 1);
	}
	snprintf(to, sizeof(to), "%s/out", dir);
	assert_ok(container_copy_out(c, "/tmp/file", to, &err), &err);
	struct buf text = BUF_INIT;
	assert_int_equal(fs_read_file(AT_FDCWD, to, 100, &text, &err), 0);
	assert_string_equal(text.data, "x\nx\n");
	buf_release(&text);
	assert_int_equal(container_copy_out(c, "/no/such", to, &err), -EIO);
	assert_ok(container_stop(c, &err), &err);
	assert_false(is_alive(pid));
	container_free(c);
	unlink(to);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(children_of_ours(), 0);
}

static void an_executed_command_is_ended_alone(void **state)
{
	const struct job_ladder kill = JOB_LADDER_KILL;
	struct job_isolation place = place_of_image();
	struct sonde_err err = SONDE_ERR_INIT;
	struct container *c = NULL;
	assert_ok(container_start(&c, &place, NULL, NULL, -1, &err), &err);
	struct job_spec spec = JOB_SPEC_INIT;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spec.fds[1] = ends[1];
	spec.argv = ARGV("sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 1; done");
	struct heard h = { .out = ends[0] };
	assert_ok(container_exec(&h.job, c, &spec, &err), &err);
	close(ends[1]);
	free(heard_line(&h));
	assert_ok(job_end(h.job, &kill, &err), &err);
	job_free(h.job);
	close(h.out);
	assert_true(is_alive(container_pid(c)));
	spec.fds[1] = JOB_FD_NULL;
	spec.argv = ARGV("true");
	assert_ok(container_exec(&h.job, c, &spec, &err), &err);
	assert_int_equal(waited(h.job), 0);
	container_free(c);
}

static void no_such_image(void **state)
{
	struct job_isolation place = { .kind = JOB_CONTAINER,
		.image = "localhost/sonde-no-such-image",
		.engine_args = alone };
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct container *c = NULL;
	place.engine_args = (const char *const[]){ "--pull=never", NULL };
	spec.place = &place;
	spec.fds[2] = JOB_FD_NULL;
	spec.argv = ARGV("true");
	assert_int_equal(WEXITSTATUS(waited(started(&spec))), 125);
	assert_int_equal(container_start(&c, &place, NULL, NULL, -1, &err), -EIO);
	assert_null(c);
	place.engine = "/no/such/engine";
	struct job *j = NULL;
	assert_int_equal(job_start(&j, &spec, &err), -ENOTSUP);
	assert_string_equal(err.hint, "install podman or docker");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_told),
		cmocka_unit_test(it_gets_what_was_asked_for),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(a_deaf_one_is_ended),
		cmocka_unit_test(it_is_asked_first),
		cmocka_unit_test(commands_in_one_that_stays),
		cmocka_unit_test(an_executed_command_is_ended_alone),
		cmocka_unit_test(no_such_image),
	};
	return RUN_TESTS(tests);
}
