/* journal: what is written is what is read; damage is refused; a replay judges as the comparison did; history. */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "duet/duet-journal.h"
#include "duet/duet-replay.h"
#include "duet/history.h"
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[64];

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-journal-XXXXXX");
	assert_non_null(mkdtemp(scratch));
	return chdir(scratch);
}

static int tear_down(void **state)
{
	assert_int_equal(chdir("/"), 0);
	return fs_remove_tree(AT_FDCWD, scratch);
}

static const char *const commands[] = { "a 1", "b 2" };

static struct duet_setup setup_of(void)
{
	return (struct duet_setup){ .design = DUET_RMIT,
		.pairing = { .metric = DUET_CPU, .is_more_better = true },
		.margin = 1.02,
		.level = 0.9,
		.interval = 2,
		.seed = 77,
		.is_auto = true,
		.has_priority = true };
}

static struct duet_run run_of(int64_t start_ns)
{
	struct duet_run run = { .design = DUET_SYNC,
		.is_first_b = true,
		.is_swapped = true,
		.start_ns = start_ns,
		.end_ns = start_ns + 50 };
	struct duet_iteration a = duet_iteration_at(start_ns, start_ns + 20),
			      b = duet_iteration_at(start_ns + 5, start_ns + 45);

	a.metrics[DUET_CPU] = 12.5;
	b.metrics[DUET_VALUE] = -3;
	assert_int_equal(duet_samples_add(&run.sides[DUET_A], &a), 0);
	assert_int_equal(duet_samples_add(&run.sides[DUET_B], &b), 0);
	assert_int_equal(duet_samples_add(&run.sides[DUET_B], &a), 0);
	return run;
}

static void what_is_written_is_read(void **state)
{
	struct duet_journal j = DUET_JOURNAL_INIT;
	struct duet_setup setup = setup_of();
	struct duet_interference interference = { .steal_share = 0.125, .pressure_share = NAN };
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_run run = run_of(100);
	struct duet_result result = {
		.schedule = { .design = DUET_SYNC, .turns = 3, .runs_max = 30, .has_signs = true },
		.is_design_piloted = true,
		.self = { .runs = 5,
				.ratio = { .estimate = 1.5, .lo = 1.25, .hi = 1.75, .level = 0.99 },
				.is_biased = true },
		.stop = DUET_BUDGET_OVER,
		.seconds = 2.5
	};

	result.choices[DUET_SYNC] =
			(struct duet_choice){ .is_tried = true, .runs = 4, .variance = 0.5, .run_seconds = 3 };
	assert_false(duet_journal_is("j"));
	assert_int_equal(duet_journal_create(&j, "j", &setup, commands, &err), 0);
	assert_true(duet_journal_is("j"));
	assert_int_equal(duet_journal_schedule(&j, &result, "repeat me", &err), 0);
	assert_int_equal(duet_journal_run(&j, &run, &err), 0);
	assert_int_equal(duet_journal_run(&j, &run, &err), 0);
	assert_int_equal(duet_journal_end(&j, &result, &interference, &err), 0);
	duet_journal_release(&j);
	assert_int_equal(duet_journal_create(&j, "j", &setup, commands, &err), -EEXIST);
	assert_string_equal(err.hint, "continue it with --resume");
	duet_journal_release(&j);

	assert_int_equal(duet_journal_read(&j, "j", &err), 0);
	assert_string_equal(j.commands[DUET_A], "a 1");
	assert_string_equal(j.commands[DUET_B], "b 2");
	assert_string_equal(j.repeat, "repeat me");
	assert_non_null(strstr(j.machine, "CPU"));
	assert_int_equal(j.setup.pairing.metric, DUET_CPU);
	assert_true(j.setup.pairing.is_more_better);
	assert_false(j.setup.pairing.has_warmup);
	assert_false(j.setup.has_own_iterations);
	assert_true(j.setup.margin == 1.02 && j.setup.level == 0.9);
	assert_int_equal(j.setup.interval, 2);
	assert_int_equal(j.setup.seed, 77);
	assert_true(j.setup.is_auto && j.setup.has_priority);
	assert_true(j.schedule.is_settled && j.schedule.has_signs);
	assert_int_equal(j.schedule.design, DUET_SYNC);
	assert_int_equal(j.schedule.turns, 3);
	assert_int_equal(j.schedule.runs_max, 30);
	assert_true(j.is_design_piloted && j.choices[DUET_SYNC].is_tried && !j.choices[DUET_SEQ].is_tried);
	assert_int_equal(j.choices[DUET_SYNC].runs, 4);
	assert_true(j.choices[DUET_SYNC].variance == 0.5 && j.choices[DUET_SYNC].run_seconds == 3);
	assert_true(j.choices[DUET_SYNC].cost == 1.5);
	assert_int_equal(j.self.runs, 5);
	assert_true(j.self.ratio.estimate == 1.5 && j.self.ratio.lo == 1.25 && j.self.ratio.hi == 1.75);
	assert_true(j.self.ratio.level == 0.99 && j.self.is_biased);
	assert_int_equal(j.run_count, 2);
	assert_int_equal(j.runs[1].number, 1);
	assert_int_equal(j.runs[0].design, DUET_SYNC);
	assert_true(j.runs[0].is_first_b && j.runs[0].is_swapped);
	assert_int_equal(j.runs[0].start_ns, 100);
	assert_int_equal(j.runs[0].end_ns, 150);
	assert_int_equal(j.runs[0].sides[DUET_A].count, 1);
	assert_int_equal(j.runs[0].sides[DUET_B].count, 2);
	assert_int_equal(j.runs[0].sides[DUET_B].items[0].start_ns, 105);
	assert_int_equal(j.runs[0].sides[DUET_B].items[0].end_ns, 145);
	assert_true(j.runs[0].sides[DUET_A].items[0].metrics[DUET_CPU] == 12.5);
	assert_true(j.runs[0].sides[DUET_A].items[0].metrics[DUET_WALL] == 20);
	assert_true(isnan(j.runs[0].sides[DUET_A].items[0].metrics[DUET_VALUE]));
	assert_true(j.runs[0].sides[DUET_B].items[0].metrics[DUET_VALUE] == -3);
	assert_int_equal(j.spent_ns, 100);
	assert_true(j.has_end);
	assert_int_equal(j.stop, DUET_BUDGET_OVER);
	assert_true(j.seconds == 2.5 && j.interference.steal_share == 0.125);
	assert_true(isnan(j.interference.pressure_share));
	duet_journal_release(&j);
	duet_run_release(&run);
}

static void a_journal_is_resumed(void **state)
{
	static const char *const others[] = { "a 1", "b 3" };
	struct duet_journal j = DUET_JOURNAL_INIT;
	struct duet_setup setup = setup_of(), other = setup_of();
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_run run = run_of(5);
	struct duet_result result = { .schedule = { .design = DUET_SYNC, .turns = 1, .runs_max = 9 },
		.stop = DUET_INTERRUPTED };
	struct duet_interference interference = { 0 };
	FILE *file;

	assert_int_equal(duet_journal_resume(&j, "j", &setup, commands, &err), 0); /* there is none: created */
	assert_int_equal(duet_journal_schedule(&j, &result, "r", &err), 0);
	assert_int_equal(duet_journal_run(&j, &run, &err), 0);
	assert_int_equal(duet_journal_end(&j, &result, &interference, &err), 0);
	duet_journal_release(&j);
	file = fopen("j/" DUET_JOURNAL_FILE, "a");
	assert_int_equal(fputs("{\"run\":1,\"desi", file) >= 0, 1); /* cut by a crash */
	fclose(file);
	assert_int_equal(duet_journal_resume(&j, "j", &setup, others, &err), -EINVAL);
	assert_string_equal(err.text,
			"j/runs.jsonl: the journal is of another comparison: other commands, iterations or another "
			"metric");
	duet_journal_release(&j);
	other.pairing.metric = DUET_WALL;
	assert_int_equal(duet_journal_resume(&j, "j", &other, commands, &err), -EINVAL);
	duet_journal_release(&j);
	other = setup;
	other.has_own_iterations = true;
	assert_int_equal(duet_journal_resume(&j, "j", &other, commands, &err), -EINVAL);
	duet_journal_release(&j);
	assert_int_equal(duet_journal_resume(&j, "j", &setup, commands, &err), 0);
	assert_int_equal(j.run_count, 1);
	assert_true(j.has_end);
	assert_int_equal(duet_journal_run(&j, &run, &err), 0);
	duet_journal_release(&j);
	assert_int_equal(duet_journal_read(&j, "j", &err), 0);
	assert_int_equal(j.run_count, 2);
	assert_false(j.has_end); /* the end before the last run was none */
	duet_journal_release(&j);
	assert_int_equal(duet_journal_read(&j, "none", &err), -ENOENT);
	duet_run_release(&run);
}

#define HEAD "{\"a\":\"x\",\"b\":\"y\",\"metric\":\"wall\",\"margin\":1.01,\"level\":0.95}\n"
#define SCHEDULE "{\"design\":\"rmit\",\"turns\":1,\"runs_max\":4,\"pilot\":[],\"repeat\":\"r\"}\n"
#define ITERATION "[1,2,1,null,null,null,null,null,null,null,null,null,null,null]"
#define RUN "{\"design\":\"rmit\",\"start_ns\":1,\"end_ns\":9,\"sides\":[[" ITERATION "],[" ITERATION "]]}\n"

static int parse(struct duet_journal *j, const char *text, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf buf = BUF_INIT;

	*j = (struct duet_journal)DUET_JOURNAL_INIT;
	buf_adds(&buf, text);
	return duet_journal_parse(j, &buf, err);
}

static void damage_is_refused(void **state)
{
	static const struct {
		const char *text;
		int line;
	} wrong[] = {
		{ "x\n", 1 },
		{ "{\"b\":\"y\",\"metric\":\"wall\"}\n", 1 },
		{ "{\"a\":\"y\",\"metric\":\"wall\"}\n", 1 },
		{ "{\"a\":\"x\",\"b\":\"y\",\"metric\":\"speed\"}\n", 1 },
		{ "{\"a\":\"x\",\"b\":\"y\",\"metric\":\"wall\",\"margin\":0.99}\n", 1 },
		{ "{\"a\":\"x\",\"b\":\"y\",\"metric\":\"wall\",\"level\":1}\n", 1 },
		{ "{\"a\":\"x\",\"b\":\"y\",\"metric\":\"wall\",\"level\":0}\n", 1 },
		{ HEAD "{\"design\":\"none\",\"turns\":1,\"runs_max\":4}\n", 2 },
		{ HEAD "{\"design\":\"rmit\",\"turns\":0,\"runs_max\":4}\n", 2 },
		{ HEAD "{\"design\":\"rmit\",\"turns\":4097,\"runs_max\":4}\n", 2 },
		{ HEAD "{\"design\":\"rmit\",\"turns\":1,\"runs_max\":0}\n", 2 },
		{ HEAD "{\"design\":\"rmit\",\"turns\":1,\"runs_max\":4,\"pilot\":[{\"design\":\"x\"}]}\n", 2 },
		{ HEAD SCHEDULE "{\"design\":\"none\",\"start_ns\":1,\"end_ns\":9,\"sides\":[[],[]]}\n", 3 },
		{ HEAD SCHEDULE "{\"design\":\"rmit\",\"start_ns\":-1,\"end_ns\":9,\"sides\":[[],[]]}\n", 3 },
		{ HEAD SCHEDULE "{\"design\":\"rmit\",\"start_ns\":9,\"end_ns\":8,\"sides\":[[],[]]}\n", 3 },
		{ HEAD SCHEDULE "{\"design\":\"rmit\",\"start_ns\":1,\"end_ns\":9,\"sides\":[[]]}\n", 3 },
		{ HEAD SCHEDULE "{\"design\":\"rmit\",\"start_ns\":1,\"end_ns\":9,\"sides\":[[[1,2,3]],[]]}\n", 3 },
		{ HEAD SCHEDULE "{\"design\":\"rmit\",\"start_ns\":1,\"end_ns\":9,\"sides\":[[],[[-1,2,1,1,1,1,1,1,"
				"1,1,1,1,1,1]]]}\n",
				3 },
		{ HEAD SCHEDULE "{\"design\":\"rmit\",\"start_ns\":1,\"end_ns\":9,\"sides\":[[],[[2,1,1,1,1,1,1,1,1,"
				"1,1,1,1,1]]]}\n",
				3 },
		{ HEAD SCHEDULE RUN "{\"stop\":\"never\"}\n", 4 },
	};
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_journal j;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char expected[64];

		assert_int_equal(parse(&j, wrong[i].text, &err), -EBADMSG);
		snprintf(expected, sizeof(expected), "line %d of the journal is damaged", wrong[i].line);
		if (strcmp(err.text, expected) != 0)
			fail_msg("%s: %s", wrong[i].text, err.text);
		duet_journal_release(&j);
	}
	assert_int_equal(parse(&j, "", &err), -EBADMSG);
	assert_string_equal(err.text, "the journal is empty");
	duet_journal_release(&j);
	assert_int_equal(parse(&j, HEAD SCHEDULE RUN, &err), 0);
	assert_int_equal(j.run_count, 1);
	assert_true(isnan(j.runs[0].sides[DUET_A].items[0].metrics[DUET_CPU]));
	duet_journal_release(&j);
	assert_int_equal(parse(&j,
					 "{\"a\":\"x\",\"b\":\"y\",\"metric\":\"counter:z\","
					 "\"own_iterations\":true}\n",
					 &err),
			0);
	assert_int_equal(j.setup.pairing.metric, DUET_VALUE);
	assert_string_equal(j.setup.pairing.counter, "counter:z");
	assert_true(j.setup.pairing.has_warmup && j.setup.has_own_iterations);
	assert_true(j.setup.margin == 1.01 && j.setup.level == 0.95);
	assert_int_equal(j.setup.interval, 0);
	duet_journal_release(&j);
}

/* A comparison with a journal, and what its replay says. */

struct recorded {
	struct duet_journal journal;
	struct fake fake;
};

static int keep_schedule(void *arg, const struct duet_result *so_far, struct sonde_err *err)
{
	return duet_journal_schedule(&((struct recorded *)arg)->journal, so_far, "again", err);
}

static int keep_run(void *arg, const struct duet_run *run, struct sonde_err *err)
{
	return duet_journal_run(&((struct recorded *)arg)->journal, run, err);
}

static void a_replay_says_the_same(void **state)
{
	struct recorded r = { .journal = DUET_JOURNAL_INIT };
	struct duet_setup setup = { .design = DUET_RMIT,
		.pairing = { .metric = DUET_WALL },
		.margin = 1.01,
		.level = 0.95,
		.budget_ns = INT64_C(10000000000),
		.seed = 5,
		.has_aa = true,
		.on_schedule = keep_schedule,
		.on_run = keep_run,
		.arg = &r };
	struct duet_interference interference = { .steal_share = 0.5, .pressure_share = NAN };
	struct duet_runner runner;
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_replay replay;
	struct duet_result result;

	fake_init(&r.fake, 1.05, 0.01);
	runner = fake_runner(&r.fake);
	assert_false(duet_replay_is("j"));
	assert_int_equal(duet_journal_create(&r.journal, "j", &setup, commands, &err), 0);
	assert_int_equal(duet_replay_open(&replay, "j", &err), -ENODATA);
	assert_string_equal(err.text, "the comparison has no finished run yet");
	duet_replay_release(&replay);
	assert_int_equal(duet_compare(&setup, &runner, &result, &err), 0);
	assert_true(duet_replay_is("j"));
	assert_int_equal(duet_replay_open(&replay, "j", &err), 0);
	assert_true(replay.is_growing);
	assert_int_equal(replay.report.entries[0].result->stop, DUET_INTERRUPTED);
	duet_replay_release(&replay);
	assert_int_equal(duet_journal_end(&r.journal, &result, &interference, &err), 0);
	assert_int_equal(duet_replay_open(&replay, "j", &err), 0);
	assert_false(replay.is_growing);
	assert_int_equal(replay.report.count, 1);
	assert_string_equal(replay.report.repeat, "again");
	assert_string_equal(replay.report.entries[0].commands[DUET_B], "b 2");
	assert_int_equal(replay.result.verdict, STATS_SLOWER);
	assert_int_equal(replay.result.verdict, result.verdict);
	assert_int_equal(replay.result.stop, result.stop);
	assert_int_equal(replay.result.run_count, result.run_count);
	assert_int_equal(replay.result.looks, result.looks);
	assert_true(replay.result.effect.ratio.estimate == result.effect.ratio.estimate);
	assert_true(replay.result.effect.ratio.lo == result.effect.ratio.lo);
	assert_true(replay.result.effect.ratio.hi == result.effect.ratio.hi);
	assert_true(fabs(replay.result.seconds - result.seconds) < 1e-6);
	assert_true(replay.report.seconds == replay.result.seconds);
	assert_int_equal(replay.result.self.runs, result.self.runs);
	assert_int_equal(replay.report.warning_count, 1);
	assert_string_equal(replay.report.warnings[0], "the hypervisor gave 50 % of the processor time to others");
	duet_replay_release(&replay);
	duet_result_release(&result);
	duet_journal_release(&r.journal);
}

/* A comparison whose runs were over before it was decided: its last analysis is the final one. */
static void an_undecided_end_is_replayed(void **state)
{
	struct recorded r = { .journal = DUET_JOURNAL_INIT };
	struct duet_setup setup = { .design = DUET_RMIT,
		.pairing = { .metric = DUET_WALL },
		.margin = 1.01,
		.level = 0.95,
		.budget_ns = INT64_C(100000000000),
		.seed = 5,
		.runs_max = 12,
		.on_schedule = keep_schedule,
		.on_run = keep_run,
		.arg = &r };
	struct duet_interference interference = { .steal_share = NAN, .pressure_share = NAN };
	struct duet_runner runner;
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_replay replay;
	struct duet_result result;

	fake_init(&r.fake, 1.02, 0.05);
	runner = fake_runner(&r.fake);
	assert_int_equal(duet_journal_create(&r.journal, "j", &setup, commands, &err), 0);
	assert_int_equal(duet_compare(&setup, &runner, &result, &err), 0);
	assert_int_equal(result.verdict, STATS_INCONCLUSIVE);
	assert_int_equal(result.stop, DUET_RUNS_OVER);
	assert_int_equal(duet_journal_end(&r.journal, &result, &interference, &err), 0);
	assert_int_equal(duet_replay_open(&replay, "j", &err), 0);
	assert_int_equal(replay.result.stop, DUET_RUNS_OVER);
	assert_int_equal(replay.result.run_count, result.run_count);
	assert_int_equal(replay.result.looks, result.looks);
	assert_true(replay.result.effect.ratio.lo == result.effect.ratio.lo);
	assert_true(replay.result.effect.ratio.hi == result.effect.ratio.hi);
	assert_int_equal(replay.result.needed_runs, result.needed_runs);
	assert_true(replay.result.detectable == result.detectable);
	duet_replay_release(&replay);
	duet_result_release(&result);
	duet_journal_release(&r.journal);
}

static void results_are_replayed(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_replay replay;

	assert_int_equal(fs_mkdir_p("r", 0700, NULL), 0);
	assert_int_equal(fs_replace_file(AT_FDCWD, "r/s.b.1.seqn.AB.A.f", "0 100\n", 6, NULL), 0);
	assert_true(duet_replay_is("r"));
	assert_int_equal(fs_replace_file(AT_FDCWD, "r/s.b.1.seqn.AB.B.f", "200 310\n", 8, NULL), 0);
	assert_int_equal(duet_replay_open(&replay, "r", &err), 0);
	assert_false(replay.is_growing);
	assert_int_equal(replay.report.count, 1);
	assert_string_equal(replay.report.entries[0].name, "s/b seqn");
	assert_true(fabs(replay.report.entries[0].result->effect.ratio.estimate - 1.1) < 1e-9);
	assert_true(replay.report.setup->margin == 1.01 && replay.report.setup->level == 0.95);
	duet_replay_release(&replay);
}

/* History. */

static void add_point(const char *name, double b, const char *label)
{
	struct duet_setup setup = { .pairing = { .metric = DUET_WALL } };
	struct duet_iteration it = duet_iteration_at(0, 1000), slow = duet_iteration_at(0, (int64_t)b);
	struct duet_run run = { .sides = { { &it, 1, 1 }, { &slow, 1, 1 } } };
	struct duet_result result = { .runs = &run,
		.run_count = 1,
		.verdict = STATS_FASTER,
		.schedule = { .design = DUET_RMIT } };
	struct duet_entry entry = { .name = name, .result = &result };
	struct duet_report report = { .entries = &entry, .count = 1, .setup = &setup };
	struct sonde_err err = SONDE_ERR_INIT;

	result.effect.ratio = (struct stats_interval){ .estimate = b / 1000, .lo = 0.5, .hi = INFINITY };
	if (duet_history_add("h.db", "unnamed", label, &report, &err) < 0)
		fail_msg("%s", err.text);
}

static void history_finds_changes(void **state)
{
	struct arena arena = ARENA_INIT;
	struct duet_series *series;
	struct sonde_err err = SONDE_ERR_INIT;
	size_t count;

	assert_int_equal(duet_history_read("h.db", &series, &count, &arena, &err), -EIO);
	assert_non_null(strstr(err.text, "cannot use the history 'h.db': "));
	for (int i = 0; i < 20; i++)
		add_point("steady", 1000 + i % 2, NULL);
	for (int i = 0; i < 20; i++)
		add_point(NULL, i < 12 ? 1000 + i % 2 : 2000 + i % 2, i ? NULL : "first");
	assert_int_equal(duet_history_read("h.db", &series, &count, &arena, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(series[0].name, "steady");
	assert_string_equal(series[0].metric, "wall");
	assert_int_equal(series[0].count, 20);
	assert_int_equal(series[0].segment_count, 1);
	assert_string_equal(series[1].name, "unnamed");
	assert_int_equal(series[1].count, 20);
	assert_int_equal(series[1].segment_count, 2);
	assert_string_equal(series[1].points[0].label, "first");
	assert_null(series[1].points[1].label);
	assert_string_equal(series[1].points[0].verdict, "faster");
	assert_true(series[1].points[0].b == 1000 && series[1].points[12].b == 2000);
	assert_true(series[1].points[1].ratio == 1.001 && series[1].points[1].lo == 0.5);
	assert_true(isnan(series[1].points[1].hi));
	assert_int_equal(strlen(series[1].points[0].at), strlen("2026-01-01T00:00:00Z"));
	assert_int_equal(fs_replace_file(AT_FDCWD, "h.db", "this is no database at all, is it?", 34, NULL), 0);
	assert_int_equal(duet_history_read("h.db", &series, &count, &arena, &err), -EIO);
	arena_release(&arena);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(what_is_written_is_read),
		IN_SCRATCH(a_journal_is_resumed),
		cmocka_unit_test(damage_is_refused),
		IN_SCRATCH(a_replay_says_the_same),
		IN_SCRATCH(an_undecided_end_is_replayed),
		IN_SCRATCH(results_are_replayed),
		IN_SCRATCH(history_finds_changes),
	};

	return RUN_TESTS(tests);
}
