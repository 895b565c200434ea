/*
 * suite_run: the steps of a suite, with containers that are plain processes of this machine: what runs, in which order,
 * which results appear, and what is left after failures.
 */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "duet/suite.h"
#include "launch/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64], said[4096];
static size_t open_containers;

/* Containers: the files of the host. */

struct container {
	char image[64];
};

int __wrap_container_start(struct container **out, const struct job_isolation *place, char *const *idle,
		const char *const *env, int interrupt_fd, struct sonde_err *err); /* NOLINT: the linker's names */
int __wrap_container_exec(struct job **out, struct container *c, const struct job_spec *spec,
		struct sonde_err *err); /* NOLINT */
int __wrap_container_copy_out(struct container *c, const char *from, const char *to,
		struct sonde_err *err);          /* NOLINT */
void __wrap_container_free(struct container *c); /* NOLINT */

int __wrap_container_start(struct container **out, const struct job_isolation *place, char *const *idle,
		const char *const *env, int interrupt_fd, struct sonde_err *err) /* NOLINT */
{
	size_t n = strlen(said);

	if (strcmp(place->image, "missing") == 0)
		return err_set(err, EIO, "no such image");
	*out = calloc(1, sizeof(**out));
	snprintf((*out)->image, sizeof((*out)->image), "%s", place->image);
	snprintf(said + n, sizeof(said) - n,
			"start %s "
			"%s%s%s;",
			place->engine, place->image, place->engine_args ? " shm" : "", place->is_kept ? " kept" : "");
	open_containers++;
	return 0;
}

int __wrap_container_exec(struct job **out, struct container *c, const struct job_spec *spec,
		struct sonde_err *err) /* NOLINT */
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, "exec %s;", c->image);
	return job_start(out, spec, err);
}

int __wrap_container_copy_out(struct container *c, const char *from, const char *to, struct sonde_err *err) /* NOLINT */
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, from, 1 << 20, &text, err);

	return rc ? rc : fs_replace_file(AT_FDCWD, to, text.data, text.len, err);
}

void __wrap_container_free(struct container *c) /* NOLINT */
{
	open_containers -= c != NULL;
	free(c);
}

/* The suite: A writes a, B writes b, and each says so. */

struct world {
	struct arena arena;
	struct duet_suite suite;
	struct duet_suite_run run;
	struct sonde_err err;
	char events[4096];
};

static void on_event(void *arg, enum duet_event kind, const char *sentence)
{
	struct world *w = arg;
	size_t n = strlen(w->events);

	snprintf(w->events + n, sizeof(w->events) - n, "%c:%s\n", "IWE"[kind], sentence);
}

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-suite-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	return chdir(scratch) || mkdir("out", 0700);
}

static int tear_down(void **state)
{
	assert_int_equal(open_containers, 0);
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static void load(struct world *w, const char *more, const char *a, const char *b)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	memset(w, 0, sizeof(*w));
	arena_init(&w->arena);
	buf_addf(&text,
			"duetbench:\n  suite: s\n  docker_command: engine\n%s  duets: [x]\nx:\n"
			"  A: {image: ia, run: '%s', results: [%s/a]}\n  B: {image: ib, run: '%s', results: [%s/b]}\n",
			more, a, scratch, b, scratch);
	if (duet_suite_parse(&w->suite, "x.yml", text.data, text.len, &w->arena, &w->err) < 0)
		fail_msg("%s", w->err.text);
	w->suite.benchmarks[0].sides[DUET_A].sync_run = arena_printf(&w->arena, "%s $$", a);
	w->suite.benchmarks[0].sides[DUET_B].sync_run = arena_printf(&w->arena, "%s $$", b);
	w->suite.benchmarks[0].has_barrier = true;
	w->run = (struct duet_suite_run){ .suite = &w->suite,
		.outdir = "out",
		.interrupt_fd = -1,
		.on_event = on_event,
		.arg = w };
	said[0] = '\0';
}

#define A "echo a >>order; echo 0 100 >a"
#define B "echo b >>order; echo 0 110 >b"

static int execute(struct world *w, struct duet_step step)
{
	step.benchmark = w->suite.benchmarks;
	unlink("order");
	return duet_suite_execute(&w->run, &step, 1, &w->err);
}

static bool has(const char *name)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "out/%s", name);
	return access(path.data, F_OK) == 0;
}

static const char *order(void)
{
	static struct buf text = BUF_INIT;

	buf_reset(&text);
	return fs_read_file(AT_FDCWD, "order", 1000, &text, NULL) < 0 ? "" : text.data;
}

static void sides_run_and_leave_results(void **state)
{
	struct world w;

	load(&w, "", A, B);
	w.suite.benchmarks[0].timeout_ns = INT64_C(60000000000); /* enough */
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_SEQ, .runid = 3, .side = DUET_A }), 0);
	assert_string_equal(said, "start engine ia;exec ia;");
	assert_string_equal(order(), "a\n");
	assert_true(has("s.x.3.seqn.None.A.a"));
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_SEQ, .runid = 3, .side = DUET_B }), 0);
	assert_string_equal(order(), "b\n");
	assert_string_equal(w.events, "I:x seqn 3 A\nI:x seqn 3 B\n");
	assert_int_equal(w.run.done, 2);
	said[0] = '\0';
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1, .is_first_b = true }), 0);
	assert_string_equal(said, "start engine ia;start engine ib;exec ib;exec ia;");
	assert_true(has("s.x.1.duet.BA.A.a") && has("s.x.1.duet.BA.B.b"));
	assert_int_equal(strlen(order()), 4);
	/* Again in the other order: one result remains. */
	w.run.docker = "other";
	said[0] = '\0';
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_string_equal(said, "start other ia;start other ib;exec ia;exec ib;");
	assert_true(has("s.x.1.duet.AB.A.a") && has("s.x.1.duet.AB.B.b"));
	assert_false(has("s.x.1.duet.BA.A.a") || has("s.x.1.duet.BA.B.b") || has("s.x.1.duet.AB.A.a.part"));
	assert_int_equal(w.run.done, 4);
	assert_int_equal(w.run.failed, 0);
	arena_release(&w.arena);
}

static void finished_steps_are_left_out(void **state)
{
	struct world w;

	load(&w, "", A, B);
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	w.run.is_resumed = true;
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1, .is_first_b = true }), 0);
	assert_int_equal(w.run.left_out, 2);
	assert_int_equal(w.run.done, 1);
	assert_string_equal(order(), "");
	assert_int_equal(unlink("out/s.x.1.duet.AB.B.b"), 0); /* half of a result is none */
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_int_equal(w.run.done, 2);
	arena_release(&w.arena);
}

static void failures_leave_nothing(void **state)
{
	struct world w;

	load(&w, "", A, "exit 5");
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_int_equal(w.run.failed, 1);
	assert_int_equal(w.run.done, 0);
	assert_string_equal(w.events, "I:x duet 1\nE:x duet 1: B failed with exit status 5\n");
	assert_false(has("s.x.1.duet.AB.A.a") || has("s.x.1.duet.AB.A.a.part"));
	arena_release(&w.arena);
	load(&w, "", "kill -9 $BASHPID", B);
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_SEQ, .runid = 1, .side = DUET_A }), 0);
	assert_non_null(strstr(w.events, "E:x seqn 1 A: A failed with signal 9\n"));
	arena_release(&w.arena);
	load(&w, "", A, "echo no result"); /* its result is missing: neither appears */
	unlink("b");
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_int_equal(w.run.failed, 1);
	assert_false(has("s.x.1.duet.AB.A.a") || has("s.x.1.duet.AB.A.a.part"));
	arena_release(&w.arena);
	load(&w, "  timeout: 1\n", A, "sleep 1000");
	w.suite.benchmarks[0].timeout_ns = 100000000;
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_non_null(strstr(w.events, "E:x duet 1: B has not ended within 0.1 s\n"));
	arena_release(&w.arena);
	load(&w, "", "sleep 1000", "sleep 1000");
	w.suite.benchmarks[0].timeout_ns = 50000000;
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_non_null(strstr(w.events, "E:x duet 1: neither side has ended within 0.05 s\n"));
	w.suite.benchmarks[0].sides[DUET_B].image = "missing";
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_ASYNC, .runid = 1 }), 0);
	assert_non_null(strstr(w.events, "E:x duet 1: B: no such image\n"));
	arena_release(&w.arena);
}

/* An interrupt ends all steps. */
static void an_interrupt_ends_it(void **state)
{
	struct world w;
	struct duet_step steps[2];
	int fds[2];

	load(&w, "", "sleep 1000", "sleep 1000");
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	w.run.interrupt_fd = fds[0];
	for (int i = 0; i < 2; i++)
		steps[i] = (struct duet_step){ .benchmark = w.suite.benchmarks, .design = DUET_ASYNC, .runid = i };
	assert_int_equal(duet_suite_execute(&w.run, steps, 2, &w.err), -EINTR);
	assert_string_equal(w.err.text, "interrupted in x duet 0");
	assert_string_equal(w.events, "I:x duet 0\n");
	assert_int_equal(w.run.failed, 0);
	close(fds[0]);
	close(fds[1]);
	arena_release(&w.arena);
}

static void barriers_have_a_name(void **state)
{
	struct world w;

	load(&w, "", "f() { echo \"$1\" >a; }; f", "f() { echo \"$1\" >b; }; f");
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_SYNC, .runid = 4 }), 0);
	assert_string_equal(said, "start engine ia shm;start engine ib shm;exec ia;exec ib;");
	assert_string_equal(w.events, "I:x syncduet 4\n");
	assert_true(has("s.x.4.syncduet.AB.A.a") && has("s.x.4.syncduet.AB.B.b"));
	{
		CLEANUP(buf_release) struct buf a = BUF_INIT, b = BUF_INIT;

		assert_int_equal(fs_read_file(AT_FDCWD, "out/s.x.4.syncduet.AB.A.a", 1000, &a, NULL), 0);
		assert_int_equal(fs_read_file(AT_FDCWD, "out/s.x.4.syncduet.AB.B.b", 1000, &b, NULL), 0);
		assert_string_equal(a.data, b.data);
		assert_non_null(strstr(a.data, ".x.4:barrier\n"));
		assert_null(strchr(a.data, '$'));
	}
	w.suite.benchmarks[0].has_barrier = false;
	w.suite.benchmarks[0].has_removal = false;
	said[0] = '\0';
	assert_int_equal(execute(&w, (struct duet_step){ .design = DUET_SYNC, .runid = 5 }), 0);
	assert_non_null(strstr(said, "start engine ia shm kept;"));
	assert_non_null(strstr(w.events,
			"W:x syncduet 5: the command of a synchronous duet has no '$$' in it: "
			"nothing keeps the sides in step\n"));
	arena_release(&w.arena);
}

static void artifacts_are_made_once(void **state)
{
	struct world w;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct duet_artifact artifacts[] = { { "one",
							     "echo "
							     "hello" },
		{ "two", "false" }, { "three", "'open" }, { "four", "/no/such" } };

	load(&w, "", A, B);
	w.suite.artifacts = artifacts;
	w.suite.artifact_count = 4;
	assert_int_equal(duet_suite_artifacts(&w.run, &w.err), 0);
	assert_int_equal(fs_read_file(AT_FDCWD, "out/artifacts/one", 100, &text, NULL), 0);
	assert_string_equal(text.data, "hello\n");
	assert_false(has("artifacts/two") || has("artifacts/two.part") || has("artifacts/three") ||
			has("artifac"
			    "ts/four"));
	assert_non_null(strstr(w.events, "W:two: 'false' failed\n"));
	assert_non_null(strstr(w.events, "W:three: "));
	assert_non_null(strstr(w.events, "W:four: "));
	artifacts[0].command = "echo other";
	w.suite.artifact_count = 1;
	assert_int_equal(duet_suite_artifacts(&w.run, &w.err), 0);
	buf_reset(&text);
	assert_int_equal(fs_read_file(AT_FDCWD, "out/artifacts/one", 100, &text, NULL), 0);
	assert_string_equal(text.data, "hello\n");
	arena_release(&w.arena);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(sides_run_and_leave_results),
		IN_SCRATCH(finished_steps_are_left_out),
		IN_SCRATCH(failures_leave_nothing),
		IN_SCRATCH(an_interrupt_ends_it),
		IN_SCRATCH(barriers_have_a_name),
		IN_SCRATCH(artifacts_are_made_once),
	};

	return RUN_TESTS(tests);
}
