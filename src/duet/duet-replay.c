#include "duet/duet-replay.h"

#include "duet/suite.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>

bool duet_replay_is(const char *dir)
{
	DIR *d = opendir(dir);
	struct duet_result_name name;
	bool is = duet_journal_is(dir);

	for (const struct dirent *e; d && !is && (e = readdir(d));)
		is = duet_result_name_parse(&name, e->d_name);
	if (d)
		closedir(d);
	return is;
}

static int64_t no_time(void *self)
{
	return 0;
}

static int judge_journal(struct duet_replay *r, struct sonde_err *err)
{
	struct duet_runner nobody = { .now_ns = no_time };
	const struct duet_journal *j = &r->journal;
	int rc;

	if (!j->run_count || !j->schedule.is_settled)
		return err_set(err, ENODATA, "the comparison has no finished run yet");
	r->setup = j->setup;
	r->setup.schedule = j->schedule;
	r->setup.done = j->runs;
	r->setup.done_count = j->run_count;
	r->setup.spent_ns = j->spent_ns;
	if (j->has_end && j->seconds >= 0 && j->seconds < 1e9)
		r->setup.spent_ns = (int64_t)(j->seconds * 1e9);
	r->setup.budget_ns = INT64_MAX;
	r->setup.is_over = true;
	r->setup.is_decided = j->has_end && j->stop == DUET_DECIDED;
	r->entry = (struct duet_entry){ .commands = { j->commands[DUET_A], j->commands[DUET_B] },
		.result = &r->result,
		.p_adjusted = NAN };
	r->report.entries = &r->entry;
	r->report.count = 1;
	r->report.interference = j->interference;
	r->report.repeat = j->repeat;
	r->report.machine = j->machine;
	r->is_growing = !j->has_end;
	rc = duet_compare(&r->setup, &nobody, &r->result, err);
	r->result.self = j->self;
	r->result.is_design_piloted = j->is_design_piloted;
	memcpy(r->result.choices, j->choices, sizeof(j->choices));
	r->result.stop = j->has_end ? j->stop : DUET_INTERRUPTED;
	r->report.seconds = r->result.seconds;
	r->report.warning_count = duet_warnings(&r->setup, &r->result, &r->report.interference, 2, r->warnings,
			DUET_REPLAY_WARNINGS, &r->arena);
	return rc;
}

static int open_results(struct duet_replay *r, const char *dir, struct sonde_err *err)
{
	int rc;

	r->setup = (struct duet_setup){ .pairing = { .metric = DUET_WALL }, .margin = 1.01, .level = 0.95 };
	r->report.interference = (struct duet_interference){ .steal_share = NAN, .pressure_share = NAN };
	r->results.unit_ns = 1e9;
	rc = duet_results_read(&r->results, dir, err);
	if (!rc)
		rc = duet_results_judge(&r->results, &r->setup, &r->report.entries, &r->report.count, &r->arena, err);
	if (!rc)
		rc = duet_report_finish(&r->report, &r->arena, err);
	for (size_t i = 0; i < r->report.count; i++)
		r->report.seconds += r->report.entries[i].result->seconds;
	return rc;
}

static void init(struct duet_replay *r)
{
	*r = (struct duet_replay){ .journal = DUET_JOURNAL_INIT, .results = DUET_RESULTS_INIT, .arena = ARENA_INIT };
	r->report.setup = &r->setup;
	r->report.warnings = r->warnings;
}

int duet_replay_of(struct duet_replay *r, struct duet_journal *j, struct sonde_err *err)
{
	init(r);
	r->journal = *j;
	*j = (struct duet_journal)DUET_JOURNAL_INIT;
	return judge_journal(r, err);
}

int duet_replay_open(struct duet_replay *r, const char *dir, struct sonde_err *err)
{
	int rc;

	init(r);
	if (!duet_journal_is(dir))
		return open_results(r, dir, err);
	rc = duet_journal_read(&r->journal, dir, err);
	return rc ? rc : judge_journal(r, err);
}

void duet_replay_release(struct duet_replay *r)
{
	for (size_t i = 0; i < r->report.count; i++)
		duet_result_release(r->report.entries[i].result);
	duet_results_release(&r->results);
	duet_journal_release(&r->journal);
	arena_release(&r->arena);
	r->report.count = 0;
}
