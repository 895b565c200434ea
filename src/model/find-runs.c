/*
 * Hint for a run that was not found: a similar name, or the runs that exist.
 */
#include "base/cleanup.h"
#include "base/shell-words.h"
#include "model/model-private.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

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

void model_hint_runs(const char *name, struct sonde_err *err)
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
