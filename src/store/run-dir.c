/*
 * Creating, finding, opening and replacing run directories.
 */
#include "store/run-dir.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LATEST "latest"
#define TABLES "tables"
#define RUN_JSON "run.json"
#define JSON_BYTES_MAX ((size_t)64 << 20)
#define PROGRAM_BYTES_MAX 64
#define SUFFIX_MAX 10000
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

const char *store_runs_dir(void)
{
	const char *dir = getenv("SONDE_RUNS");

	return dir && *dir ? dir : "sonde-runs";
}

void store_run_release(struct store_run *run)
{
	if (run->dirfd >= 0)
		close(run->dirfd);
	if (run->tablesfd >= 0)
		close(run->tablesfd);
	free(run->path);
	*run = (struct store_run)STORE_RUN_INIT;
}

/* Opening. */

static int open_dirs(struct store_run *run, const char *path, struct sonde_err *err)
{
	*run = (struct store_run)STORE_RUN_INIT;
	run->path = strdup(path);
	if (!run->path)
		return err_sys(err, ENOMEM, "cannot open the run '%s'", path);
	run->dirfd = open(path, OPEN_DIR);
	if (run->dirfd >= 0)
		run->tablesfd = openat(run->dirfd, TABLES, OPEN_DIR | O_NOFOLLOW);
	if (run->tablesfd >= 0)
		return 0;
	if (run->dirfd >= 0 && errno == ENOENT)
		return err_set(err, ENOENT, "'%s' is not a run: it has no directory '" TABLES "'", path);
	return err_sys(err, errno, "cannot open the run '%s'", path);
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* The number after {"sonde_run": or -1. */
static long version_of(const char *text)
{
	static const char key[] = "\"" STORE_RUN_KEY "\"";
	const char *at = skip_blanks(text);

	if (*at++ != '{')
		return -1;
	at = skip_blanks(at);
	if (strncmp(at, key, sizeof(key) - 1) != 0)
		return -1;
	at = skip_blanks(at + sizeof(key) - 1);
	if (*at++ != ':')
		return -1;
	at = skip_blanks(at);
	return isdigit((unsigned char)*at) ? strtol(at, NULL, 10) : -1;
}

static int read_start(int dirfd, char *text, size_t size)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, RUN_JSON, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

static int check_json(const struct store_run *run, struct sonde_err *err)
{
	char text[256];
	long version;
	int rc = read_start(run->dirfd, text, sizeof(text));

	if (rc == -ENOENT) {
		err_set(err, ENOENT, "the run '%s' has no " RUN_JSON ": its recorder was killed early", run->path);
		err_hint(err, "sonde recover %s", run->path);
		return rc;
	}
	if (rc < 0)
		return err_sys(err, -rc, "cannot read '%s/" RUN_JSON "'", run->path);
	version = version_of(text);
	if (version < 0)
		return err_set(err, EBADMSG, "'%s/" RUN_JSON "' does not start with its version", run->path);
	if (version > STORE_RUN_VERSION)
		return err_set(err, ENOTSUP, "the run '%s' has version %ld, this program reads up to %d", run->path,
				version, STORE_RUN_VERSION);
	return 0;
}

int store_run_open_any(struct store_run *run, const char *path, struct sonde_err *err)
{
	int rc = open_dirs(run, path, err);

	if (rc < 0)
		store_run_release(run);
	return rc;
}

int store_run_open(struct store_run *run, const char *path, struct sonde_err *err)
{
	int rc = open_dirs(run, path, err);

	if (rc == 0)
		rc = check_json(run, err);
	if (rc < 0)
		store_run_release(run);
	return rc;
}

int store_run_read_json(int dirfd, struct buf *text, struct sonde_err *err)
{
	return fs_read_plain_file(dirfd, RUN_JSON, JSON_BYTES_MAX, text, err);
}

int store_run_write_json(int dirfd, const struct buf *text, struct sonde_err *err)
{
	if (version_of(text->data) != STORE_RUN_VERSION)
		return err_set(err, EINVAL, RUN_JSON " must start with {\"" STORE_RUN_KEY "\": %d", STORE_RUN_VERSION);
	return fs_replace_file(dirfd, RUN_JSON, text->data, text->len, err);
}

/* Creating. */

/* 1 if the directory is empty, 0 if not, -errno on failure. */
static int is_empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return -errno;
	while (!found && (entry = readdir(dir)))
		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return !found;
}

static int create_at(const char *dir, bool *is_made, struct sonde_err *err)
{
	*is_made = access(dir, F_OK) < 0;
	int rc = fs_mkdir_p(dir, 0700, err);
	int empty = rc < 0 ? rc : is_empty(dir);

	if (rc < 0)
		return rc;
	if (empty < 0)
		return err_sys(err, -empty, "cannot use '%s' for the run", dir);
	if (!empty) {
		err_set(err, ENOTEMPTY, "cannot use '%s' for the run: it is not empty", dir);
		err_hint(err, "use a directory that does not exist yet, or remove this one");
		return -ENOTEMPTY;
	}
	return 0;
}

/* Create runs/name, or name-2, name-3 ... if it exists; updates `name`. */
static int create_unique(const char *runs, struct buf *name, struct buf *path, struct sonde_err *err)
{
	size_t length = name->len;

	for (int i = 1; i < SUFFIX_MAX; i++) {
		if (i > 1)
			buf_addf(name, "-%d", i);
		buf_reset(path);
		buf_addf(path, "%s/%s", runs, name->data);
		if (buf_error(path) < 0 || buf_error(name) < 0)
			return err_sys(err, ENOMEM, "cannot create the run");
		if (mkdir(path->data, 0700) == 0)
			return 0;
		if (errno != EEXIST)
			return err_sys(err, errno, "cannot create the run '%s'", path->data);
		name->len = length;
		name->data[length] = '\0';
	}
	return err_set(err, EEXIST, "cannot create the run '%s': there are too many of that name", path->data);
}

/* Best effort: the run is valid without the link. */
static void point_latest(const char *runs, const char *name)
{
	CLEANUP(cleanup_fd) int fd = open(runs, OPEN_DIR);
	char temp[64];

	if (fd < 0)
		return;
	snprintf(temp, sizeof(temp), "." LATEST "-%d", (int)getpid());
	unlinkat(fd, temp, 0);
	if (symlinkat(name, fd, temp) == 0 && renameat(fd, temp, fd, LATEST) < 0)
		unlinkat(fd, temp, 0);
}

static int create_in_runs(const char *program, struct buf *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	const char *runs = store_runs_dir();
	int rc = fs_mkdir_p(runs, 0700, err);

	if (rc < 0) {
		err_hint(err, "set SONDE_RUNS to a writable directory, or use -o DIR");
		return rc;
	}
	/* <time>-<program> */
	const char *slash = strrchr(program, '/');
	time_t now = time(NULL);
	struct tm tm;
	char text[32] = "";

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	buf_addf(&name, "%s-", text);
	fs_safe_name(&name, slash ? slash + 1 : program, PROGRAM_BYTES_MAX);
	rc = create_unique(runs, &name, path, err);
	if (rc == 0)
		point_latest(runs, name.data);
	return rc;
}

int store_run_create(struct store_run *run, const char *dir, const char *program, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf tables = BUF_INIT;
	bool is_made = true;
	int rc = dir ? create_at(dir, &is_made, err) : create_in_runs(program, &path, err);

	if (rc < 0)
		return rc;
	if (dir)
		buf_adds(&path, dir);
	buf_addf(&tables, "%s/" TABLES, path.data);
	if (mkdir(tables.data, 0700) < 0)
		return err_sys(err, errno, "cannot create the directory '%s'", tables.data);
	rc = store_run_open_any(run, path.data, err);
	if (rc == 0)
		run->is_made = is_made;
	return rc;
}

/* Replacing and discarding. */

/* Check everything that can fail before anything is removed. */
static int check_replaceable(const struct store_run *run, struct sonde_err *err)
{
	struct stat st;

	if (fstat(run->dirfd, &st) < 0)
		return err_sys(err, errno, "cannot replace the run '%s'", run->path);
	if (geteuid() != 0 && st.st_uid != geteuid())
		return err_set(err, EPERM, "cannot replace the run '%s': it belongs to user %u", run->path,
				(unsigned)st.st_uid);
	if (faccessat(run->dirfd, ".", W_OK | X_OK, AT_EACCESS) < 0 ||
			faccessat(run->tablesfd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return err_sys(err, errno, "cannot replace the run '%s'", run->path);
	return 1;
}

int store_run_is_replaceable(const char *dir, struct sonde_err *err)
{
	struct store_run run = STORE_RUN_INIT;
	int rc = store_run_open(&run, dir, NULL) < 0 ? 0 : check_replaceable(&run, err);

	store_run_release(&run);
	return rc;
}

/* Work on the open directory, not on its path: that may be "." or a link. */
int store_run_replace(struct store_run *run, const char *dir, struct sonde_err *err)
{
	int rc = store_run_open(run, dir, err);

	if (rc == 0)
		rc = check_replaceable(run, err);
	if (rc < 0) {
		store_run_release(run);
		return rc;
	}
	store_run_remove_parts(run->dirfd);
	close(run->tablesfd);
	run->tablesfd = -1;
	if (mkdirat(run->dirfd, TABLES, 0700) == 0 ||
			errno == EEXIST) /* it was kept if it held a file that is not a table */
		run->tablesfd = openat(run->dirfd, TABLES, OPEN_DIR | O_NOFOLLOW);
	if (run->tablesfd >= 0)
		return 0;
	rc = err_sys(err, errno, "cannot create the directory '%s/" TABLES "'", dir);
	store_run_release(run);
	return rc;
}

void store_run_discard(struct store_run *run)
{
	if (run->dirfd >= 0)
		store_run_remove_parts(run->dirfd);
	if (run->is_made)
		rmdir(run->path);
	store_run_release(run);
}

/* Finding. */

static bool is_bundle(const char *path)
{
	CLEANUP(cleanup_fd) int fd = open(path, OPEN_DIR);

	return fd >= 0 && (faccessat(fd, RUN_JSON, F_OK, 0) == 0 || faccessat(fd, TABLES, F_OK, 0) == 0);
}

static bool is_plain_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int find_latest(const char *runs, struct buf *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf link = BUF_INIT;
	char name[NAME_MAX + 1];
	ssize_t n;

	buf_addf(&link, "%s/" LATEST, runs);
	n = readlink(link.data, name, sizeof(name) - 1);
	if (n < 0) {
		err_sys(err, errno, "cannot find the latest run in '%s'", runs);
		err_hint(err, "name a run, or record one: sonde record -- COMMAND");
		return -ENOENT;
	}
	name[n] = '\0';
	if (!is_plain_name(name))
		return err_set(err, EPERM, "'%s' points out of the directory of runs, to '%s'; it is not followed",
				link.data, name);
	buf_addf(path, "%s/%s", runs, name);
	return buf_error(path) < 0 ? err_sys(err, ENOMEM, "cannot find the latest run") : 0;
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

int store_run_find(const char *name, struct buf *path, struct sonde_err *err)
{
	const char *slash = name ? strrchr(name, '/') : NULL;
	size_t before = path->len;

	if (!name || strcmp(name, LATEST) == 0)
		return find_latest(store_runs_dir(), path, err);
	if (slash && strcmp(slash + 1, LATEST) == 0 && is_link(name)) {
		/* A path that ends in `latest`: that link is read under the same rules. */
		CLEANUP(buf_release) struct buf runs = BUF_INIT;

		buf_add(&runs, name, (size_t)(slash - name));
		return find_latest(runs.len ? runs.data : "/", path, err);
	}
	buf_adds(path, name);
	if (is_bundle(name) || slash)
		return is_bundle(name) ? 0 : err_set(err, ENOENT, "run '%s' not found", name);
	path->len = before;
	buf_addf(path, "%s/%s", store_runs_dir(), name);
	if (is_plain_name(name) && is_bundle(path->data + before))
		return 0;
	err_set(err, ENOENT, "run '%s' not found, neither here nor in '%s'", name, store_runs_dir());
	err_hint(err, "ls %s", store_runs_dir());
	return -ENOENT;
}
