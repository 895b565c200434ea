#include "tune/protocol.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "tune/study-journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ASK_MAX = 1000 };

struct conversation {
	struct tune_optimizer *o;
	const struct tune_study *study;
	struct tune_journal *journal; /* NULL: none */
	int broken;                   /* the journal cannot be written: -errno */
	json_t *request;
	struct json out;
	struct buf *lines;
};

void tune_write_value(struct json *j, const struct tune_param *p, double value)
{
	char text[64];

	if (p->type == TUNE_BOOL)
		json_bool(j, value != 0);
	else if (p->type == TUNE_INT)
		json_int(j, (int64_t)value);
	else if (p->type == TUNE_FLOAT)
		json_real(j, value);
	else if (p->choices[(size_t)value].is_number && strlen(p->choices[(size_t)value].text) < sizeof(text))
		json_real(j, p->choices[(size_t)value].number);
	else
		json_str(j, p->choices[(size_t)value].text);
}

void tune_write_params(struct json *j, const struct tune_space *space, const double *point)
{
	json_object(j);
	for (size_t i = 0; i < space->count; i++)
		if (!isnan(point[i])) {
			json_key(j, space->params[i].name);
			tune_write_value(j, &space->params[i], point[i]);
		}
	json_end(j);
}

/* A result that is not in the journal is not acknowledged: the client must not rely on it. */
static int keep(struct conversation *c, int rc)
{
	if (rc < 0)
		c->broken = rc;
	return rc;
}

static int keep_ask(struct conversation *c, const struct tune_trial *trial, struct sonde_err *err)
{
	return c->journal ? keep(c, tune_journal_ask(c->journal, c->o, trial, err)) : 0;
}

static int keep_tell(struct conversation *c, uint64_t id, struct sonde_err *err)
{
	return c->journal ? keep(c, tune_journal_tell(c->journal, c->o, tune_find(c->o, id), "", err)) : 0;
}

/* Each line is a separate JSON document. */
static void begin_line(struct conversation *c)
{
	json_init(&c->out, c->lines, false);
	json_object(&c->out);
}

static void end_line(struct conversation *c)
{
	json_end(&c->out);
	buf_addc(c->lines, '\n');
}

static void write_trial(struct conversation *c, const struct tune_trial *trial)
{
	begin_line(c);
	json_kuint(&c->out, "id", trial->id);
	json_key(&c->out, "params");
	tune_write_params(&c->out, c->o->space, trial->point);
	end_line(c);
}

static int ask(struct conversation *c, json_t *value, struct sonde_err *err)
{
	json_int_t count = json_is_true(value) ? 1 : json_integer_value(value);
	const struct tune_trial *trial;
	int rc = 0;

	if (count < 1 || count > ASK_MAX)
		return err_set(err, EINVAL, "'ask' must be a number of trials from 1 to %d", ASK_MAX);
	for (json_int_t i = 0; i < count && rc == 0; i++) {
		rc = tune_ask(c->o, &trial, err);
		if (rc == 0)
			rc = keep_ask(c, trial, err);
		if (rc == 0)
			write_trial(c, trial);
	}
	return rc;
}

static int number_of(json_t *value, const char *what, double *number, struct sonde_err *err)
{
	*number = json_is_number(value) ? json_number_value(value) : NAN; /* null: NaN, a failure */
	if (!json_is_number(value) && !json_is_null(value))
		return err_set(err, EINVAL, "'%s' must be a number", what);
	return 0;
}

static int read_values(struct conversation *c, struct tune_result *result, struct sonde_err *err)
{
	size_t count = c->o->options.objective_count;
	json_t *list = json_object_get(c->request, "values"), *one = json_object_get(c->request, "value");
	int rc = 0;

	if (one && count == 1)
		return number_of(one, "value", &result->values[0], err);
	if (count == 1 && !list)
		return err_set(err, EINVAL, "'tell' needs a 'value', or 'failed': true");
	if (!json_is_array(list) || json_array_size(list) != count)
		return err_set(err, EINVAL, "the study has %zu objectives: 'values' must be a list of as many numbers",
				count);
	for (size_t k = 0; k < count && rc == 0; k++)
		rc = number_of(json_array_get(list, k), "values", &result->values[k], err);
	return rc;
}

static int read_limits(struct conversation *c, struct tune_result *result, struct sonde_err *err)
{
	json_t *limits = json_object_get(c->request, "limits");
	int rc = 0;

	for (size_t k = 0; k < TUNE_LIMITS_MAX; k++)
		result->limits[k] = NAN;
	for (size_t k = 0; k < c->o->options.limit_count && limits && rc == 0; k++) {
		json_t *value = json_object_get(limits, c->study->limits[k].metric.name);

		if (value)
			rc = number_of(value, c->study->limits[k].metric.name, &result->limits[k], err);
	}
	return rc;
}

static int tell(struct conversation *c, json_t *value, struct sonde_err *err)
{
	struct tune_result result = { .state = TUNE_DONE };
	json_int_t repeats = json_integer_value(json_object_get(c->request, "repeats"));
	int rc = 0;

	if (!json_is_integer(value) || json_integer_value(value) < 1)
		return err_set(err, EINVAL, "'tell' must be the id of a trial");
	result.wall_s = json_number_value(json_object_get(c->request, "wall_s"));
	result.repeats = repeats > 0 && repeats < 1000000 ? (unsigned)repeats : 1;
	if (json_is_true(json_object_get(c->request, "failed")))
		result.state = TUNE_FAILED;
	else
		rc = read_values(c, &result, err);
	if (rc == 0)
		rc = read_limits(c, &result, err);
	if (json_is_true(json_object_get(c->request, "cut")) && result.state == TUNE_DONE)
		result.state = TUNE_CUT;
	if (rc == 0)
		rc = tune_tell(c->o, (uint64_t)json_integer_value(value), &result, err);
	if (rc == 0)
		rc = keep_tell(c, (uint64_t)json_integer_value(value), err);
	if (rc == 0 && json_is_true(json_object_get(c->request, "answer"))) {
		begin_line(c);
		json_kint(&c->out, "told", json_integer_value(value));
		end_line(c);
	}
	return rc;
}

static int best(struct conversation *c, json_t *value, struct sonde_err *err)
{
	struct arena scratch = ARENA_INIT;
	struct tune_best found;
	int rc = tune_recommend(c->o, &found, &scratch, err);

	arena_release(&scratch);
	if (rc < 0)
		return rc;
	begin_line(c);
	json_key(&c->out, "params");
	if (found.trial)
		tune_write_params(&c->out, c->o->space, found.trial->point);
	else
		json_null(&c->out);
	json_kreal(&c->out, "value", found.value);
	json_kreal(&c->out, "lo", found.lo);
	json_kreal(&c->out, "hi", found.hi);
	if (found.trial)
		json_kuint(&c->out, "id", found.trial->id);
	end_line(c);
	return 0;
}

static int read_param(const struct tune_param *p, json_t *value, double *out, struct sonde_err *err)
{
	char text[64];

	if (json_is_string(value))
		return tune_param_parse(p, json_string_value(value), out, err);
	if (json_is_boolean(value))
		return tune_param_parse(p, json_is_true(value) ? "true" : "false", out, err);
	if (!json_is_number(value))
		return err_set(err, EINVAL, "'%s' must be a text, a number, true or false", p->name);
	for (size_t i = 0; i < p->choice_count; i++)
		if (p->choices[i].is_number && p->choices[i].number == json_number_value(value)) {
			*out = (double)i;
			return 0;
		}
	snprintf(text, sizeof(text), "%.17g", json_number_value(value));
	return tune_param_parse(p, text, out, err);
}

int tune_read_params(const struct tune_space *space, struct json_t *object, double *point, struct sonde_err *err)
{
	const char *key;
	json_t *value;
	int rc = 0;

	for (size_t i = 0; i < space->count; i++)
		point[i] = NAN;
	if (!json_is_object(object))
		return err_set(err, EINVAL, "parameters must be an object of names and values");
	json_object_foreach(object, key, value) {
		const struct tune_param *p = tune_space_find(space, key);

		if (!p)
			return err_set(err, EINVAL, "unknown parameter '%s'", key);
		rc = read_param(p, value, &point[p - space->params], err);
		if (rc < 0)
			return rc;
	}
	tune_point_canonical(space, point);
	return 0;
}

static int add(struct conversation *c, json_t *value, struct sonde_err *err)
{
	double point[TUNE_PARAMS_MAX];
	const struct tune_trial *trial;
	int rc = tune_read_params(c->o->space, value, point, err);

	if (rc == 0)
		rc = tune_add(c->o, 0, point, &trial, err);
	if (rc == 0)
		rc = keep_ask(c, trial, err);
	if (rc == 0)
		write_trial(c, trial);
	return rc;
}

/* Trials without a result: a client that resumes from a journal has to run them. */
static int list_open(struct conversation *c, json_t *value, struct sonde_err *err)
{
	for (size_t t = 0; t < c->o->count; t++)
		if (c->o->trials[t].result.state == TUNE_PENDING)
			write_trial(c, &c->o->trials[t]);
	begin_line(c);
	json_kbool(&c->out, "end", true);
	end_line(c);
	return 0;
}

static const struct {
	const char *key;
	int (*answer)(struct conversation *c, json_t *value, struct sonde_err *err);
} requests[] = { { "ask", ask }, { "tell", tell }, { "best", best }, { "add", add }, { "open", list_open } };

static int answer(struct conversation *c, struct sonde_err *err)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		json_t *value = json_object_get(c->request, requests[i].key);

		if (value)
			return requests[i].answer(c, value, err);
	}
	err_set(err, EINVAL, "unknown request");
	err_hint(err,
			"a request is {\"ask\":1}, {\"tell\":ID,\"value\":NUMBER}, {\"best\":true} or "
			"{\"add\":{PARAMS}}");
	return -EINVAL;
}

/* Python and others write NaN and Infinity, which JSON does not have: read as null, a failure. */
static size_t no_number(const char *at, size_t left)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) <= left && memcmp(at, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

static json_t *read_request(const char *line, size_t size, json_error_t *wrong)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool is_text = false, is_escaped = false;

	for (size_t i = 0; i < size; i++) {
		size_t word = is_text ? 0 : no_number(line + i, size - i);

		is_text ^= line[i] == '"' && !is_escaped;
		is_escaped = is_text && line[i] == '\\' && !is_escaped;
		if (word)
			buf_adds(&text, "null");
		else
			buf_addc(&text, line[i]);
		i += word ? word - 1 : 0;
	}
	return json_loadb(text.data, buf_error(&text) < 0 ? 0 : text.len, JSON_REJECT_DUPLICATES, wrong);
}

int tune_answer(struct tune_optimizer *o, const struct tune_study *study, struct tune_journal *journal,
		const char *line, size_t size, struct buf *out, struct sonde_err *err)
{
	struct conversation c = { .o = o, .study = study, .journal = journal, .lines = out };
	struct sonde_err why = SONDE_ERR_INIT;
	json_error_t wrong;
	int rc;

	if (!line[strspn(line, " \t\r\n")])
		return 0;
	c.request = read_request(line, size, &wrong);
	if (json_is_object(c.request))
		rc = answer(&c, &why);
	else
		rc = err_set(&why, EINVAL, "a request must be one JSON object on a line%s%s", c.request ? "" : ": ",
				c.request ? "" : wrong.text);
	json_decref(c.request);
	if (c.broken < 0 && err)
		*err = why;
	if (c.broken < 0)
		return c.broken;
	if (rc < 0) {
		struct json j;

		json_init(&j, out, false);
		json_object(&j);
		json_kstr(&j, "error", why.text);
		if (why.hint[0])
			json_kstr(&j, "hint", why.hint);
		json_end(&j);
		buf_addc(out, '\n');
	}
	return buf_error(out) < 0 ? err_sys(err, ENOMEM, "cannot write the response") : 0;
}
