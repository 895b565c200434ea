/* run: jobs of shell programs under the controller: how they end, what their directory has, what is resumed. */
#include "../../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "tune/online-run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[64];
static volatile sig_atomic_t is_interrupted;

static int set_up(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/sonde-online-XXXXXX");
	is_interrupted = 0;
	unsetenv("SONDE_JOB_FD");
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

static void starts(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)) != 0)
		fail_msg("'%s'\ndoes not start with\n'%s'", text, start);
}

struct world {
	struct arena arena;
	struct train_plan plan;
	struct online_controller c;
	struct train_record record;
	struct train_outcome outcome;
	struct sonde_err err;
	char dir[100];
};

#define PARAMS \
	"params: [{name: workers, type: int, low: 1, high: 4, default: 2}, {name: lr, type: float, low: 0, high: 1, " \
	"default: 0.5}," \
	" {name: optimizer, type: categorical, choices: [sgd, adam], default: adam}, {name: fast, type: bool, " \
	"default: true}]\n" \
	"settings: {batch_size: 32, ml_model: cnn}\nmode: fixed\n"

static void open_job(struct world *w, const char *text)
{
	memset(w, 0, sizeof(*w));
	arena_init(&w->arena);
	if (train_plan_parse(&w->plan, "cnn.yml", text, strlen(text), &w->arena, &w->err) < 0)
		fail_msg("%s", w->err.text);
	assert_int_equal(online_controller_init(&w->c, &w->plan, NULL), 0);
	snprintf(w->dir, sizeof(w->dir), "%s/job", scratch);
	assert_int_equal(train_record_open(&w->record, w->dir, "j1", &w->c, &w->err), 0);
}

static int run(struct world *w, const char *text, const char *script)
{
	char shell[] = "bash", option[] = "-c", *program = strdup(script), *argv[] = { shell, option, program, NULL };
	struct train_drive d = { .plan = &w->plan,
		.controller = &w->c,
		.record = &w->record,
		.argv = argv,
		.dir = w->dir,
		.id = "j1",
		.is_interrupted = &is_interrupted };
	int rc;

	open_job(w, text);
	rc = train_drive(&d, &w->outcome, &w->err);
	free(program);
	return rc;
}

static void release(struct world *w)
{
	train_record_release(&w->record);
	online_controller_release(&w->c);
	arena_release(&w->arena);
}

static void a_job_ends_by_itself(void **state)
{
	struct world w;
	CLEANUP(buf_release) struct buf json = BUF_INIT;
	const char *rest;

	assert_int_equal(run(&w, PARAMS,
					 "echo \"$SONDE_JOB_CONFIG|$SONDE_JOB_DIR|$SONDE_JOB_ID\" >said; for i in 1 "
					 "2 3 4 5 6; do "
					 "echo report $i $i.5 $((i % 2)) 0 >&$SONDE_JOB_FD; done; echo nonsense "
					 ">&$SONDE_JOB_FD; "
					 "echo report 7 nan >&$SONDE_JOB_FD"),
			0);
	assert_string_equal(w.outcome.why, "ended");
	assert_int_equal(w.outcome.exit_code, 0);
	assert_int_equal(w.outcome.bad_lines, 1);
	assert_true(w.outcome.runtime_s > 0);
	starts(contents("said"),
			"0 {\"batch_size\":32,\"ml_model\":\"cnn\",\"workers\":2,\"lr\":0.5,"
			"\"optimizer\":\"adam\",\"fast\":true}|/tmp/");
	assert_non_null(strstr(contents("said"), "/job|j1\n"));
	starts(contents("job/journal.jsonl"),
			"{\"event\":\"config\",\"time_s\":0,\"index\":0,\"reason\":\"start\","
			"\"restart\":");
	assert_non_null(strstr(contents("job/journal.jsonl"), ",\"why\":\"ended\",\"reached\":false,\"iterations\":"));
	train_record_flush(&w.record);
	starts(contents("job/iteration_training_data.csv"),
			"step,local_step,timestamp,elapsed_time_sec,loss,"
			"config_idx,ps_num,worker_num,intra,inter,optimizer,"
			"learning_rate,batch_size\n1,1,");
	assert_non_null(strstr(contents("job/iteration_training_data.csv"), ",1.5,0,,2,,,adam,0.5,32\n2,1,"));
	assert_non_null(strstr(contents("job/iteration_training_data.csv"), "\n3,2,"));
	assert_non_null(strstr(contents("job/iteration_training_data.csv"), ",6.5,0,,2,,,adam,0.5,32\n7,"));
	assert_non_null(strstr(contents("job/iteration_training_data.csv"),
			",,0,,2,,,adam,0.5,"
			"32\n")); /* not a number: absent */
	assert_int_equal(train_record_conclude(&w.record, &w.c, 2.5, &json, &w.err), 0);
	rest = strchr(contents("job/summary.csv"), '\n') + 1;
	starts(rest, "j1,2.5,,,cnn,32,0.5,");
	assert_non_null(strstr(rest, ",8,60,,100,"));
	assert_non_null(strstr(rest, ",ensemble,dry_run,0\n"));
	starts(contents("job/configs.csv"),
			"config_idx,reason,start_s,iterations,iteration_s,iteration_lo_s,"
			"iteration_hi_s,value,reconfiguration_s,"
			"workers,lr,optimizer,fast\n0,start,0,");
	assert_non_null(strstr(contents("job/configs.csv"), ",2,0.5,adam,true\n"));
	assert_string_equal(contents("job/result.json"), json.data);
	assert_non_null(strstr(json.data, "\"runtime_s\": 2.5"));
	assert_non_null(strstr(json.data, "\"configurations\": 1"));
	assert_non_null(strstr(json.data, "\"moves\": 0"));
	release(&w);
}

static void a_target_stops_it(void **state)
{
	struct world w;

	assert_int_equal(run(&w, PARAMS "target_loss: 0.5\nfinish: once\n",
					 "echo report 1 0.9 >&$SONDE_JOB_FD; echo report 2 0.4 >&$SONDE_JOB_FD; "
					 "read -u $SONDE_JOB_FD line; echo $line >said; "
					 "exit 9"),
			0);
	assert_string_equal(w.outcome.why, "target");
	assert_int_equal(w.outcome.exit_code, 0);
	assert_true(w.c.is_reached);
	assert_string_equal(contents("said"), "stop\n");
	assert_non_null(strstr(contents("job/journal.jsonl"),
			",\"why\":\"target\",\"reached\":true,"
			"\"iterations\":2}"));
	release(&w);
}

static void failures_and_limits(void **state)
{
	struct world w;

	assert_int_equal(run(&w, PARAMS, "exit 3"), 0);
	assert_string_equal(w.outcome.why, "failed");
	assert_int_equal(w.outcome.exit_code, 3);
	release(&w);
	assert_int_equal(run(&w, PARAMS, "kill -9 $$"), 0);
	assert_string_equal(w.outcome.why, "failed");
	assert_int_equal(w.outcome.exit_code, 137);
	release(&w);
	assert_int_equal(run(&w, PARAMS "timeout: 50ms\n", "read -u $SONDE_JOB_FD line; echo $line >said"), 0);
	assert_string_equal(w.outcome.why, "timeout");
	assert_string_equal(contents("said"), "stop\n");
	assert_true(w.outcome.runtime_s >= 0.05);
	release(&w);
}

/* A job that was interrupted is resumed, and one that has finished starts afresh. */
static void an_interrupted_job_is_resumed(void **state)
{
	struct world w;

	is_interrupted = 1;
	assert_int_equal(run(&w, PARAMS, "read -u $SONDE_JOB_FD line"), 0);
	assert_string_equal(w.outcome.why, "interrupted");
	assert_null(strstr(contents("job/journal.jsonl"), "finish"));
	assert_false(w.record.is_resumed);
	release(&w);
	open_job(&w, PARAMS);
	assert_true(w.record.is_resumed);
	assert_int_equal(w.c.stage_count, 1);
	assert_true(w.c.stages[0]->point[0] == 2 && w.c.stages[0]->point[1] == 0.5 && w.c.stages[0]->point[2] == 1);
	release(&w);
	is_interrupted = 0;
	assert_int_equal(run(&w, PARAMS, "exit 0"), 0);
	release(&w);
	open_job(&w, PARAMS);
	assert_false(w.record.is_resumed);
	assert_int_equal(w.c.stage_count, 0);
	release(&w);
}

/* Decisions and results of an earlier run, from its journal. */
static void results_are_recalled(void **state)
{
	static const char text[] = "{\"event\":\"config\",\"index\":0,\"params\":{\"workers\":3,\"lr\":0.25,"
				   "\"optimizer\":\"sgd\",\"fast\":false}}\n"
				   "{\"event\":\"known\",\"index\":0,\"failed\":false,\"value\":1.5}\n"
				   "{\"event\":\"config\",\"index\":1,\"params\":{\"workers\":4}}\n"
				   "{\"event\":\"known\",\"index\":1,\"failed\":true,\"value\":null}\n"
				   "{\"event\":\"known\",\"index\":7,\"value\":1}\n{\"event\":\"config\",\"index\":9,"
				   "\"params\":{}}\nnot json\n{\"eve";
	struct world w;

	assert_int_equal(fs_mkdir_p("job", 0700, NULL), 0);
	assert_int_equal(fs_replace_file(AT_FDCWD, "job/journal.jsonl", text, strlen(text), NULL), 0);
	open_job(&w, PARAMS);
	assert_true(w.record.is_resumed);
	assert_int_equal(w.c.stage_count, 2);
	assert_true(w.c.stages[0]->point[0] == 3 && w.c.stages[0]->point[1] == 0.25 && w.c.stages[0]->point[2] == 0 &&
			w.c.stages[0]->point[3] == 0);
	assert_true(w.c.stages[1]->point[0] == 4 && w.c.stages[1]->point[1] == 0.5); /* the rest by default */
	assert_int_equal(w.c.optimizer.trials[0].result.state, TUNE_DONE);
	assert_true(w.c.optimizer.trials[0].result.values[0] == 1.5);
	assert_int_equal(w.c.optimizer.trials[1].result.state, TUNE_FAILED);
	release(&w);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(a_job_ends_by_itself),
		IN_SCRATCH(a_target_stops_it),
		IN_SCRATCH(failures_and_limits),
		IN_SCRATCH(an_interrupted_job_is_resumed),
		IN_SCRATCH(results_are_recalled),
	};

	return RUN_TESTS(tests);
}
