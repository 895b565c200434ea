#include "tune/study-journal.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "tune/protocol.h"
#include "tune/space.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { VERSION = 1 };

static const char *const state_words[] = { "pending", "done", "cut", "failed" };

/* The parts of a study that must not change for its trials to stay comparable, as text. */
static void describe(struct buf *out, const struct tune_study *study)
{
	static const char *const types[] = { "float", "int", "ordinal", "categorical", "bool" };

	for (size_t i = 0; i < study->space.count; i++) {
		const struct tune_param *p = &study->space.params[i];

		buf_addf(out, "%s:%s:%.17g:%.17g:%d", p->name, types[p->type], p->low, p->high, p->is_log);
		for (size_t k = 0; k < p->choice_count; k++)
			buf_addf(out, ":%s", p->choices[k].text);
		buf_addc(out, ';');
	}
	for (size_t k = 0; k < study->objective_count; k++)
		buf_addf(out, "%s:%s;", study->objectives[k].metric.name,
				study->objectives[k].is_maximized ? "maximize" : "minimize");
	for (size_t k = 0; k < study->limit_count; k++)
		buf_addf(out, "%s:%.17g:%.17g;", study->limits[k].metric.name, study->limits[k].limit.min,
				study->limits[k].limit.max);
}

static void begin(struct tune_journal *j, struct json *out)
{
	buf_reset(&j->line);
	json_init(out, &j->line, false);
	json_object(out);
}

static int finish(struct tune_journal *j, struct json *out, struct sonde_err *err)
{
	json_kreal(out, "at", (double)clock_real_ns() / 1e9);
	json_end(out);
	return journal_append(&j->file, &j->line, err);
}

static int write_header(struct tune_journal *j, const struct tune_study *study, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json out;

	describe(&text, study);
	begin(j, &out);
	json_kstr(&out, "study", study->name);
	json_kint(&out, "version", VERSION);
	json_kint(&out, "seed", study->seed);
	json_kstr(&out, "space", text.data);
	json_kbool(&out, "is_paired", j->is_paired);
	return finish(j, &out, err);
}

static int damaged(const struct tune_journal *j, size_t line, const char *why, struct sonde_err *err)
{
	err_set(err, EINVAL, "%s:%zu: the journal is damaged: %s", j->file.path, line, why);
	err_hint(err, "delete that line and those after it to resume from there, or use another -o DIR");
	return -EINVAL;
}

static int check_header(const struct tune_journal *j, const struct tune_study *study, json_t *line,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *space = json_string_value(json_object_get(line, "space"));

	if (!json_object_get(line, "study") || !space)
		return damaged(j, 1, "the study is missing", err);
	if (json_integer_value(json_object_get(line, "version")) != VERSION)
		return err_set(err, EINVAL, "'%s' was written by another version of sonde", j->file.path);
	describe(&text, study);
	if (strcmp(space, text.data) == 0 && json_is_true(json_object_get(line, "is_paired")) == j->is_paired)
		return 0;
	if (strcmp(space, text.data) == 0) {
		err_set(err, EINVAL, "'%s' is a study %s", j->file.path,
				j->is_paired ? "without --paired: its values are not ratios"
					     : "with --paired: its values are ratios");
		err_hint(err, "resume %s, or use another -o DIR", j->is_paired ? "without --paired" : "with --paired");
		return -EINVAL;
	}
	err_set(err, EINVAL, "'%s' is the journal of another study, or '%s' has changed since", j->file.path,
			study->path);
	err_hint(err, "use another -o DIR; 'warm_start: [%s]' reuses its results", j->file.path);
	return -EINVAL;
}

static int replay_ask(struct tune_journal *j, struct tune_optimizer *o, json_t *line, size_t number,
		struct sonde_err *err)
{
	double point[TUNE_PARAMS_MAX];
	json_int_t id = json_integer_value(json_object_get(line, "ask"));
	struct sonde_err why = SONDE_ERR_INIT;
	int rc = id < 1 ? err_set(&why, EINVAL, "a trial has no number")
			: tune_read_params(o->space, json_object_get(line, "params"), point, &why);

	if (rc == 0)
		rc = tune_add(o, (uint64_t)id, point, NULL, &why);
	if (rc == -ENOMEM) {
		*err = why;
		return rc;
	}
	j->is_resumed = true;
	return rc < 0 ? damaged(j, number, why.text, err) : 0;
}

static void read_reals(json_t *list, double *out, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		json_t *value = json_array_get(list, k);

		out[k] = json_is_number(value) ? json_number_value(value) : NAN;
	}
}

static bool read_result(json_t *line, const struct tune_optimizer *o, struct tune_result *result)
{
	const char *state = json_string_value(json_object_get(line, "state"));
	json_int_t repeats = json_integer_value(json_object_get(line, "repeats"));

	memset(result, 0, sizeof(*result));
	for (int s = TUNE_DONE; state && s <= TUNE_FAILED; s++)
		if (strcmp(state, state_words[s]) == 0)
			result->state = (enum tune_state)s;
	result->repeats = repeats > 0 && repeats < 1000000 ? (unsigned)repeats : 1;
	read_reals(json_object_get(line, "values"), result->values, o->options.objective_count);
	read_reals(json_object_get(line, "limits"), result->limits, TUNE_LIMITS_MAX);
	result->rung_count = json_array_size(json_object_get(line, "rungs"));
	if (result->rung_count > TUNE_RUNGS_MAX)
		result->rung_count = TUNE_RUNGS_MAX;
	read_reals(json_object_get(line, "rungs"), result->rungs, result->rung_count);
	result->wall_s = json_number_value(json_object_get(line, "wall_s"));
	result->beside = (uint64_t)json_integer_value(json_object_get(line, "beside"));
	result->ratio = json_number_value(json_object_get(line, "ratio"));
	if (!(result->ratio > 0))
		result->beside = 0;
	return result->state != TUNE_PENDING;
}

static int replay_tell(struct tune_journal *j, struct tune_optimizer *o, json_t *line, size_t number,
		struct sonde_err *err)
{
	struct sonde_err why = SONDE_ERR_INIT;
	struct tune_result result;
	json_int_t id = json_integer_value(json_object_get(line, "tell"));

	if (!read_result(line, o, &result))
		return damaged(j, number, "a result has no state", err);
	if (tune_tell(o, id < 0 ? 0 : (uint64_t)id, &result, &why) < 0)
		return damaged(j, number, why.text, err);
	return 0;
}

static int replay_pair(struct tune_journal *j, json_t *line, size_t number, struct sonde_err *err)
{
	struct tune_pair pair = { .of = (uint64_t)json_integer_value(json_object_get(line, "of")),
		.best = json_number_value(json_object_get(line, "best")),
		.start = json_number_value(json_object_get(line, "default")) };

	if (j->pair_count >= TUNE_PAIRS_MAX)
		return damaged(j, number, "it has too many pairs", err);
	j->pairs[j->pair_count++] = pair;
	return 0;
}

static int replay_line(struct tune_journal *j, const struct tune_study *study, struct tune_optimizer *o,
		const char *text, size_t size, size_t number, struct sonde_err *err)
{
	json_error_t wrong;
	json_t *line = json_loadb(text, size, 0, &wrong);
	int rc;

	if (!json_is_object(line))
		rc = damaged(j, number, line ? "a line is not an object" : wrong.text, err);
	else if (number == 1)
		rc = check_header(j, study, line, err);
	else if (json_object_get(line, "ask"))
		rc = replay_ask(j, o, line, number, err);
	else if (json_object_get(line, "tell"))
		rc = replay_tell(j, o, line, number, err);
	else if (json_object_get(line, "pair"))
		rc = replay_pair(j, line, number, err);
	else if (json_object_get(line, "retry")) {
		struct sonde_err why = SONDE_ERR_INIT;
		json_int_t id = json_integer_value(json_object_get(line, "retry"));

		rc = tune_retry(o, id < 0 ? 0 : (uint64_t)id, &why) < 0 ? damaged(j, number, why.text, err) : 0;
	} else
		rc = damaged(j, number, "unknown kind of line", err);
	json_decref(line);
	return rc;
}

int tune_journal_open(struct tune_journal *j, const char *path, const struct tune_study *study,
		struct tune_optimizer *o, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t at = 0, size, number = 0;
	int rc = journal_open(&j->file, path, 0, 0600, &text, err);

	if (rc == -EBUSY)
		err_hint(err, "the study is running already");
	for (const char *line; rc == 0 && (line = journal_line(&text, &at, &size));)
		rc = replay_line(j, study, o, line, size, ++number, err);
	if (rc == 0)
		rc = journal_trim(&j->file, err);
	return rc == 0 && number == 0 ? write_header(j, study, err) : rc;
}

void tune_journal_release(struct tune_journal *j)
{
	journal_close(&j->file);
	buf_release(&j->line);
}

int tune_journal_ask(struct tune_journal *j, const struct tune_optimizer *o, const struct tune_trial *t,
		struct sonde_err *err)
{
	struct json out;

	begin(j, &out);
	json_kuint(&out, "ask", t->id);
	json_key(&out, "params");
	tune_write_params(&out, o->space, t->point);
	return finish(j, &out, err);
}

static void write_reals(struct json *out, const char *key, const double *values, size_t count)
{
	json_karray(out, key);
	for (size_t k = 0; k < count; k++)
		json_real(out, values[k]);
	json_end(out);
}

int tune_journal_tell(struct tune_journal *j, const struct tune_optimizer *o, const struct tune_trial *t,
		const char *why, struct sonde_err *err)
{
	struct json out;

	begin(j, &out);
	json_kuint(&out, "tell", t->id);
	json_kstr(&out, "state", state_words[t->result.state]);
	if (t->result.state != TUNE_FAILED)
		write_reals(&out, "values", t->result.values, o->options.objective_count);
	if (o->options.limit_count)
		write_reals(&out, "limits", t->result.limits, o->options.limit_count);
	if (t->result.rung_count)
		write_reals(&out, "rungs", t->result.rungs, t->result.rung_count);
	json_kuint(&out, "repeats", t->result.repeats ? t->result.repeats : 1);
	if (t->result.beside) {
		json_kuint(&out, "beside", t->result.beside);
		json_kreal(&out, "ratio", t->result.ratio);
	}
	if (why && *why)
		json_kstr(&out, "why", why);
	json_kreal(&out, "wall_s", t->result.wall_s > 0 ? t->result.wall_s : NAN);
	return finish(j, &out, err);
}

int tune_journal_retry(struct tune_journal *j, uint64_t id, struct sonde_err *err)
{
	struct json out;

	begin(j, &out);
	json_kuint(&out, "retry", id);
	return finish(j, &out, err);
}

int tune_journal_pair(struct tune_journal *j, const struct tune_pair *pair, struct sonde_err *err)
{
	struct json out;

	if (j->pair_count >= TUNE_PAIRS_MAX)
		return err_set(err, EFBIG, "too many pairs (maximum %d)", TUNE_PAIRS_MAX);
	begin(j, &out);
	json_kuint(&out, "pair", j->pair_count + 1);
	json_kuint(&out, "of", pair->of);
	json_kreal(&out, "best", pair->best);
	json_kreal(&out, "default", pair->start);
	j->pairs[j->pair_count++] = *pair;
	return finish(j, &out, err);
}
