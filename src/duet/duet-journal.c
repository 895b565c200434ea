#include <jansson.h>

#include "duet/duet-journal.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/vec.h"
#include "duet/duet-report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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
	json_kbool(&w, "prepare", setup->has_prepare);
	json_kbool(&w, "steps", setup->has_steps);
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
	json_kstr(&w, "stop", duet_stop_names[result->stop]);
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
	if (!rc &&
			(strcmp(j->commands[DUET_A], commands[DUET_A]) != 0 ||
					strcmp(j->commands[DUET_B], commands[DUET_B]) != 0 ||
					j->setup.has_own_iterations != setup->has_own_iterations ||
					strcmp(duet_metric_name(&j->setup.pairing),
							duet_metric_name(&setup->pairing)) != 0))
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

/* Parses the lines of a journal. The file is untrusted: every number is checked before use. */

static int64_t int_of(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

/* NaN if absent or null. */
static double read_real(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

static bool is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Returns the index of a text in a NULL-terminated list of names, or -1. */
static int word_of(const json_t *object, const char *key, const char *const *words)
{
	const char *text = json_string_value(json_object_get(object, key));

	for (int i = 0; text && words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

static char *copy_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? strdup(text) : NULL;
}

static bool read_head(struct duet_journal *j, const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "metric"));
	int metric = word_of(line, "metric", duet_metric_names),
	    interval = word_of(line, "interval", duet_interval_names);
	double margin = read_real(line, "margin", 1.01), level = read_real(line, "level", 0.95);

	/* A counter is read as the value of iterations. */
	if (text && !strncmp(text, DUET_COUNTER_PREFIX, strlen(DUET_COUNTER_PREFIX)) && !j->counter) {
		j->counter = strdup(text);
		metric = j->counter ? DUET_VALUE : -1;
	}
	if (metric < 0 || !(margin >= 1) || !(level > 0 && level < 1) || j->commands[DUET_A] || j->commands[DUET_B])
		return false;
	j->commands[DUET_A] = copy_of(line, "a");
	j->commands[DUET_B] = copy_of(line, "b");
	j->machine = copy_of(line, "machine");
	j->setup = (struct duet_setup){ .pairing = { .metric = (enum duet_metric)metric,
							.counter = j->counter,
							.is_more_better = is_true(line, "higher_is_better"),
							.has_warmup = is_true(line, "own_iterations") },
		.has_own_iterations = is_true(line, "own_iterations"),
		.has_prepare = is_true(line, "prepare"),
		.has_steps = is_true(line, "steps"),
		.has_priority = is_true(line, "priority"),
		.is_auto = is_true(line, "auto"),
		.margin = margin,
		.level = level,
		.interval = interval > 0 ? interval : 0,
		.seed = (uint64_t)int_of(line, "seed", 0) };
	return j->commands[DUET_A] && j->commands[DUET_B];
}

static bool read_choice(struct duet_journal *j, const json_t *item)
{
	int design = word_of(item, "design", duet_design_names);

	if (design < 0)
		return false;
	j->is_design_piloted = true;
	j->choices[design] = (struct duet_choice){ .is_tried = true,
		.runs = (size_t)int_of(item, "runs", 0),
		.variance = read_real(item, "variance", NAN),
		.run_seconds = read_real(item, "run_seconds", NAN) };
	j->choices[design].cost = j->choices[design].variance * j->choices[design].run_seconds;
	return true;
}

static bool read_schedule(struct duet_journal *j, const json_t *line)
{
	int design = word_of(line, "design", duet_design_names);
	int64_t turns = int_of(line, "turns", 0), most = int_of(line, "runs_max", 0);
	const json_t *item, *self = json_object_get(line, "self");
	size_t i;
	bool is_fine = design >= 0 && turns >= 1 && turns <= DUET_TURNS_MAX && most >= 1 && !j->repeat;

	json_array_foreach(json_object_get(line, "pilot"), i, item)
		is_fine = is_fine && read_choice(j, item);
	if (!is_fine)
		return false;
	if (json_is_object(self)) {
		struct stats_interval *ratio = &j->self.ratio;

		j->self.runs = (size_t)int_of(self, "runs", 0);
		*ratio = stats_interval_open(read_real(self, "ratio", NAN), j->self.runs,
				read_real(self, "level", 0.99), "");
		ratio->lo = read_real(self, "lo", ratio->lo);
		ratio->hi = read_real(self, "hi", ratio->hi);
		j->self.is_biased = is_true(self, "biased");
	}
	j->repeat = copy_of(line, "repeat");
	j->schedule = (struct duet_schedule){ .design = (enum duet_design)design,
		.turns = (size_t)turns,
		.runs_max = (size_t)most,
		.has_signs = is_true(line, "signs"),
		.is_settled = true };
	return true;
}

static bool read_iteration(struct duet_samples *s, const json_t *item)
{
	int64_t start_ns = json_integer_value(json_array_get(item, 0)),
		end_ns = json_integer_value(json_array_get(item, 1));
	struct duet_iteration it;

	if (json_array_size(item) != 2 + DUET_METRICS || start_ns < 0 || end_ns < start_ns)
		return false;
	it = duet_iteration_at(start_ns, end_ns);
	for (size_t m = 0; m < DUET_METRICS; m++) {
		const json_t *value = json_array_get(item, 2 + m);

		it.metrics[m] = json_is_number(value) ? json_number_value(value) : NAN;
	}
	return duet_samples_add(s, &it) == 0;
}

static bool read_run(struct duet_journal *j, const json_t *line)
{
	int design = word_of(line, "design", duet_design_names);
	struct duet_run run = { .number = j->run_count,
		.is_first_b = is_true(line, "first_b"),
		.is_swapped = is_true(line, "swapped"),
		.start_ns = int_of(line, "start_ns", 0),
		.end_ns = int_of(line, "end_ns", 0) };
	const json_t *sides = json_object_get(line, "sides");
	bool is_fine = VEC_GROW(j->runs, j->run_cap, j->run_count + 1, VEC_MAX) && design >= 0 &&
			json_array_size(sides) == DUET_SIDES && run.start_ns >= 0 && run.end_ns >= run.start_ns;

	run.design = is_fine ? (enum duet_design)design : DUET_SEQ;
	for (size_t side = 0; is_fine && side < DUET_SIDES; side++) {
		const json_t *items = json_array_get(sides, side), *item;
		size_t i;

		json_array_foreach(items, i, item)
			is_fine = is_fine && read_iteration(&run.sides[side], item);
	}
	if (!is_fine || __builtin_add_overflow(j->spent_ns, run.end_ns - run.start_ns, &j->spent_ns)) {
		duet_run_release(&run);
		return false;
	}
	j->runs[j->run_count++] = run;
	return true;
}

static bool read_end(struct duet_journal *j, const json_t *line)
{
	int stop = word_of(line, "stop", duet_stop_names);

	if (stop < 0)
		return false;
	j->has_end = true;
	j->stop = (enum duet_stop)stop;
	j->seconds = read_real(line, "seconds", NAN);
	j->interference.steal_share = read_real(line, "steal", NAN);
	j->interference.pressure_share = read_real(line, "pressure", NAN);
	return true;
}

static bool read_line(struct duet_journal *j, size_t number, const json_t *line)
{
	if (number == 0)
		return read_head(j, line);
	if (json_object_get(line, "stop"))
		return read_end(j, line);
	j->has_end = false; /* it was resumed */
	return j->schedule.is_settled ? read_run(j, line) : read_schedule(j, line);
}

int duet_journal_parse(struct duet_journal *j, const struct buf *text, struct sonde_err *err)
{
	size_t number = 0, at = 0, size;

	j->interference = (struct duet_interference){ .steal_share = NAN, .pressure_share = NAN };
	for (const char *line; (line = journal_line(text, &at, &size));) {
		json_t *object = json_loadb(line, size, 0, NULL);
		bool is_fine = object && read_line(j, number, object);

		json_decref(object);
		number++;
		if (!is_fine)
			return err_set(err, EBADMSG, "line %zu of the journal is damaged", number);
	}
	return number ? 0 : err_set(err, EBADMSG, "the journal is empty");
}
