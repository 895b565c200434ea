#include <jansson.h>

#include "fleet/job-decisions.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "fleet/nats.h"
#include "result/term.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notes {
	json_t *configs; /* array of objects, one per configuration */
	uint64_t epoch;  /* the lease they belong to */
};

static void add_decision(void *arg, const struct fleet_job *job, const char *text)
{
	struct notes *n = arg;
	json_t *note = json_loads(text, 0, NULL);
	const char *event = json_string_value(json_object_get(note, "event"));
	json_int_t index = json_integer_value(json_object_get(note, "index"));

	if (job->epoch != n->epoch) {
		json_array_clear(n->configs);
		n->epoch = job->epoch;
	}
	if (event && strcmp(event, "config") == 0)
		json_array_append(n->configs, note);
	for (size_t i = 0; event && strcmp(event, "known") == 0 && i < json_array_size(n->configs); i++) {
		json_t *config = json_array_get(n->configs, i);

		if (json_integer_value(json_object_get(config, "index")) == index) {
			json_object_del(note, "time_s"); /* keep the configuration's own */
			json_object_update(config, note);
		}
	}
	json_decref(note);
}

static int read_notes(struct notes *n, struct fleet_client *client, const char *id, struct sonde_err *err)
{
	struct fleet_jobs jobs_state;
	int rc;

	n->configs = json_array();
	if (!n->configs)
		return err_sys(err, ENOMEM, "cannot read the job");
	fleet_jobs_init(&jobs_state);
	jobs_state.on_note = add_decision;
	jobs_state.arg = n;
	rc = fleet_client_fold(client, id, true, &jobs_state, err);
	fleet_jobs_release(&jobs_state);
	for (size_t i = 0; i < json_array_size(n->configs); i++)
		json_object_del(json_array_get(n->configs, i), "event");
	return rc;
}

static void print_json(const json_t *value, FILE *out)
{
	CLEANUP(cleanup_free) char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(9));

	fprintf(out, "%s\n", text ? text : "null");
}

/* "ps=2 workers=4" */
static void add_params(struct buf *out, const json_t *config)
{
	json_t *params = json_object_get(config, "params"), *value;
	const char *name;

	json_object_foreach(params, name, value) {
		CLEANUP(cleanup_free)
		char *text = json_is_string(value) ? strdup(json_string_value(value))
						   : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));

		buf_addf(out, "%s%s=%s", out->len ? " " : "", name, text ? text : "");
	}
}

static void add_number(struct term_table *t, const json_t *config, const char *name)
{
	const json_t *value = json_object_get(config, name);

	if (json_is_number(value))
		term_table_cellf(t, "%.4g", json_number_value(value));
	else
		term_table_cell(t, TERM_PLAIN, "-");
}

static void add_row(struct term_table *t, const json_t *config)
{
	CLEANUP(buf_release) struct buf params = BUF_INIT;
	const char *reason = json_string_value(json_object_get(config, "reason"));

	add_params(&params, config);
	add_number(t, config, "index");
	term_table_cell(t, TERM_PLAIN, reason ? reason : "-");
	add_number(t, config, "time_s");
	add_number(t, config, "iteration_s");
	add_number(t, config, "iteration_lo_s");
	add_number(t, config, "iteration_hi_s");
	add_number(t, config, "reconfiguration_s");
	term_table_cell(t, TERM_PLAIN, params.data);
}

int job_print_configs(struct fleet_client *client, const char *id, bool is_json, FILE *out, struct sonde_err *err)
{
	static const struct term_column columns[] = { { "config", TERM_RIGHT }, { "why" }, { "from s", TERM_RIGHT },
		{ "s an iteration", TERM_RIGHT }, { "lo", TERM_RIGHT }, { "hi", TERM_RIGHT }, { "move s", TERM_RIGHT },
		{ "params", TERM_LEFT, true } };
	struct notes n = { 0 };
	struct term_table t;
	int rc = read_notes(&n, client, id, err);

	if (rc == 0 && is_json)
		print_json(n.configs, out);
	if (rc == 0 && !is_json) {
		term_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < json_array_size(n.configs); i++)
			add_row(&t, json_array_get(n.configs, i));
		rc = term_table_print(&t, out);
		term_table_release(&t);
	}
	json_decref(n.configs);
	return rc;
}

int job_print_best(struct fleet_client *client, const char *id, bool is_json, FILE *out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf params = BUF_INIT;
	struct notes n = { 0 };
	const json_t *best = NULL;
	int rc = read_notes(&n, client, id, err);

	for (size_t i = 0; rc == 0 && i < json_array_size(n.configs); i++) {
		const json_t *config = json_array_get(n.configs, i), *value = json_object_get(config, "value");

		if (!json_is_number(value) || json_is_true(json_object_get(config, "failed")))
			continue;
		if (!best || json_number_value(value) < json_number_value(json_object_get(best, "value")))
			best = config;
	}
	if (rc == 0 && !best) {
		rc = err_set(err, ENOENT, "no configurations of '%s' yet", id);
		err_hint(err, "only jobs submitted with --tune have configurations");
	} else if (rc == 0 && is_json) {
		print_json(best, out);
	} else if (rc == 0) {
		add_params(&params, best);
		fprintf(out, "%s\n", params.data);
	}
	json_decref(n.configs);
	return rc;
}

enum { WIDTH = 70, HEIGHT = 20 };

struct points {
	struct point {
		double time_s, loss;
		int64_t config;
	} * all;
	size_t count, cap;
	uint64_t epoch;
	bool is_out_of_memory;
};

static void add_loss(void *arg, const struct fleet_job *job, const struct fleet_report *r)
{
	struct points *p = arg;

	if (job->epoch != p->epoch) { /* a new lease restarts the command */
		p->epoch = job->epoch;
		p->count = 0;
	}
	if (!isfinite(r->loss) || p->is_out_of_memory)
		return;
	if (!VEC_GROW(p->all, p->cap, p->count + 1, VEC_MAX)) {
		p->is_out_of_memory = true;
		return;
	}
	p->all[p->count++] = (struct point){ r->time_s, r->loss, r->config };
}

static int column_of(const struct points *p, double time_s)
{
	double first = p->all[0].time_s, last = p->all[p->count - 1].time_s;

	return last > first ? (int)((time_s - first) / (last - first) * (WIDTH - 1)) : 0;
}

/* Computes the mean of each column, NaN if empty, and marks changes of the configuration. */
static void gather(const struct points *p, double mean[WIDTH], char marks[WIDTH + 1])
{
	size_t count[WIDTH] = { 0 };

	memset(mean, 0, WIDTH * sizeof(*mean));
	memset(marks, '-', WIDTH);
	marks[WIDTH] = '\0';
	for (size_t i = 0; i < p->count; i++) {
		int at = column_of(p, p->all[i].time_s);

		at = at < 0 ? 0 : at >= WIDTH ? WIDTH - 1 : at;
		mean[at] += p->all[i].loss;
		count[at]++;
		if (i && p->all[i].config != p->all[i - 1].config)
			marks[at] = '|';
	}
	for (int i = 0; i < WIDTH; i++)
		mean[i] = count[i] ? mean[i] / (double)count[i] : NAN;
}

static void draw(const struct points *p, FILE *out)
{
	double mean[WIDTH], low = INFINITY, high = -INFINITY;
	char marks[WIDTH + 1], line[WIDTH + 1];

	gather(p, mean, marks);
	for (int i = 0; i < WIDTH; i++) {
		low = fmin(low, mean[i]);
		high = fmax(high, mean[i]);
	}
	for (int row = 0; row < HEIGHT; row++) {
		double top = high - (high - low) * row / (HEIGHT - 1), half = (high - low) / (HEIGHT - 1) / 2;

		for (int i = 0; i < WIDTH; i++)
			line[i] = fabs(mean[i] - top) <= half ? '*' : ' ';
		line[WIDTH] = '\0';
		fprintf(out, "%9.4g %s\n", top, line);
	}
	fprintf(out, "%9s %s\n%9s %-10.4g%*.4g s\n", "", marks, "", p->all[0].time_s, WIDTH - 12,
			p->all[p->count - 1].time_s);
}

int job_print_plot(struct fleet_client *client, const char *id, FILE *out, struct sonde_err *err)
{
	struct points p = { 0 };
	struct fleet_jobs jobs_state;
	int rc;

	fleet_jobs_init(&jobs_state);
	jobs_state.on_report = add_loss;
	jobs_state.arg = &p;
	rc = fleet_client_fold(client, id, true, &jobs_state, err);
	fleet_jobs_release(&jobs_state);
	if (rc == 0 && p.is_out_of_memory)
		rc = err_sys(err, ENOMEM, "cannot plot the losses");
	else if (rc == 0 && !p.count)
		rc = err_set(err, ENOENT, "no losses reported by '%s'", id);
	else if (rc == 0)
		draw(&p, out);
	free(p.all);
	return rc;
}

enum { KEY_MAX = FLEET_NAME_MAX + FLEET_KNOB_NAME_MAX, AT_ONCE_MAX = 256 };

#define BUCKET "SONDE_KNOBS"

struct fleet_knobs {
	kvStore *store;
	kvWatcher *watcher;
	size_t skip; /* length of the key's prefix: the job's id and a dot */
};

static bool is_name(const char *text, size_t len)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return len && len < FLEET_KNOB_NAME_MAX && strspn(text, good) >= len;
}

/* The text as JSON: itself if it is JSON, else a string. */
static int value_of(const char *text, char value[FLEET_KNOB_VALUE_MAX])
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	char *out;
	int rc = -EINVAL;

	if (!json_is_number(json) && !json_is_boolean(json) && !json_is_string(json)) {
		json_decref(json);
		json = json_string(text); /* NULL: not UTF-8 */
	}
	out = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	if (out && strlen(out) < FLEET_KNOB_VALUE_MAX) {
		memcpy(value, out, strlen(out) + 1);
		rc = 0;
	}
	free(out);
	json_decref(json);
	return rc;
}

int fleet_knob_parse(const char *text, char name[FLEET_KNOB_NAME_MAX], char value[FLEET_KNOB_VALUE_MAX],
		struct sonde_err *err)
{
	size_t len = strcspn(text, "=");

	if (text[len] != '=' || !is_name(text, len))
		return err_set(err, EINVAL,
				"invalid knob '%s' (expected NAME=VALUE; names have letters, digits, _ and -)", text);
	if (value_of(text + len + 1, value) < 0)
		return err_set(err, EINVAL, "invalid value in '%s': not UTF-8, or too long", text);
	memcpy(name, text, len);
	name[len] = '\0';
	return 0;
}

/* Opens the bucket, creating it if needed. */
static natsStatus open_store(struct fleet_client *client, kvStore **store)
{
	kvConfig config;
	natsStatus s = js_KeyValue(store, client->js, BUCKET);

	if (s != NATS_NOT_FOUND)
		return s;
	kvConfig_Init(&config);
	config.Bucket = BUCKET;
	return js_CreateKeyValue(store, client->js, &config);
}

int fleet_knob_set(struct fleet_client *client, const char *id, const char *name, const char *value,
		struct sonde_err *err)
{
	kvStore *store = NULL;
	char key[KEY_MAX];
	natsStatus s = open_store(client, &store);

	snprintf(key, sizeof(key), "%s.%s", id, name);
	if (s == NATS_OK)
		s = kvStore_PutString(NULL, store, key, value);
	kvStore_Destroy(store);
	return s == NATS_OK ? 0 : fleet_nats_error(err, s, "set the knob");
}

int fleet_knobs_watch(struct fleet_knobs **out, struct fleet_client *client, const char *id, struct sonde_err *err)
{
	struct fleet_knobs *k = calloc(1, sizeof(*k));
	char keys[KEY_MAX];
	natsStatus s;

	if (!k)
		return err_sys(err, ENOMEM, "cannot watch the knobs");
	k->skip = strlen(id) + 1;
	snprintf(keys, sizeof(keys), "%s.*", id);
	s = open_store(client, &k->store);
	if (s == NATS_OK)
		s = kvStore_Watch(&k->watcher, k->store, keys, NULL);
	if (s != NATS_OK) {
		fleet_knobs_free(k);
		return fleet_nats_error(err, s, "watch the knobs");
	}
	*out = k;
	return 0;
}

/* Any client with the token can write values: accept a single line only. */
static void add_line(const struct fleet_knobs *k, kvEntry *entry, struct buf *out)
{
	const char *key = kvEntry_Key(entry), *value = kvEntry_ValueString(entry);
	char same[FLEET_KNOB_VALUE_MAX];

	if (kvEntry_Operation(entry) != kvOp_Put || !key || strlen(key) <= k->skip || !value)
		return;
	if (is_name(key + k->skip, strlen(key + k->skip)) && value_of(value, same) == 0)
		buf_addf(out, "knob %s %s\n", key + k->skip, same);
}

void fleet_knobs_read(struct fleet_knobs *k, struct buf *out)
{
	kvEntry *entry = NULL;

	for (size_t i = 0; i < AT_ONCE_MAX && kvWatcher_Next(&entry, k->watcher, 1) == NATS_OK; i++) {
		if (entry) /* NULL: all initial values were delivered */
			add_line(k, entry, out);
		kvEntry_Destroy(entry);
		entry = NULL;
	}
}

void fleet_knobs_free(struct fleet_knobs *k)
{
	if (!k)
		return;
	kvWatcher_Destroy(k->watcher);
	kvStore_Destroy(k->store);
	free(k);
}
