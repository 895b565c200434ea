/* drive: whole studies of shell commands: how values reach them, what is measured, what fails, what is confirmed. */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "studies.h"
#include "tune/study-journal.h"
#include "tune/study-run.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch[64];

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-drive-XXXXXX");
	return !mkdtemp(scratch) || chdir(scratch);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static const char *contents(const char *path)
{
	static struct buf text = BUF_INIT;

	buf_reset(&text);
	return fs_read_file(AT_FDCWD, path, 1 << 20, &text, NULL) < 0 ? "" : text.data;
}

struct world {
	struct arena arena;
	struct tune_study study;
	struct tune_optimizer o;
	struct tune_journal *journal;
	struct tune_drive drive;
	struct tune_outcome outcome;
	struct sonde_err err;
	size_t shown;
	char why[TUNE_WHY];
};

static void show(void *arg, const struct tune_trial *trial, const char *why)
{
	struct world *w = arg;

	w->shown++;
	if (*why)
		snprintf(w->why, sizeof(w->why), "%s", why);
}

static int run_more(struct world *w, const char *text, bool is_paired)
{
	static char runs[100];

	snprintf(runs, sizeof(runs), "%s/runs", scratch);
	memset(w, 0, sizeof(*w));
	arena_init(&w->arena);
	if (parse(&w->study, text, &w->arena, &w->err) < 0)
		fail_msg("%s", w->err.text);
	if (tune_expand_check(&w->study, &w->err) < 0)
		fail_msg("%s", w->err.text);
	assert_int_equal(make(&w->o, &w->study, 1), 0);
	w->journal = calloc(1, sizeof(*w->journal));
	*w->journal = (struct tune_journal)TUNE_JOURNAL_INIT;
	w->journal->is_paired = is_paired;
	assert_int_equal(tune_journal_open(w->journal, "j.jsonl", &w->study, &w->o, &w->err), 0);
	w->drive = (struct tune_drive){ .study = &w->study,
		.o = &w->o,
		.journal = w->journal,
		.dir = runs,
		.is_paired = is_paired,
		.show = show,
		.arg = w };
	return tune_drive(&w->drive, &w->outcome, &w->arena, &w->err);
}

static void release(struct world *w)
{
	tune_journal_release(w->journal);
	free(w->journal);
	tune_optimizer_release(&w->o);
	arena_release(&w->arena);
}

static int run(struct world *w, const char *text)
{
	unlink("j.jsonl");
	unlink("said");
	fs_remove_tree(AT_FDCWD, "runs");
	return run_more(w, text, false);
}

static void run_well(struct world *w, const char *text)
{
	if (run(w, text) < 0)
		fail_msg("%s", w->err.text);
}

#define N(more) "params: [{name: n, type: int, low: 1, high: 4, default: 4" more "}]\nmethod: sobol\n"
#define VALUE "objective: {name: value, regex: 'value ([0-9.]+)'}\n"

/* Four configurations, all tried: the value is (n - 2)^2 + 1, and the best is proven against the default. */
static void the_best_is_found_and_proven(void **state)
{
	struct world w;

	run_well(&w,
			N("") VALUE "command: [sh, -c, 'echo value $(( ($0 - 2) * ($0 - 2) + 1 ))', '{n}']\n"
				    "budget: {trials: 4}\nconfirm: 6\n");
	assert_int_equal(w.o.count, 4);
	assert_int_equal(w.outcome.done, 4);
	assert_int_equal(w.outcome.failed, 0);
	for (size_t t = 0; t < 4; t++) {
		double n = w.o.trials[t].point[0];

		assert_true(w.o.trials[t].result.values[0] == (n - 2) * (n - 2) + 1);
		assert_true(w.o.trials[t].result.wall_s > 0);
		assert_int_equal(w.o.trials[t].result.repeats, 1);
		assert_int_equal(w.o.trials[t].result.beside, 0);
	}
	assert_true(w.o.trials[0].point[0] == 4); /* the default comes first */
	assert_true(w.outcome.best.trial->point[0] == 2);
	assert_ptr_equal(w.outcome.start, &w.o.trials[0]);
	assert_int_equal(w.outcome.pairs, 6);
	assert_int_equal(w.outcome.gain, TUNE_GAIN_PROVEN);
	assert_true(fabs(w.outcome.ratio.estimate - 0.2) < 1e-9);
	assert_false(w.outcome.is_difference);
	assert_int_equal(w.shown, 10);
	assert_string_equal(w.outcome.proof_why, "");
	assert_int_equal(access("runs/1", F_OK), -1);
	release(&w);
	/* The same journal again: nothing is left to do. */
	assert_int_equal(run_more(&w,
					 N("") VALUE "command: [sh, -c, 'echo value $(( ($0 - 2) * ($0 - 2) + 1 ))',"
						     " '{n}']\n"
						     "budget: {trials: 4}\nconfirm: 6\n",
					 false),
			0);
	assert_int_equal(w.shown, 0);
	assert_int_equal(w.outcome.gain, TUNE_GAIN_PROVEN);
	release(&w);
}

static void values_reach_the_program_and_failures_have_reasons(void **state)
{
	struct world w;

	assert_int_equal(fs_replace_file(AT_FDCWD, "b.in", "in {m}", 6, NULL), 0);
	assert_int_equal(run(&w,
					 "params:\n"
					 "  - {name: f, type: float, low: 0, high: 1, default: 0.25, arg: '--f={}x'}\n"
					 "  - {name: m, type: categorical, choices: [a, 'b c'], default: 'b c', "
					 "env: MODE}\n"
					 "  - {name: i, type: int, low: 1, high: 9, active_if: {m: [a]}, "
					 "env: INACTIVE, arg: '--i={}'}\n"
					 "  - {name: b, type: bool, default: true}\n"
					 "command: [sh, -c, 'echo \"$0 $@ $MODE $GIVEN [$INACTIVE] $(env | "
					 "grep -c \"^(null)=\") $PWD\"; cat $SONDE_TUNE_DIR/a.conf "
					 "$SONDE_TUNE_DIR/b.conf; "
					 "echo first >&2; echo last >&2; exit 3', '{m}', '{b}', '{i}', '{{m}', 'x{', "
					 "'{}', "
					 "'{id}']\n"
					 "environment: {GIVEN: 'given {f}'}\n"
					 "files: [{path: a.conf, template: 'f = {f}, '}, {path: b.conf, from: b.in}]\n"
					 "directory: /usr\nbudget: {trials: 1}\nconfirm: 0\n"
					 "objective: {name: wall}\n"),
			-EIO);
	assert_string_equal(contents("runs/1/out.txt"),
			"b c true  {m} x{ {} 1 --f=0.25x b c given 0.25 [] 0 /usr\nf = "
			"0.25, in b c");
	assert_string_equal(w.why, "exit status 3: last");
	assert_string_equal(w.err.text, "all of the first 1 trials failed; the last: exit status 3: last");
	assert_non_null(strstr(w.err.hint, "/runs'; fix it and run again with --retry"));
	release(&w);
	assert_int_equal(run(&w, N("") "objective: {name: wall}\ncommand: ['/no/such/program', '{n}']\n"), -ENOENT);
	release(&w);
	assert_int_equal(run(&w,
					 N("") "objective: {name: wall}\ncommand: [sh, -c, 'kill -9 $$', '{n}']\n"
					       "budget: "
					       "{trials: 9}\n"),
			-EIO);
	assert_string_equal(w.err.text, "all of the first 5 trials failed; the last: killed by Killed");
	release(&w);
	assert_int_equal(run(&w, N("") VALUE "command: [echo, '{n}']\nbudget: {trials: 1}\n"), -EIO);
	assert_string_equal(w.why, "no value for 'value'");
	release(&w);
	assert_int_equal(run(&w,
					 N("") VALUE "command: [sleep, '100{n}']\nbudget: {trials: 1}\ntimeout: "
						     "100ms\n"),
			-EIO);
	assert_string_equal(w.why, "timed out");
	release(&w);
}

static void some_failures_are_not_the_end(void **state)
{
	struct world w;

	run_well(&w,
			N("") VALUE "command: [sh, -c, 'test $0 -lt 4 || exit 5; echo value $0', '{n}']\nbudget: "
				    "{trials: 4}\nconfirm: 3\n");
	assert_int_equal(w.outcome.failed, 1);
	assert_int_equal(w.outcome.done, 3);
	assert_true(w.outcome.best.trial->point[0] == 1);
	assert_int_equal(w.outcome.start->result.state, TUNE_FAILED);
	assert_true(isnan(w.outcome.start->result.values[0]) && isnan(w.outcome.start->result.limits[0]));
	assert_int_equal(w.outcome.gain, TUNE_GAIN_UNKNOWN);
	assert_int_equal(w.outcome.pairs, 0);
	assert_int_equal(access("runs/1", F_OK), 0);
	release(&w);
	/* The confirmation fails three times, and then gives up. */
	run_well(&w,
			N("") VALUE "command: [sh, -c, 'echo x >>said; test $(wc -l <said) -le 4 || exit 6; echo value "
				    "$0', '{n}']\n"
				    "budget: {trials: 4}\nconfirm: 3\n");
	assert_string_equal(w.outcome.proof_why, "exit status 6");
	assert_int_equal(w.outcome.pairs, 0);
	assert_int_equal(w.outcome.gain, TUNE_GAIN_UNKNOWN);
	release(&w);
}

static void repeats_have_a_median(void **state)
{
	struct world w;

	/* The third of three repeats is off; hopeless ones are not repeated. */
	run_well(&w,
			N("") VALUE
			"command: [sh, -c, 'echo $0 >>said; n=$(grep -c $0 said); test $n = 3 && echo "
			"value 99 || "
			"echo value $(( $0 == 4 ? 2 : $0 == 3 ? 9 : 1 ))', '{n}']\nrepeats: 3\nbudget: {trials: "
			"4}\nconfirm: 0\n");
	for (size_t t = 0; t < 4; t++) {
		double n = w.o.trials[t].point[0];

		assert_true(w.o.trials[t].result.values[0] == (n == 4 ? 2 : n == 3 ? 9 : 1));
		assert_int_equal(w.o.trials[t].result.repeats, n == 3 ? 1 : 3);
	}
	release(&w);
}

static void every_source_is_measured(void **state)
{
	struct world w;

	run_well(&w,
			N("") "command: [sh, -c, 'printf 12345 >$SONDE_TUNE_DIR/out.bin; i=0; while test $i -lt 20000; "
			      "do i=$((i+1)); done', '{n}']\n"
			      "objectives: [{name: wall}, {name: cpu}, {name: size, file: out.bin}]\n"
			      "limits: [{name: memory, min: 1000}, {name: id, file: '{dir}/none', max: 5}]\nbudget: "
			      "{trials: 1}\n");
	assert_true(w.o.trials[0].result.values[0] > 0);
	assert_true(w.o.trials[0].result.values[1] > 0);
	assert_true(w.o.trials[0].result.values[2] == 5);
	assert_true(w.o.trials[0].result.limits[0] > 100000);
	assert_true(isnan(w.o.trials[0].result.limits[1]));
	release(&w);
	/* The last match of the output counts; steps by a regular expression. */
	run_well(&w,
			N("") "command: [sh, -c, 'for i in 1 2 3 4 5; do echo step $i loss $((10 - i)); done; echo "
			      "value 7; echo value 8', '{n}']\n"
			      "steps: 'step ([0-9]+) loss ([0-9.]+)'\n"
			      "objectives: [{name: value, regex: 'value ([0-9.]+)'}, {name: last, from: step}, {name: "
			      "time, target: 7}]\n"
			      "budget: {trials: 1}\n");
	assert_true(w.o.trials[0].result.values[0] == 8);
	assert_true(w.o.trials[0].result.values[1] == 5);
	assert_true(w.o.trials[0].result.values[2] > 0);
	assert_int_equal(w.o.trials[0].result.rung_count, 3);
	assert_true(w.o.trials[0].result.rungs[0] == 9 && w.o.trials[0].result.rungs[2] == 6);
	release(&w);
	assert_int_equal(run(&w,
					 N("") "command: [sh, -c, 'echo step 1 loss 9', '{n}']\nsteps: 'step "
					       "([0-9]+) loss "
					       "([0-9.]+)'\n"
					       "objective: {name: time, target: 7}\nbudget: {trials: 1}\n"),
			-EIO);
	assert_string_equal(w.why, "it ended before its steps reached 7; the last was 9");
	release(&w);
}

/* What takes long after the target is reached is not waited for. */
static void targets_end_a_run(void **state)
{
	struct world w;

	run_well(&w,
			N("") "command: [sh, -c, 'echo step 1 value 1; echo step 2 value 5; exec sleep 1000', '{n}']\n"
			      "steps: 'step ([0-9]+) value ([0-9.]+)'\nobjective: {name: time, target: 4, reach: "
			      "above}\nbudget: {trials: 1}\n");
	assert_true(w.o.trials[0].result.values[0] > 0 && w.o.trials[0].result.values[0] < 900);
	assert_int_equal(w.o.trials[0].result.state, TUNE_DONE);
	release(&w);
}

/* The default takes no time: what takes far longer is cut, and known to take at least so long. */
static void slow_runs_are_cut(void **state)
{
	struct world w;

	run_well(&w,
			N("") "command: [sh, -c, 'test $0 = 4 || exec sleep 1000', '{n}']\nobjective: {name: wall}\n"
			      "budget: {trials: 2}\n");
	assert_int_equal(w.outcome.cut, 1);
	assert_int_equal(w.o.trials[1].result.state, TUNE_CUT);
	assert_true(w.o.trials[1].result.values[0] >= 0.5);
	assert_int_equal(w.outcome.gain, TUNE_GAIN_NONE);
	release(&w);
}

/* After five with falling losses, one whose first step is worse than their median is stopped. */
static void hopeless_steps_are_stopped(void **state)
{
	struct world w;

	run_well(&w,
			"params: [{name: n, type: int, low: 1, high: 8, default: 1}]\nmethod: sobol\n"
			"command: [sh, -c, 'echo x >>said; t=$(wc -l <said); if test $t -le 5; then echo step 1 loss "
			"10; echo step 2 loss 5; else "
			"echo step 1 loss 99; exec sleep 1000; fi', '{n}']\nsteps: 'step ([0-9]+) loss ([0-9.]+)'\n"
			"objective: {name: last, from: step}\nearly_stop: median\nbudget: {trials: 6}\nconfirm: 0\n");
	assert_int_equal(w.outcome.cut, 1);
	assert_int_equal(w.o.trials[5].result.state, TUNE_CUT);
	assert_true(w.o.trials[5].result.values[0] == 94); /* it would have come down by 5, as the others did */
	release(&w);
}

static void builds_are_shared(void **state)
{
	struct world w;

	run_well(&w,
			"params: [{name: n, type: int, low: 1, high: 2, default: 1, class: rebuild}, {name: m, type: "
			"int, low: 1, high: 2, default: 1}]\n"
			"method: sobol\nprepare: [sh, -c, 'echo {n} >>said; echo {n} >{build}/made']\n"
			"command: [sh, -c, 'echo value $(cat {build}/made)$0', '{m}']\nobjective: {name: value, regex: "
			"'value ([0-9]+)'}\n"
			"budget: {trials: 4}\nconfirm: 0\n");
	assert_int_equal(strlen(contents("said")), strlen("1\n2\n"));
	for (size_t t = 0; t < 4; t++)
		assert_true(w.o.trials[t].result.values[0] == 10 * w.o.trials[t].point[0] + w.o.trials[t].point[1]);
	release(&w);
	assert_int_equal(run(&w,
					 N("") "prepare: [sh, -c, 'echo bad >&2; exit 4']\ncommand: [echo, 'value "
					       "{n}']\n" VALUE "budget: {trials: 1}\n"),
			-EIO);
	assert_string_equal(w.why, "exit status 4: bad");
	release(&w);
	assert_int_equal(run(&w,
					 N("") "prepare: [sleep, 1000]\ncommand: [echo, 'value {n}']\n" VALUE "budget: "
					       "{trials: 1}\ntimeout: 50ms\n"),
			-EIO);
	release(&w);
}

static void paired_trials_are_relative(void **state)
{
	static const char text[] = N("") VALUE "command: [sh, -c, 'echo value $(( $0 * 10 ))', '{n}']\nbudget: "
					       "{trials: 4}\nconfirm: 3\n";
	struct world w;

	unlink("j.jsonl");
	if (run_more(&w, text, true) < 0)
		fail_msg("%s", w.err.text);
	assert_int_equal(w.o.trials[0].result.beside, 1);
	assert_true(w.o.trials[0].result.values[0] == 1);
	for (size_t t = 1; t < 4; t++) {
		const struct tune_trial *rival = tune_find(&w.o, w.o.trials[t].result.beside);

		assert_non_null(rival);
		assert_true(rival->id != w.o.trials[t].id);
		assert_true(fabs(w.o.trials[t].result.ratio - w.o.trials[t].point[0] / rival->point[0]) < 1e-9);
	}
	assert_true(w.outcome.best.trial->point[0] == 1);
	assert_int_equal(w.outcome.gain, TUNE_GAIN_PROVEN);
	assert_true(fabs(w.outcome.ratio.estimate - 0.25) < 1e-9);
	release(&w);
}

static void differences_where_values_are_not_positive(void **state)
{
	struct world w;

	run_well(&w,
			N("") "objective: {name: value, regex: 'value (-?[0-9.]+)', goal: maximize}\n"
			      "command: [sh, -c, 'echo value $(( 1 - $0 ))', '{n}']\nbudget: {trials: 4}\nconfirm: "
			      "5\n");
	assert_true(w.outcome.is_difference);
	assert_true(w.outcome.difference.estimate == 3);
	assert_int_equal(w.outcome.gain, TUNE_GAIN_PROVEN);
	release(&w);
	/* The default is the best: nothing to prove. */
	run_well(&w,
			N("") "objective: {name: value, regex: 'value ([0-9.]+)', goal: maximize}\n"
			      "command: [sh, -c, 'echo value $0', '{n}']\nbudget: {trials: 4}\nconfirm: 5\n");
	assert_int_equal(w.outcome.gain, TUNE_GAIN_NONE);
	assert_int_equal(w.outcome.pairs, 0);
	release(&w);
}

static void several_run_at_once(void **state)
{
	struct world w;

	/* Each waits for the other. */
	run_well(&w,
			"params: [{name: n, type: int, low: 1, high: 2, default: 1}]\nmethod: sobol\nparallel: "
			"2\n" VALUE
			"command: [sh, -c, 'touch here$0; until test -e here1 && test -e here2; do :; done; echo value "
			"$0', '{n}']\n"
			"budget: {trials: 2}\nconfirm: 0\n");
	assert_int_equal(w.outcome.done, 2);
	release(&w);
}

static void templates_are_checked(void **state)
{
	static const struct {
		const char *text, *why, *hint;
	} wrong[] = {
		{ N("") VALUE, "s.yml: the study has no 'command' to run",
				"programs that measure themselves use "
				"'sonde tune serve'" },
		{ N("") VALUE "command: [a, '{m}', '{n}']\n", "s.yml: 'command': unknown parameter {m}",
				"write "
				"{{m} for the literal text" },
		{ N("") VALUE "command: [a, '{other}']\n", "s.yml: 'command': unknown parameter {other}",
				"write "
				"{{other} for the literal text" },
		{ N("") VALUE "command: ['{n}']\nprepare: ['{bild}']\n",
				"s.yml: 'prepare': unknown parameter "
				"{bild}",
				"did you mean {build}?" },
		{ N("") VALUE "command: ['{n}', '{build}']\n", "s.yml: 'command': unknown parameter {build}", NULL },
		{ N("") VALUE "command: ['{n}']\nenvironment: {A: '{x9}'}\n",
				"s.yml: 'environment': unknown "
				"parameter {x9}",
				NULL },
		{ N("") VALUE "command: ['{n}']\nfiles: [{path: p, template: '{x9}'}]\n",
				"s.yml: 'files': unknown "
				"parameter {x9}",
				NULL },
		{ N("") VALUE "command: [a]\n", "s.yml:1: parameter 'n' does not reach the program",
				"write {n} into the command, or give it 'arg', 'env', 'knob' or a file" },
		{ N(", class: live") VALUE "command: ['{n}']\n",
				"s.yml:1: parameter 'n' cannot change while the "
				"program runs: it has no 'knob'",
				"give it 'knob', the name in the program, or another class" },
		{ N("") VALUE "command: [a]\nprepare: ['{n}', '{build}']\n",
				"s.yml:1: parameter 'n' is used by the build, but is not of class rebuild",
				"give it 'class: rebuild': {build} is shared by trials with the same values of these" },
		{ N(", knob: k") VALUE "command: [a]\nwindow: 5\n", "s.yml:1: parameter 'n' does not go with 'window'",
				"with 'window' all parameters are live, and values come from announced steps or "
				"their rate" },
		{ N(", knob: k, class: live") VALUE "command: [a]\nwindow: 5\n",
				"s.yml:3: objective 'value' does "
				"not go with 'window'",
				NULL },
		{ N(", knob: k, class: live") "objective: {name: pace}\nlimits: [{name: memory, max: 1}]\ncommand: "
					      "[a]\nwindow: 5\n",
				"s.yml:4: limit 'memory' does not go with 'window'", NULL },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct arena arena = ARENA_INIT;
		struct sonde_err err = SONDE_ERR_INIT;
		struct tune_study study;

		if (parse(&study, wrong[i].text, &arena, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(tune_expand_check(&study, &err), -EINVAL);
		assert_string_equal(err.text, wrong[i].why);
		if (wrong[i].hint)
			assert_string_equal(err.hint, wrong[i].hint);
		arena_release(&arena);
	}
}

/* One cell of a query, as text. */
static const char *ask(sqlite3 *db, const char *sql)
{
	static char text[200];
	sqlite3_stmt *s;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	snprintf(text, sizeof(text), "%s",
			sqlite3_column_text(s, 0) ? (const char *)sqlite3_column_text(s, 0) : "null");
	sqlite3_finalize(s);
	return text;
}

static void a_database_has_the_journal(void **state)
{
	struct world w;
	sqlite3 *db;

	run_well(&w,
			N("") VALUE
			"limits: [{name: memory, max: 1e12}]\ncommand: [sh, -c, 'test $0 != 3 || exit 1; "
			"echo step 1 loss 5; echo value $0', '{n}']\n"
			"steps: 'step ([0-9]+) loss ([0-9.]+)'\nbudget: {trials: 4}\nconfirm: 2\nname: demo\n");
	assert_int_equal(tune_database_write("d.db", "j.jsonl", &w.study, &w.err), 0);
	assert_int_equal(tune_database_write("d.db", "j.jsonl", &w.study, &w.err), 0);
	assert_int_equal(sqlite3_open("d.db", &db), SQLITE_OK);
	assert_string_equal(ask(db, "SELECT value FROM study WHERE key = 'name'"), "demo");
	assert_string_equal(ask(db, "SELECT count(*) FROM trial"), "4");
	assert_string_equal(
			ask(db,
					"SELECT group_concat(state) FROM (SELECT DISTINCT state FROM trial ORDER BY "
					"state)"),
			"done,failed");
	assert_string_equal(ask(db, "SELECT why FROM trial WHERE state = 'failed'"), "exit status 1");
	assert_string_equal(ask(db, "SELECT value FROM param WHERE trial = 1 AND name = 'n'"), "4");
	assert_string_equal(ask(db, "SELECT typeof(value) FROM param WHERE trial = 1"), "integer");
	assert_string_equal(ask(db, "SELECT value FROM value WHERE trial = 1 AND name = 'value'"), "4.0");
	assert_string_equal(ask(db, "SELECT count(*) FROM value WHERE name = 'memory' AND value > 1000"), "3");
	assert_string_equal(ask(db, "SELECT steps || ':' || value FROM rung WHERE trial = 1"), "1:5.0");
	assert_string_equal(ask(db, "SELECT count(*) FROM pair"), "2");
	assert_string_equal(
			ask(db,
					"SELECT best || ' ' || start FROM pair WHERE number = (SELECT min(number) FROM "
					"pair)"),
			"1.0 4.0");
	assert_string_equal(ask(db, "SELECT count(*) FROM trial WHERE told_at >= asked_at"), "4");
	sqlite3_close(db);
	assert_true(tune_database_write("d.db", "none.jsonl", &w.study, &w.err) < 0);
	release(&w);
}

/* A run that was killed within a trial: the trial is run again under its number. */
static void orphans_are_run_again(void **state)
{
	static const char text[] = N("") VALUE "command: [sh, -c, 'echo value $0', '{n}']\nbudget: {trials: 2}\n"
					       "confirm: 0\n";
	struct world w;
	const struct tune_trial *trial;

	memset(&w, 0, sizeof(w));
	arena_init(&w.arena);
	assert_int_equal(parse(&w.study, text, &w.arena, NULL), 0);
	assert_int_equal(make(&w.o, &w.study, 1), 0);
	w.journal = calloc(1, sizeof(*w.journal));
	*w.journal = (struct tune_journal)TUNE_JOURNAL_INIT;
	assert_int_equal(tune_journal_open(w.journal, "j.jsonl", &w.study, &w.o, NULL), 0);
	assert_int_equal(tune_ask(&w.o, &trial, NULL), 0);
	assert_int_equal(tune_journal_ask(w.journal, &w.o, trial, NULL), 0);
	release(&w);
	assert_int_equal(run_more(&w, text, false), 0);
	assert_int_equal(w.o.count, 2);
	assert_int_equal(w.outcome.done, 2);
	release(&w);
}

static void an_interrupt_stops_it(void **state)
{
	static volatile sig_atomic_t is_interrupted = 1;
	static const char text[] = N("") VALUE "command: [sh, -c, 'echo value $0', '{n}']\nbudget: {trials: 2}\n";
	struct world w;

	assert_int_equal(run(&w, text), 0);
	w.drive.is_interrupted = &is_interrupted;
	w.study.trials = 4;
	assert_int_equal(tune_drive(&w.drive, &w.outcome, &w.arena, &w.err), 0);
	assert_true(w.outcome.is_interrupted);
	assert_int_equal(w.o.count, 2);
	release(&w);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(the_best_is_found_and_proven),
		IN_SCRATCH(values_reach_the_program_and_failures_have_reasons),
		IN_SCRATCH(some_failures_are_not_the_end),
		IN_SCRATCH(repeats_have_a_median),
		IN_SCRATCH(every_source_is_measured),
		IN_SCRATCH(targets_end_a_run),
		IN_SCRATCH(slow_runs_are_cut),
		IN_SCRATCH(hopeless_steps_are_stopped),
		IN_SCRATCH(builds_are_shared),
		IN_SCRATCH(paired_trials_are_relative),
		IN_SCRATCH(differences_where_values_are_not_positive),
		IN_SCRATCH(several_run_at_once),
		cmocka_unit_test(templates_are_checked),
		IN_SCRATCH(a_database_has_the_journal),
		IN_SCRATCH(orphans_are_run_again),
		IN_SCRATCH(an_interrupt_stops_it),
	};

	return RUN_TESTS(tests);
}
