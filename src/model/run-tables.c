/*
 * The table files of a run: all files in tables/, including tables unknown to this version.
 */
#include "base/cleanup.h"
#include "model/model-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".tbl"

/* Length of the table's name in a file name, 0 if it is not a table file. */
static size_t table_name(const char *file)
{
	size_t n = strlen(file), ending = strlen(ENDING);

	if (n <= ending || strcmp(file + n - ending, ENDING) != 0)
		return 0;
	return n - ending < sizeof(((struct model_table *)0)->name) ? n - ending : 0;
}

static void add_name(struct model_run *run, const char *name, size_t n)
{
	struct model_table *t = &run->tables[run->table_count];

	if (run->table_count == MODEL_TABLES_MAX)
		return;
	snprintf(t->name, sizeof(t->name), "%.*s", (int)n, name);
	run->table_count++;
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
		if (table_name(entry->d_name))
			add_name(run, entry->d_name, table_name(entry->d_name));
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

int model_tables_open(struct model_run *run, struct sonde_err *err)
{
	int rc = list(run, err);

	if (rc < 0)
		return rc;
	qsort(run->tables, run->table_count, sizeof(*run->tables), compare);
	for (size_t i = 0; rc == 0 && i < run->table_count; i++)
		rc = open_table(run, &run->tables[i], err);
	return rc;
}

void model_tables_close(struct model_run *run)
{
	for (size_t i = 0; i < run->table_count; i++)
		store_table_free(run->tables[i].table);
	run->table_count = 0;
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
