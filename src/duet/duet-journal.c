#include "duet/duet-journal.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "duet/duet-report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int append(struct duet_journal *j, struct buf *line, struct sonde_err *err)
{
	int rc = journal_append(&j->file, line, err);

	if (rc)
		err_hint(err, "the runs before this one are in it; continue with --resume");
	return rc;
}

static int write_head(struct duet_journal *j, const struct duet_setup *setup, const char *const commands[DUET_SIDES],
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	CLEANUP(buf_release) struct buf machine = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kint(&w, "sonde_duet", 2);
	json_kstr(&w, "a", commands[DUET_A]);
	json_kstr(&w, "b", commands[DUET_B]);
	json_kstr(&w, "metric", duet_metric_name(&setup->pairing));
	json_kint(&w, "seed", (int64_t)setup->seed);
	json_kreal(&w, "margin", setup->margin);
	json_kreal(&w, "level", setup->level);
	json_kstr(&w, "interval", duet_interval_names[setup->interval]);
	json_kbool(&w, "higher_is_better", setup->pairing.is_more_better);
	json_kbool(&w, "own_iterations", setup->has_own_iterations);
	json_kbool(&w, "auto", setup->is_auto);
	json_kbool(&w, "priority", setup->has_priority);
	duet_machine(&machine);
	json_kstr(&w, "machine", machine.data);
	json_end(&w);
	return append(j, &line, err);
}

bool duet_journal_is(const char *dir)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/" DUET_JOURNAL_FILE, dir);
	return !buf_error(&path) && access(path.data, R_OK) == 0;
}

int duet_journal_create(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = fs_mkdir_p(dir, 0755, err);

	if (rc)
		return rc;
	buf_addf(&path, "%s/" DUET_JOURNAL_FILE, dir);
	rc = journal_open(&j->file, path.data, JOURNAL_NEW, 0644, NULL, err);
	if (rc == -EEXIST)
		err_hint(err, "continue it with --resume");
	return rc ? rc : write_head(j, setup, commands, err);
}

static void write_pilot(struct json *w, const struct duet_result *r)
{
	json_key(w, "pilot");
	json_array(w);
	for (int d = 0; d < DUET_DESIGNS; d++) {
		if (!r->is_design_piloted || !r->choices[d].is_tried)
			continue;
		json_object(w);
		json_kstr(w, "design", duet_design_names[d]);
		json_kuint(w, "runs", r->choices[d].runs);
		json_kreal(w, "variance", r->choices[d].variance);
		json_kreal(w, "run_seconds", r->choices[d].run_seconds);
		json_end(w);
	}
	json_end(w);
}

static void write_self(struct json *w, const struct duet_self_check *self)
{
	if (!self->runs)
		return;
	json_key(w, "self");
	json_object(w);
	json_kuint(w, "runs", self->runs);
	json_kreal(w, "ratio", self->ratio.estimate);
	json_kreal(w, "lo", self->ratio.lo);
	json_kreal(w, "hi", self->ratio.hi);
	json_kreal(w, "level", self->ratio.level);
	json_kbool(w, "biased", self->is_biased);
	json_end(w);
}

int duet_journal_schedule(struct duet_journal *j, const struct duet_result *so_far, const char *repeat,
		struct sonde_err *err)
{
	const struct duet_schedule *s = &so_far->schedule;
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kstr(&w, "design", duet_design_names[s->design]);
	json_kuint(&w, "turns", s->turns);
	json_kuint(&w, "runs_max", s->runs_max);
	json_kbool(&w, "signs", s->has_signs);
	write_pilot(&w, so_far);
	write_self(&w, &so_far->self);
	json_kstr(&w, "repeat", repeat);
	json_end(&w);
	return append(j, &line, err);
}

int duet_journal_end(struct duet_journal *j, const struct duet_result *result,
		const struct duet_interference *interference, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kstr(&w, "stop", duet_stop_name(result->stop));
	json_kstr(&w, "verdict", stats_verdict_name(result->verdict));
	json_kreal(&w, "seconds", result->seconds);
	json_kreal(&w, "steal", interference->steal_share);
	json_kreal(&w, "pressure", interference->pressure_share);
	json_end(&w);
	return append(j, &line, err);
}

int duet_journal_run(struct duet_journal *j, const struct duet_run *run, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct json w;

	json_init(&w, &line, false);
	json_object(&w);
	json_kint(&w, "run", (int64_t)run->number);
	json_kstr(&w, "design", duet_design_names[run->design]);
	json_kbool(&w, "first_b", run->is_first_b);
	json_kbool(&w, "swapped", run->is_swapped);
	json_kint(&w, "start_ns", run->start_ns);
	json_kint(&w, "end_ns", run->end_ns);
	json_key(&w, "sides");
	json_array(&w);
	for (int side = 0; side < DUET_SIDES; side++) {
		json_array(&w);
		for (size_t i = 0; i < run->sides[side].count; i++) {
			const struct duet_iteration *it = &run->sides[side].items[i];

			json_array(&w);
			json_int(&w, it->start_ns);
			json_int(&w, it->end_ns);
			for (int m = 0; m < DUET_METRICS; m++)
				json_real(&w, it->metrics[m]);
			json_end(&w);
		}
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	return append(j, &line, err);
}

static bool is_same(const struct duet_journal *j, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES])
{
	for (int side = 0; side < DUET_SIDES; side++)
		if (strcmp(j->commands[side], commands[side]) != 0)
			return false;
	return j->setup.has_own_iterations == setup->has_own_iterations &&
			!strcmp(duet_metric_name(&j->setup.pairing), duet_metric_name(&setup->pairing));
}

int duet_journal_resume(struct duet_journal *j, const char *dir, const struct duet_setup *setup,
		const char *const commands[DUET_SIDES], struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, text = BUF_INIT;
	int rc;

	buf_addf(&path, "%s/" DUET_JOURNAL_FILE, dir);
	if (access(path.data, F_OK))
		return duet_journal_create(j, dir, setup, commands, err);
	rc = journal_open(&j->file, path.data, 0, 0644, &text, err);
	if (rc)
		return rc;
	rc = duet_journal_parse(j, &text, err);
	if (!rc && !is_same(j, setup, commands))
		rc = err_set(err, EINVAL,
				"the journal is of another comparison: other commands, iterations or another metric");
	if (rc)
		err_prefix(err, "%s", path.data);
	return rc ? rc : journal_trim(&j->file, err);
}

int duet_journal_read(struct duet_journal *j, const char *dir, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT, text = BUF_INIT;
	int rc;

	buf_addf(&path, "%s/" DUET_JOURNAL_FILE, dir);
	rc = fs_read_file(AT_FDCWD, path.data, JOURNAL_BYTES_MAX, &text, err);
	if (rc)
		return rc;
	rc = duet_journal_parse(j, &text, err);
	if (rc)
		err_prefix(err, "%s", path.data);
	return rc;
}

void duet_journal_release(struct duet_journal *j)
{
	for (size_t i = 0; i < j->run_count; i++)
		duet_run_release(&j->runs[i]);
	free(j->runs);
	for (int side = 0; side < DUET_SIDES; side++)
		free(j->commands[side]);
	free(j->counter);
	free(j->machine);
	free(j->repeat);
	journal_close(&j->file);
	*j = (struct duet_journal)DUET_JOURNAL_INIT;
}
