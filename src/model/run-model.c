/*
 * Opening a run, and reading run.json.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "model/model-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The table files of a run: all files in tables/, including tables unknown to this version.
 */

#define ENDING ".tbl"

/* Length of the table's name in a file name, 0 if it is not a table file. */
static size_t table_name(const char *file)
{
	size_t n = strlen(file), ending = strlen(ENDING);

	if (n <= ending || strcmp(file + n - ending, ENDING) != 0)
		return 0;
	return n - ending < sizeof(((struct model_table *)0)->name) ? n - ending : 0;
}

static int list(struct model_run *run, struct sonde_err *err)
{
	int fd = openat(run->store.dirfd, "tables", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		err_sys(err, errno, "cannot list the tables of '%s'", run->path);
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	while ((entry = readdir(dir)))
		if (table_name(entry->d_name) && run->table_count < MODEL_TABLES_MAX) {
			struct model_table *t = &run->tables[run->table_count++];
			snprintf(t->name, sizeof(t->name), "%.*s", (int)table_name(entry->d_name), entry->d_name);
		}
	closedir(dir);
	return 0;
}

static size_t rank(const char *name)
{
	size_t i = 0;

	while (i < STORE_TABLE_COUNT && strcmp(store_schemas[i]->name, name) != 0)
		i++;
	return i;
}

static int compare(const void *a, const void *b)
{
	const struct model_table *left = a, *right = b;
	size_t l = rank(left->name), r = rank(right->name);

	return l != r ? (l < r ? -1 : 1) : strcmp(left->name, right->name);
}

/* Only allocation failure is an error; an unreadable table is a loss. */
static int open_table(struct model_run *run, struct model_table *t, struct sonde_err *err)
{
	struct sonde_err why = SONDE_ERR_INIT;
	char file[sizeof(t->name) + sizeof(ENDING)];
	struct stat st;
	int rc = store_table_open(&t->table, run->store.tablesfd, t->name, &why);

	snprintf(file, sizeof(file), "%s" ENDING, t->name);
	if (fstatat(run->store.tablesfd, file, &st, AT_SYMLINK_NOFOLLOW) == 0)
		t->bytes = (uint64_t)st.st_size;
	if (rc == 0)
		return 0;
	t->table = NULL;
	snprintf(t->trouble, sizeof(t->trouble), "%.255s", why.text);
	if (rc == -ENOMEM && err)
		*err = why;
	return rc == -ENOMEM ? rc : 0;
}

/* Open the tables in tables/; 0 or -ENOMEM. */
static int open_tables(struct model_run *run, struct sonde_err *err)
{
	int rc = list(run, err);

	if (rc < 0)
		return rc;
	qsort(run->tables, run->table_count, sizeof(*run->tables), compare);
	for (size_t i = 0; rc == 0 && i < run->table_count; i++)
		rc = open_table(run, &run->tables[i], err);
	return rc;
}

const struct model_table *model_tables(const struct model_run *run, size_t *count)
{
	*count = run->table_count;
	return run->tables;
}

struct store_table *model_table(const struct model_run *run, enum store_table_id id)
{
	for (size_t i = 0; i < run->table_count; i++)
		if (strcmp(run->tables[i].name, store_schemas[id]->name) == 0)
			return run->tables[i].table;
	return NULL;
}

int model_run_check(struct model_run *run, struct sonde_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < run->table_count; i++)
		if (run->tables[i].table)
			rc = store_table_check(run->tables[i].table, err);
	return rc;
}

/*
 * Hint for a run that was not found: a similar name, or the runs that exist.
 */

#define SHOWN_MAX 3

static int is_run(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "latest") != 0;
}

/* Names start with their time: reverse order is newest first. */
static int newest_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

static const char *containing(const char *name, const char *const *runs)
{
	for (; *runs; runs++)
		if (strstr(*runs, name))
			return *runs;
	return NULL;
}

static void hint(const char *name, const char *const *runs, size_t count, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;
	const char *slash = name ? strrchr(name, '/') : NULL, *last = slash && slash[1] ? slash + 1 : name;
	const char *meant = last ? words_nearest(last, runs) : NULL;

	if (!meant && last)
		meant = containing(last, runs);
	if (meant) {
		err_hint(err, "did you mean '%s'?", meant);
		return;
	}
	for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
		buf_addf(&list, "%s'%s'", i ? ", " : "", runs[i]);
	if (count > SHOWN_MAX)
		buf_addf(&list, " and %zu older", count - SHOWN_MAX);
	err_hint(err, "in '%s' are: %s", store_runs_dir(), list.data);
}

/* Add a hint for a run that was not found. */
static void hint_runs(const char *name, struct sonde_err *err)
{
	struct dirent **entries;
	int count = scandir(store_runs_dir(), &entries, is_run, newest_first);
	const char **runs;

	if (count < 0) {
		err_hint(err, "no runs found in '%s'; record one: sonde record -- COMMAND", store_runs_dir());
		return;
	}
	runs = calloc((size_t)count + 1, sizeof(*runs));
	for (int i = 0; runs && i < count; i++)
		runs[i] = entries[i]->d_name;
	if (runs && count > 0)
		hint(name, runs, (size_t)count, err);
	free(runs);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

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
		hint_runs(name, err);
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
	return open_tables(run, err);
}

int model_run_open(struct model_run **out, const char *name, struct sonde_err *err)
{
	struct model_run *run = calloc(1, sizeof(*run));

	if (!run)
		return err_sys(err, ENOMEM, "cannot open the run");
	run->store = (struct store_run)STORE_RUN_INIT;
	int rc = open_bundle(run, name, err);
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
	for (size_t i = 0; i < run->table_count; i++)
		store_table_free(run->tables[i].table);
	run->table_count = 0;
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
