/*
 * Opening a run, and reading run.json.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "model/model-private.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_JSON "run.json"

/* If run.json cannot be read, the tables are still usable. */
static void read_json(struct model_run *run)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	json_error_t where;

	if (store_run_read_json(run->store.dirfd, &text, &err) < 0) {
		snprintf(run->trouble, sizeof(run->trouble), "%.200s", err.text);
		return;
	}
	run->json = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &where);
	if (json_is_object(run->json)) /* NOLINT(misc-redundant-expression): jansson's macro */
		return;
	snprintf(run->trouble, sizeof(run->trouble), RUN_JSON " is damaged in line %d", where.line);
	json_decref(run->json);
	run->json = NULL;
}

static int open_bundle(struct model_run *run, const char *name, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = store_run_find(name, &path, err);

	if (rc == -ENOENT)
		model_hint_runs(name, err);
	if (rc == 0)
		rc = store_run_open(&run->store, path.data, err);
	if (rc < 0)
		return rc;
	read_json(run);
	if (!run->json)
		run->json = json_object();
	run->path = strdup(path.data); /* NOLINT(clang-analyzer-core.NonNullParamChecker): a buf has data */
	if (!run->json || !run->path)
		return err_sys(err, ENOMEM, "cannot open the run '%s'", path.data);
	return model_tables_open(run, err);
}

int model_run_open(struct model_run **out, const char *name, struct sonde_err *err)
{
	struct model_run *run = calloc(1, sizeof(*run));
	int rc;

	if (!run)
		return err_sys(err, ENOMEM, "cannot open the run");
	run->store = (struct store_run)STORE_RUN_INIT;
	rc = open_bundle(run, name, err);
	if (rc < 0) {
		model_run_free(run);
		return rc;
	}
	*out = run;
	return 0;
}

void model_run_free(struct model_run *run)
{
	if (!run)
		return;
	model_tables_close(run);
	model_files_release(&run->files);
	store_names_release(&run->names);
	free(run->processes);
	free(run->threads);
	free(run->calls);
	free(run->call_index);
	arena_release(&run->arena);
	json_decref(run->json);
	store_run_release(&run->store);
	free(run->path);
	free(run);
}

const char *model_run_path(const struct model_run *run)
{
	return run->path;
}

int model_run_show_as(struct model_run *run, const char *path, struct sonde_err *err)
{
	char *copy = strdup(path);

	if (!copy)
		return err_sys(err, ENOMEM, "cannot open '%s'", path);
	free(run->path);
	run->path = copy;
	return 0;
}

struct json_t *model_run_json(const struct model_run *run)
{
	return run->json;
}

static const json_t *find_value(const struct model_run *run, const char *keys)
{
	const json_t *value = run->json;

	while (value && *keys) {
		size_t n = strcspn(keys, ".");
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)n, keys);
		value = json_object_get(value, key);
		keys += n + (keys[n] == '.');
	}
	return value;
}

const char *model_run_str(const struct model_run *run, const char *keys)
{
	return json_string_value(find_value(run, keys));
}

int64_t model_run_int(const struct model_run *run, const char *keys)
{
	const json_t *value = find_value(run, keys);

	return json_is_integer(value) ? json_integer_value(value) : STORE_NULL;
}

double model_run_real(const struct model_run *run, const char *keys)
{
	const json_t *value = find_value(run, keys);

	return json_is_number(value) ? json_number_value(value) : STORE_NULL_REAL;
}

bool model_run_is_unfinished(const struct model_run *run)
{
	const char *state = model_run_str(run, "state");

	return state && strcmp(state, "recording") == 0;
}

static int64_t first_event_ns(const struct model_run *run)
{
	int64_t first_ns = STORE_NULL;

	for (size_t i = 0; i < run->table_count; i++) {
		const struct store_table *t = run->tables[i].table;

		for (size_t b = 0; t && b < store_table_blocks(t); b++) {
			int64_t ns = store_block_info(t, b)->time_min_ns;

			if (ns != STORE_NULL && (first_ns == STORE_NULL || ns < first_ns))
				first_ns = ns;
		}
	}
	return first_ns;
}

int64_t model_run_start_ns(const struct model_run *run)
{
	int64_t start_ns = model_run_int(run, "clock.start_mono_ns");

	return start_ns != STORE_NULL ? start_ns : first_event_ns(run);
}
