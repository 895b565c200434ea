/* commands: whole executions in every design, their failures, recorded steps and counters, causes, worktrees. */
#include "truth.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "duet/explain.h"
#include "duet/interference.h"
#include "duet/sources.h"
#include "duet/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-commands-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	return chdir(scratch);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static const char *said(void)
{
	static struct buf text = BUF_INIT;

	buf_reset(&text);
	return fs_read_file(AT_FDCWD, "said", 1 << 20, &text, NULL) < 0 ? "" : text.data;
}

/* Two shell scripts as the sides. */
struct sides {
	struct duet_exec e;
	char *argv[2][4];
	char texts[2][256];
};

static void make(struct sides *s, const char *a, const char *b)
{
	static char shell[] = "sh", option[] = "-c";
	struct sonde_err err = SONDE_ERR_INIT;

	*s = (struct sides){ .e = DUET_EXEC_INIT };
	snprintf(s->texts[0], sizeof(s->texts[0]), "%s", a);
	snprintf(s->texts[1], sizeof(s->texts[1]), "%s", b);
	for (int i = 0; i < 2; i++) {
		s->argv[i][0] = shell;
		s->argv[i][1] = option;
		s->argv[i][2] = s->texts[i];
		s->e.commands[i].argv = s->argv[i];
	}
	assert_int_equal(duet_exec_open(&s->e, &err), 0);
}

static int run(struct sides *s, enum duet_design design, const struct duet_turn *turns, size_t count, bool is_aa,
		struct duet_run *out, struct sonde_err *err)
{
	struct duet_runner runner = duet_exec_runner(&s->e);
	struct duet_task task = { design, turns, count, is_aa };

	*out = (struct duet_run){ 0 };
	*err = (struct sonde_err)SONDE_ERR_INIT;
	unlink("said");
	return runner.run(runner.self, &task, out, err);
}

static void turns_have_their_order(void **state)
{
	static const struct duet_turn turns[] = { { .is_first_b = false }, { .is_first_b = true } };
	struct sides s;
	struct duet_run r;
	struct sonde_err err;

	make(&s, "echo a >>said", "echo b >>said");
	assert_int_equal(run(&s, DUET_RMIT, turns, 2, false, &r, &err), 0);
	assert_string_equal(said(), "a\nb\nb\na\n");
	assert_int_equal(r.sides[DUET_A].count, 2);
	assert_int_equal(r.sides[DUET_B].count, 2);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 2; i++) {
			const struct duet_iteration *it = &r.sides[side].items[i];

			assert_true(it->start_ns >= r.start_ns && it->end_ns <= r.end_ns && it->end_ns > it->start_ns);
			assert_true(it->metrics[DUET_WALL] == (double)(it->end_ns - it->start_ns));
			assert_true(it->metrics[DUET_CPU] == it->metrics[DUET_USER] + it->metrics[DUET_SYSTEM]);
			assert_true(it->metrics[DUET_RSS] > 100000 && it->metrics[DUET_FAULTS] > 0);
			assert_true(it->metrics[DUET_MAJOR_FAULTS] >= 0 && it->metrics[DUET_WAITS] >= 0);
			assert_true(it->metrics[DUET_PREEMPTIONS] >= 0 && it->metrics[DUET_BLOCKS_READ] >= 0);
			assert_true(it->metrics[DUET_BLOCKS_WRITTEN] >= 0);
			assert_true(isnan(it->metrics[DUET_VALUE]));
		}
	assert_true(r.sides[DUET_B].items[0].start_ns >= r.sides[DUET_A].items[0].end_ns);
	assert_true(r.sides[DUET_A].items[1].start_ns >= r.sides[DUET_B].items[1].end_ns);
	duet_run_release(&r);
	assert_int_equal(run(&s, DUET_SEQ, turns, 1, true, &r, &err), 0);
	assert_string_equal(said(), "a\na\n");
	duet_run_release(&r);
	duet_exec_release(&s.e);
}

/* Each side waits for the other: it ends only if both run at once. */
static void sides_run_at_once(void **state)
{
	static const struct duet_turn turns[] = { { .is_first_b = false }, { .is_first_b = true } };
	struct sides s;
	struct duet_run r;
	struct sonde_err err;

	make(&s, "echo a >>said; while ! grep -q b said; do :; done; rm -f said.b",
			"echo b >>said; while ! grep -q "
			"a said; do :; done");
	assert_int_equal(run(&s, DUET_SYNC, turns, 2, false, &r, &err), 0);
	assert_int_equal(r.sides[DUET_A].count, 2);
	assert_int_equal(r.sides[DUET_B].count, 2);
	assert_true(r.sides[DUET_A].items[0].start_ns < r.sides[DUET_B].items[0].start_ns);
	assert_true(r.sides[DUET_B].items[1].start_ns < r.sides[DUET_A].items[1].start_ns);
	assert_true(r.sides[DUET_A].items[0].end_ns > r.sides[DUET_B].items[0].start_ns);
	duet_run_release(&r);
	duet_exec_release(&s.e);
	/* B is slow: A goes on until B has enough. */
	make(&s, "echo a >>said",
			"n=$(grep -c a said); while test $(grep -c a said) -lt $((n + 3)); do :; done; "
			"echo b >>said");
	assert_int_equal(run(&s, DUET_ASYNC, turns, 2, false, &r, &err), 0);
	assert_int_equal(r.sides[DUET_B].count, 2);
	assert_true(r.sides[DUET_A].count >= 6);
	duet_run_release(&r);
	duet_exec_release(&s.e);
}

static void failures_are_named(void **state)
{
	static const struct duet_turn turn = { .is_first_b = false };
	int fds[2];
	struct sides s;
	struct duet_run r;
	struct sonde_err err;

	make(&s, "true", "echo one >&2; echo last >&2; exit 7");
	assert_int_equal(run(&s, DUET_SEQ, &turn, 1, false, &r, &err), -ECHILD);
	assert_string_equal(err.text, "B failed with exit status 7");
	assert_string_equal(err.hint, "it said: last");
	duet_run_release(&r);
	s.e.is_lenient = true;
	assert_int_equal(run(&s, DUET_SEQ, &turn, 1, false, &r, &err), 0);
	assert_int_equal(r.sides[DUET_B].count, 1);
	duet_run_release(&r);
	duet_exec_release(&s.e);
	make(&s, "kill -9 $$", "true");
	assert_int_equal(run(&s, DUET_SYNC, &turn, 1, false, &r, &err), -ECHILD);
	assert_string_equal(err.text, "A was killed by signal 9 (Killed)");
	assert_string_equal(err.hint, "");
	duet_run_release(&r);
	s.argv[0][0] = s.texts[1];
	snprintf(s.texts[1], sizeof(s.texts[1]), "/no/such/program");
	assert_int_equal(run(&s, DUET_SEQ, &turn, 1, false, &r, &err), -ENOENT);
	assert_true(strncmp(err.text, "A: ", 3) == 0);
	duet_run_release(&r);
	duet_exec_release(&s.e);
	make(&s, "true", "exec sleep 1000");
	s.e.timeout_ns = 100000000;
	assert_int_equal(run(&s, DUET_SYNC, &turn, 1, false, &r, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "B has not ended within 0.1 s and was stopped");
	assert_string_equal(err.hint, "--timeout gives it more");
	duet_run_release(&r);
	s.e.timeout_ns = 0;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	s.e.interrupt_fd = fds[0];
	assert_int_equal(run(&s, DUET_ASYNC, &turn, 1, false, &r, &err), -EINTR);
	assert_string_equal(err.text, "interrupted");
	close(fds[0]);
	close(fds[1]);
	duet_run_release(&r);
	duet_exec_release(&s.e);
}

static void processors_are_split(void **state)
{
	const struct duet_turn same = { .is_swapped = false }, swapped = { .is_swapped = true };
	struct duet_exec e = DUET_EXEC_INIT;
	cpu_set_t both;

	assert_null(duet_exec_cpus(&e, DUET_A, &same));
	e.is_pinned = true;
	assert_ptr_equal(duet_exec_cpus(&e, DUET_A, &same), &e.cpus[DUET_A]);
	assert_ptr_equal(duet_exec_cpus(&e, DUET_B, &same), &e.cpus[DUET_B]);
	assert_ptr_equal(duet_exec_cpus(&e, DUET_A, &swapped), &e.cpus[DUET_B]);
	assert_ptr_equal(duet_exec_cpus(&e, DUET_B, &swapped), &e.cpus[DUET_A]);
	assert_true(duet_cpu_count() >= 1);
	assert_int_equal(duet_split_cpus(e.cpus), duet_cpu_count() >= 2);
	CPU_AND(&both, &e.cpus[DUET_A], &e.cpus[DUET_B]);
	assert_int_equal(CPU_COUNT(&both), 0);
	assert_int_equal(CPU_COUNT(&e.cpus[DUET_A]), CPU_COUNT(&e.cpus[DUET_B]));
	assert_int_equal(CPU_COUNT(&e.cpus[DUET_A]), duet_cpu_count() / 2);
	assert_int_equal(duet_poll_ms(INT64_MAX), -1);
	assert_int_equal(duet_poll_ms(0), 0);
	assert_int_equal(duet_poll_ms(INT64_MAX - 1), INT32_MAX);
}

/* Recorded runs. */

static void steps_are_iterations(void **state)
{
	struct duet_samples s = { 0 };
	struct sonde_err err = SONDE_ERR_INIT;
	struct truth t;
	const char *path;

	truth_start(&t);
	t.bundle.json = "{\"sonde_run\":1,\"state\":\"complete\",\"name\":\"test\",\"wall_ns\":5000,"
			"\"clock\":{\"start_mono_ns\":1000},"
			"\"usage\":{\"user_ns\":30,\"system_ns\":12,\"max_rss_bytes\":4096}}";
	for (int i = 0; i < 4; i++)
		truth_row(&t, "step", "ts_ns process pid tid name index value",
				"%d 1 10 10 epoch %d "
				"%d",
				1000 + 100 * i * i, i, i);
	truth_row(&t, "step", "ts_ns process pid tid name index value", "1350 2 20 20 epoch 0 9");
	truth_row(&t, "step", "ts_ns process pid tid name index", "1360 1 10 10 batch 0");
	truth_row(&t, "step", "ts_ns process pid tid name index", "1400 1 10 10 batch 1");
	truth_row(&t, "counter", "ts_ns name value", "1050 level 4");
	truth_row(&t, "counter", "ts_ns name value", "1150 level 6");
	truth_row(&t, "counter", "ts_ns name value", "1390 level 10");
	truth_row(&t, "counter", "ts_ns pid name value", "1000 10 total 5");
	truth_row(&t, "counter", "ts_ns pid name value", "1090 10 total 7");
	truth_row(&t, "counter", "ts_ns pid name value", "1090 20 total 1");
	truth_row(&t, "counter", "ts_ns pid name value", "1350 10 total 27");
	truth_row(&t, "counter", "ts_ns pid name value", "1500 10 total -");
	truth_row(&t, "series", "name unit is_total", "total bytes 1");
	truth_open(&t);
	path = model_run_path(t.run);
	assert_int_equal(duet_steps_read(&s, path, NULL, NULL, &err), 0);
	assert_int_equal(s.count, 3); /* of the most frequent name, from step to step of a process */
	assert_int_equal(s.items[0].start_ns, 1000);
	assert_int_equal(s.items[0].end_ns, 1100);
	assert_true(s.items[0].metrics[DUET_VALUE] == 1);
	assert_int_equal(s.items[2].start_ns, 1400);
	assert_int_equal(s.items[2].end_ns, 1900);
	assert_true(s.items[2].metrics[DUET_WALL] == 500);
	assert_int_equal(duet_steps_read(&s, path, "batch", NULL, &err), 0);
	assert_int_equal(s.count, 4);
	assert_int_equal(s.items[3].start_ns, 1360);
	duet_samples_release(&s);
	assert_int_equal(duet_steps_read(&s, path, "none", NULL, &err), -ENODATA);
	assert_non_null(strstr(err.text, "has fewer than two steps"));
	assert_string_equal(err.hint, "sonde_step(name, index, value) announces one");
	/* A level: the mean of what was read meanwhile, else the last before. A total: its increase. */
	assert_int_equal(duet_steps_read(&s, path, "epoch", "level", &err), 0);
	assert_true(s.items[0].metrics[DUET_VALUE] == 4);
	assert_true(s.items[1].metrics[DUET_VALUE] == 8);
	assert_true(s.items[2].metrics[DUET_VALUE] == 10);
	duet_samples_release(&s);
	assert_int_equal(duet_steps_read(&s, path, "epoch", "total", &err), 0);
	assert_true(s.items[0].metrics[DUET_VALUE] == 8);
	assert_true(s.items[1].metrics[DUET_VALUE] == 20);
	assert_true(s.items[2].metrics[DUET_VALUE] == 0);
	duet_samples_release(&s);
	assert_int_equal(duet_steps_read(&s, path, "epoch", "none", &err), -ENODATA);
	assert_string_equal(err.text, "the run has no counter 'none'");
	duet_samples_release(&s);
	assert_int_equal(duet_steps_read_whole(&s, path, "total", &err), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.items[0].start_ns, 1000);
	assert_int_equal(s.items[0].end_ns, 6000);
	assert_true(s.items[0].metrics[DUET_USER] == 30 && s.items[0].metrics[DUET_SYSTEM] == 12);
	assert_true(s.items[0].metrics[DUET_CPU] == 42 && s.items[0].metrics[DUET_RSS] == 4096);
	assert_true(s.items[0].metrics[DUET_VALUE] == 28);
	duet_samples_release(&s);
	truth_end(&t);
	assert_int_equal(duet_steps_read_whole(&s, "/no/such/run", NULL, &err), -ENOENT);
}

/* Copies a run that was made by hand to runs/NAME, which the "sonde record" of these tests copies in turn. */
static void keep_run(struct truth *t, const char *name)
{
	char command[256];

	truth_open(t);
	snprintf(command, sizeof(command),
			"mkdir -p %s/runs && cp -r %s "
			"%s/runs/%s",
			scratch, model_run_path(t->run), scratch, name);
	assert_int_equal(system(command), 0); /* NOLINT: a fixed command */
	truth_end(t);
	assert_int_equal(chdir(scratch), 0);
}

static void make_run(const char *name, int times)
{
	struct truth t;

	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, times > 1 ? "/root/b/x" : "/root/a/x");
	for (int i = 0; i < times; i++)
		truth_call(&t, "read", 100 * i, 50, 1, 10);
	truth_call(&t, "open", 5000, 7, 0, 3);
	for (int i = 0; i < 3; i++)
		truth_row(&t, "step", "ts_ns process pid tid name index",
				"%d 1 10 10 epoch "
				"%d",
				1000 + times * 100 * i, i);
	truth_modules(&t);
	truth_stack(&t, 1, 0, 2, "main");
	truth_stack(&t, 2, 1, 1, "schedule");
	truth_row(&t, "sample", "ts_ns pid tid weight_ns stack", "1000 10 10 %d 1", 1000 * times);
	truth_row(&t, "sample", "ts_ns pid tid weight_ns stack", "1000 10 10 - 1");
	truth_row(&t, "sched", "ts_ns dur_ns pid tid state stack", "1000 %d 10 10 sleep 2", 300 * times);
	truth_row(&t, "sched", "ts_ns dur_ns pid tid state stack", "2000 20 10 10 preempted 2");
	truth_row(&t, "sched", "ts_ns pid tid state stack", "3000 10 10 disk 2");
	keep_run(&t, name);
}

static struct duet_steps steps_of(struct sides *s, struct arena *arena)
{
	static char program[128];
	struct duet_steps steps = { .exec = &s->e, .sonde = program };
	struct sonde_err err = SONDE_ERR_INIT;
	FILE *file = fopen("sonde", "w");

	snprintf(program, sizeof(program), "%s/sonde", scratch);
	fprintf(file, "#!/bin/sh\necho \"$1 $2 $3 $4 $5 $7 $8 ${10}\" >>said\ncp -r runs/$(basename $6) $6\n");
	fclose(file);
	assert_int_equal(chmod("sonde", 0700), 0);
	make_run("A", 1);
	make_run("B", 2);
	if (duet_steps_open(&steps, arena, &err) < 0)
		fail_msg("%s", err.text);
	return steps;
}

static void recorded_sides_are_iterations(void **state)
{
	static const struct duet_turn turn = { .is_first_b = false };
	struct arena arena = ARENA_INIT;
	struct sides s;
	struct duet_steps steps;
	struct duet_runner runner;
	struct duet_task task = { DUET_ASYNC, &turn, 5, false };
	struct duet_run r = { 0 };
	struct sonde_err err = SONDE_ERR_INIT;

	make(&s, "one", "two");
	steps = steps_of(&s, &arena);
	runner = duet_steps_runner(&steps);
	if (runner.run(runner.self, &task, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_non_null(strstr(said(), "record --quiet --probes trace --output -- sh one\n"));
	assert_non_null(strstr(said(), "record --quiet --probes trace --output -- sh two\n"));
	assert_int_equal(r.sides[DUET_A].count, 2);
	assert_true(r.sides[DUET_A].items[0].metrics[DUET_WALL] == 100);
	assert_true(r.sides[DUET_B].items[1].metrics[DUET_WALL] == 200);
	assert_true(r.end_ns > r.start_ns);
	duet_run_release(&r);
	task.is_aa = true;
	task.design = DUET_SEQ;
	unlink("said");
	r = (struct duet_run){ 0 };
	assert_int_equal(runner.run(runner.self, &task, &r, &err), 0);
	assert_null(strstr(said(), "two"));
	duet_run_release(&r);
	r = (struct duet_run){ 0 };
	steps.is_whole = true;
	assert_int_equal(runner.run(runner.self, &task, &r, &err), 0);
	assert_int_equal(r.sides[DUET_B].count, 1);
	assert_true(r.sides[DUET_B].items[0].metrics[DUET_WALL] == 1e9);
	duet_run_release(&r);
	duet_steps_release(&steps);
	duet_exec_release(&s.e);
	arena_release(&arena);
}

static const struct duet_cause *cause(const struct duet_explanation *e, const char *kind, const char *name)
{
	for (size_t i = 0; i < e->count; i++)
		if (strcmp(e->causes[i].kind, kind) == 0 && strcmp(e->causes[i].name, name) == 0)
			return &e->causes[i];
	fail_msg("no %s '%s'", kind, name);
	return NULL;
}

static void causes_are_differences(void **state)
{
	struct arena arena = ARENA_INIT;
	struct sides s;
	struct duet_steps steps;
	struct duet_explanation e;
	struct sonde_err err = SONDE_ERR_INIT;

	make(&s, "one", "two");
	s.e.commands[DUET_A].root = "/root/a";
	s.e.commands[DUET_B].root = "/root/b";
	steps = steps_of(&s, &arena);
	if (duet_explain(&steps, 3, 1, 0.95, &arena, &e, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(e.recordings, 3);
	assert_string_equal(e.causes[0].name, "main"); /* the largest difference first: 1000 */
	assert_true(cause(&e, "function", "main")->a_ns == 1000 && cause(&e, "function", "main")->b_ns == 2000);
	assert_true(cause(&e, "function", "main")->a_calls == 1);
	assert_true(cause(&e, "function", "main")->delta.estimate == 1000);
	assert_true(cause(&e, "call", "read")->a_ns == 50 && cause(&e, "call", "read")->b_ns == 100);
	assert_true(cause(&e, "call", "read")->a_calls == 1 && cause(&e, "call", "read")->b_calls == 2);
	assert_true(cause(&e, "call", "open")->delta.estimate == 0);
	assert_true(cause(&e, "file", "x")->b_ns == 100); /* the same file below each side's root */
	assert_true(cause(&e, "wait", "sleep")->delta.estimate == 300);
	assert_true(cause(&e, "wait", "sleep in main")->delta.estimate == 300);
	assert_true(cause(&e, "wait", "preempted")->delta.estimate == 0);
	for (size_t i = 0; i < e.count; i++)
		assert_true(!strstr(e.causes[i].name, "preempted in") && !strstr(e.causes[i].name, "disk"));
	for (size_t i = 1; i < e.count; i++)
		assert_true(fabs(e.causes[i - 1].delta.estimate) >= fabs(e.causes[i].delta.estimate));
	duet_steps_release(&steps);
	duet_exec_release(&s.e);
	arena_release(&arena);
}

/* Worktrees and images. */

static void revisions_have_worktrees(void **state)
{
	static const char make_repository[] = "git init -q . && git config user.email a@b && git config user.name n "
					      "&& mkdir sub && "
					      "echo 1 >sub/f && git add . && git commit -qm one && echo 2 >sub/f && "
					      "git commit -qam two";
	struct arena arena = ARENA_INIT;
	struct duet_worktrees t = { .base = { .path = "" } };
	struct sonde_err err = SONDE_ERR_INIT;
	char dir[FS_TEMP_BYTES];

	assert_true(duet_is_range("a..b") && duet_is_range("a.."));
	assert_false(duet_is_range("a...b") || duet_is_range("..b") || duet_is_range("ab") || duet_is_range("a.b"));
	assert_int_equal(setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1), 0);
	assert_int_equal(system(make_repository), 0); /* NOLINT: a fixed command */
	assert_int_equal(chdir("sub"), 0);
	if (duet_worktrees_make(&t, "HEAD~1..", &arena, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(strncmp(t.revisions[DUET_A], "HEAD~1 (", 8) == 0);
	assert_int_equal(strlen(t.revisions[DUET_A]), strlen("HEAD~1 (123456789012)"));
	assert_true(strncmp(t.revisions[DUET_B], "HEAD (", 6) == 0);
	for (int side = 0; side < 2; side++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;

		buf_addf(&path, "%s/f", t.places[side]);
		assert_int_equal(fs_read_file(AT_FDCWD, path.data, 100, &text, &err), 0);
		assert_string_equal(text.data, side == DUET_A ? "1\n" : "2\n");
		assert_int_equal(strlen(t.places[side]), strlen(t.dirs[side]) + strlen("/sub"));
	}
	snprintf(dir, sizeof(dir), "%s", t.dirs[DUET_B]);
	duet_worktrees_remove(&t);
	assert_int_equal(access(dir, F_OK), -1);
	t = (struct duet_worktrees){ .base = { .path = "" } };
	assert_int_equal(duet_worktrees_make(&t, "none..HEAD", &arena, &err), -ECHILD);
	assert_string_equal(err.text, "git rev-parse failed: fatal: Needed a single revision");
	duet_worktrees_remove(&t);
	arena_release(&arena);
}

static void images_have_names(void **state)
{
	char shell[] = "sh", option[] = "-c",
	     script[] = "echo \"$0 $@\" >>said; test \"$3\" != "
			"bad",
	     *engine[] = { shell, option, script, NULL };
	struct arena arena = ARENA_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(duet_image_build(engine, "/x/name//", &arena, &err), 0);
	assert_string_equal(said(), "build --tag name /x/name//\n");
	assert_int_equal(duet_image_build(engine, "plain", &arena, &err), 0);
	assert_int_equal(duet_image_build(engine, "bad", &arena, &err), -ECHILD);
	assert_string_equal(err.text, "cannot build the image 'bad': status 1");
	assert_int_equal(duet_image_build(engine, "/", &arena, &err), -EINVAL);
	assert_string_equal(err.text, "cannot name an image after the directory '/'");
	assert_int_equal(duet_image_build(engine, "x/..", &arena, &err), -EINVAL);
	assert_int_equal(duet_image_build(engine, "-x", &arena, &err), -EINVAL);
	arena_release(&arena);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(turns_have_their_order),
		IN_SCRATCH(sides_run_at_once),
		IN_SCRATCH(failures_are_named),
		cmocka_unit_test(processors_are_split),
		cmocka_unit_test(steps_are_iterations),
		IN_SCRATCH(recorded_sides_are_iterations),
		IN_SCRATCH(causes_are_differences),
		IN_SCRATCH(revisions_have_worktrees),
		IN_SCRATCH(images_have_names),
	};

	return RUN_TESTS(tests);
}
