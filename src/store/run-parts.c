#include "store/run-dir.h"

#include "base/cleanup.h"

#include "store/schema.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define HOSTS_DEPTH 2 /* a run may contain the runs of hosts; those contain no others */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/* <table>.tbl, or .<table>.tbl.new while its head is written. */
static bool is_table(const char *name)
{
	bool is_new = *name == '.' && ends_with(name, ".tbl.new");
	const char *from = name + is_new;
	size_t n = strcspn(from, ".");
	char table[64];

	if (n >= sizeof(table) || strcmp(from + n, is_new ? ".tbl.new" : ".tbl") != 0)
		return false;
	memcpy(table, from, n);
	table[n] = '\0';
	return store_schema_find(table) != NULL;
}

static bool is_pyramid(const char *name)
{
	return !strcmp(name, STORE_PYRAMID) || !strcmp(name, STORE_PYRAMID_TEMPORARY);
}

/* Including temporary files left by a writer that was killed. */
static bool is_run_file(const char *name)
{
	static const char *const files[] = { "run.json", "hosts.json" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		size_t n = strlen(files[i]);

		if (!strncmp(name, files[i], n) && (!name[n] || (name[n] == '.' && ends_with(name, ".tmp"))))
			return true;
	}
	return false;
}

/* Named by record/slurm-task.c. */
static bool is_task(const char *name)
{
	return !strncmp(name, ".task-", 6) && name[6] && !name[6 + strspn(name + 6, "0123456789")];
}

static DIR *open_dir(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static void unlink_named(DIR *dir, bool (*is_part)(const char *name))
{
	for (const struct dirent *e; (e = readdir(dir));)
		if (is_part(e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
	rewinddir(dir);
}

static int remove_dir(int at, const char *name)
{
	return unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int remove_named(int at, const char *name, bool (*is_part)(const char *name))
{
	DIR *dir = open_dir(at, name);

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	unlink_named(dir, is_part);
	closedir(dir);
	return remove_dir(at, name);
}

int store_tables_remove(int dirfd, const char *name)
{
	return remove_named(dirfd, name, is_table);
}

void store_tables_empty(int tablesfd)
{
	DIR *dir = open_dir(tablesfd, ".");

	if (!dir)
		return;
	unlink_named(dir, is_table);
	closedir(dir);
}

int store_pyramid_remove(int dirfd)
{
	return remove_named(dirfd, STORE_PYRAMID_DIR, is_pyramid);
}

static int remove_parts(DIR *dir, int depth);

/* hosts/: the runs <number>-<host>, and status files of tasks. */
static int remove_hosts(int at, int depth)
{
	DIR *hosts = open_dir(at, "hosts");

	if (!hosts)
		return errno == ENOENT ? 0 : -errno;
	unlink_named(hosts, is_task);
	for (const struct dirent *e; (e = readdir(hosts));) {
		size_t digits = strspn(e->d_name, "0123456789");
		DIR *run = digits && e->d_name[digits] == '-' ? open_dir(dirfd(hosts), e->d_name) : NULL;

		if (!run)
			continue;
		remove_parts(run, depth - 1);
		closedir(run);
		remove_dir(dirfd(hosts), e->d_name);
	}
	closedir(hosts);
	return remove_dir(at, "hosts");
}

/* Remove run.json last: as long as it exists, the directory is still recognised as a run. */
static int remove_parts(DIR *dir, int depth)
{
	int fd = dirfd(dir);
	const int all[] = { store_tables_remove(fd, STORE_TABLES_NEW), store_tables_remove(fd, "tables"),
		store_pyramid_remove(fd), depth > 0 ? remove_hosts(fd, depth) : 0 };

	unlink_named(dir, is_run_file);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] < 0)
			return all[i];
	return 0;
}

int store_run_remove_parts(int dirfd)
{
	CLEANUP(cleanup_dir) DIR *dir = open_dir(dirfd, ".");
	int rc = dir ? remove_parts(dir, HOSTS_DEPTH) : -errno;

	return rc;
}
